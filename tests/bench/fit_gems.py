"""Fit the gem reader's odds and its comparison of colours on rendered tables, and measure it there.

    python -m tests.bench.fit_gems make TABLES --tables 600 --small       about 0.3 s of one core a table
    python -m tests.bench.fit_gems fit TABLES
    python -m tests.bench.fit_gems measure OTHERS --pictures 1500 --seed 700000

Tables come from companion/simulated; nothing is fitted on photographs or on the shared sessions. `measure` renders
what is missing in its folder; where its folder holds other sessions, `--pictures 0` reads those.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.simulated.gems import COLOURS, Bump, GemTable, Kind, Shot, draw_gem_table, palette_row, render, strew
from vision import gem_colours, gem_find, gem_odds, gem_view, gems, pictures
from vision.errors import CalibrationRefused
from vision.gem_calibration import GemCalibration, calibrate, stage
from vision.gem_find import Spot
from vision.gem_odds import Odds
from vision.readings import SURE

DATA = Path(__file__).parents[2] / "vision" / "data"
KINDS: tuple[Kind, ...] = ("pile", "row", "pile", "spread", "pile", "row")
SMALL_PX = (448, 336)
SMALL_KINDS: tuple[Kind, ...] = ("pile", "spread")
HIDDEN_SHARE = 0.25
NEAR = 0.6  # of a gem's width: further from its middle a spot is another gem
RIDGE = 0.3
QUALITY = 97
LAYERS = (gem_colours.INPUTS, 40, 20, 1)
STEPS, BATCH, RATE, DECAY = 4000, 128, 3e-3, 1e-4


# ---- pictures -------------------------------------------------------------------------------------------------------


def make(folder: Path, tables: int, seed: int, small: bool = False) -> None:
    """Render session folders like those that a calibrated camera sees; `small` ones show a part."""
    for number in range(seed, seed + tables):
        home = folder / f"session{number}"
        if not (home / "labels.json").exists():
            home.mkdir(parents=True, exist_ok=True)
            _make_one(home, number, small)


def _make_one(home: Path, number: int, small: bool) -> None:
    rng = np.random.default_rng([number, 6])
    table = draw_gem_table(number)
    if small:
        table = replace(table, camera=replace(table.camera, size_px=SMALL_PX), turn_rad=table.camera.roll_rad)
    kinds = SMALL_KINDS if small else KINDS
    _keep(home / "empty.jpg", render(table, [], rng))
    _keep(home / "palette.jpg", render(table, palette_row(table, rng), rng, flicker=0.02, drift=0.005))
    wobble = float(rng.choice([0.0, 0.0, rng.uniform(0.5, 8)]))
    frames = [_frame(home, table, f"gems{i:02}.jpg", kind, wobble, rng) for i, kind in enumerate(kinds)]
    (home / "labels.json").write_text(json.dumps({"wobble": wobble, "frames": frames}))


def _frame(
    home: Path, table: GemTable, name: str, kind: Kind, wobble: float, rng: np.random.Generator
) -> dict[str, object]:
    total = int(rng.integers(0, 25) if rng.random() < 0.93 else rng.integers(24, 31))
    counts = rng.multinomial(total, rng.dirichlet(np.full(len(COLOURS), 2.0)))
    laid = strew(table, dict(zip(COLOURS, (int(n) for n in counts), strict=True)), rng, kind)
    shot = render(table, laid, rng, flicker=0.03, drift=0.01, bump=Bump(wobble, 0.12 * wobble) if wobble else None)
    _keep(home / name, shot)
    return {"file": name, "kind": kind, **_label(shot)}


def _label(shot: Shot) -> dict[str, object]:
    """The truth of a picture; gems that it does not show at all are no part of it."""
    truth = shot.truth
    shown = np.flatnonzero(truth.visible_px > 0)
    usual = float(np.median(truth.visible_px[shown])) if len(shown) else 0.0
    names = [truth.colours[i] for i in shown]
    return {
        "total": len(shown),
        "by_colour": {name: names.count(name) for name in COLOURS},
        "centres": [[float(x), float(y), truth.colours[i]] for i in shown for x, y in truth.centres_px[i : i + 1]],
        "visible_px": [int(truth.visible_px[i]) for i in shown],
        "hidden": int((truth.visible_px[shown] < HIDDEN_SHARE * usual).sum()),
    }


def _keep(path: Path, shot: Shot) -> None:
    cv2.imwrite(str(path), shot.picture, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])


def _sessions(folder: Path, first: int = 0, most: int | None = None) -> Iterator[tuple[Path, GemCalibration | None]]:
    """Each session folder with its calibration, or None where that is refused."""
    for home in sorted(folder.glob("session*"))[first:most]:
        try:
            yield home, calibrate(pictures.load(home / "empty.jpg"), pictures.load(home / "palette.jpg"))
        except CalibrationRefused as refused:
            print(home.name, refused.code, {k: v for k, v in refused.values.items() if k != "outlines"}, flush=True)
            yield home, None


def _scored(home: Path) -> list[dict[str, Any]]:
    frames: list[dict[str, Any]] = json.loads((home / "labels.json").read_text())["frames"]
    return [frame for frame in frames if not frame["hidden"]]


# ---- fitting --------------------------------------------------------------------------------------------------------


@dataclass
class Seen:
    """One picture as the reader found it, beside the truth: -1 for a spot that is no gem, else its colour's number."""

    table: int
    spots: list[Spot]
    looks: NDArray[np.float32]
    palette: NDArray[np.float32]
    colours: NDArray[np.intp]
    missed: int


