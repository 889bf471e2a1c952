"""Train the nets of the market reader on rendered boards, and measure it there.

    python -m tests.bench.fit_market make DIR --pictures 600 --seed 700000 [--crowd]
    python -m tests.bench.fit_market fit DIR --hold DIR2 [--out vision/data/market.npz]
    python -m tests.bench.fit_market measure DIR

Boards come from companion/simulated; nothing is fitted on the shared sessions. `make` takes about half a second of one
core a picture and writes session folders as tests/bench/read_tables.py reads them; with --crowd boards stand full of
markers of any paint. `fit` trains on DIR, crowded or not, and fits on DIR2, not crowded, how sure the nets may be.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.simulated.market import (
    Bump,
    Cube,
    Marker,
    Market,
    crowded,
    draw_make,
    draw_market,
    labels_of,
    layout,
    render,
    set_up,
)
from tests.bench.scores import Answer, Score, reliability
from vision import market, market_net, market_view, pictures
from vision.errors import VisionError
from vision.market_calibration import MarketCalibration, calibrate, places_mm
from vision.market_layout import Layout
from vision.market_net import NETS, Fitted, Net
from vision.market_view import SIDE, View
from vision.readings import SURE

EACH = 6
HIDDEN = {"covered": 24, "sold": 16}
STEPS = {"covered": 4000, "sold": 2500}
STEPS_OF_NEWTON = 40
LARGEST = 30.0
RIDGE = 0.01
LOOKS = 4  # at each piece, from places a little beside its own, as if it stood astray
ASTRAY_MM = 1.0
SOME_CELLS = 0.25  # of the free cells, on which no cube lies
CONTRASTS = (0.6, 1.2)
BATCH = 256
RATE = 2e-3
DECAY = 1e-4
MOMENTA = (0.9, 0.999)

Floats = NDArray[np.float32]
Numbers = NDArray[np.float64]
Flags = NDArray[np.bool_]


def make(folder: Path, count: int, seed: int, crowd: bool) -> None:
    """Render session folders of EACH pictures and a reference; with a `crowd` of markers, to learn from."""
    for number in range(seed, seed + -(-count // EACH)):
        home = folder / f"session{number}"
        if not (home / "labels.json").exists():
            home.mkdir(parents=True, exist_ok=True)
            _make_one(home, number, crowd)


def _make_one(home: Path, number: int, crowd: bool) -> None:
    rng = np.random.default_rng([number, 95])
    drawn = draw_market(number)
    raw, jpeg = replace(drawn, lens=replace(drawn.lens, jpeg=100)), drawn.lens.jpeg
    _write(home / "reference.jpg", render(raw, [], [], rng), jpeg)
    (home / "layout.json").write_text(json.dumps(layout(raw, rng)))
    bumped = rng.random() < 0.6
    frames = [_frame(home / f"market{i:02}.jpg", raw, jpeg, bumped, crowd, rng) for i in range(EACH)]
    (home / "labels.json").write_text(json.dumps({"session": home.name, "noise": raw.lens.noise, "frames": frames}))


def _frame(
    path: Path, raw: Market, jpeg: int, bumped: bool, crowd: bool, rng: np.random.Generator
) -> dict[str, object]:
    raw = replace(raw, make=draw_make(rng)) if crowd else raw
    markers, cubes = (crowded if crowd else set_up)(raw, rng)
    bump = Bump(float(rng.uniform(1, 10)), 1.0) if bumped else None
    _write(path, render(raw, markers, cubes, rng, flicker=0.05, bump=bump), jpeg)
    truth = _pieces(raw, markers, cubes)
    return {"file": path.name, "pieces": truth} | ({} if crowd else {"market": labels_of(raw, markers, cubes)})


def _pieces(raw: Market, markers: list[Marker], cubes: list[Cube]) -> dict[str, dict[str, bool | None]]:
    """What stands on each ladder's cells: a marker, with its cross up or not, or a cube (None)."""
    found: dict[str, dict[str, bool | None]] = {}
    for piece in (*markers, *cubes):
        name = f"{raw.board.ladders[piece.column].name}.{piece.ladder}"
        shows = piece.ink is not None if isinstance(piece, Marker) else None
        found.setdefault(name, {})[str(piece.cell)] = shows
    return found


def _write(path: Path, picture: pictures.Picture, jpeg: int) -> None:
    cv2.imwrite(str(path), picture, [cv2.IMWRITE_JPEG_QUALITY, jpeg])


@dataclass
class Samples:
    """Patches of one net and what they show."""

    patches: list[Floats] = field(default_factory=list)
    so: list[bool] = field(default_factory=list)

    def add(self, patches: Floats, so: list[bool]) -> None:
        """Add some patches (n x m)."""
        self.patches.append(patches.astype(np.float16))
        self.so += so

    def arrays(self) -> tuple[Floats, Flags]:
        """Return all of them."""
        return np.concatenate(self.patches), np.array(self.so)


