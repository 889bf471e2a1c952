"""The actions of Schüttel's. Numbered readings are those of the list of open questions of this game."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from rules.core import Action
from rules.forms import Choice, Count, Pick
from rules.messages import Message, Money, Noun, Refusal, Seat, Value, Who
from rules.schuettels.deeds import forced
from rules.schuettels.state import FINE, GNOMES, State


@dataclass(frozen=True, slots=True)
class Shake(Action[State]):
    """So many gnomes fell out of the cup, in the catcher or beside it (reading 2).

    A sense may fill it in only for a catcher that was seen empty since the last shake (reading 26); what rolled out of
    sight counts, so 15 minus what is left in the cup says it too (reading 28).
    """

    count: int
    do: ClassVar[str] = "shake"
    phases: ClassVar[frozenset[str]] = frozenset({"shake"})
    table: ClassVar[bool] = True
    reveals: ClassVar[bool] = True

    @classmethod
    def offer(cls, state: State, who: Seat) -> Choice | Refusal:
        def fits(action: Action[Any]) -> Refusal | None:
            nobody = isinstance(action, Shake) and action.count == 0
            return Refusal("nobody_fell", "reading 1") if nobody and state.zero == "again" else None

        about: dict[str, Value] = {"who": Who(state.on_turn)}
        return Choice(cls, {"count": Count(0, GNOMES)}, fits, about, sense="gnomes", zones=("catcher",))

    def then(self, state: State, who: Seat) -> State:
        shaken = state.shake_out(self.count)
        deed = forced(shaken)
        return deed.then(shaken, shaken.on_turn) if deed else shaken

    def tell(self, seen: State, who: Seat) -> Message:
        shaken = seen.shake_out(self.count)
        deed = forced(shaken)
        then = deed.tell(shaken, shaken.on_turn) if deed else None
        values: dict[str, Value] = {"who": Who(seen.on_turn), "n": self.count, "where": Noun(shaken.place)}
        return Message("shake", values | {"then": then})


@dataclass(frozen=True, slots=True)
class DoubleShake(Action[State]):
    """Somebody called a double shake: 40 to the marketplace, and the turn is over (readings 3 and 27)."""

    do: ClassVar[str] = "double_shake"
    phases: ClassVar[frozenset[str]] = frozenset({"shake", "act"})
    table: ClassVar[bool] = True
    called: ClassVar[bool] = True

    @classmethod
    def offer(cls, state: State, who: Seat) -> Choice | Refusal:
        return Choice(cls, about={"who": Who(state.on_turn), "money": Money(FINE)})

    def then(self, state: State, who: Seat) -> State:
        return state.pay_market(state.on_turn).finish()

    def tell(self, seen: State, who: Seat) -> Message:
        return Message("double_shake", {"who": Who(seen.on_turn), "money": Money(FINE)})


END_READINGS = {"count_all": "all_goods", "count_supply": "supply"}


@dataclass(frozen=True, slots=True)
class EndOn(Action[State]):
    """The table says whether goods on the board count for "no goods left" (reading 19), asked once."""

    reading: tuple[str, ...]
    do: ClassVar[str] = "end_on"
    phases: ClassVar[frozenset[str]] = frozenset({"ask_end"})
    table: ClassVar[bool] = True

    @classmethod
    def offer(cls, state: State, who: Seat) -> Choice | Refusal:
        return Choice(cls, {"reading": Pick(tuple(END_READINGS))}, about={"reading": Noun("reading_19")})

    def then(self, state: State, who: Seat) -> State:
        return state.read_end(END_READINGS[self.reading[0]])

    def tell(self, seen: State, who: Seat) -> Message:
        return Message("end_on", {"reading": Noun(self.reading[0])})