def observe(folder: Path) -> list[Seen]:
    """Look at every picture of every table that can be calibrated."""
    seen = []
    for number, (home, calibration) in enumerate(_sessions(folder)):
        if calibration:
            seen += [_observe_one(home, calibration, frame, number) for frame in _scored(home)]
    return seen


def _observe_one(home: Path, calibration: GemCalibration, frame: dict[str, Any], number: int) -> Seen:
    view = gem_view.look(pictures.load(home / frame["file"]), stage(calibration))
    spots = gem_find.find(view)
    looks = np.array([gem_colours.look_of(s.pixels, s.light) for s in spots], np.float32).reshape(-1, gem_colours.LOOK)
    truth = np.array([[x, y] for x, y, _ in frame["centres"]], np.float64).reshape(-1, 1, 2)
    places = cv2.perspectiveTransform(truth, np.linalg.inv(view.to_frame))[:, 0] if len(truth) else truth[:, 0]
    which = _matched(np.array([(s.x, s.y) for s in spots], np.float64).reshape(-1, 2), places)
    names = [COLOURS.index(name) for _, _, name in frame["centres"]]
    colours = np.array([names[gem] if gem >= 0 else -1 for gem in which], np.intp)
    palette = np.broadcast_to(calibration.looks, (len(spots), *calibration.looks.shape))
    return Seen(number, spots, looks, palette, colours, len(names) - int((colours >= 0).sum()))


def _matched(spots: NDArray[np.float64], gems_at: NDArray[np.float64]) -> list[int]:
    """The gem that each spot is, nearest pairs first; -1 for none."""
    apart = np.linalg.norm(spots[:, None] - gems_at[None], axis=2)
    which = [-1] * len(spots)
    while apart.size and apart.min() < NEAR * gem_view.ACROSS_PX:
        spot, gem = np.unravel_index(int(apart.argmin()), apart.shape)
        which[int(spot)] = int(gem)
        apart[spot, :] = apart[:, gem] = np.inf
    return which


def fit(seen: list[Seen]) -> tuple[gem_colours.Weights, Odds]:
    """Fit the comparison of colours on two thirds of the tables, the odds of whole readings on the others."""
    others = [one for one in seen if not one.table % 3]
    weights = cooled(fit_colours([one for one in seen if one.table % 3]), others)
    spots = [(gem_odds.about_spot(s), c >= 0) for one in seen for s, c in zip(one.spots, one.colours, strict=True)]
    hidden = [(gem_odds.about_hidden(one.spots), i < one.missed) for one in seen for i in range(len(one.spots))]
    odds = Odds(_logistic_fit(spots), _logistic_fit(hidden), (0.0, 1.0, 0.0))
    whole = [_whole(one, weights, odds) for one in others]
    return weights, Odds(odds.spot, odds.hidden, _logistic_fit(whole))


def _whole(one: Seen, weights: gem_colours.Weights, odds: Odds) -> tuple[tuple[float, ...], bool]:
    chances = _chances(weights, one.looks, one.palette)
    about = np.array([gem_odds.about_spot(s) for s in one.spots]).reshape(-1, len(odds.spot))
    real = 1 / (1 + np.exp(-np.clip(about @ odds.spot, -12, 12)))
    hidden = float(1 / (1 + np.exp(-np.dot(odds.hidden, gem_odds.about_hidden(one.spots)))))
    counted = np.bincount(chances.argmax(axis=1)[real > 0.5], minlength=len(COLOURS))
    truth = np.bincount(one.colours[one.colours >= 0], minlength=len(COLOURS))
    right = bool((counted == truth).all()) and not one.missed
    return gem_odds.about_whole(*gem_odds.all_right(real, chances, hidden)), right