def sessions(folder: Path) -> Iterator[tuple[str, MarketCalibration, list[dict[str, Any]]]]:
    """Calibrate each session folder; say which refuse."""
    for home in (path.parent for path in sorted(folder.glob("session*/labels.json"))):
        try:
            board = calibrate(pictures.load(home / "reference.jpg"), Layout.load(home / "layout.json"))
        except VisionError as refused:
            print(home.name, refused)
            continue
        yield str(home), board, json.loads((home / "labels.json").read_text())["frames"]


def observe(folder: Path) -> dict[str, Samples]:
    """Take all patches of all pictures."""
    found, rng = {name: Samples() for name in NETS}, np.random.default_rng(3)
    for home, board, frames in sessions(folder):
        for frame in frames:
            view = market_view.look(pictures.load(Path(home) / frame["file"]), board)
            _take(view, frame["pieces"], found, rng)
    return found


def _take(
    view: View, pieces: dict[str, dict[str, bool | None]], found: dict[str, Samples], rng: np.random.Generator
) -> None:
    for name, places in places_mm(view.stage.calibration.layout).items():
        here = {int(cell): shows for cell, shows in pieces.get(name, {}).items()}
        free = [cell for cell in range(len(places)) if cell not in here]
        if not name.endswith(".sold"):
            found["covered"].add(market_view.marker_patches(view, places[free]), [False] * len(free))
        for cell in free:
            if name.endswith(".sold") or rng.random() < SOME_CELLS:
                found["sold"].add(market_view.cube_patches(view, _around(places[[cell]], rng)), [False] * LOOKS)
        for cell, crossed in here.items():
            around = _around(places[[cell]], rng)
            if crossed is None:
                found["sold"].add(market_view.cube_patches(view, around), [True] * LOOKS)
            else:
                found["covered"].add(market_view.marker_patches(view, around), [True] * LOOKS)
                found["crossed"].add(market_view.faces(view, around), [crossed] * LOOKS)


def _around(place: Numbers, rng: np.random.Generator) -> Numbers:
    """The place itself (1 x 2), and some beside it."""
    beside: Numbers = place + rng.normal(0, ASTRAY_MM, (LOOKS - 1, 2))
    return np.concatenate([place, beside])


def trained(name: str, samples: Samples) -> Net:
    """Train one net; what is known of a face is so telling that a line does for crosses."""
    return _line(samples) if name == "crossed" else _by_adam(name, samples)


def _line(samples: Samples) -> Net:
    """A logistic model, written as a net of two opposite units."""
    known, so = samples.arrays()
    inputs = np.column_stack([np.ones(len(so)), known.astype(np.float64)])
    weights = logistic(inputs, so, np.zeros(inputs.shape[1]), RIDGE)
    inward = np.column_stack([weights[1:], -weights[1:]]).astype(np.float32)
    outward = np.array([1.0, -1.0], np.float32) / np.float32(1 + market_net.LEAKS)
    return Net(inward, np.zeros(2, np.float32), outward, float(weights[0]))


def _by_adam(name: str, samples: Samples) -> Net:
    """Train a net by Adam (Kingma and Ba 2015) on the logistic loss."""
    patches, so = samples.arrays()
    rng, hidden = np.random.default_rng(7), HIDDEN[name]
    inputs = patches.shape[1]
    weights = [
        rng.normal(0, np.sqrt(2 / inputs), (inputs, hidden)),
        np.zeros(hidden),
        rng.normal(0, np.sqrt(2 / hidden), hidden),
        np.zeros(1),
    ]
    weights = [w.astype(np.float32) for w in weights]
    first, second = ([np.zeros_like(w) for w in weights] for _ in range(2))
    for step in range(1, STEPS[name] + 1):
        at = rng.integers(len(so), size=BATCH)
        slopes = _slopes(weights, _turned(patches[at].astype(np.float32), rng), so[at].astype(np.float32))
        rate = RATE * (1 - step / (STEPS[name] + 1)) * np.sqrt(1 - MOMENTA[1] ** step) / (1 - MOMENTA[0] ** step)
        for w, slope, m, v in zip(weights, slopes, first, second, strict=True):
            m += (1 - MOMENTA[0]) * (slope - m)
            v += (1 - MOMENTA[1]) * (slope * slope - v)
            w -= np.float32(rate) * (m / (np.sqrt(v) + 1e-8)) + np.float32(RATE * DECAY) * w
    return Net(weights[0], weights[1], weights[2], float(weights[3][0]))


def _slopes(weights: list[Floats], patches: Floats, so: Floats) -> list[Floats]:
    inward, bias, outward, offset = weights
    hidden = patches @ inward + bias
    alive = np.where(hidden > 0, 1.0, market_net.LEAKS).astype(np.float32)
    hidden *= alive
    off = (1 / (1 + np.exp(-(hidden @ outward + offset))) - so) / len(so)
    back = off[:, None] * outward * alive
    return [patches.T @ back, back.sum(axis=0), hidden.T @ off, off.sum(keepdims=True)]


