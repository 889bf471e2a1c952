"""Component sheets on the disk: what the box's maker prints, as far as it is known, and what this table read off it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from pathlib import Path

from companion.errors import Unreadable
from companion.settings import parse_toml, write_atomically
from rules.sheets import Sheet, SheetError


def house_sheet(key: str) -> Sheet:
    """Return a game's whole sheet, our own values where nothing better is known: for demo, bots and tests.

    Empty for a game on whose pieces nothing is printed that counts.
    """
    file = resources.files("rules").joinpath(key, "sheet.toml")
    return parse(file.read_text(encoding="utf-8"), f"{key}/sheet.toml") if file.is_file() else Sheet()


def box_sheet(key: str) -> Sheet:
    """Return what a real table starts from: printed and reported values alone."""
    return house_sheet(key).trusted()


def parse(text: str, name: str) -> Sheet:
    """Read a sheet from TOML; raises Unreadable naming the file and the entry."""
    try:
        return Sheet.parse(parse_toml(text, name))
    except SheetError as error:
        raise Unreadable("sheet_unreadable", file=name, why=str(error)) from error


def dump(sheet: Sheet) -> str:
    """Write a sheet as TOML, one line a value."""
    return "".join(
        f"{json.dumps(name)} = {{ value = {entry['value']}, source = {json.dumps(entry['source'])} }}\n"
        for name, entry in sheet.dump().items()
    )


class SheetStore:
    """The values that tables read off this box, one TOML file a game in the data directory."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "sheets"

    def box(self, key: str) -> Sheet:
        """Return what a table of this box starts from: what is printed for all, and what was read off this one."""
        known = box_sheet(key)
        told = self.told(key)
        return Sheet({**known.values, **told.values}, {**known.sources, **told.sources})

    def told(self, key: str) -> Sheet:
        """Return what was read off this box; raises Unreadable for a file that does not read."""
        path = self._path(key)
        try:
            text = path.read_text(encoding="utf-8-sig")
        except FileNotFoundError:
            return Sheet()
        except (OSError, UnicodeDecodeError) as error:
            raise Unreadable("sheet_unreadable", file=path.name, why=str(error)) from error
        return parse(text, path.name)

    def learn(self, key: str, learned: Sheet, *, before: Sheet | None = None) -> None:
        """Keep the printed values of a sheet that this box did not tell before; writes only what is new.

        With `before`, only the difference counts: what `learned` no longer holds of it is forgotten.
        """
        old = Sheet() if before is None else before
        changed = {name: value for name, value in printed(learned).items() if old.get(name) != value}
        gone = {name: value for name, value in printed(old).items() if learned.get(name) is None}
        if changed or gone:
            self._rewrite(key, changed, gone)

    def _rewrite(self, key: str, changed: Mapping[str, int], gone: Mapping[str, int]) -> None:
        told, known = self.told(key), self.box(key)
        new = {name: value for name, value in changed.items() if known.get(name) != value}
        stays = {name: value for name, value in told.values.items() if gone.get(name) != value}
        if new or stays != told.values:
            sources = {name: told.sources[name] for name in stays}
            write_atomically(self._path(key), dump(Sheet(stays, sources).told(new)).encode())

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.toml"


def printed(sheet: Sheet) -> dict[str, int]:
    """Return the values that were read off a box: all that a table keeps."""
    return {name: value for name, value in sheet.values.items() if sheet.sources.get(name) == "printed"}