def _chances(
    weights: gem_colours.Weights, looks: NDArray[np.float32], palette: NDArray[np.float32]
) -> NDArray[np.float64]:
    shown = gem_colours.compared(looks, palette)
    odds = gem_colours.scores(weights, shown.reshape(-1, gem_colours.INPUTS)).reshape(palette.shape[:2])
    weight = np.exp((odds - odds.max(axis=1, keepdims=True, initial=-np.inf)).astype(np.float64))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def _gems(seen: list[Seen]) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.intp]]:
    """All gems of some pictures: their looks, their palettes, their colours."""
    return (
        np.concatenate([one.looks[one.colours >= 0] for one in seen]),
        np.concatenate([one.palette[one.colours >= 0] for one in seen]),
        np.concatenate([one.colours[one.colours >= 0] for one in seen]),
    )


def cooled(weights: gem_colours.Weights, others: list[Seen]) -> gem_colours.Weights:
    """Weigh the comparison's log odds so that they hold on tables that it was not fitted on."""
    looks, palette, truth = _gems(others)
    *hidden, (last, more) = weights
    tried = [(*hidden, (last * np.float32(share), more * np.float32(share))) for share in np.linspace(0.3, 1.5, 25)]

    def surprise(one: gem_colours.Weights) -> float:
        return float(-np.log(np.maximum(_chances(one, looks, palette)[np.arange(len(truth)), truth], 1e-9)).mean())

    return min(tried, key=surprise)


def fit_colours(seen: list[Seen]) -> gem_colours.Weights:
    """Train the comparison of gems with palette gems: Adam on cross entropy, a rate that falls to nothing."""
    looks, palette, truth = _gems(seen)
    rng = np.random.default_rng(1)
    values = [
        v.astype(np.float32) for a, b in pairwise(LAYERS) for v in (rng.normal(0, np.sqrt(2 / a), (a, b)), np.zeros(b))
    ]
    mean, square = ([np.zeros_like(v) for v in values] for _ in range(2))
    for step in range(1, STEPS + 1):
        some = rng.integers(len(truth), size=BATCH)
        rate = RATE * 0.5 * (1 + np.cos(np.pi * step / STEPS))
        for i, slope in enumerate(
            _slopes(values, gem_colours.compared(*_varied(looks[some], palette[some], rng)), truth[some])
        ):
            mean[i] += 0.1 * (slope - mean[i])
            square[i] += 0.001 * (slope * slope - square[i])
            step_size = mean[i] / (1 - 0.9**step) / (np.sqrt(square[i] / (1 - 0.999**step)) + 1e-8)
            values[i] -= np.float32(rate) * (step_size + DECAY * values[i])
    return tuple(zip(values[::2], values[1::2], strict=True))


