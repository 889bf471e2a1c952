"""Kill -9 a writer 200 times and compare: `python -m tests.bench.kill_journal [KILLS] [FIRST SEED]`."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.companion.killing import killed


def main(kills: int, first_seed: int) -> None:
    """Run the loop; an answered gesture that is missing ends it with an AssertionError naming the seed."""
    answered = stored = 0
    for seed in range(first_seed, first_seed + kills):
        with tempfile.TemporaryDirectory() as folder:
            one_answered, one_stored = killed(Path(folder), seed)
        answered, stored = answered + one_answered, stored + one_stored
    print(f"{kills} kills from seed {first_seed}: {answered} answered, 0 lost, 0 twice, {stored - answered} unanswered")


if __name__ == "__main__":
    main(*(int(one) for one in (sys.argv[1:] + ["200", "0"][len(sys.argv) - 1 :])))
