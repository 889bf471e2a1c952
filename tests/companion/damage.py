"""Damage to a journal as a pulled plug or a dying card does it: cut files, garbage tails, flipped bits."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

from companion.errors import CompanionError
from companion.journal import NAME, Journal, Row

WAL = NAME + "-wal"


def row(n: int) -> Row:
    """Return the n-th row that the writer wrote."""
    return Row(n, n, "act", f'{{"by":"t","n":{n},"pad":"{"x" * (n * 37 % 90)}"}}', f"key {n}", "2026")


def written(folder: Path, gestures: int, *, checkpoint_at: int = 0) -> None:
    """Write a game and leave the files as a pulled plug does: nothing is closed, the log is as long as it was."""
    journal = Journal(folder / "live")
    journal._db.execute("PRAGMA wal_autocheckpoint = 0")
    journal.begin("{}", key="a game", at_wall="2026")
    for n in range(1, gestures + 1):
        journal.append("1", [row(n)])
        if n == checkpoint_at:
            journal._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copytree(folder / "live", folder / "cut")
    journal.close()


def broken(source: Path, target: Path, random: Random) -> str:
    """Copy a journal with one damage; returns what was done."""
    shutil.copytree(source, target)
    wal, db = target / WAL, target / NAME
    kinds = (_cut, _tail, _flip)
    kind = random.choice(kinds)
    file = wal if kind is not _flip or random.random() < 0.5 else db
    return f"{kind.__name__} of {file.name}: {kind(file, random)}"


def _cut(file: Path, random: Random) -> str:
    data = file.read_bytes()
    length = random.randrange(len(data) + 1)
    file.write_bytes(data[:length])
    return f"{length} of {len(data)} bytes left"


def _tail(file: Path, random: Random) -> str:
    data = file.read_bytes()
    length = random.randrange(len(data) + 1)
    file.write_bytes(data[:length] + random.randbytes(random.randrange(1, 9000)))
    return f"garbage after {length} bytes"


def _flip(file: Path, random: Random) -> str:
    data = bytearray(file.read_bytes())
    at = [random.randrange(len(data)) for _ in range(random.randint(1, 3))]
    for place in at:
        data[place] ^= 1 << random.randrange(8)
    file.write_bytes(data)
    return f"bits flipped at {at}"


def verdict(folder: Path, gestures: int) -> str:
    """Open a damaged journal: `whole`, `prefix`, `from a backup`, `begun anew` or `said`; else raises."""
    try:
        journal = Journal(folder)
    except CompanionError as error:
        return f"said: {error.code}"
    try:
        found = journal.rows("1") if journal.games() else []
        recovered = journal.recovered
    finally:
        journal.close()
    assert found == [row(n) for n in range(1, len(found) + 1)], "what is there was never written so"
    if recovered is not None:
        return "from a backup" if recovered.key == "journal_recovered" else "begun anew"
    return "whole" if len(found) == gestures else "prefix"