def _turned(patches: Floats, rng: np.random.Generator) -> Floats:
    """Show a batch as the world might: news mirrored about the line from the camera, in any contrast."""
    square = patches.reshape(len(patches), SIDE, SIDE, -1)
    if rng.random() < 0.5:
        square = square[:, ::-1]
    contrast = rng.uniform(*CONTRASTS, (len(patches), 1)).astype(np.float32)
    return np.ascontiguousarray(square).reshape(len(patches), -1) * contrast


def cooled(net: Net, samples: Samples) -> float:
    """Return by what a net's log odds must be divided to hold on samples that it was not trained on."""
    patches, so = samples.arrays()
    odds = net.log_odds(patches.astype(np.float32))
    return float(min(np.geomspace(0.5, 5, 60), key=lambda t: np.logaddexp(0, np.where(so, -odds, odds) / t).mean()))


@dataclass(frozen=True)
class Seen:
    """One picture: what `market.log_right` says, whether all of it is right, and what is not."""

    picture: str
    log_odds: float
    right: bool
    says: str
    ms: float


def read_all(folder: Path, nets: Fitted) -> list[Seen]:
    """Read every picture."""
    found = []
    for home, board, frames in sessions(folder):
        market_view.stage(board)
        for frame in frames:
            data = (Path(home) / frame["file"]).read_bytes()
            began = time.thread_time()
            view = market_view.look(pictures.decode(data), board)
            resources, log_odds = market.resources(view, nets)
            ms = 1000 * (time.thread_time() - began)
            said = market.as_labels_of(resources, board.layout)
            differs = [
                f"{name}.{key} {was}>{said[name][key]}"
                for name, one in frame["market"].items()
                for key, was in one.items()
                if said[name][key] != was
            ]
            found.append(Seen(f"{Path(home).name}/{frame['file']}", log_odds, not differs, " ".join(differs), ms))
    return found


def line_through(seen: list[Seen]) -> tuple[float, float]:
    """Fit the line that makes the log odds of whole pictures true, not far from the one that leaves them."""
    known = np.array([(1.0, s.log_odds) for s in seen])
    offset, slope = logistic(known, np.array([s.right for s in seen]), np.array([0.0, 1.0]), 1.0)
    return float(offset), float(slope)


def logistic(known: Numbers, so: Flags, usual: Numbers, stiff: float) -> Numbers:
    """Fit weights of a logistic model (n x m known) by Newton's steps, held near the usual ones."""
    weights = usual.copy()
    for _ in range(STEPS_OF_NEWTON):
        chance = 1 / (1 + np.exp(-np.clip(known @ weights, -LARGEST, LARGEST)))
        curve = known.T @ (known * (chance * (1 - chance))[:, None]) + stiff * np.eye(len(usual))
        weights = weights + np.linalg.solve(curve, known.T @ (so - chance) - stiff * (weights - usual))
    return weights


def fit(folder: Path, hold: Path) -> Fitted:
    """Train on one folder, and fit how sure to be on another."""
    samples = observe(folder)
    nets = tuple(trained(name, samples.pop(name)) for name in NETS)
    held = observe(hold)
    cool = tuple(cooled(net, held.pop(name)) for name, net in zip(NETS, nets, strict=True))
    found = market_net.loads(Fitted(nets, cool, (0.0, 1.0)).dumps())
    return replace(found, whole=line_through(read_all(hold, found)))


def report(folder: Path, nets: Fitted) -> None:
    """Print how often readings are right, and whether they know it."""
    seen = read_all(folder, nets)
    score = Score([Answer(s.picture, s.right, 0.0, market.confidence(s.log_odds, nets), s.ms, s.says) for s in seen])
    print(score.line(f"market, sure from {SURE}"))
    print("\n".join([*score.wrong(), *reliability(score)]))


def main() -> None:
    """Do what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("make", "fit", "measure"):
        command = commands.add_parser(name)
        command.add_argument("folder", type=Path)
        command.add_argument("--pictures", type=int, default=600)
        command.add_argument("--seed", type=int, default=700000)
        command.add_argument("--crowd", action="store_true")
        command.add_argument("--hold", type=Path)
        command.add_argument("--out", type=Path, default=Path("vision/data/market.npz"))
    given = parser.parse_args()
    cv2.setNumThreads(1)
    if given.command == "make":
        make(given.folder, given.pictures, given.seed, given.crowd)
    elif given.command == "fit":
        nets = fit(given.folder, given.hold)
        given.out.write_bytes(nets.dumps())
        print(nets.temperatures, nets.whole)
        report(given.hold, nets)
    else:
        report(given.folder, market_net.fitted())


if __name__ == "__main__":
    main()
