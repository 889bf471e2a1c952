"""Reading a still scene well: one look where it is sure, up to three within a second where it is not."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from devices.camera import Frame
from vision import gnomes
from vision.calibration import GnomeCalibration
from vision.errors import VisionError
from vision.readings import GnomeReading

MOST_LOOKS = 3
WITHIN_MS = 1000
PATIENCE_S = 0.3


@dataclass(frozen=True, slots=True)
class Looked:
    """What all looks together say, and the frame that shows it."""

    frame: Frame
    reading: GnomeReading


def look(first: Frame, calibration: GnomeCalibration, later: Callable[[Frame], Frame | None]) -> Looked:
    """Read a frame; where that is unsure, also those that `later` gives after it, as long as the scene is the same.

    Raises VisionError where the first frame does not read; a later one that does not is passed over.
    """
    seen = [Looked(first, gnomes.read(first.picture, calibration))]
    while not (said := _together(seen)).reading.sure and len(seen) < MOST_LOOKS:
        frame = later(seen[-1].frame)
        if frame is None or frame.taken_ms - first.taken_ms > WITHIN_MS:
            break
        try:
            seen.append(Looked(frame, gnomes.read(frame.picture, calibration)))
        except VisionError:  # a hand is on its way: what was seen before it stands
            break
    return said


def _together(seen: list[Looked]) -> Looked:
    """Combine the looks; the one that agrees best with all of them is shown."""
    if len(seen) == 1:
        return seen[0]
    likelihood = gnomes.together([one.reading for one in seen]).likelihood
    count = likelihood.index(max(likelihood))
    shown = max(seen, key=lambda one: (one.reading.count == count, one.reading.confidence))
    return Looked(shown.frame, replace(shown.reading, likelihood=likelihood))


class Newest:
    """The newest frame of a still scene, for a reader that wants another look at it."""

    def __init__(self) -> None:
        self._news = threading.Condition()
        self._scene = -1
        self._frame: Frame | None = None

    def show(self, scene: int, frame: Frame | None) -> None:
        """Note the newest frame of a scene; None while something moves."""
        with self._news:
            self._scene, self._frame = scene, frame
            self._news.notify_all()

    def later(self, scene: int, frame: Frame) -> Frame | None:
        """Return a newer frame of the same still scene as soon as there is one; None where it moved, or none comes."""

        def is_told() -> bool:
            return self._frame is None or self._scene != scene or self._frame.number > frame.number

        with self._news:
            self._news.wait_for(is_told, PATIENCE_S)
            same = self._frame is not None and self._scene == scene and self._frame.number > frame.number
            return self._frame if same else None
