"""What a reading rests on: picture crops in files, each with a note, with caps in number, size and age."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from companion import codec
from companion.errors import Unreadable
from companion.settings import write_atomically

MEGABYTE = 1_000_000
DAY_S = 86_400.0
MANY = 100_000
N = TypeVar("N")


@dataclass(frozen=True, slots=True)
class Note:
    """What was read in a crop: by which sense and calibration, at which `box` of the picture (x, y, width, height; px),
    how many, and when (wall clock).
    """

    sense: str
    calibration: str
    box: tuple[int, int, int, int]
    read: int
    at_s: float


class PictureStore(Generic[N]):
    """Keeps JPEG crops by an id made from their content, each with a note of one kind; the oldest go first.

    A picture leaves the camera only cropped to the zone that was asked for, so what lies here is that crop. The crop is
    written before its note and each of them whole or not at all, so a power cut leaves nothing that does not read.
    """

    def __init__(self, folder: Path, note: type[N], *, most_mb: int, most_days: int, most: int = MANY) -> None:
        self._folder, self._kind = folder, note
        self._folder.mkdir(parents=True, exist_ok=True)
        self._most, self._most_bytes, self._most_s = most, most_mb * MEGABYTE, most_days * DAY_S

    def keep(self, jpeg: bytes, note: N | None = None) -> str:
        """Keep a crop with its note, in the place of the one it had, and return its id."""
        name = hashlib.sha256(jpeg).hexdigest()[:16]
        if not self._crop(name).exists():
            write_atomically(self._crop(name), jpeg)
        if note is not None:
            write_atomically(self._note(name), codec.dump_json(codec.to_data(self._kind, note)).encode())
        return name

    def get(self, name: str) -> bytes | None:
        """Return a crop, None where there is none of this id (any more)."""
        return _content(self._crop(name)) if name.isalnum() else None

    def note(self, name: str) -> N | None:
        """Return the note of a crop, None where there is none that reads."""
        text = _content(self._note(name)) if name.isalnum() else None
        try:
            return None if text is None else codec.from_data(self._kind, codec.parse_object(text))
        except Unreadable:  # of another version of this program, or damaged
            return None

    def notes(self) -> Iterator[tuple[str, N]]:
        """Return the id and the note of every crop that has one, the newest first."""
        for _, path in self._newest_first():
            note = self.note(path.stem)
            if note is not None:
                yield path.stem, note

    def __len__(self) -> int:
        """Return how many crops there are."""
        return sum(1 for _ in self._folder.glob("*.jpg"))

    def prune(self, now_s: float) -> None:
        """Delete what is too old, then the oldest until the rest fits; `now_s` is the wall clock's time."""
        kept = 0
        for at, (stat, path) in enumerate(self._newest_first()):
            kept += stat.size
            if at >= self._most or kept > self._most_bytes or now_s - stat.at_s > self._most_s:
                self.drop(path.stem)

    def drop(self, name: str) -> None:
        """Delete a crop and its note, where they are there."""
        for path in (self._note(name), self._crop(name)):
            path.unlink(missing_ok=True)

    def forget(self, since_s: float = 0.0) -> frozenset[str]:
        """Delete every crop from this time of the wall clock on, and return the ids of those that were there."""
        gone = [path.stem for stat, path in self._newest_first() if stat.at_s >= since_s]
        for name in gone:
            self.drop(name)
        for scratch in self._folder.glob("*.part"):  # what a power cut left half-written
            scratch.unlink(missing_ok=True)
        return frozenset(gone)

    def _newest_first(self) -> list[tuple[_Stat, Path]]:
        found = [(stat, path) for path in self._folder.glob("*.jpg") if (stat := _stat(path)) is not None]
        return sorted(found, key=lambda one: -one[0].at_s)

    def _crop(self, name: str) -> Path:
        return self._folder / f"{name}.jpg"

    def _note(self, name: str) -> Path:
        return self._folder / f"{name}.json"


class EvidenceStore(PictureStore[Note]):
    """The crops that proposals and kept counts rest on."""

    def __init__(self, folder: Path, *, most_mb: int, most_days: int) -> None:
        super().__init__(folder / "evidence", Note, most_mb=most_mb, most_days=most_days)


@dataclass(frozen=True, slots=True)
class _Stat:
    """When a file was written, and its size in bytes."""

    at_s: float
    size: int


def _stat(path: Path) -> _Stat | None:
    """Return the state of a file; None where another thread has just deleted it."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return _Stat(found.st_mtime, found.st_size)


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
