"""What the table's senses think happened, before anyone said yes. Not journaled: only what is kept is."""

from __future__ import annotations

from dataclasses import dataclass

from rules.core import TABLE, Message, Seat, Value


@dataclass(frozen=True, slots=True)
class Answer:
    """One value a sense thinks possible for the asked field, with its probability 0 to 1."""

    value: Value
    probability: float


@dataclass(frozen=True, slots=True)
class Outline:
    """The edge of one seen thing, in pixels of the evidence picture, and the name of its colour."""

    colour: str
    polygon_px: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """The stored picture crop an answer rests on, by its file's id, and what was seen in it."""

    crop: str
    outlines: tuple[Outline, ...] = ()


@dataclass(frozen=True, slots=True)
class SensorSays:
    """What one sensor says by itself: its name and its answers, best first."""

    sensor: str
    answers: tuple[Answer, ...]


@dataclass(frozen=True, slots=True)
class Proposal:
    """An answer to a choice that nobody confirmed yet: `answers` best first, for one `field` of one `do`.

    `number` is the snapshot it was made for; `sure` whether it may be kept without a person; `auto_at_ms` when it keeps
    itself on the table's clock; `contradiction` whether two sensors disagree.
    """

    id: str
    number: int
    do: str
    field: str
    answers: tuple[Answer, ...]
    who: Seat = TABLE
    sure: bool = False
    evidence: Evidence | None = None
    sensors: tuple[SensorSays, ...] = ()
    auto_at_ms: int | None = None
    contradiction: bool = False


@dataclass(frozen=True, slots=True)
class Device:
    """The health of one device in one calm line: its name, whether it works, and what it has to say."""

    name: str
    ok: bool
    says: Message
