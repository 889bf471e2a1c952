"""The fold: the same from one end to the other as step by step, whatever is taken back, amended and decided."""

from __future__ import annotations

import time
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion import codec, players
from companion.entries import (
    Act,
    Ahead,
    Amend,
    Body,
    Decide,
    DepthChange,
    Entry,
    SeatChange,
    Undo,
    body_from_json,
    body_to_json,
)
from companion.errors import NoGame
from companion.fold import Folded, advance, begin, fold
from rules.core import TABLE, Action
from tests.companion.toy import GAME, HEADER, Buy, Pass, Roll, State

BY = "a test"


def entry(folded: Folded, body: Body) -> Entry:
    return Entry(folded.next_n, folded.next_gesture, body)


def some_action(random: Random) -> Action[State]:
    return random.choice((Roll(random.randint(1, 6)), Buy(random.randint(1, 6)), Pass()))


def some_act(folded: Folded, random: Random) -> Body | None:
    who = players.next_mover(GAME, folded.state)
    if who is None:
        return None
    action = players.RandomPlayer(random).act(GAME, folded.state, who)
    ahead: Ahead = random.choice(("more", "last")) if folded.open else "no"
    return Act(who, codec.action_to_data(action), BY, ahead=ahead)


def some_correction(folded: Folded, random: Random) -> Body | None:
    if folded.open:
        how = random.choice(("keep", "change", "drop"))
        action = codec.action_to_data(some_action(random)) if how == "change" else None
        return Decide(folded.open[0].n, how, BY, action)  # type: ignore[arg-type]
    standing = [step for step in folded.steps if step.stands]
    return Amend(random.choice(standing).n, codec.action_to_data(some_action(random)), BY) if standing else None


def some_note(folded: Folded, random: Random) -> Body | None:
    return random.choice((SeatChange(0, "left", BY), SeatChange(0, "back", BY), DepthChange("score", BY)))


def some_undo(folded: Folded, random: Random) -> Body | None:
    return None if folded.last_gesture is None else Undo(folded.last_gesture, BY)


def lived(seed: int, length: int = 40) -> Folded:
    """Return a fold that grew entry by entry, with corrections that a person might make."""
    random = Random(seed)
    folded = begin(GAME, HEADER)
    kinds = (some_act, some_act, some_act, some_act, some_correction, some_undo, some_note)
    for _ in range(length):
        body = random.choice(kinds)(folded, random)
        if body is not None:
            folded = advance(GAME, folded, entry(folded, body))
    return folded


def told(folded: Folded) -> list[tuple[object, ...]]:
    return [(step.n, step.who, step.action, step.status, step.was, step.why_not) for step in folded.steps]


@given(st.integers(0, 10**9))
@settings(max_examples=60, deadline=None)
def test_growing_entry_by_entry_is_the_same_as_folding_all(seed: int) -> None:
    folded = lived(seed)
    again = fold(GAME, HEADER, folded.entries)
    assert again.state == folded.state
    assert again.header == folded.header
    assert told(again) == told(folded)


@given(st.integers(0, 10**9))
@settings(max_examples=30, deadline=None)
def test_what_stands_leads_to_the_state_and_every_act_is_still_told(seed: int) -> None:
    folded = lived(seed)
    state = folded.start
    for step in folded.steps:
        if step.stands:
            state = GAME.apply(state, step.who, step.action)
        assert step.told(GAME, None).key
    assert state == folded.state
    acts = [one.n for one in folded.entries if isinstance(one.body, Act)]
    assert sorted(step.n for step in folded.steps) == acts, "nothing vanishes"


@given(st.integers(0, 10**9))
@settings(max_examples=30, deadline=None)
def test_entries_survive_the_way_through_the_journal(seed: int) -> None:
    for one in lived(seed).entries:
        assert body_from_json(one.body.kind, body_to_json(one.body)) == one.body


def test_undo_takes_the_seats_header_along_as_it_is_now() -> None:
    folded = begin(GAME, HEADER)
    for body in (Act(TABLE, {"do": "roll", "count": 3}, BY), SeatChange(1, "player", BY, "greedy", "Bo"), Undo(1, BY)):
        folded = advance(GAME, folded, entry(folded, body))
    assert folded.header.seats[1].name == "Bo"
    assert folded.header.seats[1].player == "greedy"
    assert folded.state == folded.start


def test_a_step_that_is_not_there_cannot_be_amended() -> None:
    with pytest.raises(NoGame, match="no_such_step"):
        begin(GAME, HEADER).step(1)


def test_one_more_act_costs_the_same_however_long_the_game_is() -> None:
    """Ratio, not time: an act on a game of 600 must not cost what folding 600 does."""
    long = _turns(300)
    act = entry(long, Act(TABLE, {"do": "roll", "count": 3}, BY))
    assert _quickest(lambda: advance(GAME, long, act)) < _quickest(lambda: fold(GAME, HEADER, long.entries)) / 10


def _quickest(work: Callable[[], object], times: int = 7) -> float:
    took = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        took.append(time.perf_counter() - began)
    return min(took)


def _turns(count: int) -> Folded:
    entries = []
    for turn in range(count):
        for body in (Act(TABLE, {"do": "roll", "count": 3}, BY), Act(turn % 2, {"do": "pass"}, BY)):
            entries.append(Entry(len(entries) + 1, len(entries) + 1, body))
    folded = fold(GAME, HEADER, entries)
    assert all(step.stands for step in folded.steps)
    return folded


def test_a_note_on_a_fold_with_open_steps_leaves_them_open() -> None:
    folded = begin(GAME, HEADER)
    bodies = (
        Act(TABLE, {"do": "roll", "count": 3}, BY),
        Act(0, {"do": "buy", "price": 3}, BY),
        Amend(1, {"do": "roll", "count": 1}, BY),
        SeatChange(0, "left", BY),
    )
    for body in bodies:
        folded = advance(GAME, folded, entry(folded, body))
    assert folded.open == (folded.step(2),)
