"""The codec: back is identity, and nothing is read that was not written so."""

from __future__ import annotations

from dataclasses import fields
from random import Random
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion import codec, players
from companion.errors import Unreadable
from rules.core import TABLE, Choice, Message, Money, Noun, Refusal, Who
from rules.forms import Amounts, Assign, Count, Order, Pick, Text, Values
from rules.registry import GAMES
from tests.companion.toy import GAME, Buy
from tests.rules import drive

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def lived(key: str, seed: int) -> Any:
    game, state = GAMES[key], drive.start(key, GAMES[key].seats[0], seed)
    player = players.RandomPlayer(Random(seed))
    for _ in range(seed % 40):
        who = players.next_mover(game, state)
        if who is None:
            break
        yield state, who, (action := player.act(game, state, who))
        state = game.apply(state, who, action)


@pytest.mark.parametrize("key", GAMES)
@given(seed=st.integers(1, 10**6))
@settings(max_examples=10, deadline=None)
def test_actions_and_states_come_back_as_they_were(key: str, seed: int) -> None:
    game = GAMES[key]
    validator = jsonschema_rs.validator_for(codec.schema(game))
    for state, who, action in lived(key, seed):
        data = codec.action_to_data(action)
        assert codec.action_from_data(game, codec.parse_object(codec.dump_json(data))) == action
        validator.validate({"who": who, **data})
        stored = codec.parse_object(codec.dump_json(codec.state_to_data(game, state)))
        assert codec.state_from_data(game, stored) == state
        assert codec.state_hash(game, codec.state_from_data(game, stored)) == codec.state_hash(game, state)


@pytest.mark.parametrize("key", GAMES)
def test_no_field_of_an_action_is_named_like_a_part_of_a_record_line(key: str) -> None:
    for kind in GAMES[key].actions.values():
        assert not {"who", "do"} & {one.name for one in fields(kind)}  # type: ignore[arg-type]


@given(JSON)
@settings(max_examples=200, deadline=None)
def test_any_json_is_an_action_or_is_refused_with_its_field(data: object) -> None:
    posted = data if isinstance(data, dict) else {"do": "buy", "price": data}
    try:
        action = codec.action_from_data(GAME, posted)
    except Unreadable:
        return
    assert codec.action_to_data(action) == posted | {}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{", "not_json"),
        ("NaN", "not_json"),
        ("[" * 100_000, "not_json"),
        ("[1]", "not_an_object"),
        ('"words"', "not_an_object"),
        ("", "not_json"),
    ],
)
def test_what_is_no_json_object_is_refused(text: str, code: str) -> None:
    with pytest.raises(Unreadable) as error:
        codec.parse_object(text)
    assert error.value.code == code


def test_a_wrong_value_names_the_field_what_stood_there_and_what_is_wanted() -> None:
    with pytest.raises(Unreadable) as error:
        codec.action_from_data(GAME, {"do": "buy", "price": "eight"})
    assert error.value.values == {"field": "price", "got": "eight", "wants": Noun("whole_number")}


def test_a_value_of_endless_length_is_shown_short() -> None:
    with pytest.raises(Unreadable) as error:
        codec.action_from_data(GAME, {"do": "buy", "price": "8" * 10_000})
    assert len(str(error.value.values["got"])) <= 60


@pytest.mark.parametrize(
    ("field", "data"),
    [
        (Pick(("a", 1), 0, 2), {"kind": "pick", "among": ["a", 1], "least": 0, "most": 2}),
        (Count(2, 8, 2), {"kind": "count", "least": 2, "most": 8, "step": 2}),
        (Amounts({0: {"red": 2}}, {0: (0, 1)}), {"kind": "amounts", "most": {"0": {"red": 2}}, "total": {"0": [0, 1]}}),
        (Assign(("a",), (1, 2)), {"kind": "assign", "keys": ["a"], "values": [1, 2]}),
        (Order(("a", "b")), {"kind": "order", "things": ["a", "b"]}),
        (
            Values({"x": Count(0, 1)}),
            {"kind": "values", "limits": {"x": {"kind": "count", "least": 0, "most": 1, "step": 1}}},
        ),
        (Text(9), {"kind": "text", "most": 9}),
    ],
)
def test_each_field_of_a_form_has_data(field: Any, data: codec.Data) -> None:
    assert codec.field_to_data(field) == data


def test_values_keep_their_kind() -> None:
    value = {"who": Who(0), "what": (Noun("forge"), Money(40)), "said": Message("buy", {"n": 1}), "n": 2, "none": None}
    assert codec.value_to_data(value) == {
        "who": {"who": 0},
        "what": [{"noun": "forge"}, {"money": 40}],
        "said": {"message": "buy", "values": {"n": 1}},
        "n": 2,
        "none": None,
    }


def test_a_refusal_is_its_code_its_rule_and_its_values() -> None:
    data = codec.refusal_to_data(Refusal("no_goods", "p. 2", {"who": Who(1)}))
    assert data == {"code": "no_goods", "rule": "p. 2", "values": {"who": {"who": 1}}}


def form(most: int, **about: int) -> Choice:
    return Choice(Buy, {"price": Count(1, most)}, about=about)


def test_a_fingerprint_changes_with_the_form_and_with_nothing_else() -> None:
    same = codec.fingerprint(GAME, 0, "buy", form(5, n=1))
    assert same == codec.fingerprint(GAME, 0, "buy", form(5, n=1))
    others = [
        codec.fingerprint(GAME, 1, "buy", form(5, n=1)),
        codec.fingerprint(GAME, 0, "roll", form(5, n=1)),
        codec.fingerprint(GAME, 0, "buy", form(4, n=1)),
        codec.fingerprint(GAME, TABLE, "buy", form(5, n=2)),
    ]
    assert same not in others
    assert len(set(others)) == len(others)
    assert len(same) == 16


def test_a_state_hash_does_not_hang_on_the_order_of_sets() -> None:
    state = drive.start(next(iter(GAMES)), 2)
    game = GAMES[next(iter(GAMES))]
    assert codec.state_hash(game, state) == codec.state_hash(game, state)
    assert codec._plain(frozenset({"b", "a", "c"})) == ["a", "b", "c"]


@pytest.mark.parametrize(("entry", "code"), [("colour", "no_equals_sign"), ("size=3", "no_such_option")])
def test_an_option_that_does_not_read_is_named(entry: str, code: str) -> None:
    with pytest.raises(Unreadable) as error:
        codec.values_from(("colour",), (entry,))
    assert error.value.code == code
