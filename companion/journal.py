"""The journal: one SQLite file that is the truth of every game. What it answered for survives the plug being pulled.

Write-ahead log, `synchronous=FULL`, one transaction a gesture, answered after COMMIT. SQLite finds torn pages but not
flipped letters, so each row carries a digest chained over all rows of its game before it.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, TypeAlias

from companion import journal_backup
from companion.errors import JournalDamaged, JournalFull, JournalInUse, NoGame, Unreadable
from rules.core import Message

log = logging.getLogger(__name__)

Status: TypeAlias = Literal["open", "aside", "finished"]
NAME = "journal.sqlite"
FORMAT = 1
BUSY_MS = 5_000
BACKUP_EVERY_GESTURES = 50
SAFE = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "busy_timeout": BUSY_MS}
"""What makes a commit last; set and read back at each opening (2 is FULL)."""
SCHEMA = """
CREATE TABLE IF NOT EXISTS game (
    id INTEGER PRIMARY KEY, header TEXT NOT NULL, status TEXT NOT NULL, key TEXT UNIQUE, at_wall TEXT NOT NULL,
    seal TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS entry (
    game INTEGER NOT NULL REFERENCES game(id), n INTEGER NOT NULL, gesture INTEGER NOT NULL, kind TEXT NOT NULL,
    body TEXT NOT NULL, key TEXT NOT NULL, part INTEGER NOT NULL, at_wall TEXT NOT NULL, seal TEXT NOT NULL,
    PRIMARY KEY (game, n), UNIQUE (game, key, part)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS state (
    game INTEGER NOT NULL REFERENCES game(id), n INTEGER NOT NULL, rules INTEGER NOT NULL, hash TEXT NOT NULL,
    body TEXT NOT NULL, PRIMARY KEY (game, n)) WITHOUT ROWID;
"""
STATES_KEPT = 3


@dataclass(frozen=True, slots=True)
class Row:
    """One stored entry: its number, its gesture, its kind and body as JSON, the key it came under, the wall clock."""

    n: int
    gesture: int
    kind: str
    body: str
    key: str
    at_wall: str


@dataclass(frozen=True, slots=True)
class GameRow:
    """One stored game: its id, its header as JSON, whether it is open, put aside or finished, when it began.

    The open one lies on the table, whether it is over or not.
    """

    id: str
    header: str
    status: Status
    at_wall: str


@dataclass(frozen=True, slots=True)
class StateRow:
    """A stored state after entry `n`, its hash, and the number of the rules that made it. A cache: the fold wins."""

    n: int
    rules: int
    hash: str
    body: str


class Journal:
    """One writer's journal in a data directory; several may read it meanwhile (`writes=False`).

    `recovered` says what was done where the file was found damaged, else it is None. Raises JournalInUse where another
    process writes here, JournalDamaged where a reader finds damage.
    """

    def __init__(self, folder: Path, *, writes: bool = True) -> None:
        self.path = folder / NAME
        self.recovered: Message | None = None
        self._lock: int | None = None
        if writes:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(folder / f"{NAME}.lock")
        try:
            self._db, self._seals = self._opened(writes)
        except BaseException:
            self._unlock()
            raise
        self._gestures = self._db.execute("SELECT count(DISTINCT game || ':' || gesture) FROM entry").fetchone()[0]

    def _opened(self, writes: bool) -> tuple[sqlite3.Connection, dict[str, str]]:
        try:
            return _checked(self.path, writes)
        except (JournalDamaged, sqlite3.DatabaseError) as damage:
            if isinstance(damage, sqlite3.OperationalError) and not _is_damage(damage):
                raise
            if not writes:
                raise JournalDamaged("journal_damaged", why=str(damage)) from damage
            log.error("the journal is damaged: %s", damage)
        used, aside = journal_backup.restore(self.path, _is_good)
        log.error("the damaged files lie in %s; %s", aside.name, f"{used.name} is in use" if used else "begun anew")
        self.recovered = Message("journal_recovered" if used else "journal_begun_anew", {"aside": aside.name})
        return _checked(self.path, writes)

    def begin(self, header: str, *, key: str, at_wall: str) -> str:
        """Store a new game as the open one and return its id; the same key twice returns the first id."""
        with self._writing():
            if (known := self.begun(key)) is not None:
                return known
            self._db.execute("UPDATE game SET status = 'aside' WHERE status = 'open'")
            number = self._db.execute("SELECT coalesce(max(id), 0) + 1 FROM game").fetchone()[0]
            seal = _sealed("", number, header, at_wall)
            row = (number, header, "open", key, at_wall, seal)
            self._db.execute("INSERT INTO game VALUES (?, ?, ?, ?, ?, ?)", row)
        self._seals[str(number)] = seal
        return str(number)

    def begun(self, key: str) -> str | None:
        """Return the id of the game that began under this key, None where none did."""
        found = self._db.execute("SELECT id FROM game WHERE key = ?", (key,)).fetchone()
        return None if found is None else str(found[0])

    def append(self, game: str, rows: Sequence[Row], *, state: StateRow | None = None, ends: bool = False) -> None:
        """Store one gesture, whole or not at all; returns when it is on the disk. Raises JournalFull.

        A backup follows now and then, and where the gesture `ends` the game.
        """
        seal = self._seals[game]
        with self._writing():
            for part, row in enumerate(rows):
                seal = _row_seal(seal, row)
                values = (game, row.n, row.gesture, row.kind, row.body, row.key, part, row.at_wall, seal)
                self._db.execute("INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
            if state is not None:
                self._keep_state(game, state)
        self._seals[game] = seal
        self._gestures += 1
        if self._gestures % BACKUP_EVERY_GESTURES == 0 or ends:
            self.backup()

    def _keep_state(self, game: str, state: StateRow) -> None:
        values = (game, state.n, state.rules, state.hash, state.body)
        self._db.execute("INSERT OR REPLACE INTO state VALUES (?, ?, ?, ?, ?)", values)
        keep = "SELECT n FROM state WHERE game = ? ORDER BY n DESC LIMIT ?"
        self._db.execute(f"DELETE FROM state WHERE game = ? AND n NOT IN ({keep})", (game, game, STATES_KEPT))

    def set_status(self, game: str, status: Status) -> None:
        """Open a game, put it aside or finish it; opening one puts the others aside."""
        self.game(game)
        with self._writing():
            if status == "open":
                self._db.execute("UPDATE game SET status = 'aside' WHERE status = 'open' AND id != ?", (game,))
            self._db.execute("UPDATE game SET status = ? WHERE id = ?", (status, game))

    def games(self) -> list[GameRow]:
        """Return all games, newest first."""
        found = self._db.execute("SELECT id, header, status, at_wall FROM game ORDER BY id DESC").fetchall()
        return [GameRow(str(number), header, status, at_wall) for number, header, status, at_wall in found]

    def game(self, game: str) -> GameRow:
        """Return one game; raises NoGame."""
        for row in self.games():
            if row.id == game:
                return row
        raise NoGame("no_such_game", got=game, known=tuple(row.id for row in self.games()[:10]))

    def rows(self, game: str) -> list[Row]:
        """Return a game's entries, oldest first."""
        return [row for row, _ in _rows(self._db, game)]

    def states(self, game: str) -> list[StateRow]:
        """Return a game's stored states, newest first."""
        found = self._db.execute("SELECT n, rules, hash, body FROM state WHERE game = ? ORDER BY n DESC", (game,))
        return [StateRow(*row) for row in found.fetchall()]

    def backup(self) -> None:
        """Copy the journal as it is now; a copy that cannot be made is logged and stops nothing."""
        try:
            journal_backup.make(self._db, self.path, self._gestures)
        except (OSError, sqlite3.Error) as error:
            log.warning("no backup of the journal could be made: %s", error)

    def close(self) -> None:
        """Close the file and let others write."""
        self._db.close()
        self._unlock()

    def __enter__(self) -> Journal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """One transaction; whatever goes wrong, nothing of it stays."""
        try:
            self._db.execute("BEGIN IMMEDIATE")
            yield
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            self._roll_back()
            raise _named(error) from error
        except BaseException:
            self._roll_back()
            raise

    def _roll_back(self) -> None:
        with suppress(sqlite3.Error):  # SQLite rolls back by itself when the disk is full
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")


def _named(error: sqlite3.Error) -> Exception:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL:
        return JournalFull("disk_full")
    if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
        return JournalFull("disk_takes_nothing", why=str(error))
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return JournalDamaged("journal_damaged", why=str(error))
    return error


def _is_damage(error: sqlite3.OperationalError) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _locked(path: Path) -> int:
    """Hold a lock that dies with the process."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        raise JournalInUse("journal_in_use", folder=path.parent.name) from error
    return handle


def _checked(path: Path, writes: bool) -> tuple[sqlite3.Connection, dict[str, str]]:
    """Open a file, make commits last, and prove every row; returns the last seal of each game."""
    db = _connected(path, writes)
    try:
        if db.execute("PRAGMA quick_check").fetchone()[0] != "ok":
            raise JournalDamaged("journal_damaged", why="quick_check")
        _made_safe(db, writes)
        return db, {str(number): _proved(db, number) for (number,) in db.execute("SELECT id FROM game").fetchall()}
    except BaseException:
        db.close()
        raise


def _connected(path: Path, writes: bool) -> sqlite3.Connection:
    uri = f"{path.absolute().as_uri()}?mode={'rwc' if writes else 'ro'}"
    if not writes and not path.exists():
        raise NoGame("no_journal", folder=path.parent.name)
    db = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    db.text_factory = _text
    return db


def _text(raw: bytes) -> str:
    """Read what no decoder can as something no seal fits."""
    return raw.decode(errors="replace")


def _made_safe(db: sqlite3.Connection, writes: bool) -> None:
    for name, value in SAFE.items():
        if writes or name == "busy_timeout":
            db.execute(f"PRAGMA {name} = {value}")
            got = db.execute(f"PRAGMA {name}").fetchone()[0]
            assert got == value, f"PRAGMA {name} is {got}, not {value}"
    if not writes:
        return
    found = db.execute("PRAGMA user_version").fetchone()[0]
    if found > FORMAT:
        raise JournalInUse("journal_newer", got=found, known=FORMAT)
    db.executescript(SCHEMA)
    db.execute(f"PRAGMA user_version = {FORMAT}")


def _proved(db: sqlite3.Connection, game: int) -> str:
    """Follow a game's chain of seals from its header to its last row; raises JournalDamaged where it breaks."""
    header, at_wall, stored = db.execute("SELECT header, at_wall, seal FROM game WHERE id = ?", (game,)).fetchone()
    seal = _sealed("", game, header, at_wall)
    if stored != seal:
        raise JournalDamaged("journal_damaged", why=f"the header of game {game}")
    for number, (row, stored) in enumerate(_rows(db, str(game)), start=1):
        seal = _row_seal(seal, row)
        if stored != seal or row.n != number:
            raise JournalDamaged("journal_damaged", why=f"entry {number} of game {game}")
    return seal


def _rows(db: sqlite3.Connection, game: str) -> list[tuple[Row, str]]:
    wanted = "SELECT n, gesture, kind, body, key, at_wall, seal FROM entry WHERE game = ? ORDER BY n"
    return [(Row(*found[:6]), found[6]) for found in db.execute(wanted, (game,)).fetchall()]


def _row_seal(before: str, row: Row) -> str:
    return _sealed(before, row.n, row.gesture, row.kind, row.body, row.key, row.at_wall)


def _sealed(before: str, *parts: int | str) -> str:
    text = "\x1f".join([before, *(str(part) for part in parts)])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def prove(file: Path) -> None:
    """Raise Unreadable for a file that is no whole journal; a copy is opened, so that the file stays as it is."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / NAME
        shutil.copyfile(file, copy)
        try:
            db, _ = _checked(copy, writes=False)
            with closing(db):
                found = db.execute("PRAGMA user_version").fetchone()[0]
        except (JournalDamaged, sqlite3.Error) as damage:
            raise Unreadable("no_backup", file=file.name) from damage
    if found > FORMAT:
        raise JournalInUse("journal_newer", got=found, known=FORMAT)
    if found < 1:
        raise Unreadable("no_backup", file=file.name)


def _is_good(path: Path) -> bool:
    try:
        db, _ = _checked(path, writes=True)
    except (JournalDamaged, sqlite3.DatabaseError):
        return False
    db.close()
    return True
