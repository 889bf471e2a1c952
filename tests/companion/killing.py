"""Kill a writer at a random moment and compare what it answered with what is there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

from tests.companion.toy import journal_and_table

ROOT = Path(__file__).parents[2]


def killed(folder: Path, seed: int, *, most: int = 30) -> tuple[int, int]:
    """Let a child play, kill -9 it after some answers, and return (answered, stored) of its game.

    Raises AssertionError where something answered is missing, stands twice, or more than the one unanswered is there.
    """
    after = Random(seed).randint(1, most)
    command = [sys.executable, "-m", "tests.companion.writer", str(folder), str(seed)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        answered = [child.stdout.readline().strip() for _ in range(after)]
        child.kill()
        answered += [line.strip() for line in child.stdout.read().splitlines(keepends=True) if line.endswith("\n")]
    assert all(answered), "the child ended by itself"
    return len(answered), _stored(folder, seed, answered)


def _stored(folder: Path, seed: int, answered: list[str]) -> int:
    table = journal_and_table(folder)
    try:
        assert table.snapshot.notices == ()
        keys = [row.key for row in table._journal.rows(str(table.snapshot.game_id))]
    finally:
        table.close()
    assert keys[: len(answered)] == answered, f"seed {seed}"
    assert len(set(keys)) == len(keys)
    assert len(keys) <= len(answered) + 1, f"seed {seed}: one may be stored and not yet answered"
    return len(keys)
