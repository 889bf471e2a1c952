"""The referee: odds of a choice times what each sensor says; armed by emptiness."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.referee import FLOOR, Listening, Said, contradict, judge
from rules.core import TABLE, Choice
from rules.registry import GAMES
from tests.rules import drive

LIKELIHOODS = st.dictionaries(st.integers(0, 15), st.floats(FLOOR, 1), min_size=1)


def shake(odds: dict[int, float] | None = None) -> Choice:
    state = drive.start("schuettels", 3)
    offered = GAMES["schuettels"].offer(state, TABLE, GAMES["schuettels"].actions["shake"])
    assert isinstance(offered, Choice)
    return Choice(offered.kind, offered.fields, odds=odds)


def peaked(count: int, share: float = 0.9) -> dict[int, float]:
    rest = (1 - share) / 15
    return {n: share if n == count else rest for n in range(16)}


@given(st.lists(LIKELIHOODS, max_size=3))
def test_the_answers_are_probabilities_best_first(said: list[dict[int, float]]) -> None:
    verdict = judge(shake(), [Said(str(n), one) for n, one in enumerate(said)])
    shares = [answer.probability for answer in verdict.answers]
    assert len(shares) == 16
    assert sum(shares) == pytest.approx(1)
    assert shares == sorted(shares, reverse=True)


def test_a_camera_that_is_sure_is_sure() -> None:
    verdict = judge(shake(), [Said("camera", peaked(8, 0.99))])
    assert (verdict.answers[0].value, verdict.sure) == (8, True)
    assert not judge(shake(), [Said("camera", peaked(8, 0.8))]).sure


def test_two_sensors_that_agree_are_surer_than_one() -> None:
    one = judge(shake(), [Said("camera", peaked(8, 0.8))])
    both = judge(shake(), [Said("camera", peaked(8, 0.8)), Said("scale", peaked(8, 0.8))])
    assert both.answers[0].probability > one.answers[0].probability


def test_the_choice_s_odds_are_the_prior_once() -> None:
    verdict = judge(shake({7: 0.2, 8: 0.8}), [Said("camera", {7: 0.5, 8: 0.5}), Said("scale", {7: 0.5, 8: 0.5})])
    assert verdict.answers[0].value == 8
    assert verdict.answers[0].probability == pytest.approx(0.8)


def test_sensors_with_other_best_answers_and_no_overlap_contradict_each_other() -> None:
    assert contradict(Said("camera", peaked(8, 0.99)), Said("scale", peaked(9, 0.99)))
    assert not contradict(Said("camera", peaked(8, 0.99)), Said("scale", peaked(8, 0.5)))
    assert not contradict(Said("camera", {8: 0.6, 9: 0.4}), Said("scale", {8: 0.4, 9: 0.6}))
    verdict = judge(shake(), [Said("camera", peaked(8, 0.999)), Said("scale", peaked(9, 0.999))])
    assert verdict.contradiction
    assert not verdict.sure


# --- when to listen ------------------------------------------------------------------------------------


def armed() -> Listening:
    listening = Listening()
    listening.saw_empty()
    return listening


def test_gnomes_that_lay_there_from_the_start_are_no_shake() -> None:
    assert Listening().read(5) == "ignore"
    assert armed().read(5) == "propose"


def test_a_late_roller_corrects_the_open_proposal() -> None:
    listening = armed()
    assert listening.read(8) == "propose"
    assert listening.read(8) == "ignore"
    assert listening.read(9) == "correct"


def test_gnomes_being_gathered_never_count() -> None:
    listening = armed()
    listening.read(8)
    assert [listening.read(n) for n in (5, 2, 3, 4)] == ["ignore"] * 4
    assert listening.count == 8


def test_after_a_kept_shake_it_is_deaf_until_the_tray_was_seen_empty() -> None:
    listening = armed()
    listening.read(8)
    listening.kept(8)
    assert listening.read(7) == "ignore"
    listening.saw_empty()
    assert listening.read(3) == "propose"


def test_a_tray_emptied_before_the_tap_is_armed_by_the_tap() -> None:
    listening = armed()
    listening.read(8)
    listening.saw_empty()
    assert listening.read(4) == "ignore"  # the next player is quick; the question for 8 is still open
    listening.kept(8)
    assert listening.read(4) == "propose"


def test_a_gnome_found_after_the_shake_was_kept_is_late_evidence() -> None:
    listening = armed()
    listening.read(8)
    listening.kept(8)
    assert listening.read(9) == "late"
    assert listening.read(9) == "ignore"


def test_a_count_typed_before_the_camera_spoke_is_not_read_again_for_the_next_seat() -> None:
    listening = armed()
    listening.kept(6)
    assert listening.read(6) == "ignore"


def test_look_again_replaces_what_was_read() -> None:
    listening = armed()
    listening.read(8)
    listening.read(5)
    listening.again(7)
    assert (listening.state, listening.count) == ("open", 7)


@given(st.lists(st.one_of(st.none(), st.just("kept"), st.integers(1, 15)), max_size=40))
def test_whatever_happens_two_proposals_have_an_emptiness_between_them(events: list[object]) -> None:
    listening, empty_since_proposal = Listening(), False
    for event in events:
        if event is None:
            listening.saw_empty()
            empty_since_proposal = True
        elif event == "kept":
            listening.kept(listening.count)
        elif isinstance(event, int) and listening.read(event) == "propose":
            assert empty_since_proposal
            empty_since_proposal = False
