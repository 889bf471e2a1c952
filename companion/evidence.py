"""What a reading rests on: picture crops in files, with a cap in size and age."""

from __future__ import annotations

import hashlib
from pathlib import Path

from companion.settings import write_atomically

MEGABYTE = 1_000_000
DAY_S = 86_400.0


class EvidenceStore:
    """Keeps JPEG crops by an id made from their content; the oldest go first when there are too many.

    A picture leaves the camera only cropped to the zone that was asked for, so what lies here is that crop.
    """

    def __init__(self, folder: Path, *, most_mb: int, most_days: int) -> None:
        self._folder = folder / "evidence"
        self._folder.mkdir(parents=True, exist_ok=True)
        self._most_bytes, self._most_s = most_mb * MEGABYTE, most_days * DAY_S

    def keep(self, jpeg: bytes) -> str:
        """Keep a crop and return its id."""
        name = hashlib.sha256(jpeg).hexdigest()[:16]
        write_atomically(self._path(name), jpeg)
        return name

    def get(self, name: str) -> bytes | None:
        """Return a crop, None where there is none of this id (any more)."""
        if not name.isalnum():
            return None
        try:
            return self._path(name).read_bytes()
        except FileNotFoundError:
            return None

    def prune(self, now_s: float) -> None:
        """Delete what is too old, then the oldest until the rest fits; `now_s` is the wall clock's time."""
        files = sorted(((path.stat(), path) for path in self._folder.glob("*.jpg")), key=lambda pair: -pair[0].st_mtime)
        kept = 0
        for stat, path in files:
            kept += stat.st_size
            if kept > self._most_bytes or now_s - stat.st_mtime > self._most_s:
                path.unlink(missing_ok=True)

    def forget(self) -> int:
        """Delete every crop and return how many there were."""
        files = list(self._folder.glob("*.jpg"))
        for path in files:
            path.unlink(missing_ok=True)
        return len(files)

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.jpg"
