"""Component sheets: the values printed on a box, each with its provenance.

A sheet is data of a box, not of a rulebook: a value nobody entered is unknown and asked when it first matters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rules.messages import RulesError

SOURCES = ("printed", "reported", "inferred", "house")
"""printed: read off a box or rulebook; reported: one reviewer says so; inferred: derived; house: our own invention."""
TRUSTED = ("printed", "reported")
"""What a real table starts from; the rest it is asked."""


class SheetError(RulesError):
    """A component sheet that does not read; the message names the entry and the cure."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """Named whole numbers of a box, and where each comes from."""

    values: Mapping[str, int] = field(default_factory=dict)
    sources: Mapping[str, str] = field(default_factory=dict)

    def get(self, name: str) -> int | None:
        """Return the value, or None where it is unknown."""
        return self.values.get(name)

    def told(self, values: Mapping[str, int]) -> Sheet:
        """Return this sheet with values that were read off the box."""
        return Sheet({**self.values, **values}, {**self.sources, **dict.fromkeys(values, "printed")})

    def trusted(self) -> Sheet:
        """Return only what a real table may start from."""
        kept = {name: source for name, source in self.sources.items() if source in TRUSTED}
        return Sheet({name: self.values[name] for name in kept}, kept)

    @staticmethod
    def parse(entries: Mapping[str, object]) -> Sheet:
        """Read entries `name = {value, source}`, nested as tables where a name has parts; raises SheetError."""
        values: dict[str, int] = {}
        sources: dict[str, str] = {}
        for name, value, source in _entries("", entries):
            values[name], sources[name] = value, source
        return Sheet(values, sources)

    def dump(self) -> dict[str, dict[str, int | str]]:
        """Return the flat entries that `parse` reads."""
        return {name: {"value": value, "source": self.sources[name]} for name, value in self.values.items()}


def _entries(path: str, entries: Mapping[str, object]) -> list[tuple[str, int, str]]:
    found: list[tuple[str, int, str]] = []
    for part, entry in entries.items():
        name = f"{path}.{part}" if path else part
        if not isinstance(entry, Mapping):
            raise SheetError(f"sheet entry {name}: expected {{value, source}}, got {entry!r}")
        found += [_entry(name, entry)] if "value" in entry else _entries(name, entry)
    return found


def _entry(name: str, entry: Mapping[str, object]) -> tuple[str, int, str]:
    value, source = entry["value"], entry.get("source")
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise SheetError(f"sheet entry {name}: a value is a whole number from 0, got {value!r}")
    if not isinstance(source, str) or source not in SOURCES:
        raise SheetError(f"sheet entry {name}: a source is one of {', '.join(SOURCES)}, got {source!r}")
    return name, value, source
