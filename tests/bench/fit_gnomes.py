"""Fit the odds of the gnome reader on rendered tables, and measure it there, on others.

    python tests/bench/fit_gnomes.py make SCENES --tables 180 --seed 500000     about 3 s of one core a table
    python tests/bench/fit_gnomes.py make LOOKS --tables 24 --seed 520000 --looks 3
    python tests/bench/fit_gnomes.py make OTHERS --tables 160 --seed 600000
    python tests/bench/fit_gnomes.py fit SCENES --looks LOOKS --out vision/data/odds.json
    python tests/bench/fit_gnomes.py measure OTHERS

Tables come from companion/simulated; nothing is fitted on photographs or on the shared sessions. `fit` and `measure`
take several folders.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, replace
from itertools import pairwise
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
from vision.odds import Odds, about_candidate, about_hidden, about_lonely, combined, likelihood, tempered, untempered
from vision.readings import SURE
from vision.stage import LENGTH_PX
from vision.view import look

SHAKES = 7
CLUTTER = (0, 1, 2)
COUNTS = (0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 13, 14, 14, 15, 15)
HIDDEN_SHARE = 0.25
NEAR = 0.4  # of a length: further from its middle a candidate is another gnome
RIDGE = 0.1
FOLDS = 5
TEMPERS = tuple(np.arange(0.5, 1.51, 0.05).round(2).tolist())
REPEATS = tuple(np.arange(0.0, 1.01, 0.05).round(2).tolist())


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
    """One picture as the reader found it, beside the truth; `shake` is the same for all looks at one scene."""

    found: Found
    real: list[bool]
    lonely_real: list[bool]
    missed: int
    count: int
    table: str = ""
    shake: str = ""


def observe(folders: list[Path]) -> list[Seen]:
    """Read every shake of every table that can be calibrated."""
    seen = []
    for home in sorted(home for folder in folders for home in folder.glob("session*")):
        try:
            calibration = calibrate(pictures.load(home / "empty.png"), pictures.load(home / "calibration.png"))
        except CalibrationRefused as refused:
            print(home.name, refused.code)
            continue
        frames = json.loads((home / "labels.json").read_text())["frames"]
        for frame in frames:
            if frame["in_view"] == frame["count"] and not frame["hidden"]:
                one = _observe_one(pictures.load(home / frame["file"]), calibration, frame)
                seen.append(replace(one, table=home.name, shake=home.name + frame.get("shake", frame["file"])))
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


def fit(seen: list[Seen], looks: list[Seen]) -> Odds:
    """Fit the models on all tables; and the tempers on tables that the models have not seen."""
    tables = sorted({one.table for one in seen})
    apart: list[tuple[NDArray[np.float64], int]] = []
    for fold in range(FOLDS):
        out = set(tables[fold::FOLDS])
        models = _models([one for one in seen if one.table not in out])
        apart += [(untempered(one.found, models), one.count) for one in seen if one.table in out]
    temper = min(TEMPERS, key=lambda power: _cost([(tempered(likely, power), count) for likely, count in apart]))
    odds = replace(_models(seen), temper=temper)
    return replace(odds, repeats=_repeats(looks, odds)) if looks else odds


def _models(seen: list[Seen]) -> Odds:
    candidates = [
        (about_candidate(one, s.found), real)
        for s in seen
        for one, real in zip(s.found.candidates, s.real, strict=True)
    ]
    lonely = [
        (about_lonely(peak, s.found), so) for s in seen for peak, so in zip(s.found.lonely, s.lonely_real, strict=True)
    ]
    hidden = [(about_hidden(s.found), i < s.missed) for s in seen for i in range(len(s.found.candidates) + 1)]
    return Odds(_logistic_fit(candidates), _logistic_fit(lonely), _logistic_fit(hidden))


def _repeats(looks: list[Seen], odds: Odds) -> float:
    """How little further looks at the same scene tell."""
    scenes = [[one for one in looks if one.shake == shake] for shake in sorted({one.shake for one in looks})]
    several = [
        (np.array([tempered(untempered(one.found, odds), odds.temper) for one in scene]), scene[0].count)
        for scene in scenes
    ]

    def cost(share: float) -> float:
        return _cost([(combined(likely, share), count) for likely, count in several])

    return min(REPEATS, key=cost)


def _cost(said: list[tuple[tuple[float, ...], int]]) -> float:
    """What the true counts cost, in logs: least where the probabilities hold."""
    return -float(np.mean([np.log(likely[count]) for likely, count in said]))


def _logistic_fit(rows: list[tuple[tuple[float, ...], bool]]) -> tuple[float, ...]:
    known, so = np.array([row for row, _ in rows]), np.array([value for _, value in rows], np.float64)
    weights = np.zeros(known.shape[1])
    for _ in range(60):
        chance = 1 / (1 + np.exp(-np.clip(known @ weights, -30, 30)))
        curve = known.T @ (known * (chance * (1 - chance))[:, None]) + RIDGE * np.eye(len(weights))
        weights = weights + np.linalg.solve(curve, known.T @ (so - chance) - RIDGE * weights)
    return tuple(round(float(w), 3) for w in weights)


def report(seen: list[Seen]) -> None:
    """Print how often readings are right, whether they know it, and what further looks bring."""
    likely = np.array([likelihood(one.found) for one in seen])
    counts = np.array([one.count for one in seen])
    _say("one look", likely, counts)
    by_shake = sorted({one.shake for one in seen})
    if len(by_shake) < len(seen):
        groups = [[i for i, one in enumerate(seen) if one.shake == shake] for shake in by_shake]
        together = np.array([combined(likely[group].tolist()) for group in groups])
        _say(f"{len(groups[0])} looks", together, counts[[group[0] for group in groups]])


def _say(what: str, likely: NDArray[np.float64], counts: NDArray[np.int64]) -> None:
    right, top = likely.argmax(axis=1) == counts, likely.max(axis=1)
    sure = top >= SURE
    print(f"{what}: {len(top)} shakes, exact {right.mean():.3f}, unsure {1 - sure.mean():.3f}", end=", ")
    print(f"wrong and sure {np.count_nonzero(sure & ~right)} ({np.mean(sure & ~right):.4f}),", end=" ")
    print(f"mean error {np.abs(likely.argmax(axis=1) - counts).mean():.3f}")
    for low, high in pairwise((0, 0.5, 0.8, 0.9, SURE, 0.99, 1.01)):
        here = (top >= low) & (top < high)
        if here.any():
            said = f"  said {low:.2f} to {min(high, 1.0):.2f}: {here.sum():4} shakes"
            print(f"{said}, mean {top[here].mean():.3f}, right {right[here].mean():.3f}")


def main() -> None:
    """Do what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    rendered, fitted, measured = (commands.add_parser(name) for name in ("make", "fit", "measure"))
    rendered.add_argument("folder", type=Path)
    rendered.add_argument("--tables", type=int, default=60)
    rendered.add_argument("--seed", type=int, default=500000)
    rendered.add_argument("--looks", type=int, default=1)
    for command in (fitted, measured):
        command.add_argument("folders", type=Path, nargs="+")
    fitted.add_argument("--looks", type=Path, nargs="*", default=[], help="folders of shakes seen several times")
    fitted.add_argument("--out", type=Path, default=Path("vision/data/odds.json"))
    given = parser.parse_args()
    cv2.setNumThreads(1)
    if given.command == "make":
        make(given.folder, given.tables, given.seed, given.looks)
    elif given.command == "fit":
        given.out.write_text(fit(observe(given.folders), observe(given.looks)).dumps())
    else:
        report(observe(given.folders))


if __name__ == "__main__":
    main()
