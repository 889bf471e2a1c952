"""Sessions to read: two that live here, and all of the shared ones where they exist."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import cv2
import pytest

from vision import pictures
from vision.calibration import GnomeCalibration, calibrate
from vision.pictures import Picture

ROOT = Path(__file__).parents[2]
HERE = ROOT / "tests" / "data" / "gnomes"
SHARED = ROOT.parent / "shared" / "gnomes"


@dataclass
class Session:
    """A folder as a calibrated camera left it, with its labels."""

    folder: Path

    @cached_property
    def calibration(self) -> GnomeCalibration:
        """Learn the table."""
        return calibrate(self.picture("empty.jpg"), self.picture("calibration.jpg"))

    def picture(self, name: str) -> Picture:
        """Load one picture."""
        return pictures.load(self.folder / name)

    @cached_property
    def shakes(self) -> list[dict[str, Any]]:
        """The labels of the shakes of which every piece can be seen."""
        frames = json.loads((self.folder / "labels.json").read_text())["frames"]
        return [f for f in frames if f["role"] == "shake" and f["in_view"] == f["count"] and not f["hidden"]]

    def shake(self, count: int) -> Picture:
        """The first shake of so many pieces."""
        return self.picture(next(f["file"] for f in self.shakes if f["count"] == count))


@pytest.fixture(scope="session")
def every_session() -> list[Session]:
    """All shared sessions where they exist, else the two that live here."""
    found = sorted(SHARED.glob("session*")) or sorted(HERE.glob("session*"))
    return [Session(path) for path in found]


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    """Measure what a small computer would feel."""
    cv2.setNumThreads(1)


@pytest.fixture(scope="session")
def colourful() -> Session:
    """Red, yellow and blue gnomes on grey felt; the camera was bumped between shakes."""
    return Session(HERE / "session05")


@pytest.fixture(scope="session")
def cluttered() -> Session:
    """White, natural and grey gnomes on blue felt; cubes, bills and the cup lie around."""
    return Session(HERE / "session08")
