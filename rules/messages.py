"""Messages as data: a key and typed values, turned into words elsewhere.

A plain int among the values is a count; one value at most is the number that decides the plural, and its name is `n`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Seat: TypeAlias = int
TABLE: Seat = -1
"""Who acts when it happens on the table: chance, opened fists, mends."""


@dataclass(frozen=True, slots=True)
class Who:
    """A seat, or TABLE, to be spoken of by its player's name."""

    seat: Seat


@dataclass(frozen=True, slots=True)
class Noun:
    """A thing of the game by its key, to be spoken of in the reader's language."""

    key: str


@dataclass(frozen=True, slots=True)
class Money:
    """An amount of the game's money."""

    amount: int


@dataclass(frozen=True, slots=True)
class Message:
    """One sentence: its key and its values."""

    key: str
    values: Mapping[str, Value] = field(default_factory=dict)


Value: TypeAlias = "str | int | bool | Who | Noun | Money | Message | tuple[Value, ...] | Mapping[str, Value] | None"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why something may not be done: a code, the rule it breaks (section or numbered reading), the values."""

    code: str
    rule: str
    values: Mapping[str, Value] = field(default_factory=dict)


class RulesError(ValueError):
    """Something the rules were asked that they cannot do."""


class Refused(RulesError):
    """An action was not offered; `refusal` says why, as data."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(f"{refusal.code} ({refusal.rule}) {dict(refusal.values)}")
        self.refusal = refusal
