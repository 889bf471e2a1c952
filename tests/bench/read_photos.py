"""Measure the piece reader on public photographs, source by source, beside the two peers on the same pictures.

    python -m tests.bench.read_photos ../shared/photos
    python -m tests.bench.read_photos ../shared/photos --only Candy

Scored are the rows `count`, `count_by_colour` and `dice_pips` (the number of dice). Left out: `board` rows with pieces
(240 train pieces on the spaces of one printed board: a task for a calibrated board, not for "count like things") and
`marker` rows (the same three pictures and counts as their `count_by_colour` rows). The empty boards are read for what
is invented on them. Times are of one thread's CPU, decoding included.

The peers are helped where they cannot help themselves. Both get the rest of the picture masked by the ground's colour
where a row has a `roi`. The watershed tutorial is run both ways round and keeps the count nearer to the label; its time
is that of one run. The difference has no empty picture, so it takes the median colour of the border for one, and is
told the area of a piece: the median share of the region, a piece, over the other rows of its source.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import cv2
import numpy as np

from tests.bench import peers
from tests.bench.scores import Answer, Score, reliability, together
from vision import pieces
from vision.pictures import Picture

TASKS = ("count", "count_by_colour", "dice_pips")
NAMES = {"lightblue": "blue", "lightgreen": "green"}
"""Colours of the labels that have another name in vision.names."""
METHODS = ("vision.pieces", "watershed tutorial", "background difference")
RIM = 0.02


@dataclass(frozen=True)
class Row:
    """One row of the labels."""

    folder: Path
    file: str
    task: str
    total: int
    colours: dict[str, int]
    touching: str
    roi: str

    @property
    def source(self) -> str:
        """The owner of the photograph."""
        return self.file.split("__")[0]

    @property
    def name(self) -> str:
        """Short, for lists."""
        return f"{self.file.split('/')[-1]} {self.roi[:11]}".strip()

    def load(self) -> Picture:
        """Decode upright, as the labels have it."""
        data = np.frombuffer((self.folder / self.file).read_bytes(), np.uint8)
        return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)

    def polygon(self, picture: Picture) -> list[tuple[float, float]] | None:
        """The region in pixels."""
        if not self.roi:
            return None
        corners = [tuple(float(v) for v in point.split()) for point in self.roi.split(";")]
        return [(x * picture.shape[1], y * picture.shape[0]) for x, y in corners]

    @cached_property
    def changed(self) -> float:
        """The share of the region that differs from the border's median, for the area of a piece."""
        region, ground = masked(self.load(), self)
        return peers.thing_area_px(ground, region, max(self.total, 1)) / region[..., 0].size


def rows_of(folder: Path) -> list[Row]:
    """Read labels.csv."""
    with open(folder / "labels.csv", newline="") as file:
        return [
            Row(folder, r["file"], r["task"], int(r["total"] or -1), count_by_colour(r), r["touching"], r["roi"])
            for r in csv.DictReader(file)
        ]


def count_by_colour(row: dict[str, str]) -> dict[str, int]:
    """The colours of a row by our names; nothing where it labels none."""
    counted: Counter[str] = Counter()
    if row["task"] == "count_by_colour":
        for name, count in json.loads(row["by_colour"]).items():
            counted[NAMES.get(name, name)] += count
    return dict(counted)


def masked(picture: Picture, row: Row) -> tuple[Picture, Picture]:
    """The region's bounding box with the rest painted in the ground's colour, and an empty picture of that colour."""
    polygon = row.polygon(picture)
    keep = np.ones(picture.shape[:2], np.uint8)
    if polygon:
        keep[:] = 0
        corners = np.rint(polygon).astype(np.int32)
        cv2.fillPoly(keep, [corners], 1)
        low, high = np.maximum(corners.min(axis=0), 0), corners.max(axis=0)
        picture, keep = picture[low[1] : high[1], low[0] : high[0]], keep[low[1] : high[1], low[0] : high[0]]
    rim = keep > cv2.erode(keep, np.ones([int(2 * RIM * max(keep.shape)) | 1] * 2, np.uint8), borderValue=0)
    ground = np.median(picture[rim], axis=0)
    empty = np.full_like(picture, ground.astype(np.uint8))
    return np.where(keep[..., None] > 0, picture, empty), empty


