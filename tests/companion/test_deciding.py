"""What a correction leaves to decide: what it brought up is done first, nothing moves to another player unasked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from companion import records, view
from companion.entries import SeatPlan
from companion.errors import NoGame
from companion.fold import ABOUT_ANOTHER
from companion.journal import Journal
from companion.table import Post, Table
from companion.words import Words
from rules.core import TABLE, Refused
from rules.registry import GAMES
from rules.schuettels.state import HOUSES
from tests.companion.toy import Buy, Pass, Roll, buy, journal_and_table, pebbles, play, roll

NAMES = ("Anna", "Ben", "Cem")
ALONE, FORGE = {"do": "shake", "count": 1}, {"do": "place", "house": ["forge"]}
"""A shake that carries itself out, and a deed of a place where there is a choice (the wishing well)."""
WELL = {"do": "shake", "count": 2}
STAY = {"do": "mend", "facts": {"rolled": 0}}


def village(folder: Path) -> Table:
    """Return a table of three with a village on it."""
    table = Table(Journal(folder), now_ms=lambda: 0, wall=lambda: "")
    seats = [SeatPlan(name, f"colour of {name}") for name in NAMES]
    table.begin("schuettels", seats, sheet="house", request="a game")
    return table


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    table = village(tmp_path)
    yield table
    table.close()


def acts(table: Table, *posts: tuple[int, dict[str, object]]) -> list[int]:
    """Keep each post as a gesture of its own, and return the numbers of their entries."""
    keys = range(table.snapshot.number, table.snapshot.number + len(posts))
    return [
        table.submit([Post(*post)], key=f"k{key}", by="t").entries[0] for key, post in zip(keys, posts, strict=True)
    ]


def statuses(table: Table) -> list[str]:
    return [step.status for step in table.snapshot.steps]


def test_a_shake_amended_to_one_with_a_choice_asks_for_the_deed_and_keeps_the_rest(table: Table) -> None:
    first, *_ = acts(table, (TABLE, ALONE), (TABLE, WELL), (1, FORGE), (TABLE, ALONE))
    table.amend(first, WELL, by="t", key="amend")
    assert statuses(table) == ["amended", "open", "open", "open"]
    acts(table, (0, FORGE))
    assert statuses(table) == ["amended", "kept", "kept", "kept", "kept"]
    assert [step.n for step in table.snapshot.steps] == [1, 6, 2, 3, 4], "the deed stands where it was done"
    assert table.snapshot.state.supply[:2] == (9, 9)
    said = [Words("en", "schuettels").say(move, NAMES) for move in table.snapshot.moves_for(None)]
    assert "Put 1 good of Anna here: forge." in said, said
    log = [line.n for line in view.seen(table.snapshot, None).log]
    assert log == sorted(log)


def test_a_deed_done_first_is_taken_back_with_all_it_kept(table: Table) -> None:
    first, *_ = acts(table, (TABLE, ALONE), (TABLE, WELL), (1, FORGE))
    table.amend(first, WELL, by="t", key="amend")
    acts(table, (0, FORGE))
    table.undo(by="t", key="undo")
    assert statuses(table) == ["amended", "undone", "open", "open"]
    assert table.snapshot.state.on_turn == 0
    table.undo(by="t", key="undo more")
    assert sorted(statuses(table)) == ["kept", "kept", "kept", "undone"]


def test_a_deed_done_first_stands_there_after_a_power_cut_and_in_the_record(tmp_path: Path) -> None:
    table = village(tmp_path)
    first, *_ = acts(table, (TABLE, ALONE), (TABLE, WELL), (1, FORGE))
    table.amend(first, WELL, by="t", key="amend")
    acts(table, (0, FORGE))
    before = table.snapshot
    table.close()
    table = Table(Journal(tmp_path), now_ms=lambda: 0, wall=lambda: "")
    after = table.snapshot
    assert table._playing is not None
    replayed = records.replay(list(records.record(GAMES["schuettels"], table._playing.folded)))
    table.close()
    assert after.state == before.state == replayed.folded.state
    assert [step.n for step in after.steps] == [step.n for step in before.steps]


def test_a_gesture_of_two_acts_is_laid_whole_before_the_open_steps_are_tried(table: Table) -> None:
    first, *_ = acts(table, (TABLE, ALONE), (TABLE, ALONE), (TABLE, WELL), (2, FORGE))
    table.amend(first, {"do": "mend", "facts": {"turn": 2}}, by="t", key="amend")
    assert statuses(table) == ["amended", "open", "open", "open"]
    table.submit([Post(TABLE, WELL), Post(2, FORGE)], key="both", by="t")
    assert statuses(table)[1:] == ["kept", "kept", "open", "open", "open"], "Anna shook, not Ben: asked first"
    assert [step.n for step in table.snapshot.open] == [2, 3, 4]
    table.undo(by="t", key="undo", asked=True)
    assert statuses(table)[1:] == ["undone", "undone", "open", "open", "open"]


def test_what_is_not_offered_while_steps_are_open_is_refused_with_its_reason(table: Table) -> None:
    first, *_ = acts(table, (TABLE, ALONE), (TABLE, ALONE))
    table.amend(first, WELL, by="t", key="amend")
    with pytest.raises(Refused) as refused:
        acts(table, (TABLE, ALONE))
    assert refused.value.refusal.code == "not_now"


def test_an_act_that_does_not_lead_on_leaves_the_rest_open(tmp_path: Path) -> None:
    with pebbles(tmp_path) as table:
        n, sale, later, _ = play(table, roll(6), buy(0, 6), roll(5), buy(1, 5))
        table.amend(n, Roll(1), by="t", key="amend")
        play(table, buy(0, 1))
        assert [(step.n, step.status) for step in table.snapshot.steps][:2] == [(n, "amended"), (6, "kept")]
        assert [step.n for step in table.snapshot.open][:2] == [sale, later]
        table.decide(sale, "drop", by="t", key="drop")
        table.keep_rest(by="t", key="rest")
        assert statuses(table) == ["amended", "kept", "dropped", "kept", "kept"]


@pytest.mark.parametrize("how", ["amend", "drop"])
def test_a_later_roll_is_not_moved_to_another_player_silently(tmp_path: Path, how: str) -> None:
    with pebbles(tmp_path) as table:
        n, sale, later, last = play(table, roll(6), buy(0, 6), roll(5), buy(1, 5))
        if how == "amend":
            table.amend(sale, STAY, by="t", key="amend")
        else:
            table.amend(n, {"do": "mend", "facts": {}}, by="t", key="amend")
            table.decide(sale, "drop", by="t", key="drop")
        step = view.seen(table.snapshot, None).open[0]
        assert (step.n, step.can_be_kept) == (later, True)
        assert step.why_not is not None
        assert step.why_not.code == ABOUT_ANOTHER
        assert Words("en", strict=True).say(step.why_not, NAMES).startswith("This was about Ben; now it would be about")
        with pytest.raises(Refused, match=ABOUT_ANOTHER):
            table.keep_rest(by="t", key="rest")
        table.decide(later, "keep", by="t", key="keep")
        assert [step.n for step in table.snapshot.open] == [last], "and this is Ben's, but Anna's turn"
        assert not table.snapshot.open[0].can_be_kept


def test_a_step_of_the_table_may_become_a_seat_s_deed(tmp_path: Path) -> None:
    with pebbles(tmp_path) as table:
        _, n = play(table, roll(3), Post(TABLE, {"do": "mend", "facts": {}}))
        table.amend(n, Buy(2), by="t", key="amend", eyes=TABLE)
        step = table.snapshot.steps[-1]
        assert (step.who, step.status, table.snapshot.state.pebbles) == (0, "amended", (1, 0))
        table.amend(n, STAY, by="t", key="and back")
        assert table.snapshot.steps[-1].who == TABLE


def test_a_double_shake_that_was_none_becomes_the_deed(table: Table) -> None:
    _, called = acts(table, (TABLE, WELL), (TABLE, {"do": "double_shake"}))
    table.amend(called, FORGE, by="t", key="amend")
    assert (table.snapshot.steps[-1].who, table.snapshot.state.supply[0]) == (0, 9)


def test_an_open_step_of_the_table_may_become_a_seat_s_deed(table: Table) -> None:
    first, second, _ = acts(table, (TABLE, ALONE), (TABLE, ALONE), (TABLE, ALONE))
    table.amend(first, WELL, by="t", key="amend")
    table.decide(second, "change", FORGE, by="t", key="change")
    assert table.snapshot.steps[1].who == 0
    assert table.snapshot.open[0].why_not is not None, "this was Cem's shake, and it is Ben's turn"


def test_a_game_is_not_over_while_steps_are_open(tmp_path: Path) -> None:
    with pebbles(tmp_path) as table:
        n, *_ = play(table, roll(1), Post(0, Pass()), roll(1), Post(1, Pass()))
        table.amend(n, {"do": "mend", "facts": {"pebbles.0": 5}}, by="t", key="amend")
        assert table.snapshot.open
        assert table.snapshot.result is None
        assert table.games()[0].status == "open"
        table.drop_rest(by="t", key="drop")
        assert statuses(table) == ["amended", "dropped", "dropped", "dropped"]
        assert table.snapshot.result is not None
        assert table.games()[0].status == "finished"
        with pytest.raises(NoGame, match="nothing_open"):
            table.drop_rest(by="t", key="drop again")
    table = journal_and_table(tmp_path)
    assert statuses(table) == ["amended", "dropped", "dropped", "dropped"]
    table.close()


def test_the_places_of_these_tests_are_what_they_are_said_to_be() -> None:
    assert ALONE["count"] not in HOUSES.values()