def _varied(
    looks: NDArray[np.float32], palette: NDArray[np.float32], rng: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The same gems on a ground of another paint, in light that is known less well, by another camera."""
    n = len(looks)
    ours, theirs = (part.reshape(n, -1, gem_colours.SLICES, 6).copy() for part in (looks, palette))
    ground = rng.normal(0, 0.2, (n, 1, 1, 1)) + rng.normal(0, 0.06, (n, 1, 1, 3))
    light = rng.normal(0, 0.03, (n, 1, 1, 1)) + rng.normal(0, 0.015, (n, 1, 1, 3))
    white = rng.uniform(0.9, 1.02, (n, 1, 1, 3))
    ours[..., :3] += ground + light
    theirs[..., :3] += ground
    ours[..., 3:] *= white
    theirs[..., 3:] *= white
    return ours.reshape(looks.shape), theirs.reshape(palette.shape)


def _slopes(
    values: Sequence[NDArray[np.float32]], shown: NDArray[np.float32], truth: NDArray[np.intp]
) -> list[NDArray[np.float32]]:
    """The derivatives of the mean cross entropy by each layer's matrix and what is added."""
    layers = [shown.reshape(-1, shown.shape[-1])]
    for matrix, more in zip(values[:-2:2], values[1:-2:2], strict=True):
        layers.append(np.maximum(layers[-1] @ matrix + more, 0))
    odds = (layers[-1] @ values[-2] + values[-1]).reshape(len(truth), -1)
    weight = np.exp(odds - odds.max(axis=1, keepdims=True))
    error = weight / weight.sum(axis=1, keepdims=True)
    error[np.arange(len(truth)), truth] -= 1
    back = (error / len(truth)).reshape(-1, 1)
    slopes: list[NDArray[np.float32]] = []
    for i in range(len(layers) - 1, -1, -1):
        slopes = [layers[i].T @ back, back.sum(axis=0), *slopes]
        if i:
            back = (back @ values[2 * i].T) * (layers[i] > 0)
    return slopes


def _logistic_fit(rows: list[tuple[tuple[float, ...], bool]]) -> tuple[float, ...]:
    known, so = np.array([row for row, _ in rows]), np.array([value for _, value in rows], np.float64)
    weights = np.zeros(known.shape[1])
    for _ in range(60):
        chance = 1 / (1 + np.exp(-np.clip(known @ weights, -30, 30)))
        curve = known.T @ (known * (chance * (1 - chance))[:, None]) + RIDGE * np.eye(len(weights))
        weights = weights + np.linalg.solve(curve, known.T @ (so - chance) - RIDGE * weights)
    return tuple(round(float(w), 3) for w in weights)


def write(weights: gem_colours.Weights, odds: Odds) -> None:
    """Put what was fitted where the reader finds it."""
    arrays = {
        f"{name}{i}": part
        for i, pair in enumerate(weights)
        for name, part in zip(("matrix", "more"), pair, strict=True)
    }
    with open(DATA / "gems_colours.npz", "wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)
    (DATA / "gems.json").write_text(odds.dumps())


# ---- measuring ------------------------------------------------------------------------------------------------------


@dataclass
class Read:
    """One picture as it was read."""

    name: str
    kind: str
    right: bool
    off: int
    confidence: float
    ms: float
    told: str


def measure(folder: Path, first: int, most: int | None) -> list[Read]:
    """Read every picture of every session from its file on; a refused calibration leaves its pictures out."""
    read = []
    for home, calibration in _sessions(folder, first, most):
        if calibration:
            gems.read(calibration.empty, calibration)  # what is made once a table is not the first picture's time
            read += [_read_one(home, calibration, frame) for frame in _scored(home)]
    return read


def _read_one(home: Path, calibration: GemCalibration, frame: dict[str, Any]) -> Read:
    data = (home / frame["file"]).read_bytes()
    start = time.thread_time()
    reading = gems.read(pictures.decode(data), calibration)
    ms = 1000 * (time.thread_time() - start)
    truth = frame["by_colour"]
    wrong = {c: f"{truth[c]}>{n}" for c, n in reading.by_colour.items() if n != truth[c]}
    off = sum(abs(n - truth[c]) for c, n in reading.by_colour.items())
    return Read(f"{home.name}/{frame['file']}", frame["kind"], not off, off, reading.confidence, ms, str(wrong))


def report(read: list[Read], wrong: bool) -> None:
    """Print how often readings are right, and whether they know it."""
    right, sure = np.array([r.right for r in read]), np.array([r.confidence >= SURE for r in read])
    ms = [r.ms for r in read]
    print(f"{len(read)} pictures, exact {right.mean():.4f}, unsure {1 - sure.mean():.4f}", end=", ")
    print(f"wrong and sure {np.mean(sure & ~right):.4f} ({(sure & ~right).sum()})", end=", ")
    print(f"MAE {np.mean([r.off for r in read]):.3f}, CPU ms {np.median(ms):.1f} p95 {np.quantile(ms, 0.95):.1f}")
    for kind in sorted({r.kind for r in read}):
        here = np.array([r.kind == kind for r in read])
        print(f"  {kind:7} {here.sum():5} exact {right[here].mean():.4f} unsure {1 - sure[here].mean():.4f}")
    said = np.array([r.confidence for r in read])
    for low, high in ((0, 0.5), (0.5, 0.8), (0.8, 0.9), (0.9, 0.97), (0.97, 0.99), (0.99, 1.01)):
        here = (said >= low) & (said < high)
        if here.any():
            print(f"  said {low:.2f} to {high:.2f}: {here.sum():5}, mean {said[here].mean():.3f}", end=", ")
            print(f"right {right[here].mean():.3f}")
    if wrong:
        for r in read:
            if not r.right:
                print("  ", r.name, r.kind, round(r.confidence, 3), r.told)


def main() -> None:
    """Do what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("make", "fit", "measure"):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        if name != "fit":
            command.add_argument("--seed", type=int, default=500000 if name == "make" else 700000)
        if name == "make":
            command.add_argument("--tables", type=int, default=60)
            command.add_argument("--small", action="store_true", help="small pictures, for fitting")
        if name == "measure":
            command.add_argument("--pictures", type=int, default=300, help="how many to render, if they are not there")
            command.add_argument("--wrong", action="store_true", help="list what was misread")
            command.add_argument("--part", type=int, nargs=2, default=(0, None), help="only sessions from, to")
    given = parser.parse_args()
    cv2.setNumThreads(1)
    if given.command == "make":
        make(given.folder, given.tables, given.seed, given.small)
    elif given.command == "fit":
        write(*fit(observe(given.folder)))
    else:
        make(given.folder, -(-given.pictures // len(KINDS)), given.seed)
        report(measure(given.folder, *given.part), given.wrong)


if __name__ == "__main__":
    main()
