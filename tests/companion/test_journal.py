"""The journal: what it answered for is there, or the damage is found and said."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from companion.errors import JournalDamaged, JournalInUse, NoGame
from companion.journal import BACKUP_EVERY_GESTURES, NAME, SAFE, STATES_KEPT, Journal, StateRow
from companion.journal_backup import KEPT, backups
from tests.companion import damage
from tests.companion.damage import row, verdict, written


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal(tmp_path / "data") as journal:
        journal.begin("{}", key="a game", at_wall="2026")
        yield journal


def folder(journal: Journal) -> Path:
    return journal.path.parent


@pytest.mark.parametrize("name", SAFE)
def test_what_makes_a_commit_last_is_set(journal: Journal, name: str) -> None:
    assert journal._db.execute(f"PRAGMA {name}").fetchone()[0] == SAFE[name]


def test_rows_come_back_as_they_were_written(journal: Journal) -> None:
    journal.append("1", [row(1), row(2)])
    journal.append("1", [row(3)])
    assert journal.rows("1") == [row(1), row(2), row(3)]


def test_a_gesture_that_breaks_off_leaves_nothing(journal: Journal) -> None:
    journal.append("1", [row(1)])
    with pytest.raises(sqlite3.IntegrityError):
        journal.append("1", [row(2), row(1)])
    assert journal.rows("1") == [row(1)]
    journal.append("1", [row(2)])
    assert journal.rows("1") == [row(1), row(2)]


def test_a_second_writer_is_told_and_a_reader_is_not_in_the_way(journal: Journal) -> None:
    journal.append("1", [row(1)])
    with pytest.raises(JournalInUse):
        Journal(folder(journal))
    with Journal(folder(journal), writes=False) as reader:
        assert reader.rows("1") == [row(1)]


def test_a_reader_of_nothing_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(NoGame, match="no_journal"):
        Journal(tmp_path, writes=False)


def test_an_unknown_game_is_told_with_those_there_are(journal: Journal) -> None:
    with pytest.raises(NoGame) as error:
        journal.game("7")
    assert error.value.values["known"] == ("1",)


def test_the_newest_three_backups_are_kept(journal: Journal) -> None:
    for n in range(1, BACKUP_EVERY_GESTURES * (KEPT + 2) + 1):
        journal.append("1", [row(n)])
    found = backups(journal.path)
    assert len(found) == KEPT
    assert found[0].name.endswith(f"{BACKUP_EVERY_GESTURES * (KEPT + 2):08d}.sqlite")


def test_the_end_of_a_game_makes_a_backup(journal: Journal) -> None:
    journal.append("1", [row(1)], ends=True)
    assert len(backups(journal.path)) == 1


def test_only_the_newest_states_are_kept(journal: Journal) -> None:
    for n in range(1, 8):
        journal.append("1", [row(n)], state=StateRow(n, 1, "hash", "{}"))
    assert [state.n for state in journal.states("1")] == [7, 6, 5][:STATES_KEPT]


def damaged_with_backups(tmp_path: Path, backed_up: int, after: int) -> Path:
    data = tmp_path / "data"
    with Journal(data) as journal:
        journal.begin("{}", key="a game", at_wall="2026")
        for n in range(1, backed_up + 1):
            journal.append("1", [row(n)])
        if backed_up:
            journal.backup()
        for n in range(backed_up + 1, backed_up + after + 1):
            journal.append("1", [row(n)])
    return data


def test_damage_takes_the_newest_good_backup_and_says_so(tmp_path: Path) -> None:
    data = damaged_with_backups(tmp_path, 5, 3)
    (data / NAME).write_bytes(b"no database at all" * 100)
    with Journal(data) as journal:
        assert journal.recovered is not None
        assert journal.recovered.key == "journal_recovered"
        assert journal.rows("1") == [row(n) for n in range(1, 6)]
        journal.append("1", [row(6)])
    aside = data / str(journal.recovered.values["aside"])
    assert (aside / NAME).read_bytes().startswith(b"no database")
    with Journal(data) as journal:
        assert journal.recovered is None


def test_a_damaged_backup_is_passed_over(tmp_path: Path) -> None:
    data = damaged_with_backups(tmp_path, 5, 0)
    with Journal(data) as journal:
        for n in range(6, 8):
            journal.append("1", [row(n)])
        journal.backup()
    newest, _ = backups(data / NAME)
    newest.write_bytes(newest.read_bytes()[:5000])
    (data / NAME).write_bytes(b"x" * 5000)
    with Journal(data) as journal:
        assert len(journal.rows("1")) == 5
        journal.backup()
    assert newest not in backups(data / NAME), "it lies with the damaged files"


def test_damage_without_a_backup_begins_anew_and_keeps_the_pieces(tmp_path: Path) -> None:
    data = damaged_with_backups(tmp_path, 0, 3)
    (data / NAME).write_bytes(b"x" * 5000)
    with Journal(data) as journal:
        assert journal.recovered is not None
        assert journal.recovered.key == "journal_begun_anew"
        assert journal.games() == []
        assert journal.begin("{}", key="another", at_wall="2026") == "1"


def test_one_changed_letter_is_found(tmp_path: Path) -> None:
    """SQLite does not notice this one; the chain of seals does."""
    data = damaged_with_backups(tmp_path, 5, 3)
    whole = (data / NAME).read_bytes()
    (data / NAME).write_bytes(whole.replace(b'"n":7', b'"n":9'))
    with pytest.raises(JournalDamaged):
        Journal(data, writes=False)
    with Journal(data) as journal:
        assert journal.recovered is not None
        assert len(journal.rows("1")) == 5


def test_a_lost_row_in_the_middle_is_found(tmp_path: Path) -> None:
    data = damaged_with_backups(tmp_path, 5, 3)
    db = sqlite3.connect(data / NAME)
    db.execute("DELETE FROM entry WHERE n = 4")
    db.commit()
    db.close()
    with Journal(data) as journal:
        assert journal.recovered is not None


def test_a_clean_cut_after_the_sync_loses_nothing(tmp_path: Path) -> None:
    written(tmp_path, 12)
    assert verdict(tmp_path / "cut", 12) == "whole"


@pytest.mark.parametrize("checkpoint_at", [0, 15])
def test_whatever_is_cut_or_flipped_rows_are_a_prefix_or_the_damage_is_found(
    tmp_path: Path, checkpoint_at: int
) -> None:
    """A slice of tests/bench/damage_journal.py: 60 damaged copies of 30 gestures."""
    written(tmp_path, 30, checkpoint_at=checkpoint_at)
    for seed in range(30):
        copy = tmp_path / "broken"
        done = damage.broken(tmp_path / "cut", copy, Random(seed))
        try:
            verdict(copy, 30)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, {done}") from error
        shutil.rmtree(copy)
