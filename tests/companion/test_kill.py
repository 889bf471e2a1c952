"""Pull the plug: whatever the moment, what was answered is there. tests/bench/kill_journal.py does it 200 times."""

from __future__ import annotations

from pathlib import Path

from tests.companion.killing import killed

KILLS = 8


def test_a_kill_between_two_actions_loses_nothing_that_was_answered(tmp_path: Path) -> None:
    answered = sum(killed(tmp_path, seed, most=12)[0] for seed in range(KILLS))
    assert answered >= KILLS
