"""Damage copies of a journal: `python -m tests.bench.damage_journal [COPIES] [GESTURES]`."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random

from tests.companion.damage import broken, verdict, written


def main(copies: int, gestures: int) -> None:
    """Damage half of the copies before a checkpoint, half after one; a wrong row ends it with its seed."""
    found: Counter[str] = Counter()
    for checkpoint_at in (0, gestures // 2):
        with tempfile.TemporaryDirectory() as folder:
            written(Path(folder), gestures, checkpoint_at=checkpoint_at)
            found += _damaged(Path(folder), range(copies // 2), gestures)
    print(f"{copies} damaged copies of {gestures} gestures: {dict(found)}, 0 wrong rows")


def _damaged(folder: Path, seeds: range, gestures: int) -> Counter[str]:
    found: Counter[str] = Counter()
    for seed in seeds:
        with tempfile.TemporaryDirectory() as scratch:
            copy = Path(scratch) / "copy"
            done = broken(folder / "cut", copy, Random(seed))
            try:
                found[verdict(copy, gestures)] += 1
            except BaseException:
                print(f"seed {seed}: {done}")
                raise
    return found


if __name__ == "__main__":
    main(*(int(one) for one in (sys.argv[1:] + ["1500", "200"][len(sys.argv) - 1 :])))
