"""The list of games stands in one place: nothing in companion/ names a game."""

from __future__ import annotations

from pathlib import Path

import pytest

from rules.registry import GAMES

FILES = sorted((Path(__file__).parents[2] / "companion").rglob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_no_file_of_companion_names_a_game(file: Path) -> None:
    text = file.read_text(encoding="utf-8").casefold()
    assert [key for key in GAMES if key in text] == []
