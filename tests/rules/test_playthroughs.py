"""Golden playthroughs are played again, line by line; every registered game has some."""

from __future__ import annotations

from itertools import zip_longest

import pytest

from tests.rules import drive, playthrough


@pytest.mark.parametrize("name", sorted(playthrough.SHELF))
def test_a_playthrough_plays_as_it_was_written(name: str) -> None:
    written = (playthrough.FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    for number, (now, then) in enumerate(zip_longest(playthrough.lines(name), written), 1):
        assert now == then, f"line {number} of {name}"


@pytest.mark.parametrize("key", drive.GAME_KEYS)
def test_every_game_has_invariants_setups_and_playthroughs(key: str) -> None:
    assert drive.INVARIANTS[key]
    assert drive.SETUPS[key]
    assert [name for name, (game, *_) in playthrough.SHELF.items() if game == key]


def test_no_playthrough_is_left_behind() -> None:
    assert {path.stem for path in playthrough.FOLDER.glob("*.txt")} == set(playthrough.SHELF)
