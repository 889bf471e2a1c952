"""Copies of the journal, made by SQLite's own backup so that a live file is never copied alone, and the way back."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

KEPT = 3
PARTS = ("", "-wal", "-shm")
"""What belongs to one SQLite file; moved together or not at all."""


def make(db: sqlite3.Connection, path: Path, number: int) -> Path:
    """Copy a live journal beside it as backup `number`, whole or not at all, and keep the newest three."""
    target = path.with_name(f"{path.stem}-backup-{number:08d}{path.suffix}")
    part = target.with_suffix(".part")
    part.unlink(missing_ok=True)
    with closing(sqlite3.connect(part)) as copy:
        db.backup(copy)
        copy.execute("PRAGMA journal_mode = delete")
    _synced(part)
    os.replace(part, target)
    _synced(target.parent)
    for old in backups(path)[KEPT:]:
        old.unlink(missing_ok=True)
    return target


def backups(path: Path) -> list[Path]:
    """Return a journal's backups, newest first."""
    return sorted(path.parent.glob(f"{path.stem}-backup-*{path.suffix}"), reverse=True)


def restore(path: Path, is_good: Callable[[Path], bool]) -> tuple[Path | None, Path]:
    """Move a damaged journal aside and put the newest good backup in its place.

    Returns the backup that was used, None where there is no good one, and the folder where all damaged files lie now.
    """
    aside = _free_folder(path)
    for part in PARTS:
        whole = path.with_name(path.name + part)
        if whole.exists():
            os.replace(whole, aside / whole.name)
    for backup in backups(path):
        shutil.copyfile(backup, path)
        if is_good(path):
            _synced(path)
            _synced(path.parent)
            return backup, aside
        os.replace(backup, aside / backup.name)
        for part in PARTS:
            path.with_name(path.name + part).unlink(missing_ok=True)
    return None, aside


def _free_folder(path: Path) -> Path:
    number = 1
    while (folder := path.with_name(f"{path.stem}-damaged-{number}")).exists():
        number += 1
    folder.mkdir()
    return folder


def _synced(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
