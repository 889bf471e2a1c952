"""Taking back and mending: what stands, what is left to decide, what is to be moved."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.entries import SeatPlan
from companion.errors import NoGame, NotAllowed, Stale, Undecided
from companion.journal import Journal
from companion.table import Post, Table
from companion.words import Words
from rules.core import TABLE, Message, Money, Noun, Refused, Who
from rules.schuettels.state import HOUSES
from tests.companion import toy
from tests.companion.toy import Buy, Roll, buy, journal_and_table, pebbles, play, roll

PAID_BACK = [("move_money_more", Money(2))]


def statuses(table: Table) -> list[str]:
    return [step.status for step in table.snapshot.steps]


def test_a_count_amended_two_actions_later_brings_up_the_purchase_it_made_impossible(tmp_path: Path) -> None:
    with pebbles(tmp_path) as table:
        _, _, n, sale, _ = play(table, roll(6), buy(0, 6), roll(5), buy(1, 4), roll(3))
        table.amend(n, Roll(2), by="tablet", key="amend", why="it was 2")
        assert statuses(table) == ["kept", "kept", "amended", "open", "open"]
        first = table.snapshot.open[0]
        assert first.n == sale
        assert first.why_not is not None
        assert first.why_not.code == "out_of_range"
        assert table.snapshot.moves_for(None) == (), "what to move is said once all is decided"
        table.decide(sale, "change", Buy(2), by="tablet", key="change", eyes=TABLE)
        assert statuses(table)[3:] == ["amended", "open"]
        table.keep_rest(by="tablet", key="rest")
        assert statuses(table) == ["kept", "kept", "amended", "amended", "kept"]
        assert table.snapshot.state.purses == (14, 18)
        assert [(move.key, move.values["money"]) for move in table.snapshot.moves_for(1)] == PAID_BACK
        assert table.snapshot.state.rolled == 3


def test_moves_say_what_a_change_gives_back(tmp_path: Path) -> None:
    with pebbles(tmp_path) as table:
        _, sale = play(table, roll(6), buy(0, 6))
        table.amend(sale, Buy(2), by="tablet", key="amend", eyes=TABLE)
        back = {"what": Noun("money"), "now": 18, "who": Who(0), "money": Money(4)}
        assert table.snapshot.moves_for(0) == (Message("move_money_more", back),)
        assert table.snapshot.moves_for(None) == (), "the others do not know this purse"


def test_dropping_a_step_keeps_the_rest_that_still_fits(tmp_path: Path) -> None:
    with pebbles(tmp_path) as table:
        n, sale, later, last = play(table, roll(6), buy(0, 6), roll(5), buy(1, 5))
        table.amend(n, Roll(1), by="tablet", key="amend")
        with pytest.raises(Refused):
            table.decide(sale, "keep", by="tablet", key="keep")
        with pytest.raises(Stale):
            table.decide(later, "drop", by="tablet", key="not yet")
        table.decide(sale, "drop", by="tablet", key="drop")
        assert [step.n for step in table.snapshot.open] == [later, last]
        why = table.snapshot.open[0].why_not
        assert why is not None, "the next roll is not offered while the first is not acted on"
        table.decide(later, "drop", by="tablet", key="drop 2")
        assert table.snapshot.open[0].why_not is not None, "it is not Ben's turn"
        table.decide(last, "drop", by="tablet", key="drop 3")
        assert table.snapshot.state.rolled == 1
        assert statuses(table) == ["amended", "dropped", "dropped", "dropped"]


def test_a_step_that_no_longer_fits_may_become_a_mend_by_the_table(tmp_path: Path) -> None:
    with pebbles(tmp_path) as table:
        n, sale = play(table, roll(6), buy(0, 6))
        table.amend(n, Roll(3), by="tablet", key="amend")
        mend = {"do": "mend", "facts": {"purse.0": 14, "pebbles.0": 1}, "reason": "house rule"}
        table.decide(sale, "change", mend, by="tablet", key="mend", eyes=TABLE)
        step = table.snapshot.steps[1]
        assert (step.who, step.action.do, step.was) == (TABLE, "mend", (0, Buy(6)))
        assert step.was_told(toy.GAME, None) == Message("buy", {"who": Who(0), "money": Money(6)})
        assert table.snapshot.state.pebbles == (1, 0)


def test_nothing_else_is_amended_while_steps_are_open(tmp_path: Path) -> None:
    with pebbles(tmp_path) as table:
        n, _ = play(table, roll(6), buy(0, 6))
        table.amend(n, Roll(1), by="tablet", key="amend")
        with pytest.raises(Undecided):
            table.amend(n, Roll(6), by="tablet", key="again")


def test_taking_a_correction_back_brings_everything_back(tmp_path: Path) -> None:
    with pebbles(tmp_path) as table:
        n, _ = play(table, roll(6), buy(0, 6))
        before = table.snapshot.state
        table.amend(n, Roll(1), by="tablet", key="amend")
        table.undo(by="tablet", key="undo")
        assert table.snapshot.state == before
        assert statuses(table) == ["kept", "kept"]
        assert table.snapshot.moves_for(None) == ()


def test_what_was_taken_back_stays_in_the_log(tmp_path: Path) -> None:
    with pebbles(tmp_path) as table:
        play(table, roll(6), buy(0, 6))
        table.undo(by="tablet", key="undo")
        assert statuses(table) == ["kept", "undone"]
        assert table.snapshot.state.rolled == 6
        play(table, buy(0, 2))
        assert statuses(table) == ["kept", "undone", "kept"]


def test_one_s_own_act_is_free_to_take_back_and_another_s_is_not(tmp_path: Path) -> None:
    with pebbles(tmp_path) as table:
        play(table, roll(6))
        play(table, buy(0, 6), by="phone of Anna")
        with pytest.raises(NotAllowed) as asks:
            table.undo(by="phone of Ben", seat=1, key="ben")
        assert asks.value.code == "ask_the_table"
        assert asks.value.values["what"] == (Message("buy", {"who": Who(0), "money": Money(6)}),)
        table.undo(by="another phone of Anna", seat=0, key="anna")
        assert statuses(table) == ["kept", "undone"]


def test_across_a_reveal_the_table_is_asked_and_the_log_keeps_who_and_why(tmp_path: Path) -> None:
    with pebbles(tmp_path) as table:
        play(table, roll(6))
        with pytest.raises(NotAllowed):
            table.undo(by="tablet", key="undo")
        table.undo(by="tablet", key="undo", asked=True, why="it fell off the table")
        undo = table.snapshot.entries[-1].body
        assert (undo.by, undo.why, undo.asked) == ("tablet", "it fell off the table", True)  # type: ignore[union-attr]
        with pytest.raises(NoGame):
            table.undo(by="tablet", key="undo again", asked=True)


def test_a_gesture_of_two_acts_is_one_undo(tmp_path: Path) -> None:
    with pebbles(tmp_path) as table:
        table.submit([roll(4), buy(0, 3)], key="both", by="tablet", eyes=TABLE)
        table.undo(by="tablet", key="undo", asked=True)
        assert statuses(table) == ["undone", "undone"]
        assert table.snapshot.state.rolled == 0


def test_open_steps_stand_there_again_after_a_power_cut(tmp_path: Path) -> None:
    with pebbles(tmp_path) as table:
        n, sale = play(table, roll(6), buy(0, 6))
        table.amend(n, Roll(3), by="tablet", key="amend")
    table = journal_and_table(tmp_path)
    assert [step.n for step in table.snapshot.open] == [sale]
    table.decide(sale, "change", Buy(1), by="tablet", key="change", eyes=TABLE)
    (money,) = table.snapshot.moves_for(0)
    table.close()
    assert money.key == "move_money_more"
    assert money.values["money"] == Money(5), "from where the pieces lay before the correction"


def test_money_in_the_box_ends_each_step_with_what_to_move(tmp_path: Path) -> None:
    with pebbles(tmp_path, money="box") as table:
        play(table, roll(6), buy(0, 6))
        assert [move.key for move in table.snapshot.moves_for(0)] == [
            "move_money_less",
            "move_pieces_more",
            "move_marker",
        ]
        table.set_money("tablet", by="tablet", key="money")
        play(table, roll(6))
        assert table.snapshot.moves_for(None) == ()


def test_a_village_sale_made_impossible_by_an_amended_shake(tmp_path: Path) -> None:
    """The first game: Anna sold at the tailor on an 8, and two actions later it turns out to have been a 6."""
    table = Table(Journal(tmp_path), now_ms=lambda: 0, wall=lambda: "")
    seats = [SeatPlan("Anna", "red"), SeatPlan("Ben", "blue")]
    table.begin("schuettels", seats, sheet="house", request="a game")
    shake = (TABLE, {"do": "shake", "count": HOUSES["tailor"]})  # a place with one thing to do does itself
    acts = [shake, shake, shake, (0, {"do": "sell", "spaces": [2]}), shake, (1, {"do": "sell", "spaces": [1]})]
    kept = [table.submit([Post(who, action)], key=str(at), by="t").entries[0] for at, (who, action) in enumerate(acts)]
    table.amend(kept[2], {"do": "shake", "count": HOUSES["forge"]}, by="t", key="amend", why="it was another count")
    assert [step.n for step in table.snapshot.open] == kept[3:]
    table.decide(kept[3], "drop", by="t", key="drop")
    table.keep_rest(by="t", key="rest")
    assert [step.status for step in table.snapshot.steps[2:]] == ["amended", "dropped", "kept", "kept"]
    said = [Words("en", "schuettels").say(move, ["Anna", "Ben"]) for move in table.snapshot.moves_for(None)]
    table.close()
    assert said[0] == "Anna gives 40 back.", said
    assert any("tailor" in sentence and sentence.startswith("Put 1") for sentence in said), said
    assert any("forge" in sentence and sentence.startswith("Put 1") for sentence in said), said