def ours(row: Row) -> tuple[Answer, Answer | None, int]:
    """Read one row; the count, the colours where they are labelled, and what was found."""
    start = time.process_time()
    picture = row.load()
    reading = pieces.read(picture, row.polygon(picture))
    ms = 1000 * (time.process_time() - start)
    says = f"{row.total}>{reading.count}"
    answer = Answer(row.name, reading.count == row.total, abs(reading.count - row.total), reading.confidence, ms, says)
    if not row.colours:
        return answer, None, reading.count
    named: Counter[str] = Counter()
    for group, count in reading.by_colour.items():
        named[group.split()[0]] += count
    off = sum(abs(named[n] - row.colours.get(n, 0)) for n in {*named, *row.colours})
    says = f"{row.colours}>{dict(named)}"
    return answer, Answer(row.name, not off, off, reading.confidence, ms, says), reading.count


def tutorial(row: Row) -> Answer:
    """The better of both ways round."""
    start = time.process_time()
    region, _ = masked(row.load(), row)
    one = peers.watershed(region, True)
    ms = 1000 * (time.process_time() - start)
    count = min((one, peers.watershed(region, False)), key=lambda n: abs(n - row.total))
    return Answer(row.name, count == row.total, abs(count - row.total), 1.0, ms, f"{row.total}>{count}")


def difference(row: Row, rows: list[Row]) -> Answer:
    """Told the area of a piece by the other rows of its source."""
    others = [o.changed for o in rows if o.source == row.source and o is not row]
    start = time.process_time()
    region, empty = masked(row.load(), row)
    area_px = max(float(np.median(others or [row.changed])) * region[..., 0].size, 1.0)
    count = peers.difference(region, empty, area_px)
    ms = 1000 * (time.process_time() - start)
    return Answer(row.name, count == row.total, abs(count - row.total), 1.0, ms, f"{row.total}>{count}")


def near(score: Score) -> str:
    """Say how many were within one."""
    return f"within one {sum(a.off <= 1 for a in score.answers)}"


def main() -> None:
    """Print a table for each source, then for all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="sources whose name holds this")
    parser.add_argument("--alone", action="store_true", help="without the peers")
    given = parser.parse_args()
    cv2.setNumThreads(1)
    every = rows_of(given.folder)
    rows = [r for r in every if r.task in TASKS and given.only in r.file]
    scores: dict[str, dict[str, Score]] = defaultdict(lambda: defaultdict(Score))
    pieces.read(rows[0].load())  # the net is read from its file once
    for row in rows:
        answer, colours, _ = ours(row)
        scores[row.source]["vision.pieces"].answers.append(answer)
        scores[f"touching {row.touching}"]["vision.pieces"].answers.append(answer)
        if colours:
            scores[row.source]["  colours of it"].answers.append(colours)
        if not given.alone:
            for name, peer in (("watershed tutorial", tutorial(row)), ("background difference", difference(row, rows))):
                scores[row.source][name].answers.append(peer)
                scores[f"touching {row.touching}"][name].answers.append(peer)
    report(scores)
    for row in (r for r in every if r.total == 0 and given.only in r.file):
        print("invented on the empty board", row.name, ours(row)[2])


def report(scores: dict[str, dict[str, Score]]) -> None:
    """Print what was measured."""
    sources = [s for s in scores if not s.startswith("touching")]
    for source in [*sources, *sorted(s for s in scores if s.startswith("touching"))]:
        print(source)
        for name, score in scores[source].items():
            line = score.line(name) if name not in METHODS[1:] else score.counting_line(name)
            print("  " + line, near(score))
    print("all")
    for name in ("vision.pieces", "  colours of it", *METHODS[1:]):
        whole = together(scores[s][name] for s in sources if name in scores[s])
        if len(whole):
            print("  " + (whole.counting_line(name) if name in METHODS[1:] else whole.line(name)), near(whole))
    whole = together(scores[s]["vision.pieces"] for s in sources)
    print(*reliability(whole), "misread:", *whole.wrong(), sep="\n  ")
    coloured = together(scores[s]["  colours of it"] for s in sources if "  colours of it" in scores[s])
    print("colours misread:", *coloured.wrong(), sep="\n  ")


if __name__ == "__main__":
    main()
