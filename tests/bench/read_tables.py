"""Measure a reader on session folders with labels, beside two peers and the least that any reader must do.

    python -m tests.bench.read_tables gnomes|gems|market FOLDER [--wrong] [--memory]

FOLDER holds session folders: real ones, or those that `fit_gnomes`, `fit_gems` and `fit_market` render. One thread;
the time of a picture is the wall time of the whole call with decoding; all methods see the same pictures one after the
other in the same run. Pictures in which a piece shows less than a quarter are counted apart, those with a piece out of
view not at all. `sure` uses one threshold for all readers, which is printed. Nothing is fitted here, and nothing that
ships was fitted on real sessions, so each session is one that was left out.
"""

from __future__ import annotations

import argparse
import json
import resource
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2

from tests.bench import peers
from tests.bench.scores import Answer, Score, reliability, together
from vision import gem_calibration, gems, gnomes, market, market_calibration, pictures
from vision.calibration import calibrate as calibrate_gnomes
from vision.errors import VisionError
from vision.market_layout import Layout
from vision.pictures import Picture
from vision.readings import SURE

Frame = Mapping[str, Any]
Said = tuple[bool, float, float, str]
"""Whether it is right, how far off, with what confidence, and truth and answer in words."""
COUNTS = ("watershed tutorial", "background difference")


@dataclass(frozen=True)
class Kind:
    """How one sort of session is read: its reference, the picture with a known number of things, reader and truth."""

    reference: str
    known: str
    things: int
    reader: Callable[[Path], Callable[[Picture, Frame], Said]]
    scored: Callable[[Frame], bool]
    counted: Callable[[Frame], int]


@dataclass
class Session:
    """What all methods did on one session; `hidden` are our answers on pictures with a hidden piece."""

    ours: Score = field(default_factory=Score)
    hidden: Score = field(default_factory=Score)
    peers: dict[str, Score] = field(default_factory=lambda: {name: Score() for name in COUNTS})
    floor_ms: list[float] = field(default_factory=list)


def read_gnomes(folder: Path) -> Callable[[Picture, Frame], Said]:
    """Calibrate a gnome session and return its reader."""
    table = calibrate_gnomes(_load(folder, "empty"), _load(folder, "calibration"))

    def read(picture: Picture, frame: Frame) -> Said:
        reading, truth = gnomes.read(picture, table), int(frame["count"])
        return reading.count == truth, abs(reading.count - truth), reading.confidence, f"{truth}>{reading.count}"

    return read


def read_gems(folder: Path) -> Callable[[Picture, Frame], Said]:
    """Calibrate a gem session and return its reader."""
    table = gem_calibration.calibrate(_load(folder, "empty"), _load(folder, "palette"))

    def read(picture: Picture, frame: Frame) -> Said:
        reading, truth = gems.read(picture, table), frame["by_colour"]
        differs = {c: (n, reading.by_colour.get(c, 0)) for c, n in truth.items() if reading.by_colour.get(c, 0) != n}
        off = sum(abs(was - said) for was, said in differs.values())
        says = " ".join(f"{colour} {was}>{said}" for colour, (was, said) in differs.items())
        return not differs, off, reading.confidence, says

    return read


def read_market(folder: Path) -> Callable[[Picture, Frame], Said]:
    """Calibrate a market session and return its reader."""
    layout = Layout.load(folder / "layout.json")
    board = market_calibration.calibrate(_load(folder, "reference"), layout)

    def read(picture: Picture, frame: Frame) -> Said:
        reading = market.read(picture, board)
        said = market.as_labels(reading, layout)
        differs = [
            f"{name}.{key} {was}>{said[name][key]}"
            for name, one in frame["market"].items()
            for key, was in one.items()
            if said[name][key] != was
        ]
        return not differs, len(differs), reading.confidence, " ".join(differs)

    return read


def _gems_seen(frame: Frame) -> int:
    return int(frame["total"])


def _market_things(frame: Frame) -> int:
    return 14 + sum(bool(one["sold"]) for one in frame["market"].values())


KINDS = {
    "gnomes": Kind(
        "empty", "calibration", 15, read_gnomes, lambda f: f["in_view"] == f["count"], lambda f: int(f["count"])
    ),
    "gems": Kind("empty", "palette", 6, read_gems, lambda f: True, _gems_seen),
    "market": Kind("reference", "market00", 14, read_market, lambda f: True, _market_things),
}


