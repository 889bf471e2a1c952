"""Game records: what stands, to replay; what does not read is named with its line and the cure."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from companion import codec, players, records
from companion.entries import Header, SeatPlan
from companion.errors import Unreadable
from companion.fold import Folded
from companion.journal import Journal
from companion.playing import read
from companion.sheets import house_sheet
from companion.table import Post
from companion.words import Words
from rules.core import Setup
from rules.registry import GAMES
from tests.companion.toy import GAMES as TOYS
from tests.companion.toy import NewPebbles, buy, journal_and_table, pebbles, play, roll

FIRST = {
    "format": 1, "game": "pebbles", "rules": 1, "seats": [{"name": "A", "colour": "r"}, {"name": "B", "colour": "b"}],
    "first": 0, "options": {"purse": "full"}, "sheet": {},
}  # fmt: skip
SEATS = [{"name": "A", "colour": "r"}, {"name": "B", "colour": "b"}]
ROLL = '{"who": -1, "do": "roll", "count": 3}'


def text(*lines: str, **changes: object) -> list[str]:
    return [json.dumps(FIRST | changes), *lines]


def test_what_was_taken_back_or_dropped_is_not_in_a_record(tmp_path: Path) -> None:
    with pebbles(tmp_path) as table:
        n, *_ = play(table, roll(6), buy(0, 6))
        table.undo(by="tablet", key="undo")
        table.amend(n, {"do": "roll", "count": 2}, by="tablet", key="amend")
        play(table, buy(0, 2))
        snapshot = table.snapshot
    assert snapshot.header is not None
    folded = Folded(snapshot.header, None, snapshot.state, snapshot.steps, snapshot.entries)
    first, *acts = records.record(TOYS["pebbles"], folded)
    assert json.loads(first)["seats"] == [{"colour": "red", "name": "Anna"}, {"colour": "blue", "name": "Ben"}]
    assert [json.loads(line) for line in acts] == [
        {"who": -1, "do": "roll", "count": 2},
        {"who": 0, "do": "buy", "price": 2},
    ]
    replayed = records.replay([first, *acts], TOYS)
    assert replayed.folded.state == snapshot.state


@pytest.mark.parametrize("key", GAMES)
def test_a_record_of_a_random_game_replays_to_the_same_state(key: str) -> None:
    game, random = GAMES[key], Random(5)
    setup = game.setup(Setup(game.seats[0], sheet=house_sheet(key)))
    state, acts, player = game.start(setup), [], players.RandomPlayer(random)
    while (who := players.next_mover(game, state)) is not None:
        acts.append((who, player.act(game, state, who)))
        state = game.apply(state, *acts[-1])
    plans = tuple(SeatPlan(f"S{seat}", f"c{seat}") for seat in range(setup.seats))
    header = Header(key, game.rules, plans, 0, setup.options, setup.sheet, "house")
    found = records.replay(list(records.lines(header, acts)))
    assert codec.state_hash(game, found.folded.state) == codec.state_hash(game, state)
    assert found.actions == len(acts)


def test_a_replay_stops_at_the_first_refused_line_and_says_which_and_why() -> None:
    found = records.replay(text(ROLL, '{"who": 0, "do": "buy", "price": 5}', ROLL), TOYS)
    assert found.line == 3
    assert found.refused is not None
    assert found.refused.code == "out_of_range"
    assert found.actions == 1
    assert found.folded.state.rolled == 3


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        ([], "record_empty"),
        (["", "  "], "record_empty"),
        (["{"], "record_line"),  # broken JSON
        (["{}"], "record_line"),  # no record at all
        (text(format=2), "record_line"),  # a newer format
        (text(rules=2), "record_line"),  # newer rules
        (text(rules=0), "record_line"),  # older rules
        (text(game="chess"), "record_line"),
        (text(first=7), "record_line"),
        (text(seats=[]), "record_line"),
        (text(options={"size": "xl"}), "record_line"),
        (text(sheet={"a": {"value": -1, "source": "house"}}), "record_line"),
        (text(more=1), "record_line"),
        (text("no json"), "record_line"),
        (text(seats=SEATS[:1] * 2), "record_line"),  # both of one name
        (text(seats=[{"name": "", "colour": "r"}, SEATS[1]]), "record_line"),
        (text(seats=[{"name": "A" * 3000, "colour": "r"}, SEATS[1]]), "record_line"),
        (text(seats=[{"name": "A", "colour": "r", "player": "random"}, SEATS[1]]), "record_line"),
        (text(sheet={"a": {"value": 1, "source": "house"}}), "record_line"),  # no such value on this box
        (text('{"do": "roll", "count": 3}'), "record_line"),  # nobody does it
        (text('{"who": "Anna", "do": "roll", "count": 3}'), "record_line"),
        (text('{"who": true, "do": "roll", "count": 3}'), "record_line"),
        (text('{"who": -1, "do": "roll"}'), "record_line"),
        (text('{"who": -1, "do": "roll", "count": "three"}'), "record_line"),
    ],
)
def test_what_is_no_record_is_named_with_line_and_cure(lines: list[str], code: str) -> None:
    with pytest.raises(Unreadable) as error:
        records.replay(lines, TOYS)
    assert error.value.code == code
    for language in ("en", "de"):
        said = Words(language, strict=True).say(error.value)
        assert len(said) > 20
        assert code == "record_empty" or f" {len(lines)} " in said.replace(":", " "), said


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"format": 2}, "Use the newer program."),
        ({"format": 10**30}, "format 1,000,000,000…; this program reads up to 1."),
        ({"seats": [{"name": "A\n", "colour": "r"}, SEATS[1]]}, "The name A· has signs that cannot be shown."),
        ({"seats": [{"name": "A\x1b[31m", "colour": "r"}, SEATS[1]]}, "The name A·[31m has signs"),
        ({"seats": [{"name": "A", "colour": "\u2028"}, SEATS[1]]}, "The name · has signs"),
        ({"seats": [{"name": "A", "colour": "r", "age": 9}, SEATS[1]]}, '"seats.0.age" is not known here.'),
        ({"rules": 2}, "Use the newer program."),
        ({"rules": 0}, "Use the program of that time."),
        ({"game": "chess"}, "Known: pebbles."),
    ],
)
def test_the_cure_is_said(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises(Unreadable) as error:
        records.replay(text(**changes), TOYS)
    assert sentence in Words("en").say(error.value)


def test_what_only_newer_rules_took_up_has_no_record(tmp_path: Path) -> None:
    with pebbles(tmp_path) as table:
        for _ in range(4):
            play(table, roll(4), buy(0, 4), roll(2), buy(1, 2))
        play(table, roll(1), Post(0, {"do": "pass"}), roll(1), Post(1, {"do": "pass"}))
    games = {"pebbles": NewPebbles()}
    journal_and_table(tmp_path, games).close()
    with Journal(tmp_path, writes=False) as journal:
        playing = read(journal, journal.game("1"), games)
    with pytest.raises(Unreadable, match="record_of_two_rules"):
        records.record(playing.game, playing.folded)


def test_a_record_of_a_game_that_newer_rules_fold_alike_is_one_of_theirs(tmp_path: Path) -> None:
    with pebbles(tmp_path) as table:
        play(table, roll(4), Post(0, {"do": "pass"}))
    games = {"pebbles": NewPebbles()}
    with Journal(tmp_path, writes=False) as journal:
        playing = read(journal, journal.game("1"), games)
    assert records.replay(list(records.record(playing.game, playing.folded)), games).actions == 2


def test_a_record_is_kept_as_a_game_put_aside_and_once_only(tmp_path: Path) -> None:
    found = records.replay(text(ROLL, '{"who": 0, "do": "buy", "price": 3}'), TOYS)
    with Journal(tmp_path) as journal:
        game_id = records.keep(journal, found, at_wall="2026")
        assert records.keep(journal, found, at_wall="2027") == game_id
        assert [(row.id, row.status) for row in journal.games()] == [(game_id, "aside")]
        playing = read(journal, journal.game(game_id), TOYS)
    assert playing.folded.state == found.folded.state
