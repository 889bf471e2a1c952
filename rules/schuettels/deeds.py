"""The gnome action: what the seat on turn does at the place of the shaken number.

Numbered readings are those of the list of open questions of this game.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from rules.core import Action
from rules.forms import Choice, Field, Pick, Values
from rules.messages import Message, Money, Noun, Refusal, Seat, Value, Who
from rules.schuettels import asks
from rules.schuettels.state import DEPOSIT_FEE, FINE, HOUSES, TAVERN_STEP, WITHDRAWAL_GAIN, State


class Deed(Action[State]):
    """An action of the seat on turn, offered at its places alone."""

    __slots__ = ()
    phases: ClassVar[frozenset[str]] = frozenset({"act"})
    places: ClassVar[frozenset[str]]

    @classmethod
    def offer(cls, state: State, who: Seat) -> Choice | Refusal:
        if state.place not in cls.places:
            values: dict[str, Value] = {"do": cls.do, "where": Noun(state.place), "n": state.shaken}
            return Refusal("wrong_place", "The gnome action", values)
        return cls.at_place(state, who)

    @classmethod
    @abstractmethod
    def at_place(cls, state: State, who: Seat) -> Choice | Refusal:
        """Return the offer, given that the shaken number leads here."""


def _storage_is_said(state: State, action: Action[Any]) -> Refusal | None:
    assert isinstance(action, Remove | Withdraw)
    return asks.missing(action.says, asks.of_storage(state))


def _about(state: State, who: Seat) -> dict[str, Value]:
    return {"who": Who(who), "n": state.shaken, "where": Noun(state.place)}


@dataclass(frozen=True, slots=True)
class Place(Deed):
    """Put one good of the supply at a crafts house: the shaken one, or any of them at the tent (reading 9)."""

    house: tuple[str, ...]
    says: Mapping[str, int] = field(default_factory=dict)
    do: ClassVar[str] = "place"
    places: ClassVar[frozenset[str]] = frozenset({"tent", *HOUSES})

    @classmethod
    def at_place(cls, state: State, who: Seat) -> Choice | Refusal:
        if not state.supply[who]:
            return Refusal("no_supply", "Place a good", {"who": Who(who)})
        houses = tuple(HOUSES) if state.place == "tent" else (state.place,)
        questions = asks.of_spaces(state, houses)
        pushes = any(state.pushes_out(house) is not None for house in houses)  # the first seat is number 0
        questions |= asks.of_storage(state) if questions or pushes else {}
        fields: dict[str, Field] = {"house": Pick(houses), "says": Values(questions)}
        return Choice(cls, fields, lambda action: cls._fits(state, action), _about(state, who))

    @staticmethod
    def _fits(state: State, action: Action[Any]) -> Refusal | None:
        assert isinstance(action, Place)
        open_questions = asks.missing(action.says, asks.of_spaces(state, action.house))
        if open_questions or state.told(action.says).pushes_out(action.house[0]) is None:
            return open_questions
        return asks.missing(action.says, asks.of_storage(state))

    def then(self, state: State, who: Seat) -> State:
        return state.told(self.says).place_good(who, self.house[0]).finish()

    def tell(self, seen: State, who: Seat) -> Message:
        out = seen.told(self.says).pushes_out(self.house[0])
        pushed = None if out is None else Message("pushed_out", {"who": Who(out)})
        return Message("place", {"who": Who(who), "where": Noun(self.house[0]), "then": pushed})


@dataclass(frozen=True, slots=True)
class Sell(Deed):
    """Sell own goods of the shaken house, each for the space it stood on before any gap closed (readings 4 and 5)."""

    spaces: tuple[int, ...]
    says: Mapping[str, int] = field(default_factory=dict)
    do: ClassVar[str] = "sell"
    places: ClassVar[frozenset[str]] = frozenset(HOUSES)

    @classmethod
    def at_place(cls, state: State, who: Seat) -> Choice | Refusal:
        own = state.own_spaces(who, state.place)
        if not own:
            return Refusal("no_good_here", "Sell goods", {"who": Who(who), "where": Noun(state.place)})
        questions = asks.of_values(state, state.place, own) | asks.of_storage(state)
        fields: dict[str, Field] = {"spaces": Pick(own, 1, len(own)), "says": Values(questions)}
        values = {"values": tuple(state.value(state.place, space) for space in own)}
        return Choice(cls, fields, lambda action: cls._fits(state, action), _about(state, who) | values)

    @staticmethod
    def _fits(state: State, action: Action[Any]) -> Refusal | None:
        assert isinstance(action, Sell)
        wanted = asks.of_values(state, state.place, action.spaces)
        return asks.missing(action.says, wanted, asks.of_storage(state))

    def earns(self, state: State) -> int:
        """Return what these goods bring, once their values are known."""
        told = state.told(self.says)
        return sum(told.value(state.place, space) or 0 for space in self.spaces)

    def then(self, state: State, who: Seat) -> State:
        sold = state.told(self.says).take_goods(state.place, self.spaces)
        return sold.sold_for(who, self.earns(state)).finish()

    def tell(self, seen: State, who: Seat) -> Message:
        money = Money(self.earns(seen))
        return Message("sell", {"who": Who(who), "where": Noun(seen.place), "n": len(self.spaces), "money": money})


@dataclass(frozen=True, slots=True)
class Remove(Deed):
    """Lose one own good at the pig pit: of any building (readings 15 and 31), of the supply if none stands anywhere."""

    good: tuple[str, ...]
    says: Mapping[str, int] = field(default_factory=dict)
    do: ClassVar[str] = "remove"
    places: ClassVar[frozenset[str]] = frozenset({"pigpit"})

    @classmethod
    def at_place(cls, state: State, who: Seat) -> Choice | Refusal:
        goods = cls.losable(state, who)
        if not goods:
            return Refusal("no_goods", "Space 7", {"who": Who(who)})
        fields: dict[str, Field] = {"good": Pick(goods), "says": Values(asks.of_storage(state))}
        return Choice(cls, fields, lambda action: _storage_is_said(state, action), _about(state, who))

    @staticmethod
    def losable(state: State, who: Seat) -> tuple[str, ...]:
        """Return the names of the goods this seat may lose: `forge.2` is the one on space 2 of the forge."""
        houses = [f"{house}.{space}" for house in HOUSES for space in state.own_spaces(who, house)]
        standing = [name for name, goods in (("tavern", state.tavern), ("bank", state.bank)) if who in goods]
        return tuple(houses + standing) or ("supply",) * bool(state.supply[who])

    def then(self, state: State, who: Seat) -> State:
        told = state.told(self.says)
        house, _, space = self.good[0].partition(".")
        return (told.take_goods(house, (int(space),)) if space else told.leave(house, who)).finish()

    def tell(self, seen: State, who: Seat) -> Message:
        return Message("remove", {"who": Who(who), "where": Noun(self.good[0].partition(".")[0])})


@dataclass(frozen=True, slots=True)
class Stand(Deed):
    """Put a good at the tavern; every other seat pays by how many goods stand there then (readings 11 and 12)."""

    do: ClassVar[str] = "stand"
    places: ClassVar[frozenset[str]] = frozenset({"tavern"})

    @classmethod
    def at_place(cls, state: State, who: Seat) -> Choice | Refusal:
        if not state.supply[who]:
            return Refusal("no_supply", "reading 10", {"who": Who(who)})
        return Choice(cls, about=_about(state, who) | {"money": Money(cls.each(state, who))})

    @staticmethod
    def each(state: State, who: Seat) -> int:
        """Return what every other seat pays: 10 for the 1st good there, 20 for the 2nd, and so on."""
        standing = len(state.tavern) if state.tavern_rank == "all" else state.tavern.count(who)
        return TAVERN_STEP * (standing + 1)

    def then(self, state: State, who: Seat) -> State:
        return state.stand_at("tavern", who).collect(who, self.each(state, who)).finish()

    def tell(self, seen: State, who: Seat) -> Message:
        return Message("stand", {"who": Who(who), "money": Money(self.each(seen, who))})


@dataclass(frozen=True, slots=True)
class Deposit(Deed):
    """Put a good at the bank and pay every other seat."""

    do: ClassVar[str] = "deposit"
    places: ClassVar[frozenset[str]] = frozenset({"bank"})

    @classmethod
    def at_place(cls, state: State, who: Seat) -> Choice | Refusal:
        if who in state.bank:
            return Refusal("good_at_bank", "Space 13", {"who": Who(who)})
        if not state.supply[who]:
            return Refusal("no_supply", "Space 13", {"who": Who(who)})
        return Choice(cls, about=_about(state, who))

    def then(self, state: State, who: Seat) -> State:
        return state.stand_at("bank", who).pay_others(who, DEPOSIT_FEE).finish()

    def tell(self, seen: State, who: Seat) -> Message:
        return Message("deposit", {"who": Who(who), "money": Money(DEPOSIT_FEE)})


@dataclass(frozen=True, slots=True)
class Withdraw(Deed):
    """Take the own good away from the bank and collect from every other seat (reading 13: no choice is given)."""

    says: Mapping[str, int] = field(default_factory=dict)
    do: ClassVar[str] = "withdraw"
    places: ClassVar[frozenset[str]] = frozenset({"bank"})

    @classmethod
    def at_place(cls, state: State, who: Seat) -> Choice | Refusal:
        if who not in state.bank:
            return Refusal("no_good_here", "Space 13", {"who": Who(who), "where": Noun("bank")})
        fields: dict[str, Field] = {"says": Values(asks.of_storage(state))}
        return Choice(cls, fields, lambda action: _storage_is_said(state, action), _about(state, who))

    def then(self, state: State, who: Seat) -> State:
        return state.told(self.says).leave("bank", who).collect(who, WITHDRAWAL_GAIN).finish()

    def tell(self, seen: State, who: Seat) -> Message:
        return Message("withdraw", {"who": Who(who), "money": Money(WITHDRAWAL_GAIN)})


@dataclass(frozen=True, slots=True)
class Fine(Deed):
    """Stand at the pillory: pay onto the marketplace."""

    do: ClassVar[str] = "fine"
    places: ClassVar[frozenset[str]] = frozenset({"pillory"})

    @classmethod
    def at_place(cls, state: State, who: Seat) -> Choice | Refusal:
        return Choice(cls, about=_about(state, who))

    def then(self, state: State, who: Seat) -> State:
        return state.pay_market(who).finish()

    def tell(self, seen: State, who: Seat) -> Message:
        return Message("fine", {"who": Who(who), "money": Money(FINE)})


@dataclass(frozen=True, slots=True)
class Take(Deed):
    """Take all bills of the marketplace."""

    do: ClassVar[str] = "take"
    places: ClassVar[frozenset[str]] = frozenset({"market"})

    @classmethod
    def at_place(cls, state: State, who: Seat) -> Choice | Refusal:
        return Choice(cls, about=_about(state, who) | {"money": Money(state.market)})

    def then(self, state: State, who: Seat) -> State:
        return state.take_market(who).finish()

    def tell(self, seen: State, who: Seat) -> Message:
        return Message("take", {"who": Who(who), "money": Money(seen.market)})


READINGS_OF_NOTHING = {"tent": "reading_9", "tavern": "reading_10", "bank": "reading_14", "pigpit": "reading_15"}


@dataclass(frozen=True, slots=True)
class Pass(Deed):
    """Do nothing, where nothing at this place can be done (reading 6: only then)."""

    do: ClassVar[str] = "pass"
    places: ClassVar[frozenset[str]] = frozenset({*READINGS_OF_NOTHING, *HOUSES})

    @classmethod
    def at_place(cls, state: State, who: Seat) -> Choice | Refusal:
        if any(isinstance(kind.offer(state, who), Choice) for kind in DEEDS if kind is not cls):
            return Refusal("must_act", "reading 6", {"who": Who(who), "where": Noun(state.place)})
        return Choice(cls, about=_about(state, who))

    def then(self, state: State, who: Seat) -> State:
        return state.finish()

    def tell(self, seen: State, who: Seat) -> Message:
        rule = Noun(READINGS_OF_NOTHING.get(seen.place, "reading_6"))
        return Message("pass", {"who": Who(who), "where": Noun(seen.place), "rule": rule})


DEEDS: tuple[type[Deed], ...] = (Place, Sell, Remove, Stand, Deposit, Withdraw, Fine, Take, Pass)


def forced(state: State) -> Action[Any] | None:
    """Return the one deed left to the seat on turn where nobody decides anything, else None."""
    offers = [kind.at_place(state, state.on_turn) for kind in DEEDS if state.place in kind.places]
    forms = [offer for offer in offers if isinstance(offer, Choice)]
    return forms[0].forced if len(forms) == 1 else None
