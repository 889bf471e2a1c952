"""Fit the odds of the gnome reader on rendered tables, and measure it there.

    python tests/bench/fit_gnomes.py make SCENES --tables 60 --seed 500000     about 3 s of one core a table
    python tests/bench/fit_gnomes.py fit SCENES --out vision/data/odds.json
    python tests/bench/fit_gnomes.py measure SCENES

Tables come from companion/simulated; nothing is fitted on photographs or on the shared sessions.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import cv2
import numpy as np

from companion.simulated.pawns import Bump, Gnome, apart, draw_table, render, shake

SHAKES = 7
COUNTS = (0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 13, 14, 14, 15, 15)
HIDDEN_SHARE = 0.25


def make(folder: Path, tables: int, seed: int) -> None:
    """Render session folders like those that a calibrated camera sees."""
    for number in range(seed, seed + tables):
        home = folder / f"session{number}"
        if (home / "labels.json").exists():
            continue
        home.mkdir(parents=True, exist_ok=True)
        _make_one(home, number)


def _make_one(home: Path, number: int) -> None:
    rng = np.random.default_rng([number, 5])
    table = draw_table(number)
    cv2.imwrite(str(home / "empty.png"), render(table, [], rng).picture)
    cv2.imwrite(str(home / "calibration.png"), render(table, apart(table, rng), rng, flicker=0.03).picture)
    clutter, bumped = int(rng.integers(0, 3)), rng.random() < 0.4
    frames = [_shake(home, table, f"shake{i:02}.png", rng, clutter, bumped) for i in range(SHAKES)]
    (home / "labels.json").write_text(json.dumps({"clutter": clutter, "frames": frames}))


def _shake(home: Path, table, name: str, rng: np.random.Generator, clutter: int, bumped: bool) -> dict[str, object]:  # type: ignore[no-untyped-def]
    names = [colour for colour, _ in table.palette for _ in range(5)]
    rng.shuffle(names)
    count = int(rng.choice(COUNTS))
    gnomes: list[Gnome] = shake(table, names[:count], rng, spill=0.04)
    bump = Bump(float(rng.uniform(2, 12)), 1.0) if bumped else None
    shot = render(table, gnomes, rng, clutter=clutter, flicker=0.04, bump=bump)
    cv2.imwrite(str(home / name), shot.picture)
    visible = shot.truth.visible_px
    typical = float(np.median(visible)) if len(visible) else 0.0
    height, width = shot.picture.shape[:2]
    within = ((shot.truth.centres_px >= 0) & (shot.truth.centres_px < (width, height))).all(axis=1)
    places = [[float(x), float(y), c] for (x, y), c in zip(shot.truth.centres_px, shot.truth.colours, strict=True)]
    return {
        "file": name,
        "role": "shake",
        "count": len(gnomes),
        "in_view": int(within.sum()),
        "hidden": int((visible < HIDDEN_SHARE * typical).sum()),
        "centres": places,
        "visible_px": [int(v) for v in visible],
    }


def main() -> None:
    """Do what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("make")
    command.add_argument("folder", type=Path)
    command.add_argument("--tables", type=int, default=60)
    command.add_argument("--seed", type=int, default=500000)
    given = parser.parse_args()
    cv2.setNumThreads(1)
    make(given.folder, given.tables, given.seed)


if __name__ == "__main__":
    main()
