"""Measure the gnome reader on session folders, beside the OpenCV watershed tutorial and a plain background difference.

    python tests/bench/read_gnomes.py ../shared/gnomes

One thread, decoding included, all methods on the same pictures in the same run. Scored are the shakes whose label says
that every piece lies in the picture and none is hidden.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import gnomes, pictures
from vision.calibration import GnomeCalibration, calibrate

CHANGED_LEVELS = 40
Counter = Callable[[bytes], tuple[int, bool]]


@dataclass
class Score:
    """What one method did on some shakes."""

    wrong: list[str] = field(default_factory=list)
    errors: list[int] = field(default_factory=list)
    unsure: int = 0
    wrong_and_sure: int = 0
    ms: list[float] = field(default_factory=list)

    def add(self, name: str, truth: int, count: int, sure: bool, ms: float) -> None:
        """Note one picture."""
        self.errors.append(abs(count - truth))
        self.unsure += not sure
        self.wrong_and_sure += sure and count != truth
        self.ms.append(ms)
        if count != truth:
            self.wrong.append(f"{name} {truth}>{count}")

    def line(self, name: str) -> str:
        """Say it in one line."""
        n = max(len(self.errors), 1)
        exact = sum(error == 0 for error in self.errors)
        return (
            f"{name:24} {exact:3}/{n:<3} {100 * exact / n:5.1f} %  MAE {np.mean(self.errors):5.2f}  unsure "
            f"{100 * self.unsure / n:5.1f} %  wrong and sure {100 * self.wrong_and_sure / n:4.1f} %  "
            f"{np.median(self.ms):6.1f} ms median {np.quantile(self.ms, 0.95):6.1f} p95"
        )


def ours(calibration: GnomeCalibration) -> Counter:
    """The reader of this package."""

    def count(data: bytes) -> tuple[int, bool]:
        reading = gnomes.read(pictures.decode(data), calibration)
        return reading.count, reading.sure

    return count


def watershed(calibration: GnomeCalibration) -> Counter:
    """The steps of docs.opencv.org, "Image Segmentation with Watershed Algorithm"; count = markers less background."""
    brighter = _pieces_are_brighter(calibration)

    def count(data: bytes) -> tuple[int, bool]:
        picture = pictures.decode(data)
        grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
        way = cv2.THRESH_BINARY if brighter else cv2.THRESH_BINARY_INV
        _, mask = cv2.threshold(grey, 0, 255, way + cv2.THRESH_OTSU)
        opened = cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8), iterations=2)
        background = cv2.dilate(opened, np.ones((3, 3), np.uint8), iterations=3)
        distance = cv2.distanceTransform(opened, cv2.DIST_L2, 5)
        _, core = cv2.threshold(distance, 0.7 * distance.max(), 255, 0)
        core = np.asarray(core, np.uint8)
        _, markers = cv2.connectedComponents(core)
        markers = np.asarray(markers + 1, np.int32)
        markers[cv2.subtract(background, core) == 255] = 0
        found = cv2.watershed(picture, markers)
        return len(set(np.unique(found)) - {-1, 0, 1}), True

    return count


def difference(calibration: GnomeCalibration) -> Counter:
    """What differs from the empty picture, over the area of one piece."""
    empty = cv2.GaussianBlur(calibration.empty, (5, 5), 0)

    def count(data: bytes) -> tuple[int, bool]:
        picture = cv2.GaussianBlur(pictures.decode(data), (5, 5), 0)
        changed = cv2.absdiff(picture, empty).max(axis=2)
        return round(float(np.count_nonzero(changed > CHANGED_LEVELS)) / calibration.area_px), True

    return count


METHODS = {"vision.gnomes": ours, "watershed tutorial": watershed, "background difference": difference}


def measure(folder: Path) -> dict[str, Score]:
    """Read one session with every method."""
    calibration = calibrate(pictures.load(folder / "empty.jpg"), pictures.load(folder / "calibration.jpg"))
    frames = json.loads((folder / "labels.json").read_text())["frames"]
    shakes = [f for f in frames if f["role"] == "shake" and f["in_view"] == f["count"] and not f["hidden"]]
    scores = {}
    for name, make in METHODS.items():
        score, count = Score(), make(calibration)
        count((folder / "empty.jpg").read_bytes())
        for shake in shakes:
            _one(score, count, folder, shake["file"], shake["count"])
        scores[name] = score
    return scores


def _one(score: Score, count: Counter, folder: Path, file: str, truth: int) -> None:
    start = time.perf_counter()
    found, sure = count((folder / file).read_bytes())
    score.add(f"{folder.name}/{file}", truth, found, sure, 1000 * (time.perf_counter() - start))


def total(scores: list[Score]) -> Score:
    """Put the scores of several sessions together."""
    whole = Score()
    for score in scores:
        whole.wrong += score.wrong
        whole.errors += score.errors
        whole.unsure += score.unsure
        whole.wrong_and_sure += score.wrong_and_sure
        whole.ms += score.ms
    return whole


def _pieces_are_brighter(calibration: GnomeCalibration) -> bool:
    inside = np.zeros(calibration.empty.shape[:2], np.uint8)
    cv2.fillConvexPoly(inside, calibration.tray_px, 1)
    felt = float(calibration.empty[inside > 0].mean())
    cells: NDArray[np.float64] = calibration.densities.sum(axis=0).astype(np.float64)
    levels = np.indices(cells.shape).mean(axis=0) * 8 + 4
    return bool((cells * levels).sum() / cells.sum() > felt)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="holds session folders")
    parser.add_argument("--wrong", action="store_true", help="list what was misread")
    given = parser.parse_args()
    cv2.setNumThreads(1)
    sessions = {folder.name: measure(folder) for folder in sorted(given.folder.glob("session*"))}
    for session, scores in sessions.items():
        print(session)
        for name in METHODS:
            print("  " + scores[name].line(name))
    print("all")
    for name in METHODS:
        whole = total([scores[name] for scores in sessions.values()])
        print("  " + whole.line(name))
        if given.wrong and name == "vision.gnomes":
            print("   ", ", ".join(whole.wrong))


if __name__ == "__main__":
    main()
