"""Which programs hold a device: the answer to "busy"."""

from __future__ import annotations

import os
from pathlib import Path

PROC = Path("/proc")


def holders(node: str, proc: Path = PROC) -> tuple[str, ...]:
    """Return the other programs that have this node open, as `name (pid 12)`; only those that we may look into."""
    wanted = os.path.realpath(node)
    others = (entry for entry in proc.iterdir() if entry.name.isdigit() and int(entry.name) != os.getpid())
    return tuple(f"{_name(entry)} (pid {entry.name})" for entry in others if _has_open(entry, wanted))


def _has_open(process: Path, wanted: str) -> bool:
    try:
        return any(_target(link) == wanted for link in (process / "fd").iterdir())
    except OSError:
        return False  # it ended, or belongs to somebody else


def _target(link: Path) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return ""  # closed meanwhile


def _name(process: Path) -> str:
    try:
        return (process / "comm").read_text(errors="replace").strip()
    except OSError:
        return "?"
