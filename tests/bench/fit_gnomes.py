"""Fit the odds of the gnome reader on rendered tables, and measure it there.

    python tests/bench/fit_gnomes.py make SCENES --tables 60 --seed 500000     about 3 s of one core a table
    python tests/bench/fit_gnomes.py make LOOKS --tables 20 --seed 520000 --looks 3
    python tests/bench/fit_gnomes.py fit SCENES --out vision/data/odds.json
    python tests/bench/fit_gnomes.py measure SCENES

Tables come from companion/simulated; nothing is fitted on photographs or on the shared sessions.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.simulated.pawns import Bump, Gnome, Shot, apart, draw_table, render, shake
from vision import pictures
from vision.calibration import GnomeCalibration, calibrate
from vision.candidates import Found, find
from vision.errors import CalibrationRefused
from vision.odds import Odds, about_candidate, about_hidden, about_lonely, likelihood
from vision.readings import SURE
from vision.stage import LENGTH_PX
from vision.view import look

SHAKES = 7
CLUTTER = (0, 1, 2, 2, 2, 3)
COUNTS = (0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 13, 14, 14, 15, 15)
HIDDEN_SHARE = 0.25
NEAR = 0.4  # of a length: further from its middle a candidate is another gnome
RIDGE = 0.3


def make(folder: Path, tables: int, seed: int, looks: int) -> None:
    """Render session folders like those that a calibrated camera sees, each shake `looks` times in other noise."""
    for number in range(seed, seed + tables):
        home = folder / f"session{number}"
        if (home / "labels.json").exists():
            continue
        home.mkdir(parents=True, exist_ok=True)
        _make_one(home, number, looks)


def _make_one(home: Path, number: int, looks: int) -> None:
    rng = np.random.default_rng([number, 5])
    table = draw_table(number)
    cv2.imwrite(str(home / "empty.png"), render(table, [], rng).picture)
    cv2.imwrite(str(home / "calibration.png"), render(table, apart(table, rng), rng, flicker=0.03).picture)
    clutter, bumped = int(rng.choice(CLUTTER)), looks == 1 and rng.random() < 0.4
    frames = [_shake(home, table, f"shake{i:02}", rng, clutter, bumped, looks) for i in range(SHAKES)]
    labels = {"clutter": clutter, "looks": looks, "frames": [frame for shaken in frames for frame in shaken]}
    (home / "labels.json").write_text(json.dumps(labels))


def _shake(  # type: ignore[no-untyped-def]
    home: Path, table, name: str, rng: np.random.Generator, clutter: int, bumped: bool, looks: int
) -> list[dict[str, object]]:
    names = [colour for colour, _ in table.palette for _ in range(5)]
    rng.shuffle(names)
    gnomes: list[Gnome] = shake(table, names[: int(rng.choice(COUNTS))], rng, spill=0.04)
    bump = Bump(float(rng.uniform(2, 12)), 1.0) if bumped else None
    scene, frames = int(rng.integers(2**31)), []
    for number in range(looks):
        same = np.random.default_rng(scene)
        shot = render(table, gnomes, rng, clutter=clutter, flicker=0.04, bump=bump, scene=same)
        file = f"{name}-{number}.png"
        cv2.imwrite(str(home / file), shot.picture)
        frames.append({"file": file, "shake": name} | _labels(shot))
    return frames


def _labels(shot: Shot) -> dict[str, object]:
    visible = shot.truth.visible_px
    typical = float(np.median(visible)) if len(visible) else 0.0
    height, width = shot.picture.shape[:2]
    within = ((shot.truth.centres_px >= 0) & (shot.truth.centres_px < (width, height))).all(axis=1)
    places = [[float(x), float(y), c] for (x, y), c in zip(shot.truth.centres_px, shot.truth.colours, strict=True)]
    return {
        "role": "shake",
        "count": len(places),
        "in_view": int(within.sum()),
        "hidden": int((visible < HIDDEN_SHARE * typical).sum()),
        "centres": places,
        "visible_px": [int(v) for v in visible],
    }


@dataclass
class Seen:
    """One shake as the reader found it, beside the truth."""

    found: Found
    real: list[bool]
    lonely_real: list[bool]
    missed: int
    count: int


def observe(folder: Path) -> list[Seen]:
    """Read every shake of every table that can be calibrated."""
    seen = []
    for home in sorted(folder.glob("session*")):
        try:
            calibration = calibrate(pictures.load(home / "empty.png"), pictures.load(home / "calibration.png"))
        except CalibrationRefused as refused:
            print(home.name, refused.code)
            continue
        frames = json.loads((home / "labels.json").read_text())["frames"]
        shakes = [f for f in frames if f["in_view"] == f["count"] and not f["hidden"]]
        seen += [_observe_one(pictures.load(home / f["file"]), calibration, f) for f in shakes]
    return seen


def _observe_one(picture: pictures.Picture, calibration: GnomeCalibration, frame: dict[str, Any]) -> Seen:
    """Give each gnome to a candidate, else to a lonely peak; what remains was missed."""
    view = look(picture, calibration)
    found = find(view)
    places = np.array([[x, y] for x, y, _ in frame["centres"]], np.float64).reshape(-1, 1, 2)
    truth = (
        cv2.perspectiveTransform(places, np.linalg.inv(view.to_frame)).reshape(-1, 2) if len(places) else places[:, 0]
    )
    middles = np.array([c.outline.mean(axis=0) for c in found.candidates], np.float64).reshape(-1, 2)
    peaks = np.array([(peak.x, peak.y) for peak in found.lonely], np.float64).reshape(-1, 2)
    real, truth = _matched(middles, truth)
    lonely_real, truth = _matched(peaks, truth)
    return Seen(found, real, lonely_real, len(truth), frame["count"])


def _matched(places: NDArray[np.float64], truth: NDArray[np.float64]) -> tuple[list[bool], NDArray[np.float64]]:
    """Give each gnome to the nearest place that has none yet; return which places have one, and who is left over."""
    apart = np.linalg.norm(places[:, None] - truth[None], axis=2)
    real, left = [False] * len(places), [True] * len(truth)
    while apart.size and apart.min() < NEAR * LENGTH_PX:
        place, gnome = np.unravel_index(int(apart.argmin()), apart.shape)
        real[place], left[gnome] = True, False
        apart[place, :] = apart[:, gnome] = np.inf
    return real, truth[np.array(left, bool)]


def fit(seen: list[Seen]) -> Odds:
    """Fit the three models by iterated weighted least squares."""
    candidates = [(about_candidate(c), r) for s in seen for c, r in zip(s.found.candidates, s.real, strict=True)]
    lonely = [(about_lonely(peak), so) for s in seen for peak, so in zip(s.found.lonely, s.lonely_real, strict=True)]
    hidden = [(about_hidden(s.found), i < s.missed) for s in seen for i in range(len(s.found.candidates))]
    return Odds(_logistic_fit(candidates), _logistic_fit(lonely), _logistic_fit(hidden))


def _logistic_fit(rows: list[tuple[tuple[float, ...], bool]]) -> tuple[float, ...]:
    known, so = np.array([row for row, _ in rows]), np.array([value for _, value in rows], np.float64)
    weights = np.zeros(known.shape[1])
    for _ in range(60):
        chance = 1 / (1 + np.exp(-np.clip(known @ weights, -30, 30)))
        curve = known.T @ (known * (chance * (1 - chance))[:, None]) + RIDGE * np.eye(len(weights))
        weights = weights + np.linalg.solve(curve, known.T @ (so - chance) - RIDGE * weights)
    return tuple(round(float(w), 3) for w in weights)


def report(seen: list[Seen]) -> None:
    """Print how often readings are right, and whether they know it."""
    likely = np.array([likelihood(s.found) for s in seen])
    right, top = likely.argmax(axis=1) == [s.count for s in seen], likely.max(axis=1)
    print(f"{len(seen)} shakes, exact {right.mean():.3f}, sure {np.mean(top >= SURE):.3f}", end=" ")
    print(f"of which wrong {np.mean(~right[top >= SURE]):.4f}")
    for low, high in ((0, 0.5), (0.5, 0.8), (0.8, 0.9), (0.9, 0.97), (0.97, 0.99), (0.99, 1.01)):
        here = (top >= low) & (top < high)
        if here.any():
            said = f"  said {low:.2f} to {high:.2f}: {here.sum():4} shakes"
            print(f"{said}, mean {top[here].mean():.3f}, right {right[here].mean():.3f}")


def main() -> None:
    """Do what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("make", "fit", "measure"):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        command.add_argument("--tables", type=int, default=60)
        command.add_argument("--seed", type=int, default=500000)
        command.add_argument("--looks", type=int, default=1)
        command.add_argument("--out", type=Path, default=Path("vision/data/odds.json"))
    given = parser.parse_args()
    cv2.setNumThreads(1)
    if given.command == "make":
        make(given.folder, given.tables, given.seed, given.looks)
        return
    seen = observe(given.folder)
    if given.command == "fit":
        given.out.write_text(fit(seen).dumps())
    report(seen)


if __name__ == "__main__":
    main()
