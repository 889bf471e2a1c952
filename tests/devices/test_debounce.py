"""Debouncing on a clock that only moves when told to: no press lost, none invented."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devices.debounce import SETTLE_US, Debounce, Event, Hold, Press, Release
from devices.fake_buttons import TRACES

LATER_US = 10_000_000


def played(trace: tuple[int, ...], *, every_us: int = 0, hold_us: int = 1_000_000) -> tuple[list[Event], Debounce]:
    """Play a trace to an open contact, look at the pin every so often, and rest at the end."""
    contact = Debounce(False, -LATER_US, hold_us=hold_us)
    turns = [(at_us, turn % 2 == 0) for turn, at_us in enumerate(trace)]
    events: list[Event] = []
    looks = range(0, trace[-1] + 200_000, every_us) if every_us else [trace[-1] + LATER_US]
    for now_us in looks:
        while turns and turns[0][0] <= now_us:
            at_us, is_closed = turns.pop(0)
            events += contact.edge(is_closed, at_us)
        events += contact.check(contact_at(trace, now_us), now_us)
    return events, contact


def contact_at(trace: tuple[int, ...], now_us: int) -> bool:
    return sum(at_us <= now_us for at_us in trace) % 2 == 1


def kinds(events: list[Event]) -> str:
    return "".join({Press: "P", Hold: "H", Release: "R"}[type(event)] for event in events)


EXPECTED = {
    "clean": ("PR", 0),
    "tactile switch": ("PR", 0),
    "microswitch": ("PR", 0),
    "worn microswitch": ("PR", 0),
    "spike": ("", 1),
    "short press, then a normal one": ("PR", 1),
    "let go while it bounces": ("", 1),
}


@pytest.mark.parametrize("every_us", [0, 700, 5_000])
@pytest.mark.parametrize("name", TRACES)
def test_every_recorded_press_is_one_press_and_one_release_and_spikes_are_noise(name: str, every_us: int) -> None:
    events, contact = played(TRACES[name], every_us=every_us)
    assert (kinds(events), contact.noise) == EXPECTED[name]


def test_a_press_is_told_with_the_times_of_the_contact_not_of_the_telling() -> None:
    assert played((0, 140_000))[0] == [Press(0), Release(140_000, 140_000, was_hold=False)]


bounces = st.lists(st.integers(50, 6_000), max_size=8).filter(lambda gaps: len(gaps) % 2 == 0 and sum(gaps) < 30_000)


@settings(deadline=None)
@given(closing=bounces, opening=bounces, closed_us=st.integers(30_000, 900_000), every_us=st.sampled_from([0, 3_000]))
def test_whatever_bounces_for_less_than_30_ms_is_one_press(
    closing: list[int], opening: list[int], closed_us: int, every_us: int
) -> None:
    gaps = [*closing, closed_us, *opening]
    events, _ = played((0, *accumulate(gaps)), every_us=every_us)
    assert kinds(events) == "PR"


def by_hand(gaps: list[int]) -> str:
    """What was pressed, by the definition: rests of a whole settling time, by turns closed and open."""
    rests = [turn % 2 == 0 for turn, gap in enumerate([*gaps, LATER_US]) if gap >= SETTLE_US]
    told = [False]
    for is_closed in rests:
        told += [is_closed] if is_closed != told[-1] else []
    return "".join("P" if is_closed else "R" for is_closed in told[1:])


@settings(deadline=None)
@given(st.lists(st.integers(100, 60_000), max_size=30), st.sampled_from([0, 1_500, 20_000]))
def test_any_edges_give_the_presses_that_the_rests_between_them_are(gaps: list[int], every_us: int) -> None:
    trace = (0, *accumulate(gaps))
    events, contact = played(trace, every_us=every_us, hold_us=LATER_US * 100)
    assert kinds(events) == by_hand(gaps)
    assert contact.is_pressed == contact_at(trace, trace[-1])


@settings(deadline=None)
@given(
    gaps=st.lists(st.integers(1_000, 400_000), min_size=1, max_size=12),
    lost=st.lists(st.booleans(), min_size=13, max_size=13),
)
def test_where_edges_are_lost_the_pin_is_believed_and_nothing_is_held_that_is_open(
    gaps: list[int], lost: list[bool]
) -> None:
    trace = (0, *accumulate(gaps))
    contact = Debounce(False, -1, hold_us=100_000)
    turns = [(at_us, turn % 2 == 0) for turn, at_us in enumerate(trace)]
    told: list[Event] = []
    for now_us in range(0, trace[-1] + 300_000, 5_000):
        for at_us, is_closed in [turn for turn in turns if now_us - 5_000 < turn[0] <= now_us]:
            if not lost[turns.index((at_us, is_closed))]:
                told += contact.edge(is_closed, at_us)
        new = contact.check(contact_at(trace, now_us), now_us)
        assert contact_at(trace, now_us) or not any(isinstance(event, Hold) for event in new)
        told += new
    assert contact.is_pressed == contact_at(trace, trace[-1])
    assert kinds(told).replace("H", "") in ("PR" * 9)[: len(kinds(told).replace("H", ""))]


def test_a_hold_comes_once_and_the_release_says_so() -> None:
    assert played((0, 2_500_000))[0] == [Press(0), Hold(1_000_000), Release(2_500_000, 2_500_000, was_hold=True)]


def test_a_contact_let_go_just_before_the_hold_is_not_held_though_it_bounces_over_it() -> None:
    events, _ = played((0, 990_000, 995_000, 1_003_000), every_us=1_000)
    assert kinds(events) == "PR"


def test_a_hold_is_withheld_while_the_pin_says_open_even_before_the_edge_is_here() -> None:
    contact = Debounce(False, 0)
    assert contact.edge(True, 0) == []
    assert contact.check(True, 30_000) == [Press(0)]
    assert contact.check(False, 1_000_500) == []
    assert contact.edge(False, 999_000) == []  # late, and with the time at which it was
    assert contact.check(False, 1_030_000) == [Release(999_000, 999_000, was_hold=False)]


def test_a_press_whose_release_is_told_late_is_not_lost() -> None:
    contact = Debounce(False, 0)
    contact.edge(True, 0)
    assert contact.check(False, 70_000) == []  # the reader was held up, the edge is still on its way
    assert contact.edge(False, 60_000) == [Press(0)]


def test_a_release_that_nobody_told_of_is_found_by_looking() -> None:
    contact = Debounce(False, 0)
    contact.edge(True, 0)
    contact.check(True, 100_000)
    assert contact.check(False, 350_000) == []
    assert contact.due_us == 370_000
    assert contact.check(False, 370_000) == [Release(350_000, 350_000, was_hold=False)]


def test_a_contact_closed_at_the_start_is_no_press_and_is_not_held() -> None:
    contact = Debounce(True, 0)
    assert contact.due_us is None
    assert contact.check(True, LATER_US) == []
    contact.edge(False, LATER_US)
    assert kinds(contact.check(False, LATER_US * 2)) == "R"
    contact.edge(True, LATER_US * 2)
    assert kinds(contact.check(True, LATER_US * 3)) == "PH"


def test_it_says_when_to_look_again() -> None:
    contact = Debounce(False, 0)
    assert contact.due_us is None
    contact.edge(True, 5_000)
    assert contact.due_us == 25_000
    contact.check(True, 25_000)
    assert contact.due_us == 1_005_000
    contact.check(True, 1_005_000)
    assert contact.due_us is None


def test_times_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="settles"):
        Debounce(False, 0, settle_us=20_000, hold_us=20_000)
