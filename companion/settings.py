"""Where the companion keeps its files, and what its owner may set: one TOML file whose keys the words explain."""

from __future__ import annotations

import json
import os
import re
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from companion.errors import Unreadable
from companion.words import Words, languages
from rules.core import Message, Noun, Value

FOLDER = "table-companion"
NAME = "settings.toml"


@dataclass(frozen=True, slots=True)
class Settings:
    """What the owner may set; what each key means stands in the words under `setting`."""

    language: str = "en"
    address: str = "127.0.0.1"
    port: int = 8000
    pin: str = ""
    camera: str = ""
    confirm: str = "always"
    ask_after: int = 20
    carry_out_after_s: float = 3.0
    evidence_most_mb: int = 200
    evidence_most_days: int = 30
    keep_corrections: bool = True
    corrections_most: int = 300
    corrections_most_mb: int = 50
    corrections_most_days: int = 365


AMONG: Mapping[str, tuple[str, ...]] = {"confirm": ("always", "sure"), "language": languages()}
LIMITS: Mapping[str, tuple[float, float]] = {
    "port": (0, 65_535),
    "ask_after": (1, 1000),
    "carry_out_after_s": (0.5, 60),
    "evidence_most_mb": (1, 100_000),
    "evidence_most_days": (1, 3650),
    "corrections_most": (1, 10_000),
    "corrections_most_mb": (1, 10_000),
    "corrections_most_days": (1, 3650),
}


def data_folder(chosen: str | Path | None, environment: Mapping[str, str]) -> Path:
    """Return the data directory: the chosen one, else $STATE_DIRECTORY, else $XDG_DATA_HOME/table-companion."""
    if chosen:
        return Path(chosen)
    if state := environment.get("STATE_DIRECTORY"):
        return Path(state.split(":")[0])
    home = environment.get("HOME", ".")
    return Path(environment.get("XDG_DATA_HOME") or Path(home, ".local", "share")) / FOLDER


def load(path: Path) -> Settings:
    """Read the settings; a missing file means the defaults. Raises Unreadable naming the key, and changes no file."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return Settings()
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable("settings_unreadable", file=path.name, why=str(error)) from error
    return parse(text, path.name)


def parse(text: str, name: str = NAME) -> Settings:
    """Read settings from TOML text; raises Unreadable naming the key, what stood there and what may stand there."""
    entries = parse_toml(text, name)
    known = {one.name: type(one.default) for one in fields(Settings)}
    for key, value in entries.items():
        if key not in known:
            raise Unreadable("unknown_setting", key=key, known=tuple(known), file=name)
        _check(key, value, known[key], name)
    return Settings(**entries)


def dump(settings: Settings) -> str:
    """Write settings as TOML, each key under its explanation in the owner's language."""
    words = Words(settings.language if settings.language in languages() else "en")
    lines: list[str] = []
    for one in fields(settings):
        lines += [f"# {words.text('setting', one.name)}", f"{one.name} = {json.dumps(getattr(settings, one.name))}", ""]
    return "\n".join(lines)


def parse_toml(text: str, name: str) -> dict[str, Any]:
    """Read TOML text; raises Unreadable naming the file and the line."""
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found = re.search(r"at line (\d+)", str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        raise Unreadable("not_toml", file=name, line=line) from error


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, on the disk before this returns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, scratch = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(scratch, path)
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise


def _check(key: str, value: object, kind: type, name: str) -> None:
    """Refuse what a key does not take: another type, another word, a number beyond its limits."""
    if key in AMONG:
        wants: Value = AMONG[key]
        fits = value in AMONG[key]
    elif key in LIMITS:
        least, most = LIMITS[key]
        wants = Message("from_to", {"least": str(least), "most": str(most)})
        number = int | float if kind is float else int
        fits = isinstance(value, number) and not isinstance(value, bool) and least <= value <= most
    else:
        wants, fits = Noun("text" if kind is str else "yes_or_no"), isinstance(value, kind)
    if not fits:
        raise Unreadable("wrong_setting", key=key, got=str(value), wants=wants, file=name)
