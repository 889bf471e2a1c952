"""Schüttel's as a game of the contract: facts, and the functions every game writes itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from rules.core import Action, Fact, Game, Option, Result, Setup, Turn, mend
from rules.forms import Count
from rules.messages import TABLE, Message, Noun, Refusal, Refused, Seat, Value, Who
from rules.schuettels import asks, scoring, view
from rules.schuettels.actions import DoubleShake, EndOn, Shake
from rules.schuettels.deeds import DEEDS
from rules.schuettels.state import BILLS, FINE, GOODS, HOUSES, PLACES, START_MONEY, State
from rules.sheets import Sheet

SIDES = {2: "small", 3: "small", 4: "large", 5: "large", 6: "large"}


class Schuettels(Game[State]):
    """Two to six seats; everything lies open on the table. First is who last held a cup: set-up asks (reading 25)."""

    key: ClassVar[str] = "schuettels"
    title: ClassVar[str] = "Schüttel's"
    rules: ClassVar[int] = 1
    seats: ClassVar[range] = range(2, 7)
    options: ClassVar[Mapping[str, Option]] = {
        "risky": Option(("no", "yes"), "no"),
        "zero": Option(("again", "fine"), "again"),
        "tavern_rank": Option(("all", "own"), "all"),
        "end_on": Option(("all_goods", "supply", "ask"), "all_goods", at_table="ask"),
    }
    scored_by: ClassVar[tuple[str, ...]] = ("money",)
    sheet_limits: ClassVar[Mapping[str, Count]] = asks.LIMITS

    def __init__(self) -> None:
        kinds: tuple[type[Action[State]], ...] = (Shake, DoubleShake, EndOn, *DEEDS, mend(self))
        self.actions = {kind.do: kind for kind in kinds}

    def start(self, setup: Setup) -> State:
        full = self.setup(setup)
        if full.options["risky"] == "yes" and full.seats != 4:
            raise Refused(Refusal("risky_needs_four", "reading 24", {"got": full.seats}))
        return State(
            seats=full.seats,
            side=SIDES[full.seats],
            risky=full.options["risky"] == "yes",
            zero=full.options["zero"],
            tavern_rank=full.options["tavern_rank"],
            end_on=full.options["end_on"],
            sheet=full.sheet,
            phase="shake",
            on_turn=full.first,
            shaken=0,
            money=(START_MONEY,) * full.seats,
            market=FINE,
            treasury=BILLS - START_MONEY * full.seats - FINE,
            supply=(GOODS,) * full.seats,
            houses=dict.fromkeys(HOUSES, ()),
            tavern=(),
            bank=(),
            stored=(0,) * full.seats,
        )

    def turn(self, state: State) -> Turn:
        if state.phase == "over":
            return Turn("over", frozenset())
        mover = state.on_turn if state.phase == "act" else TABLE
        return Turn(state.phase, frozenset({mover}), frozenset({TABLE}))

    def see(self, state: State, eyes: Seat | None) -> State:
        return state  # nothing is hidden in this game

    def shows(self, state: State) -> Mapping[str, Mapping[str, int]]:
        return {"catcher": {"gnomes": state.shaken if state.phase == "act" else 0}}

    def view(self, seen: State) -> Mapping[str, Value]:
        return view.view(seen)

    def facts(self, state: State) -> Mapping[str, Fact]:
        return view.facts(state)

    def mended(self, state: State, facts: Mapping[str, int]) -> State:
        return view.mended(state, facts)

    def learned(self, state: State) -> Sheet:
        return state.sheet

    def means(self, sense: str, count: int) -> Noun | None:
        return Noun(PLACES[count]) if sense == "gnomes" and count in PLACES else None

    def asks(self, name: str) -> Message | None:
        return asks.question(name) if name in asks.LIMITS else None

    def scored(self, state: State) -> Result:
        best = scoring.winners(state.money)
        out = tuple(Who(seat) for seat in state.out("all_goods"))
        ended = (Message(state.end, {"who": out}),) if state.end else ()
        return Result(state.end, state.money, best, (*ended, Message("most_money", {"who": tuple(map(Who, best))})))
