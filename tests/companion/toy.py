"""Pebbles, a small game for tests: a die is rolled, and its player may buy a pebble from a hidden purse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from companion.entries import Header, MoneyAt, SeatPlan
from companion.journal import Journal
from companion.table import Post, Table
from rules.core import (
    TABLE,
    Action,
    Choice,
    Fact,
    Game,
    Message,
    Money,
    Noun,
    Option,
    Refusal,
    Refused,
    Result,
    Seat,
    Setup,
    Sheet,
    Turn,
    Value,
    Who,
    mend,
)
from rules.forms import Count

PEBBLES_TO_WIN = 5
SEATS = (SeatPlan("Anna", "red"), SeatPlan("Ben", "blue"))


@dataclass(frozen=True, slots=True)
class State:
    """`purses` are None where these eyes may not know them; `rolled` is 0 before the roll."""

    purses: tuple[int | None, ...]
    pebbles: tuple[int, ...]
    on_turn: Seat
    rolled: int
    seen: frozenset[int]
    sheet: Sheet

    @property
    def is_over(self) -> bool:
        return max(self.pebbles) >= PEBBLES_TO_WIN

    def pay(self, seat: Seat, price: int) -> State:
        return replace(self, purses=_set(self.purses, seat, None if (p := self.purses[seat]) is None else p - price))

    def next_turn(self) -> State:
        return replace(self, rolled=0, on_turn=(self.on_turn + 1) % len(self.pebbles))


def _set(row: tuple[int | None, ...], at: int, value: int | None) -> tuple[int | None, ...]:
    return (*row[:at], value, *row[at + 1 :])


@dataclass(frozen=True, slots=True)
class Roll(Action[State]):
    """The die shows so much."""

    count: int
    do: ClassVar[str] = "roll"
    phases: ClassVar[frozenset[str]] = frozenset({"roll"})
    table: ClassVar[bool] = True
    reveals: ClassVar[bool] = True

    @classmethod
    def offer(cls, state: State, who: Seat) -> Choice | Refusal:
        return Choice(cls, {"count": Count(1, 6)}, about={"who": Who(state.on_turn)})

    def then(self, state: State, who: Seat) -> State:
        return replace(state, rolled=self.count, seen=state.seen | {self.count})

    def tell(self, seen: State, who: Seat) -> Message:
        return Message("roll", {"n": self.count, "who": Who(seen.on_turn)})


@dataclass(frozen=True, slots=True)
class Buy(Action[State]):
    """Buy a pebble for a price from 1 to what the die shows."""

    price: int
    do: ClassVar[str] = "buy"
    phases: ClassVar[frozenset[str]] = frozenset({"buy"})

    @classmethod
    def offer(cls, state: State, who: Seat) -> Choice | Refusal:
        purse = state.purses[who]
        most = state.rolled if purse is None else min(state.rolled, purse)
        if most < 1:
            return Refusal("purse_empty", "p. 1", {"who": Who(who), "got": most})
        return Choice(cls, {"price": Count(1, most)}, about={"who": Who(who)})

    def then(self, state: State, who: Seat) -> State:
        pebbles = tuple(n + (seat == who) for seat, n in enumerate(state.pebbles))
        return replace(state.pay(who, self.price), pebbles=pebbles).next_turn()

    def tell(self, seen: State, who: Seat) -> Message:
        return Message("buy", {"who": Who(who), "money": Money(self.price)})


@dataclass(frozen=True, slots=True)
class Pass(Action[State]):
    """Buy nothing."""

    do: ClassVar[str] = "pass"
    phases: ClassVar[frozenset[str]] = frozenset({"buy"})

    @classmethod
    def offer(cls, state: State, who: Seat) -> Choice | Refusal:
        return Choice(cls)

    def then(self, state: State, who: Seat) -> State:
        return state.next_turn()

    def tell(self, seen: State, who: Seat) -> Message:
        return Message("pass", {"who": Who(who)})


class Pebbles(Game[State]):
    """Two or three seats; purses are hidden."""

    key: ClassVar[str] = "pebbles"
    title: ClassVar[str] = "Pebbles"
    rules: ClassVar[int] = 1
    seats: ClassVar[range] = range(2, 4)
    sheet_limits: ClassVar[Mapping[str, Count]] = {}
    options: ClassVar[Mapping[str, Option]] = {"purse": Option(("full", "light"), "full", at_table="full")}

    def __init__(self) -> None:
        kinds: tuple[type[Action[State]], ...] = (Roll, Buy, Pass, mend(self))
        self.actions = {kind.do: kind for kind in kinds}

    def start(self, setup: Setup) -> State:
        full = self.setup(setup)
        purse = 20 if full.options["purse"] == "full" else 2
        return State((purse,) * full.seats, (0,) * full.seats, full.first, 0, frozenset(), full.sheet)

    def turn(self, state: State) -> Turn:
        if state.is_over:
            return Turn("over", frozenset())
        return Turn("buy", frozenset({state.on_turn})) if state.rolled else Turn("roll", frozenset({TABLE}))

    def see(self, state: State, eyes: Seat | None) -> State:
        if eyes == TABLE:
            return state
        return replace(state, purses=tuple(p if seat == eyes else None for seat, p in enumerate(state.purses)))

    def shows(self, state: State) -> Mapping[str, Mapping[str, int]]:
        return {"tray": {"pips": state.rolled}}

    def view(self, seen: State) -> Mapping[str, Value]:
        return {"purses": seen.purses, "pebbles": seen.pebbles, "rolled": seen.rolled}

    def facts(self, state: State) -> Mapping[str, Fact]:
        purses = {
            f"purse.{seat}": Fact(purse, 0, 99, Noun("money"), whose=seat)
            for seat, purse in enumerate(state.purses)
            if purse is not None
        }
        pebbles = {
            f"pebbles.{seat}": Fact(n, 0, 9, Noun("pebbles"), Noun("hand"), seat)
            for seat, n in enumerate(state.pebbles)
        }
        return purses | pebbles | {"rolled": Fact(state.rolled, 0, 6, Noun("marker"), Noun("die"))}

    def mended(self, state: State, facts: Mapping[str, int]) -> State:
        if facts.get("rolled", 0) > 6:
            raise Refused(Refusal("no_such_roll", "p. 1"))
        purses = tuple(facts.get(f"purse.{seat}", purse) for seat, purse in enumerate(state.purses))
        pebbles = tuple(facts.get(f"pebbles.{seat}", n) for seat, n in enumerate(state.pebbles))
        return replace(state, purses=purses, pebbles=pebbles, rolled=facts.get("rolled", state.rolled))

    def learned(self, state: State) -> Sheet:
        return state.sheet

    def scored(self, state: State) -> Result:
        best = max(state.pebbles)
        winners = tuple(seat for seat, n in enumerate(state.pebbles) if n == best)
        return Result("five_pebbles" if state.is_over else "", state.pebbles, winners)


class NewPebbles(Pebbles):
    """The same game under newer rules: pebbles cost 2 more, so that old records fold differently."""

    rules: ClassVar[int] = 2

    def __init__(self) -> None:
        super().__init__()
        self.actions = {**self.actions, "buy": DearBuy}


@dataclass(frozen=True, slots=True)
class DearBuy(Buy):
    """A pebble is paid for with two coins more."""

    @classmethod
    def offer(cls, state: State, who: Seat) -> Choice | Refusal:
        offered = Buy.offer(state, who)
        return replace(offered, kind=cls) if isinstance(offered, Choice) else offered

    def then(self, state: State, who: Seat) -> State:
        return Buy(self.price).then(state.pay(who, 2), who)


GAME = Pebbles()
GAMES: Mapping[str, Game[State]] = {"pebbles": GAME}
HEADER = Header("pebbles", 1, SEATS, options={"purse": "full"})


def journal_and_table(folder: Path, games: Mapping[str, Game[State]] = GAMES) -> Table:
    """Return a table on a journal in a folder, with clocks that stand still."""
    return Table(Journal(folder), now_ms=lambda: 0, wall=lambda: "2026-01-02T03:04:05", games=games)


@contextmanager
def pebbles(folder: Path, *, money: MoneyAt = "tablet", purse: str = "full") -> Iterator[Table]:
    """Open a table with a game of pebbles on it, and close it."""
    table = journal_and_table(folder)
    try:
        table.begin("pebbles", SEATS, request="a game", sheet="house", options={"purse": purse}, money=money)
        yield table
    finally:
        table.close()


def roll(count: int) -> Post:
    """Return TABLE's post of a roll."""
    return Post(TABLE, Roll(count))


def buy(seat: Seat, price: int) -> Post:
    """Return a seat's post of a purchase."""
    return Post(seat, Buy(price))


def play(table: Table, *posts: Post, by: str = "tablet") -> list[int]:
    """Submit posts, a gesture each, and return the numbers of their entries."""
    gestures = [
        table.submit([post], key=f"{by} {len(table.snapshot.entries)} {at}", by=by, eyes=TABLE)
        for at, post in enumerate(posts)
    ]
    return [n for kept in gestures for n in kept.entries]