def measure(kind: Kind, folder: Path) -> Session:
    """Read one session with every method, picture by picture in turn."""
    frames = [
        f for f in json.loads((folder / "labels.json").read_text())["frames"] if f.get("role", "shake") == "shake"
    ]
    empty, known = _load(folder, kind.reference), _load(folder, kind.known)
    brighter, area = peers.things_are_brighter(empty, known), peers.thing_area_px(empty, known, kind.things)
    found, read = Session(), kind.reader(folder)
    read(empty, frames[0])  # what is made ready once a table is not a picture's time
    for frame in (f for f in frames if kind.scored(f)):
        name, data = f"{folder.name}/{frame['file']}", (folder / frame["file"]).read_bytes()
        (found.hidden if frame.get("hidden") else found.ours).answers.append(_ours(name, data, frame, read))
        if not frame.get("hidden"):
            _peer(found.peers[COUNTS[0]], name, data, kind.counted(frame), lambda p: peers.watershed(p, brighter))
            _peer(found.peers[COUNTS[1]], name, data, kind.counted(frame), lambda p: peers.difference(p, empty, area))
            began = time.perf_counter()
            peers.floor(pictures.decode(data), empty)
            found.floor_ms.append(1000 * (time.perf_counter() - began))
    return found


def _ours(name: str, data: bytes, frame: Frame, read: Callable[[Picture, Frame], Said]) -> Answer:
    began = time.perf_counter()
    try:
        right, off, confidence, says = read(pictures.decode(data), frame)
    except VisionError as refused:
        right, off, confidence, says = False, 0.0, 0.0, f"refused: {refused.code}"
    return Answer(name, right, off, confidence, 1000 * (time.perf_counter() - began), says)


def _peer(score: Score, name: str, data: bytes, truth: int, count: Callable[[Picture], int]) -> None:
    began = time.perf_counter()
    said = count(pictures.decode(data))
    took = 1000 * (time.perf_counter() - began)
    score.answers.append(Answer(name, said == truth, abs(said - truth), 1.0, took, f"{truth}>{said}"))


def _load(folder: Path, name: str) -> Picture:
    return pictures.load(next(folder.glob(f"{name}.*g")))


def report(sessions: Mapping[str, Session], wrong: bool) -> None:
    """Print every session, then all of them."""
    for name, session in sessions.items():
        print(session.ours.line(name))
    ours = together(s.ours for s in sessions.values())
    tutorial = together(s.peers[COUNTS[0]] for s in sessions.values())
    floor_ms = sorted(ms for s in sessions.values() for ms in s.floor_ms)
    print(f"all ({len(ours)} pictures; sure from {SURE})")
    print("  " + ours.line("ours"))
    for name in COUNTS:
        print("  " + together(s.peers[name] for s in sessions.values()).counting_line(f"{name} (count)"))
    floor = floor_ms[len(floor_ms) // 2]
    print(
        f"  time: {ours.median_ms / tutorial.median_ms:.2f} x the tutorial; "
        f"the floor (decode, difference, labelling) {floor:.1f} ms"
    )
    if any(len(s.hidden) for s in sessions.values()):
        print("  " + together(s.hidden for s in sessions.values()).line("with a hidden piece"))
    print("\n".join("  " + line for line in reliability(ours)))
    if wrong:
        print("\n".join("    " + line for line in ours.wrong()))


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("folder", type=Path, help="holds session folders")
    parser.add_argument("--wrong", action="store_true", help="list what was misread")
    parser.add_argument("--memory", action="store_true", help="read with ours alone and print the peak of memory")
    given = parser.parse_args()
    cv2.setNumThreads(1)
    kind, folders = KINDS[given.kind], sorted(given.folder.glob("session*"))
    if given.memory:
        print_memory(kind, folders)
    else:
        report({folder.name: measure(kind, folder) for folder in folders}, given.wrong)


def print_memory(kind: Kind, folders: list[Path]) -> None:
    """Read every session and print the most memory this process ever had, beside what it had before the first."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    for folder in folders:
        read = kind.reader(folder)
        for frame in json.loads((folder / "labels.json").read_text())["frames"]:
            if frame.get("role", "shake") == "shake":
                _ours(frame["file"], (folder / frame["file"]).read_bytes(), frame, read)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak:.0f} MB, of which {before:.0f} MB Python, NumPy and OpenCV before the first picture")


if __name__ == "__main__":
    main()
