"""What one pair of eyes may know: nothing that leaves depends on what they may not know."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion import codec
from companion.snapshot import Snapshot
from companion.table import Post, Table
from companion.view import Offers, Seen, seen
from rules.core import TABLE, Message, Money, Noun, Who
from tests.companion.toy import Buy, Roll, State, buy, journal_and_table, pebbles, play, roll


def forms(offers: Offers) -> dict[str, object]:
    """Return forms as a page could show them: what they check with is no part of it."""
    return {
        f"{who} {do}": (offer.fingerprint, offer.choice and codec.choice_to_data(offer.choice), offer.refusal)
        for who, kinds in offers.items()
        for do, offer in kinds.items()
    }


def rendered(one: Seen) -> str:
    """Return everything of a view as text."""
    return repr((one.facts, forms(one.offers), one.log, one.open, one.moves, one.undo, one.turn, one.scored))


def lived(table: Table) -> Snapshot:
    _, sale, *_ = play(table, roll(2), buy(0, 2), roll(2), Post(1, {"do": "pass"}), roll(1))
    table.amend(sale, Buy(1), by="t", key="amend", eyes=TABLE)
    return table.snapshot


def test_a_spectator_s_view_does_not_depend_on_a_hidden_purse(tmp_path: Path) -> None:
    views = []
    for purse in ("light", "full"):
        with pebbles(tmp_path / purse, purse=purse) as table:
            views.append(rendered(seen(lived(table), None)))
    assert views[0] == views[1]


def test_a_seat_sees_its_own_purse(tmp_path: Path) -> None:
    with pebbles(tmp_path, purse="light") as table:
        lived(table)
        assert seen(table.snapshot, 0).facts["purses"] == (1, None)
        assert seen(table.snapshot, None).facts["purses"] == (None, None)


def test_an_idle_table_shows_nothing(tmp_path: Path) -> None:
    table = journal_and_table(tmp_path)
    one = seen(table.snapshot, None)
    table.close()
    assert (one.game, one.offers, one.log) == (None, {}, ())


def test_every_actor_has_every_kind_offered_or_refused_with_a_reason(tmp_path: Path) -> None:
    with pebbles(tmp_path) as table:
        play(table, roll(3))
        offers = seen(table.snapshot, None).offers
        assert set(offers) == {TABLE, 0, 1}
        assert offers[0]["buy"].choice is not None
        assert offers[0]["buy"].fingerprint is not None
        assert offers[0]["pass"].forced is not None
        assert offers[1]["buy"].refusal is not None
        assert offers[1]["buy"].refusal.code == "not_your_turn"


def test_a_fingerprint_that_was_seen_is_taken(tmp_path: Path) -> None:
    with pebbles(tmp_path) as table:
        play(table, roll(3))
        offer = seen(table.snapshot, None).offers[0]["buy"]
        table.submit([Post(0, Buy(2), offer.fingerprint)], key="a", by="t")


def test_the_log_keeps_what_was_taken_back_and_says_who_and_why(tmp_path: Path) -> None:
    with pebbles(tmp_path) as table:
        play(table, roll(2), buy(0, 2))
        table.undo(by="Anna", key="undo", why="a slip", seat=0)
        table.seat_change(1, "left", by="tablet", key="left")
        table.amend(1, Roll(3), by="Anna", key="amend", why="it was 3")
        log = seen(table.snapshot, None).log
    assert [line.status for line in log] == ["amended", "undone", "note", "note", "note"]
    bought = Message("buy", {"who": Who(0), "money": Money(2)})
    assert log[1].message == bought
    assert log[2].message == Message("log_undo", {"by": "Anna", "why": "a slip", "what": (bought,)})
    assert log[3].message == Message("log_seat_left", {"who": Who(1), "player": None, "name": None})
    assert log[0].was == Message("roll", {"n": 2, "who": Who(0)})


def test_notes_of_depth_and_money_name_what_they_are_now(tmp_path: Path) -> None:
    with pebbles(tmp_path) as table:
        table.set_depth("score", by="t", key="a")
        table.set_money("box", by="t", key="b")
        log = seen(table.snapshot, None).log
    assert [line.message.values for line in log] == [{"depth": Noun("depth_score")}, {"at": Noun("money_box")}]


@pytest.mark.parametrize("eyes", [None, 1])
def test_why_an_open_step_cannot_be_kept_tells_no_purse(tmp_path: Path, eyes: int | None) -> None:
    with pebbles(tmp_path) as table:
        n, _ = play(table, roll(6), buy(0, 6))
        table.amend(n, Roll(1), by="t", key="amend")
        (step,) = seen(table.snapshot, eyes).open
    assert step.why_not is not None
    assert step.why_not.code == "cannot_do_this"
    assert isinstance(table.snapshot.state, State)
