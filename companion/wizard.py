"""The wizard of one sense: two pictures of a table are taken, learned, kept in the data directory, and used at once.

What it refused it says in words and, where pieces were seen, with the picture of what was seen.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from companion import cropping
from companion.errors import CompanionError, NoGame
from companion.proposal import Evidence
from companion.refused import message_of
from rules.core import Message
from vision import gem_calibration, readings
from vision.calibration import GnomeCalibration, calibrate
from vision.errors import VisionError
from vision.gem_calibration import GemCalibration
from vision.pictures import Picture

log = logging.getLogger(__name__)

SEEN = "seen"
"""The id of the picture that a refusal shows: it is kept in memory alone."""


class Stored(Protocol):
    """A calibration that can be written to a file."""

    def save(self, path: Path | str) -> None:
        """Write it, whole or not at all."""


C = TypeVar("C", bound=Stored)


@dataclass(frozen=True, slots=True)
class Kind(Generic[C]):
    """How the tables of one sense are learned from two pictures, and read from the file that keeps them."""

    name: str
    learn: Callable[[Picture, Picture], C]
    load: Callable[[Path | str], C]

    @property
    def file(self) -> str:
        """The name of its file in the data directory."""
        return f"{self.name}.npz"


GNOMES = Kind("gnomes", calibrate, GnomeCalibration.load)
GEMS = Kind("gems", gem_calibration.calibrate, GemCalibration.load)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a refused picture showed: its crop as JPEG, and the outlines of what was taken for a piece."""

    jpeg: bytes
    evidence: Evidence


class Wizard(Generic[C]):
    """One sense's calibration and its two steps: `take` gives a fresh picture, `use` gets each new calibration."""

    def __init__(
        self, kind: Kind[C], data: Path, take: Callable[[], Picture], use: Callable[[C], None] | None = None
    ) -> None:
        self.kind, self._path, self._take, self._use = kind, data / kind.file, take, use
        self._first: Picture | None = None
        self.calibration: C | None = None
        self.note: Message | None = None
        self.seen: Seen | None = None
        self._restore()

    def status(self) -> Mapping[str, Any]:
        """Return how far it is: first picture taken, calibrated, and what it has to say."""
        return {
            "empty": self._first is not None,
            "calibrated": self.calibration is not None,
            "note": self.note,
            "seen": self.seen,
        }

    def take_empty(self) -> None:
        """First step: take the picture of the empty table; raises CompanionError."""
        self._first = self._take()
        self.note = self.seen = None

    def take_pieces(self) -> None:
        """Second step: take the picture with the pieces, learn the table and keep it.

        Raises CompanionError naming what is wrong and with what; the calibration before stays in use.
        """
        if self._first is None:
            raise NoGame("empty_first")
        picture = self._take()
        try:
            learned = self.kind.learn(self._first, picture)
        except VisionError as error:
            self.refuse(error, picture)
            raise CompanionError(error.code, **message_of(error).values) from error
        self.use(learned)

    def use(self, calibration: C) -> None:
        """Keep a calibration in the data directory and read against it from now on."""
        calibration.save(self._path)
        self._first = self.seen = None
        self.note = remark(calibration)
        self._set(calibration)

    def refuse(self, error: VisionError, picture: Picture | None = None) -> None:
        """Say why a picture, a file or a refit was refused, with the picture of what was seen where there is one."""
        self.note = message_of(error)
        self.seen = None if picture is None else _seen(picture, error.values.get("outlines"))

    def _restore(self) -> None:
        if not self._path.exists():
            return
        try:
            self._set(self.kind.load(self._path))
        except VisionError as error:
            log.warning("the calibration %s does not read: %s", self._path.name, error.code)
            self.refuse(error)

    def _set(self, calibration: C) -> None:
        self.calibration = calibration
        if self._use is not None:
            self._use(calibration)


def remark(calibration: object) -> Message | None:
    """Return what a person should know of a calibration that works all the same; None where there is nothing."""
    lost = isinstance(calibration, GnomeCalibration) and not calibration.tray_found
    return Message("tray_not_found", {}) if lost else None


def _seen(picture: Picture, found: object) -> Seen | None:
    """Return the part of a picture in which outlines lie."""
    outlines = [one for one in found if isinstance(one, readings.Outline)] if isinstance(found, Sequence) else []
    points = [point for one in outlines for point in one.polygon_px]
    if not points:
        return None
    box = cropping.around(points, picture)
    drawn = tuple(cropping.shifted(one, box) for one in outlines)
    return Seen(cropping.jpeg(picture, box), Evidence(SEEN, drawn))
