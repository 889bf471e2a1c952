"""What the journal keeps: frozen dataclasses, each named by its `kind`. State is the fold of these, nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, TypeAlias

from companion import codec
from companion.errors import Unreadable
from rules.core import Seat
from rules.sheets import Sheet

Player: TypeAlias = Literal["person", "random", "greedy"]
Depth: TypeAlias = Literal["count", "score", "referee"]
MoneyAt: TypeAlias = Literal["tablet", "box"]
Ahead: TypeAlias = Literal["no", "more", "last"]


@dataclass(frozen=True, slots=True)
class SeatPlan:
    """One seat of a game: its name, its colour, who plays it, and whether they sit there now."""

    name: str
    colour: str
    player: Player = "person"
    away: bool = False


@dataclass(frozen=True, slots=True)
class Header:
    """How a game began, written out whole: seats, first seat, options, sheet; and how the table plays it."""

    game: str
    rules: int
    seats: tuple[SeatPlan, ...]
    first: Seat = 0
    options: Mapping[str, str] = field(default_factory=dict)
    sheet: Sheet = field(default_factory=Sheet)
    sheet_from: Literal["box", "house"] = "box"
    money: MoneyAt = "tablet"
    depth: Depth = "referee"
    began: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the players' names by seat."""
        return tuple(seat.name for seat in self.seats)


@dataclass(frozen=True, slots=True)
class Act:
    """An accepted action as data: who acts, the form it was offered as, who sent it, the picture it rests on.

    `ahead` is not `no` where it was laid before steps that a correction had left open; after the `last` act of its
    gesture those are tried again.
    """

    who: Seat
    action: Mapping[str, Any]
    by: str
    fingerprint: str | None = None
    evidence: str | None = None
    ahead: Ahead = "no"
    kind: ClassVar[str] = "act"


@dataclass(frozen=True, slots=True)
class Undo:
    """A gesture is taken back; `asked` says that the table was asked and said yes."""

    gesture: int
    by: str
    why: str = ""
    asked: bool = False
    kind: ClassVar[str] = "undo"


@dataclass(frozen=True, slots=True)
class Amend:
    """Another action stands in the place of entry `n`."""

    n: int
    action: Mapping[str, Any]
    by: str
    why: str = ""
    kind: ClassVar[str] = "amend"


@dataclass(frozen=True, slots=True)
class Decide:
    """What becomes of a step that a correction left open: keep, change (to `action`) or drop."""

    n: int
    how: Literal["keep", "change", "drop"]
    by: str
    action: Mapping[str, Any] | None = None
    kind: ClassVar[str] = "decide"


@dataclass(frozen=True, slots=True)
class SeatChange:
    """A seat is left, is taken again, or is played by another (`player`, or a person of this `name`)."""

    seat: Seat
    how: Literal["left", "back", "player"]
    by: str
    player: Player | None = None
    name: str | None = None
    kind: ClassVar[str] = "seat"


@dataclass(frozen=True, slots=True)
class DepthChange:
    """The table counts, scores or referees from here on."""

    depth: Depth
    by: str
    kind: ClassVar[str] = "depth"


@dataclass(frozen=True, slots=True)
class MoneyChange:
    """Money lies on the tablet or in the box from here on."""

    where: MoneyAt
    by: str
    kind: ClassVar[str] = "money"


@dataclass(frozen=True, slots=True)
class GoneOn:
    """The rules changed under a running game: it goes on from this state, which was stored after entry `after`."""

    state: Mapping[str, Any]
    after: int
    rules: int
    by: str
    kind: ClassVar[str] = "gone_on"


Body: TypeAlias = Act | Undo | Amend | Decide | SeatChange | DepthChange | MoneyChange | GoneOn
KINDS: Mapping[str, type[Body]] = {
    kind.kind: kind for kind in (Act, Undo, Amend, Decide, SeatChange, DepthChange, MoneyChange, GoneOn)
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One journaled thing: its number in the game, the gesture it belongs to, and when the wall clock said."""

    n: int
    gesture: int
    body: Body
    at_wall: str = ""


def body_to_json(body: Body) -> str:
    """Return an entry's body as one line of JSON."""
    return codec.dump_json(codec.to_data(type(body), body))


def body_from_json(kind: str, text: str) -> Body:
    """Read an entry's body; raises Unreadable."""
    if kind not in KINDS:
        raise Unreadable("unknown_entry", got=kind, known=tuple(KINDS))
    return codec.from_data(KINDS[kind], codec.parse_object(text))


def header_to_json(header: Header) -> str:
    """Return a header as one line of JSON."""
    return codec.dump_json(codec.to_data(Header, header))


def header_from_json(text: str) -> Header:
    """Read a header; raises Unreadable."""
    return codec.from_data(Header, codec.parse_object(text))


def overlaid(header: Header, body: Body) -> Header:
    """Return how the table plays after an entry: seats, depth and money change in mid-game, the rest never does."""
    match body:
        case SeatChange():
            return replace(header, seats=_seated(header.seats, body))
        case DepthChange(depth):
            return replace(header, depth=depth)
        case MoneyChange(where):
            return replace(header, money=where)
    return header


def _seated(seats: tuple[SeatPlan, ...], change: SeatChange) -> tuple[SeatPlan, ...]:
    before = seats[change.seat]
    after = replace(
        before,
        away=change.how == "left",
        player=change.player or before.player,
        name=before.name if change.name is None else change.name,
    )
    return (*seats[: change.seat], after, *seats[change.seat + 1 :])
