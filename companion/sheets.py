"""Component sheets on the disk: what the box's maker prints, as far as it is known, and what this table read off it."""

from __future__ import annotations

import json
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
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return Sheet()
        except (OSError, UnicodeDecodeError) as error:
            raise Unreadable("sheet_unreadable", file=path.name, why=str(error)) from error
        return parse(text, path.name)

    def learn(self, key: str, learned: Sheet) -> None:
        """Keep the printed values of a game's sheet that this box did not tell before; writes only what is new."""
        told = self.told(key)
        known = self.box(key)
        new = {
            name: value
            for name, value in learned.values.items()
            if learned.sources.get(name) == "printed" and known.get(name) != value
        }
        if new:
            write_atomically(self._path(key), dump(told.told(new)).encode())

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}.toml"
