"""The properties of the contract, which every registered game gets."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import fields, replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules.core import TABLE, Action, Choice, Refused, changes, moves
from rules.forms import Count, Pick
from rules.registry import GAMES
from tests.rules import drive

SEEDS = st.integers(0, 10**6)
SLICE = settings(max_examples=12, deadline=None)


def random_start(key: str, seed: int) -> tuple[Any, Any, Random]:
    game, random = GAMES[key], Random(seed)
    options = random.choice(drive.SETUPS[key])
    state = drive.start(key, random.choice(game.seats), seed, known=random.random() < 0.6, **options)
    return game, state, random


@pytest.mark.parametrize("key", drive.GAME_KEYS)
@given(SEEDS)
@SLICE
def test_every_game_ends_and_keeps_its_invariants(key: str, seed: int) -> None:
    game, state, random = random_start(key, seed)
    for before, who, action in drive.playout(game, state, random, calls=0.02):
        state = game.apply(before, who, action)
        drive.INVARIANTS[key](state)
    result = game.result(state)
    assert result is not None
    assert result.winners
    assert game.turn(state).movers == frozenset()


@pytest.mark.parametrize("key", drive.GAME_KEYS)
@given(SEEDS)
@SLICE
def test_what_any_form_builds_is_accepted(key: str, seed: int) -> None:
    game, state, random = random_start(key, seed)
    for before, _, _ in drive.playout(game, state, random):
        for who, form in drive.all_choices(game, before):
            drive.INVARIANTS[key](game.apply(before, who, form.sample(random)))


@pytest.mark.parametrize("key", drive.GAME_KEYS)
@given(SEEDS)
@SLICE
def test_a_legal_action_with_one_value_changed_is_refused_or_harmless(key: str, seed: int) -> None:
    game, state, random = random_start(key, seed)
    for before, who, action in drive.playout(game, state, random):
        for other in tampered(action, random):
            with suppress(Refused):
                drive.INVARIANTS[key](game.apply(before, who, other))


def tampered(action: Action[Any], random: Random) -> list[Action[Any]]:
    strange = [-1, 0, 16, 10**9, "eight", None, 2.5, True, (), ("forge",), {}, {"money.0": 5}, ((1, 2),), "x" * 300]
    return [replace(action, **{one.name: random.choice(strange)}) for one in fields(action)]  # type: ignore[type-var]


@pytest.mark.parametrize("key", drive.GAME_KEYS)
@given(SEEDS)
@SLICE
def test_seen_states_offer_what_the_truth_allows_and_commute(key: str, seed: int) -> None:
    game, state, random = random_start(key, seed)
    for before, who, action in drive.playout(game, state, random):
        for eyes in (None, *range(state.seats)):
            seen = game.see(before, eyes)
            offered = game.offer(seen, who, type(action))
            assert isinstance(offered, Choice)
            assert offered.why_not(action) is None
            assert game.see(game.apply(before, who, action), eyes) == game.apply(seen, who, action)
        assert game.see(before, TABLE) == before


@pytest.mark.parametrize("key", drive.GAME_KEYS)
@given(SEEDS)
@SLICE
def test_a_mend_that_gives_the_facts_of_another_state_arrives_there(key: str, seed: int) -> None:
    """A companion switched on in mid-game is brought up to date by one mend."""
    game, state, random = random_start(key, seed)
    for before, _, _ in drive.playout(game, state, random):
        facts = {name: fact.value for name, fact in game.facts(before).items()}
        mended = game.facts(game.mended(state, facts))
        assert {name: mended[name].value for name in facts if name in mended} == {
            n: facts[n] for n in facts if n in mended
        }


@pytest.mark.parametrize("key", drive.GAME_KEYS)
@given(SEEDS)
@SLICE
def test_what_to_move_is_said_exactly_when_something_moved(key: str, seed: int) -> None:
    game, state, random = random_start(key, seed)
    for before, who, action in drive.playout(game, state, random):
        after = game.apply(before, who, action)
        assert list(moves(game.facts(before), game.facts(before))) == []
        if after.money != before.money:
            assert any(move.key.startswith("move_money") for move in moves(game.facts(before), game.facts(after)))
        assert changes(game.view(before), game.view(before)) == {}
        assert changes(game.view(before), game.view(after))


@pytest.mark.parametrize("key", drive.GAME_KEYS)
def test_a_number_of_seats_or_an_option_it_does_not_take_is_refused_by_name(key: str) -> None:
    with pytest.raises(Refused) as refused:
        drive.start(key, 99)
    assert refused.value.refusal.code == "number_of_seats"
    with pytest.raises(Refused) as refused:
        drive.start(key, GAMES[key].seats[0], no_such="thing")
    assert refused.value.refusal.values["option"] == "no_such"


@pytest.mark.parametrize("key", drive.GAME_KEYS)
def test_who_is_not_asked_is_refused(key: str) -> None:
    game, state = GAMES[key], drive.start(key, GAMES[key].seats[0])
    forms = {who for who, _ in drive.all_choices(game, state)}
    bystander = next(seat for seat in range(99) if seat not in forms)
    for kind in game.actions.values():
        assert not isinstance(game.offer(state, bystander, kind), Choice)


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        (Count(10, 50, 10), (10, 50), (0, 60, 15, True, "10", None, 10.0)),
        (Pick(("a", "b", "c"), 1, 2), (("a",), ("b", "a")), ((), ("a", "a"), ("d",), ("a", "b", "c"), "a", None)),
    ],
)
def test_fields_hold_what_is_within_their_limits_and_nothing_else(form: Any, good: Any, bad: Any) -> None:
    assert all(form.holds(value) for value in good)
    assert not any(form.holds(value) for value in bad)
