"""The table: one writer that answers once, all or nothing, and stands there again after a power cut."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from companion import codec
from companion.entries import SeatPlan
from companion.errors import JournalFull, NoGame, Stale, Unreadable
from companion.journal import Journal
from companion.proposal import Answer, Device, Proposal
from companion.sheets import SheetStore
from companion.table import Post, Table
from rules.core import TABLE, Choice, Message, Refused
from tests.companion.toy import GAME, SEATS, Buy, NewPebbles, Roll, buy, journal_and_table, pebbles, play, roll


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    with pebbles(tmp_path) as table:
        yield table


def mark(table: Table, do: str, who: int, eyes: int | None = None) -> str:
    choice = GAME.offer(GAME.see(table.snapshot.state, eyes), who, GAME.actions[do])
    assert isinstance(choice, Choice)
    return codec.fingerprint(GAME, who, do, choice)


def test_an_idle_table_has_a_snapshot_without_a_game(tmp_path: Path) -> None:
    table = journal_and_table(tmp_path)
    assert table.snapshot.game is None
    with pytest.raises(NoGame, match="no_game_on_table"):
        table.submit([roll(1)], key="a", by="tablet")
    table.close()


def test_the_same_key_twice_acts_once_and_answers_the_same(table: Table) -> None:
    first = table.submit([roll(3)], key="a", by="tablet")
    again = table.submit([roll(3)], key="a", by="tablet")
    assert (again.gesture, again.entries, again.again) == (first.gesture, first.entries, True)
    assert len(table.snapshot.steps) == 1


def test_the_same_key_after_a_power_cut_still_acts_once(tmp_path: Path) -> None:
    with pebbles(tmp_path) as table:
        first = table.submit([roll(3)], key="a", by="tablet")
    table = journal_and_table(tmp_path)
    again = table.submit([roll(3)], key="a", by="tablet")
    table.close()
    assert (again.entries, again.again) == (first.entries, True)


def test_a_game_stands_there_again_after_a_power_cut(tmp_path: Path) -> None:
    with pebbles(tmp_path) as table:
        play(table, roll(6), buy(0, 6), roll(2))
        before = table.snapshot
    table = journal_and_table(tmp_path)
    after = table.snapshot
    table.close()
    assert (after.game_id, after.state, after.entries) == (before.game_id, before.state, before.entries)


def test_a_stale_fingerprint_is_refused_and_a_fresh_one_taken(table: Table) -> None:
    old = mark(table, "roll", TABLE)
    table.submit([Post(TABLE, Roll(3), old)], key="a", by="tablet")
    with pytest.raises(Stale):
        table.submit([Post(TABLE, Roll(3), old)], key="b", by="tablet")
    table.submit([Post(0, {"do": "buy", "price": 2}, mark(table, "buy", 0))], key="c", by="tablet")
    assert table.snapshot.state.pebbles == (1, 0)


def test_a_fingerprint_is_that_of_the_form_these_eyes_were_shown(table: Table) -> None:
    play(table, roll(6))
    assert mark(table, "buy", 0, None) == mark(table, "buy", 0, 0), "20 coins are enough for any roll"
    table.submit([Post(0, Buy(6), mark(table, "buy", 0, 0))], key="a", by="phone", eyes=0)


def test_the_second_post_of_a_gesture_is_compared_with_the_offer_after_the_first(table: Table) -> None:
    first = mark(table, "roll", TABLE)
    other = journal_like_after_roll(table, 5)
    table.submit([Post(TABLE, Roll(5), first), Post(0, Buy(5), other)], key="a", by="tablet")
    assert [step.gesture for step in table.snapshot.steps] == [1, 1]


def journal_like_after_roll(table: Table, count: int) -> str:
    state = GAME.see(Roll(count).then(table.snapshot.state, TABLE), None)
    choice = GAME.offer(state, 0, Buy)
    assert isinstance(choice, Choice)
    return codec.fingerprint(GAME, 0, "buy", choice)


def test_a_gesture_is_kept_whole_or_not_at_all(table: Table) -> None:
    number = table.snapshot.number
    with pytest.raises(Refused):
        table.submit([roll(3), buy(0, 5)], key="a", by="tablet")
    assert table.snapshot.number == number
    assert table.snapshot.steps == ()
    table.submit([roll(3)], key="a", by="tablet")


def test_what_only_the_hidden_part_refuses_is_refused_without_a_reason(tmp_path: Path) -> None:
    with pebbles(tmp_path, purse="light") as table:
        play(table, roll(6))
        with pytest.raises(Refused) as shared:
            table.submit([buy(0, 5)], key="a", by="tablet")
        assert shared.value.refusal.code == "cannot_do_this"
        assert set(shared.value.refusal.values) == {"who", "do"}
        with pytest.raises(Refused) as own:
            table.submit([buy(0, 5)], key="a", by="phone", eyes=0)
        assert own.value.refusal.values["most"] == 2


@pytest.mark.parametrize(
    ("post", "code"),
    [
        ({"do": "roll", "count": "eight"}, "wrong_value"),  # words for a number
        ({"do": "roll", "count": 3.0}, "wrong_value"),  # no whole number
        ({"do": "roll", "count": True}, "wrong_value"),  # no number at all
        ({"do": "roll"}, "missing_field"),
        ({"do": "roll", "count": 3, "more": 1}, "unknown_field"),
        ({"do": "fly"}, "unknown_action"),
        ({"count": 3}, "missing_field"),
        ({"do": ["roll"], "count": 3}, "unknown_action"),
    ],
)
def test_a_post_that_does_not_read_changes_nothing(table: Table, post: dict[str, object], code: str) -> None:
    with pytest.raises(Unreadable) as error:
        table.submit([Post(TABLE, post)], key="a", by="tablet")
    assert error.value.code == code
    assert table.snapshot.steps == ()


@pytest.mark.parametrize("post", [roll(0), roll(7), roll(-1), buy(0, 1), Post(0, Roll(3)), buy(9, 1)])
def test_what_is_not_offered_changes_nothing(table: Table, post: Post) -> None:
    with pytest.raises(Refused):
        table.submit([post], key="a", by="tablet")
    assert table.snapshot.steps == ()


@pytest.mark.parametrize("post", [[], None, "roll", 3, [{"do": "roll"}]])
def test_what_is_no_object_does_not_read(table: Table, post: Any) -> None:
    with pytest.raises(Unreadable, match="not_an_object"):
        table.submit([Post(TABLE, post)], key="a", by="tablet")
    assert table.snapshot.steps == ()


def test_an_empty_gesture_does_not_read(table: Table) -> None:
    with pytest.raises(Unreadable, match="nothing_posted"):
        table.submit([], key="a", by="tablet")


def test_numbers_rise_and_subscribers_wake(table: Table) -> None:
    with table.subscribe(wait_s=5) as waiting:
        table.submit([roll(3)], key="a", by="tablet")
        assert waiting.next() == table.snapshot.number
        assert waiting.next(timeout_s=0) is None


def test_a_closed_subscription_ends_a_waiting_thread(table: Table) -> None:
    waiting = table.subscribe(wait_s=60)
    heard: list[int | None] = []
    thread = threading.Thread(target=lambda: heard.extend(waiting))
    thread.start()
    waiting.close()
    thread.join(timeout=10)
    assert not thread.is_alive()


def test_many_threads_with_one_key_act_once(table: Table) -> None:
    barrier = threading.Barrier(8)

    def tap() -> None:
        barrier.wait()
        table.submit([roll(4)], key="one tap", by="tablet")

    threads = [threading.Thread(target=tap) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(table.snapshot.steps) == 1


def fill(table: Table) -> None:
    long = {"do": "mend", "facts": {}, "reason": "x" * 190}
    for number in range(100):
        table.submit([Post(TABLE, long)], key=f"k{number}", by="tablet")


def test_a_full_disk_keeps_nothing_and_the_game_goes_on(table: Table) -> None:
    db = table._journal._db
    pages = db.execute("PRAGMA page_count").fetchone()[0]
    db.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(JournalFull) as full:
        fill(table)
    assert full.value.code == "disk_full"
    kept = len(table.snapshot.steps)
    assert kept == len(table._journal.rows("1"))
    db.execute("PRAGMA max_page_count = 1000000")
    table.submit([roll(3)], key="after", by="tablet")
    assert len(table._journal.rows("1")) == kept + 1


def test_a_finished_game_stands_there_after_a_power_cut_until_it_is_put_aside(tmp_path: Path) -> None:
    with pebbles(tmp_path) as table:
        play_out(table)
    table = journal_and_table(tmp_path)
    assert table.snapshot.result is not None
    assert table.snapshot.result.winners == (0,)
    table.put_aside()
    table.close()
    table = journal_and_table(tmp_path)
    assert table.snapshot.game is None
    assert [game.status for game in table.games()] == ["finished"]
    table.close()


def play_out(table: Table) -> None:
    for _ in range(5):
        play(table, roll(1), buy(0, 1))
        if table.snapshot.result is None:
            play(table, roll(1), Post(1, {"do": "pass"}))


def test_a_finished_game_is_finished_until_its_end_is_taken_back(table: Table) -> None:
    play_out(table)
    assert table.snapshot.result is not None
    assert table.games()[0].status == "finished"
    table.undo(by="tablet", key="undo")
    assert table.snapshot.result is None
    assert table.games()[0].status == "open"


def test_a_game_is_put_aside_and_opened_again(table: Table) -> None:
    play(table, roll(6))
    state = table.snapshot.state
    table.put_aside()
    assert table.snapshot.game is None
    second = table.begin("pebbles", SEATS, sheet="house")
    assert [(game.id, game.status) for game in table.games()] == [(second, "open"), ("1", "aside")]
    table.open_game("1")
    assert table.snapshot.state == state
    assert [(game.id, game.status) for game in table.games()] == [(second, "aside"), ("1", "open")]


def test_the_same_request_begins_one_game(table: Table) -> None:
    assert table.begin("pebbles", SEATS, sheet="house", request="a game") == "1"
    assert len(table.games()) == 1
    second = table.begin("pebbles", SEATS, sheet="house")
    assert table.begin("pebbles", SEATS, sheet="house", request="a game") == "1"
    assert table.snapshot.game_id == second, "a tap that comes late again changes nothing"


@pytest.mark.parametrize(
    ("seats", "code"),
    [
        ([SeatPlan("", "red"), SeatPlan("Ben", "blue")], "name_empty"),
        ([SeatPlan("Anna", "red"), SeatPlan(" anna ", "blue")], "name_taken"),
        ([SeatPlan("Anna", "red"), SeatPlan("Ben", "red")], "colour_taken"),
        ([SeatPlan("A" * 25, "red"), SeatPlan("Ben", "blue")], "name_too_long"),
        ([SeatPlan("A  B", "red"), SeatPlan(" A B ", "blue")], "name_taken"),
        ([SeatPlan("A\nB", "red"), SeatPlan("Ben", "blue")], "name_unprintable"),
        ([SeatPlan("Anna", "\x1b[31m"), SeatPlan("Ben", "blue")], "name_unprintable"),
        ([SeatPlan("Anna", "red", "genius"), SeatPlan("Ben", "blue")], "unknown_player"),  # type: ignore[arg-type]
    ],
)
def test_seats_that_tell_nobody_apart_begin_no_game(tmp_path: Path, seats: list[SeatPlan], code: str) -> None:
    table = journal_and_table(tmp_path)
    with pytest.raises(Unreadable) as error:
        table.begin("pebbles", seats, sheet="house")
    assert error.value.code == code
    with pytest.raises(Refused):
        table.begin("pebbles", [SeatPlan("Anna", "red")], sheet="house")
    with pytest.raises(Unreadable, match="unknown_game"):
        table.begin("chess", SEATS)
    assert table.games() == []
    table.close()


def test_seats_depth_and_money_change_in_mid_game(table: Table) -> None:
    play(table, roll(3))
    table.seat_change(1, "left", by="tablet", key="a")
    table.seat_change(1, "player", by="tablet", key="b", player="random")
    table.set_depth("score", by="tablet", key="c")
    table.set_money("box", by="tablet", key="d")
    header = table.snapshot.header
    assert header is not None
    assert (header.seats[1].player, header.depth, header.money) == ("random", "score", "box")
    with pytest.raises(Unreadable, match="no_such_seat"):
        table.seat_change(2, "left", by="tablet", key="e")
    with pytest.raises(Unreadable, match="name_taken"):
        table.seat_change(1, "player", by="tablet", key="f", name="Anna")
    with pytest.raises(Unreadable, match="wrong_value"):
        table.set_depth("deep", by="tablet", key="g")  # type: ignore[arg-type]
    assert table.snapshot.undo is not None
    assert table.snapshot.undo.gesture == 1, "undo passes over what is no act"


def proposal(table: Table) -> Proposal:
    return Proposal("p", table.snapshot.number, "roll", "count", (Answer(3, 0.9), Answer(4, 0.1)))


def test_a_proposal_is_shown_until_something_is_kept_and_a_late_one_never(table: Table) -> None:
    late = proposal(table)
    assert table.propose(late)
    assert table.snapshot.proposal == late
    play(table, roll(3))
    assert table.snapshot.proposal is None
    assert not table.propose(late)
    assert table.snapshot.proposal is None
    assert table.propose(proposal(table))


def test_devices_and_counts_are_shown_with_and_without_a_game(tmp_path: Path) -> None:
    table = journal_and_table(tmp_path)
    device = Device("camera", True, Message("looks_away"))
    table.set_devices([device])
    number = table.snapshot.number
    table.set_devices([device])
    assert table.snapshot.number == number, "nobody is woken for what is as it was"
    counted = Proposal("p", 0, "shake", "count", (Answer(8, 1.0),))
    table.counted(counted)
    table.begin("pebbles", SEATS, sheet="house")
    assert table.snapshot.devices == (device,)
    assert table.snapshot.count_reading == counted
    table.close()


def test_values_read_off_the_box_are_kept_for_the_next_game(tmp_path: Path) -> None:
    store = SheetStore(tmp_path)
    table = Table(Journal(tmp_path), now_ms=lambda: 0, wall=lambda: "", store=store)
    seats = [SeatPlan("Anna", "red"), SeatPlan("Ben", "blue")]
    table.begin("schuettels", seats, sheet="box")
    shake, sell = {"do": "shake", "count": 6}, {"do": "sell", "spaces": [1]}
    for number, (who, action) in enumerate([(TABLE, shake), (TABLE, shake), (TABLE, shake)]):
        table.submit([Post(who, action)], key=str(number), by="t")
    choice = table.snapshot.game.offer(table.snapshot.state, 0, table.snapshot.game.actions["sell"])  # type: ignore[union-attr]
    assert isinstance(choice, Choice)
    space = choice.fields["spaces"].among[0]  # type: ignore[attr-defined]
    asked = {name: limits.least for name, limits in choice.fields["says"].limits.items()}  # type: ignore[attr-defined]
    table.submit([Post(0, sell | {"spaces": [space], "says": asked})], key="sale", by="t")
    table.close()
    assert {name: store.told("schuettels").get(name) for name in asked} == asked
    assert store.box("schuettels").sources[next(iter(asked))] == "printed"


def test_rules_that_rose_go_on_from_the_last_stored_state(tmp_path: Path) -> None:
    with pebbles(tmp_path) as table:
        for _ in range(4):
            play(table, roll(4), buy(0, 4), roll(2), buy(1, 2))
        play(table, roll(1), Post(0, {"do": "pass"}), roll(1), Post(1, {"do": "pass"}), roll(6))
        before = table.snapshot
        assert len(before.entries) == 21
    table = journal_and_table(tmp_path, {"pebbles": NewPebbles()})
    after = table.snapshot
    assert [notice.key for notice in after.notices] == ["rules_changed"]
    assert after.state == before.state, "stored after entry 20, and the last roll is offered still"
    assert [step.status for step in after.steps] == ["kept"] * 21
    with pytest.raises(NoGame, match="no_such_step"):
        table.amend(2, Buy(1), by="tablet", key="amend")
    table.submit([buy(0, 2)], key="on", by="tablet", eyes=TABLE)
    assert table.snapshot.state.purses[0] == 0
    table.undo(by="tablet", key="undo")
    state = table.snapshot.state
    table.close()
    again = journal_and_table(tmp_path, {"pebbles": NewPebbles()})
    assert again.snapshot.state == state == before.state
    assert again.snapshot.notices == ()
    again.close()


@pytest.mark.parametrize("body", ['{"purses": []}', "{"])
def test_a_stored_state_is_a_cache_and_the_fold_wins(tmp_path: Path, body: str) -> None:
    with pebbles(tmp_path) as table:
        for _ in range(5):
            play(table, roll(4), Post(0, {"do": "pass"}), roll(2), Post(1, {"do": "pass"}))
        state = table.snapshot.state
        table._journal._db.execute("UPDATE state SET body = ?, rules = 0", (body,))
    table = journal_and_table(tmp_path)
    assert table.snapshot.state == state
    assert table.snapshot.notices == ()
    table.close()


def test_a_game_that_nobody_knows_leaves_the_table_idle_and_says_so(tmp_path: Path) -> None:
    with pebbles(tmp_path):
        pass
    table = journal_and_table(tmp_path, {})
    assert table.snapshot.game is None
    assert [notice.key for notice in table.snapshot.notices] == ["game_not_opened"]
    assert [game.status for game in table.games()] == ["open"]
    table.close()
