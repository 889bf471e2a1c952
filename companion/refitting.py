"""From kept corrections to a better calibration of the gnomes' table."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from companion.corrections import CorrectionStore
from companion.errors import NoGame
from companion.watch import SENSE
from companion.wizard import Wizard
from rules.core import Message
from vision import pictures, refit
from vision.calibration import GnomeCalibration
from vision.errors import PictureRefused, VisionError
from vision.readings import Box
from vision.refit import Example, Refit


def refitted(calibration: GnomeCalibration, kept: CorrectionStore) -> Refit:
    """Learn from the counts that people tapped at this table; raises CalibrationRefused: `too_few`, `refit_worse`."""
    return refit.refit(calibration, list(_examples(kept, refit.identity(calibration))))


def _examples(kept: CorrectionStore, table: str) -> Iterator[Example]:
    """The newest first; a crop that does not read any more teaches nothing."""
    for jpeg, one in kept.of(SENSE, table):
        try:
            crop = pictures.decode(jpeg)
        except PictureRefused:
            continue
        yield Example(crop, Box(*one.seen.box), one.right)


class School:
    """Learns from corrections beside everything else, for it takes a while; the wizard says what came of it."""

    def __init__(self, wizard: Wizard[GnomeCalibration], kept: CorrectionStore) -> None:
        self._wizard, self._kept = wizard, kept
        self._worker: threading.Thread | None = None

    @property
    def is_busy(self) -> bool:
        """Whether pictures are being learned from now."""
        return self._worker is not None and self._worker.is_alive()

    def begin(self) -> None:
        """Begin to learn; raises NoGame where the table was never shown, and does nothing while it learns already."""
        calibration = self._wizard.calibration
        if calibration is None:
            raise NoGame("not_calibrated")
        if not self.is_busy:
            self._worker = threading.Thread(target=self._learn, args=(calibration,), name="school", daemon=True)
            self._worker.start()

    def close(self) -> None:
        """Wait until what is being learned is learned."""
        if self._worker is not None:
            self._worker.join()

    def _learn(self, calibration: GnomeCalibration) -> None:
        try:
            found = refitted(calibration, self._kept)
        except VisionError as error:
            self._wizard.refuse(error)
            return
        if self._wizard.calibration is calibration:  # nobody showed the table anew meanwhile
            self._wizard.use(found.calibration)
            self._wizard.note = told(found)


def told(found: Refit) -> Message:
    """Say how the pictures that were held back read before and after."""
    return Message("refit_kept", {"before": found.before.exact, "after": found.after.exact, "n": found.n})
