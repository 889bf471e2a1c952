"""A game without a page of its own is playable: its facts as tables, every kind of field as a form."""

from __future__ import annotations

import html
import re
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, ClassVar

import pytest
from flask import render_template_string

from companion import codec
from companion.errors import Unreadable
from companion.sheets import house_sheet
from rules.core import Action, Choice, Message, Refusal, Seat, Setup
from rules.forms import Amounts, Assign, Count, Field, Order, Pick, Text, Values
from rules.registry import GAMES
from tests.companion.toy import pebbles, roll
from tests.web.house import House
from web.answers import is_narrower
from web.desk import desk_of
from web.fields import described, read, token
from web.options import Ahead, written_out
from web.sights import Sight
from web.speech import Speech

SEED, SAMPLES = 7, 40


@dataclass(frozen=True, slots=True)
class Anything(Action[Any]):
    """An action with one value of any kind."""

    value: Any
    do: ClassVar[str] = "anything"
    phases: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def offer(cls, state: Any, who: Seat) -> Choice | Refusal:
        return Refusal("not_now", "")

    def then(self, state: Any, who: Seat) -> Any:
        return state

    def tell(self, seen: Any, who: Seat) -> Message:
        return Message("anything")


FIELDS: dict[str, Field] = {
    "one of three": Pick(("forge", "tavern", "bank")),
    "two to three of four": Pick((1, 2, 3, 4), 2, 3),
    "a count in steps": Count(10, 90, 10),
    "amounts": Amounts({0: {"red": 3, "blue": 1}, 1: {"red": 2}}, {0: (0, 4), 1: (0, 2)}),
    "an assignment": Assign((0, 1), ("ship", "cart", "mule")),
    "an order": Order(("first", "second", "third")),
    "named values": Values({"small.forge.1": Count(0, 5), "market": Count(0, 9)}),
    "a text": Text(20),
}


def posted(name: str, one: Field, value: Any) -> dict[str, list[str]]:
    """Return a value as a browser would post it, filled into the form that was described."""
    key = f"f.{name}"
    match one:
        case Pick():
            return {key: [token(part) for part in value]}
        case Order():
            return {f"{key}.{at}": [token(part)] for at, part in enumerate(value, 1)}
        case Assign():
            return {f"{key}.{token(part)}": [token(given)] for part, given in value.items()}
        case Values():
            return {f"{key}.{part}": [str(number)] for part, number in value.items()}
        case Amounts():
            cells = ((row, cell, n) for row, counts in value.items() for cell, n in counts.items())
            return {f"{key}.{token(row)}.{token(cell)}": [str(n)] for row, cell, n in cells}
    return {key: [str(value)]}


def plain(one: Field, value: Any) -> Any:
    if isinstance(one, Amounts):
        return {token(row): {token(cell): n for cell, n in cells.items() if n} for row, cells in value.items()}
    if isinstance(one, Assign):
        return {token(part): given for part, given in value.items()}
    return list(value) if isinstance(value, tuple) else value


@pytest.mark.parametrize("kind", FIELDS)
def test_what_a_form_can_hold_reads_back_as_it_was_filled_in(kind: str) -> None:
    one, random = FIELDS[kind], Random(SEED)
    choice = Choice(Anything, {"value": one})
    for _ in range(SAMPLES):
        value = one.sample(random)
        data = read(choice, posted("value", one, value))
        assert data == {"do": "anything", "value": plain(one, value)}


@pytest.mark.parametrize("kind", FIELDS)
def test_every_kind_of_field_is_drawn_with_a_name_for_each_input(kind: str, home: House) -> None:
    form = described(Choice(Anything, {"value": FIELDS[kind]}), Speech("en"))
    source = '{% from "fields.html" import fields with context %}{{ fields(form) }}'
    with home.app.test_request_context(headers={"Host": "localhost"}):
        drawn = render_template_string(source, form=form)
    assert re.findall(r'name="f\.value', drawn)


@pytest.mark.parametrize(
    ("kind", "filled"),
    [
        ("one of three", {"f.value": ["palace"]}),
        ("a count in steps", {"f.value": ["ten"]}),
        ("a count in steps", {}),
        ("an order", {"f.value.1": ["first"]}),
        ("named values", {"f.value.market": ["dear"]}),
        ("amounts", {"f.value.0.red": ["few"]}),
    ],
)
def test_what_does_not_read_names_the_field(kind: str, filled: dict[str, list[str]]) -> None:
    with pytest.raises(Unreadable) as caught:
        read(Choice(Anything, {"value": FIELDS[kind]}), filled)
    assert caught.value.values["field"]


def test_small_forms_are_written_out_widest_first_and_large_ones_are_not() -> None:
    pick = written_out(Choice(Anything, {"value": Pick((1, 2, 3), 1, 3)}))
    assert [len(one.value) for one in pick] == [3, 2, 2, 2, 1, 1, 1]  # type: ignore[attr-defined]
    many: tuple[Hashable, ...] = tuple(range(20))
    assert written_out(Choice(Anything, {"value": Pick(many, 2, 5)})) == ()


def test_a_game_without_a_page_is_played_by_tables_and_buttons(home: House, tmp_path: Path) -> None:
    with pebbles(tmp_path / "toy") as table:
        table.submit([roll(4)], key="roll", by="tablet")
        sight = Sight("table", "table", "en", None, table.snapshot.game_id)
        painted = desk_of(home.app).painter.paint(table.snapshot, sight)
    assert set(painted) == {"line", "seats", "board", "answer", "log", "bar"}
    assert "<table>" in painted["board"]
    assert "Anna" in painted["seats"]
    offered = re.findall(r'hx-vals="([^"]*gesture[^"]*)"', painted["answer"] + painted["bar"])
    assert any("buy" in html.unescape(one) for one in offered)


def test_what_a_seat_may_not_know_is_in_no_region(home: House, tmp_path: Path) -> None:
    with pebbles(tmp_path / "toy") as table:
        painter, snapshot = desk_of(home.app).painter, table.snapshot
        own = painter.paint(snapshot, Sight("table", "seat", "en", 0, snapshot.game_id))
        onlooker = painter.paint(snapshot, Sight("table", "watch", "en", None, snapshot.game_id))
        purse = str(snapshot.state.purses[1])
    assert purse not in re.sub(r"<[^>]+>", " ", " ".join(onlooker.values()))
    assert own["board"] != onlooker["board"]


def test_only_the_widest_of_several_picks_shows_at_first() -> None:
    with_picks = [one for one in _sales() if one.picks]
    shown = [one for one in with_picks if not is_narrower(one, with_picks)]
    assert [len(one.picks) for one in shown] == [2]


def _sales() -> list[Any]:
    game = GAMES["schuettels"]
    state = game.start(Setup(2, 0, {}, house_sheet("schuettels")))
    ahead = Ahead(game, state)
    for who, count in ((0, 8), (1, 4), (0, 8)):
        ahead = ahead.after(-1, game.actions["shake"](count=count))  # type: ignore[call-arg]
        for option in (one for one in ahead.options(who) if one.do == "place"):
            ahead = ahead.after(who, codec.action_from_data(game, option.gesture[-1]["action"]))
            break
    ahead = ahead.after(-1, game.actions["shake"](count=4)).after(  # type: ignore[call-arg]
        1,
        game.actions["sell"](spaces=(1,)),  # type: ignore[call-arg]
    )
    ahead = ahead.after(-1, game.actions["shake"](count=8))  # type: ignore[call-arg]
    return [one for one in ahead.options(0) if one.do == "sell"]
