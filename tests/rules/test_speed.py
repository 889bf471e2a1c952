"""A game is quick enough that nobody ever waits for the rules."""

from __future__ import annotations

import pytest

from rules.registry import GAMES
from tests.bench.play_games import play
from tests.rules import drive

LEAST_ACTIONS_A_SECOND = 2000


@pytest.mark.parametrize("key", drive.GAME_KEYS)
def test_actions_are_offered_checked_and_applied_quickly(key: str) -> None:
    """CPU time of one core, so that a busy machine does not fail it."""
    ends, actions, cpu_s = play(key, GAMES[key].seats[-1], 12, seed=5, check=False)
    assert "" not in ends
    assert actions / cpu_s > LEAST_ACTIONS_A_SECOND
