"""Pictures in, lines out: what `companion read` prints, by one mechanism for every kind of reading.

An `Eye` reads the pictures of one table; what it answers has the fields that the command line promises.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias

from companion.codec import Data
from companion.errors import Unreadable
from vision import calibration, gem_calibration, gems, gnomes, market, market_calibration, pictures, pieces
from vision.errors import VisionError
from vision.market_layout import Layout
from vision.pictures import Picture

Eye: TypeAlias = Callable[[Picture], Data]


class Reading(Protocol):
    """What every reading has."""

    @property
    def confidence(self) -> float:
        """The probability that all of it is right."""

    @property
    def sure(self) -> bool:
        """Whether it may be kept without a person."""


@dataclass(frozen=True, slots=True)
class Reader:
    """One kind of reading: the files by which a session folder shows its table, and what makes an eye of them."""

    kind: str
    needs: tuple[str, ...]
    learn: Callable[[Path], Eye]


def answer(reading: Reading, **what: object) -> Data:
    """Return what was read, and how sure it is."""
    return {**what, "confidence": round(reading.confidence, 4), "sure": reading.sure}


def read_folder(reader: Reader, folder: Path) -> Iterator[Data]:
    """Read every picture of a session folder; raises Unreadable where the folder does not show its table."""
    eye = learned(reader, folder)
    return (read_file(file, eye) for file in sorted(folder.glob("*.jpg")) if file.name not in reader.needs)


def read_file(file: Path, eye: Eye) -> Data:
    """Read one picture; `ms` is the wall time with decoding, `refused` why it cannot be read."""
    began = time.perf_counter()
    line: Data = {"file": str(file)}
    try:
        line |= eye(pictures.load(file))
    except VisionError as error:
        line["refused"] = error.code
    return line | {"ms": round((time.perf_counter() - began) * 1000, 1)}


def learned(reader: Reader, folder: Path) -> Eye:
    """Learn the table that a session folder shows; raises Unreadable where a file is missing, VisionError."""
    if not folder.is_dir():
        raise Unreadable("no_such_folder", folder=str(folder))
    for name in reader.needs:
        if not (folder / name).is_file():
            raise Unreadable("folder_without", folder=str(folder), file=name, files=reader.needs)
    return reader.learn(folder)


def _gnomes(folder: Path) -> Eye:
    learned = calibration.calibrate(*_two(folder, GNOMES))

    def eye(picture: Picture) -> Data:
        reading = gnomes.read(picture, learned)
        return answer(reading, count=reading.count)

    return eye


def _gems(folder: Path) -> Eye:
    learned = gem_calibration.calibrate(*_two(folder, GEMS))

    def eye(picture: Picture) -> Data:
        reading = gems.read(picture, learned)
        return answer(reading, by_colour=dict(reading.by_colour))

    return eye


def _market(folder: Path) -> Eye:
    reference, layout = (folder / name for name in MARKET.needs)
    learned = market_calibration.calibrate(pictures.load(reference), Layout.load(layout))

    def eye(picture: Picture) -> Data:
        reading = market.read(picture, learned)
        return answer(reading, market=market.as_labels(reading, learned.layout))

    return eye


def pieces_eye(picture: Picture) -> Data:
    """Count like pieces in any picture: this eye needs no table."""
    reading = pieces.read(picture)
    return answer(reading, count=reading.count, by_colour=dict(reading.by_colour))


def _two(folder: Path, reader: Reader) -> tuple[Picture, Picture]:
    first, second = (pictures.load(folder / name) for name in reader.needs)
    return first, second


GNOMES = Reader("gnomes", ("empty.jpg", "calibration.jpg"), _gnomes)
GEMS = Reader("gems", ("empty.jpg", "palette.jpg"), _gems)
MARKET = Reader("market", ("reference.jpg", "layout.json"), _market)
READERS = {reader.kind: reader for reader in (GNOMES, GEMS, MARKET)}
"""Each kind of reading that has session folders."""
