"""What a box told its tables: only what a gesture says is learned, and what is taken back is forgotten."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from companion.entries import SeatPlan
from companion.journal import Journal
from companion.sheets import SheetStore
from companion.table import Post, Table
from rules.core import TABLE, Refused
from rules.sheets import Sheet

KEY = "schuettels"
SALE = {"do": "sell", "spaces": [1], "says": {"small.forge.1": 30, "small.storage": 22}}
BRING = {"do": "mend", "facts": {"supply.0": 8, "forge.0": 2, "shaken": 6}}


@pytest.fixture
def store(tmp_path: Path) -> SheetStore:
    return SheetStore(tmp_path)


@pytest.fixture
def table(tmp_path: Path, store: SheetStore) -> Iterator[Table]:
    table = Table(Journal(tmp_path), now_ms=lambda: 0, wall=lambda: "", store=store)
    table.begin(KEY, [SeatPlan("Anna", "red"), SeatPlan("Ben", "blue")], sheet="box")
    yield table
    table.close()


def act(table: Table, who: int, action: dict[str, object]) -> int:
    return table.submit([Post(who, action)], key=f"k{table.snapshot.number}", by="t").entries[0]


def test_what_a_deed_told_is_kept_and_forgotten_with_it(table: Table, store: SheetStore) -> None:
    act(table, TABLE, BRING)
    act(table, 0, SALE)
    assert store.told(KEY).values == SALE["says"]
    table.undo(by="t", key="undo", seat=0)
    assert store.told(KEY).values == {}


def test_a_misread_value_is_set_right_with_its_deed(table: Table, store: SheetStore) -> None:
    act(table, TABLE, BRING)
    sale = act(table, 0, SALE)
    right = {"small.forge.1": 20, "small.storage": 22}
    table.amend(sale, SALE | {"says": right}, by="t", key="amend")
    assert store.told(KEY).values == right


def test_while_steps_are_open_nothing_is_forgotten(table: Table, store: SheetStore) -> None:
    first = act(table, TABLE, BRING)
    act(table, 0, SALE)
    table.amend(first, {"do": "mend", "facts": {"shaken": 2}}, by="t", key="amend")
    assert table.snapshot.open
    assert store.told(KEY).values == SALE["says"]
    table.drop_rest(by="t", key="drop")
    assert store.told(KEY).values == {}


def test_an_older_game_does_not_overwrite_a_newer_reading(table: Table, store: SheetStore) -> None:
    act(table, TABLE, BRING)
    act(table, 0, SALE)
    store.learn(KEY, Sheet().told({"small.forge.1": 40}))
    act(table, TABLE, {"do": "shake", "count": 1})
    assert store.told(KEY).get("small.forge.1") == 40
    table.undo(by="t", key="undo", asked=True)
    table.undo(by="t", key="undo the sale", seat=0)
    assert store.told(KEY).values == {"small.forge.1": 40}, "what another told is not taken back"


def test_what_no_box_says_begins_no_game(table: Table, store: SheetStore) -> None:
    store.learn(KEY, Sheet().told({"small.storage": 0}))
    with pytest.raises(Refused, match="sheet_value"):
        table.begin(KEY, [SeatPlan("Anna", "red"), SeatPlan("Ben", "blue")], sheet="box")
