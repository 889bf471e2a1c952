"""How fast the storage keeps what it is told to keep."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path

_PAGE = bytes(4096)  # what a database's journal writes at the least


def fsync_ms(folder: Path, n: int = 10) -> float:
    """Return the median time in ms that `n` writes of a page take to be kept; OSError where it cannot write."""
    with tempfile.TemporaryFile(dir=folder) as file:
        return statistics.median(_kept_ms(file.fileno()) for _ in range(n))


def _kept_ms(descriptor: int) -> float:
    begun_ns = time.perf_counter_ns()
    os.write(descriptor, _PAGE)
    os.fsync(descriptor)
    return (time.perf_counter_ns() - begun_ns) / 1_000_000
