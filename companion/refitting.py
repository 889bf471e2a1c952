"""From kept corrections to a better calibration of the gnomes' table."""

from __future__ import annotations

from collections.abc import Iterator

from companion.corrections import CorrectionStore
from companion.watch import SENSE
from rules.core import Message
from vision import pictures, refit
from vision.calibration import GnomeCalibration
from vision.errors import PictureRefused
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


def told(found: Refit) -> Message:
    """Say how the pictures that were held back read before and after."""
    return Message("refit_kept", {"before": found.before.exact, "after": found.after.exact, "n": found.n})
