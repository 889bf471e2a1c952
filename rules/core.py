"""The contract of a game: the rules offer, the table answers, a person confirms, the journal keeps.

A game is its actions. An action is one frozen dataclass with three functions, and a rule stands there once: `offer`
(what may be done now and within which limits, or why not), `then` (the effect) and `tell` (one sentence for the log).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from rules.forms import Choice, Count, Text, Values
from rules.messages import TABLE, Message, Money, Noun, Refusal, Refused, RulesError, Seat, Value, Who
from rules.sheets import Sheet

State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Option:
    """A named house choice: its values, the default, and what a real table starts with where that differs."""

    values: tuple[str, ...]
    default: str
    at_table: str | None = None


@dataclass(frozen=True, slots=True)
class Setup:
    """How a game begins: how many seats, who is first, the house choices, the values printed on this box."""

    seats: int
    first: Seat = 0
    options: Mapping[str, str] = field(default_factory=dict)
    sheet: Sheet = field(default_factory=Sheet)


@dataclass(frozen=True, slots=True)
class Turn:
    """Whom the game waits for (`movers`, seats and TABLE alike), and who may act too while nobody waits."""

    phase: str
    movers: frozenset[Seat]
    may: frozenset[Seat] = frozenset()


@dataclass(frozen=True, slots=True)
class Fact:
    """One countable thing of a state: its number and limits, what it counts, where it lies, whose it is.

    `at` is its place in a row, where that is what counts. What is not `on_table` (whose turn it is, a value printed on
    the board) nobody has to move.
    """

    value: int
    least: int
    most: int
    what: Noun
    where: Noun | None = None
    whose: Seat | None = None
    step: int = 1
    at: int | None = None
    on_table: bool = True


@dataclass(frozen=True, slots=True)
class Result:
    """How a game ended: by which rule (empty: not yet), each seat's score, the winners, and why in words."""

    end: str
    scores: tuple[int, ...]
    winners: tuple[Seat, ...]
    reasons: tuple[Message, ...] = ()


class Action(ABC, Generic[State]):
    """One kind of deed. Subclasses are frozen dataclasses; their fields are the form's fields.

    `do` names the deed in menus, records and words; `phases` say when (empty: always); `table` says whether it is
    TABLE's to report or a seat's to do; `reveals` says whether it showed something hidden or random; `called` marks a
    person's call that nobody waits for, such as a double shake or a mend: simulated players never make one.
    """

    __slots__ = ()
    do: ClassVar[str]
    phases: ClassVar[frozenset[str]]
    table: ClassVar[bool] = False
    reveals: ClassVar[bool] = False
    called: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def offer(cls, state: State, who: Seat) -> Choice | Refusal:
        """Return the form for what may be done now, or why it may not."""

    @abstractmethod
    def then(self, state: State, who: Seat) -> State:
        """Return the state after this action; called only on what was offered."""

    @abstractmethod
    def tell(self, seen: State, who: Seat) -> Message:
        """Say what this action does in the state before it, in one sentence."""


class Game(ABC, Generic[State]):
    """The rules of one game: facts as class attributes, and the functions that a game writes itself.

    `scored_by` names the families of countable facts that scoring needs (`money` for `money.0`, `money.1`): all that
    a table enters where it only keeps the score.
    """

    key: ClassVar[str]
    title: ClassVar[str]
    rules: ClassVar[int]
    seats: ClassVar[range]
    options: ClassVar[Mapping[str, Option]]
    scored_by: ClassVar[tuple[str, ...]]
    sheet_limits: ClassVar[Mapping[str, Count]]
    actions: Mapping[str, type[Action[State]]]

    @abstractmethod
    def start(self, setup: Setup) -> State:
        """Return the first state; raises Refused for a number of seats or options that this game does not take."""

    @abstractmethod
    def turn(self, state: State) -> Turn:
        """Return the phase and whom the game waits for; no movers when the game is over."""

    @abstractmethod
    def see(self, state: State, eyes: Seat | None) -> State:
        """Return what these eyes may know: a seat's, None for what all may know, TABLE for everything."""

    @abstractmethod
    def shows(self, state: State) -> Mapping[str, Mapping[str, int]]:
        """Return what each camera zone shows now, as counts of its pieces."""

    @abstractmethod
    def view(self, seen: State) -> Mapping[str, Value]:
        """Return the plain facts that a page draws, from a seen state."""

    @abstractmethod
    def facts(self, state: State) -> Mapping[str, Fact]:
        """Return every countable fact by its name: what a mend may set and a correction speaks of."""

    @abstractmethod
    def mended(self, state: State, facts: Mapping[str, int]) -> State:
        """Return the state with these facts in place; raises Refused where they cannot be true together."""

    @abstractmethod
    def learned(self, state: State) -> Sheet:
        """Return the values printed on this box as far as they are known now."""

    @abstractmethod
    def scored(self, state: State) -> Result:
        """Return the scores and who leads if the game were scored now; `end` is empty while it goes on."""

    def means(self, sense: str, count: int) -> Noun | None:
        """Return the name of what this count leads to, for a table that only counts; None where it has none."""
        return None

    def asks(self, name: str) -> Message | None:
        """Return the question for one printed value of the box, by its name; None: it is asked by its name alone."""
        return None

    def result(self, state: State) -> Result | None:
        """Return how the game ended, or None while it goes on."""
        result = self.scored(state)
        return result if result.end else None

    def offer(self, state: State, who: Seat, kind: type[Action[State]]) -> Choice | Refusal:
        """Return the form of one kind of action for one actor, or why there is none now."""
        turn = self.turn(state)
        if kind.phases and turn.phase not in kind.phases:
            return Refusal("not_now", turn.phase, {"do": kind.do, "phase": Noun(turn.phase)})
        if kind.table and who != TABLE:
            return Refusal("for_the_table", turn.phase, {"do": kind.do})
        if not kind.table and (who == TABLE or who not in turn.movers | turn.may):
            return Refusal("not_your_turn", turn.phase, {"who": Who(who), "turn": _whose(turn)})
        return kind.offer(state, who)

    def choices(self, state: State, who: Seat, eyes: Seat | None) -> dict[str, Choice | Refusal]:
        """Return every action's offer as these eyes see it: a greyed button tells no secret."""
        seen = self.see(state, eyes)
        return {do: self.offer(seen, who, kind) for do, kind in self.actions.items()}

    def apply(self, state: State, who: Seat, action: Action[State]) -> State:
        """Return the state after this action; raises Refused with the reason where it is not offered."""
        offered = self.offer(state, who, type(action))
        why = offered if isinstance(offered, Refusal) else offered.why_not(action)
        if why is not None:
            raise Refused(why)
        return action.then(state, who)

    def setup(self, setup: Setup) -> Setup:
        """Return the set-up with every option written out; raises Refused for what this game does not take."""
        if setup.seats not in self.seats:
            limits = {"got": setup.seats, "least": self.seats[0], "most": self.seats[-1]}
            raise Refused(Refusal("number_of_seats", "set-up", limits))
        if not 0 <= setup.first < setup.seats:
            raise Refused(Refusal("no_such_seat", "set-up", {"got": setup.first}))
        for name, value in setup.options.items():
            self._check_option(name, value)
        for name, amount in setup.sheet.values.items():
            self._check_sheet(name, amount)
        full = {name: setup.options.get(name, option.default) for name, option in self.options.items()}
        return Setup(setup.seats, setup.first, full, setup.sheet)

    def _check_sheet(self, name: str, value: int) -> None:
        limits = self.sheet_limits.get(name)
        if limits is None:
            raise Refused(Refusal("no_such_sheet_value", "set-up", {"name": name}))
        if not limits.holds(value):
            known: dict[str, Value] = {"least": limits.least, "most": limits.most}
            raise Refused(Refusal("sheet_value", "set-up", {"name": name, "got": value, **known}))

    def _check_option(self, name: str, value: str) -> None:
        if name not in self.options:
            raise Refused(Refusal("no_such_option", "set-up", {"option": name, "known": tuple(self.options)}))
        if value not in self.options[name].values:
            known = self.options[name].values
            raise Refused(Refusal("no_such_option_value", "set-up", {"option": name, "got": value, "known": known}))


def mend(game: Game[State]) -> type[Action[State]]:
    """Return the Mend of one game: TABLE sets countable facts, in every phase, with a reason."""

    @dataclass(frozen=True, slots=True)
    class Mend(Action[State]):
        """What lies on the table is never refused: countable facts as they are, and why."""

        facts: Mapping[str, int]
        reason: str = ""
        do: ClassVar[str] = "mend"
        phases: ClassVar[frozenset[str]] = frozenset()
        table: ClassVar[bool] = True
        called: ClassVar[bool] = True

        @classmethod
        def offer(cls, state: State, who: Seat) -> Choice | Refusal:
            limits = {name: Count(fact.least, fact.most, fact.step) for name, fact in game.facts(state).items()}
            return Choice(cls, {"facts": Values(limits), "reason": Text()}, lambda a: cannot_be(state, a))

        def then(self, state: State, who: Seat) -> State:
            return game.mended(state, self.facts)

        def tell(self, seen: State, who: Seat) -> Message:
            moved = tuple(moves(game.facts(seen), game.facts(game.mended(seen, self.facts))))
            return Message("mend", {"what": moved, "reason": self.reason})

    def cannot_be(state: State, action: Action[Any]) -> Refusal | None:
        assert isinstance(action, Mend)
        try:
            game.mended(state, action.facts)
        except Refused as refused:
            return refused.refusal
        return None

    return Mend


def would_change(game: Game[State], state: State, who: Seat, action: Action[State]) -> dict[str, int]:
    """Return the facts that a refused action would have changed, to fill in the mend that allows it this once.

    Empty where the refused action makes no sense in this state at all, or leads to what cannot be.
    """
    before = game.facts(state)
    try:
        after = game.facts(action.then(state, who))
        facts = {
            name: fact.value for name, fact in after.items() if name in before and before[name].value != fact.value
        }
        game.mended(state, facts)
    except (LookupError, ValueError, ArithmeticError, TypeError):  # a refused action may hold anything
        return {}
    return facts if all(before[name].least <= n <= before[name].most for name, n in facts.items()) else {}


def changes(before: Mapping[str, Value], after: Mapping[str, Value]) -> dict[str, tuple[Value, Value]]:
    """Return what differs between two views, by dotted path (a place in a row by its number): (before, after)."""
    return dict(_differences("", before, after))


def _differences(path: str, before: Value, after: Value) -> Iterator[tuple[str, tuple[Value, Value]]]:
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for name in [*before, *(name for name in after if name not in before)]:
            yield from _differences(f"{path}.{name}" if path else name, before.get(name), after.get(name))
    elif isinstance(before, tuple) and isinstance(after, tuple) and len(before) == len(after):
        for at, pair in enumerate(zip(before, after, strict=True)):
            yield from _differences(f"{path}.{at}", *pair)
    elif before != after:
        yield path, (before, after)


def moves(before: Mapping[str, Fact], after: Mapping[str, Fact]) -> Iterator[Message]:
    """Say what to move on the table to get from one state's facts to another's, one sentence a fact.

    The order in a row is spoken of only where its pieces stayed the same.
    """
    named = {name: fact for name, fact in after.items() if fact.on_table and name in before}
    changed = {name: fact for name, fact in named.items() if fact.value != before[name].value}
    moved = {fact.where for fact in changed.values() if fact.at is None}
    for name, fact in changed.items():
        if fact.at is None or fact.where not in moved:
            yield _move(fact, fact.value - before[name].value)


def _move(fact: Fact, change: int) -> Message:
    way = "more" if change > 0 else "less"
    values: dict[str, Value] = {"what": fact.what, "now": fact.value}
    if fact.whose is not None:
        values["who"] = Who(fact.whose)
    if fact.where is not None:
        values["where"] = fact.where
    if fact.what.key == "money":
        return Message(
            f"move_money_{way}" if fact.whose is not None else f"move_bank_{way}",
            values | {"money": Money(abs(change))},
        )
    if fact.at is not None:
        return Message("move_row", values | {"at": fact.at})
    if fact.what.key == "marker":
        return Message("move_marker", values)
    return Message(f"move_pieces_{way}", values | {"n": abs(change)})


def _whose(turn: Turn) -> Value:
    return tuple(Who(seat) for seat in sorted(turn.movers))


__all__ = [
    "TABLE", "Action", "Choice", "Fact", "Game", "Message", "Money", "Noun", "Option", "Refusal", "Refused", "Result",
    "RulesError", "Seat", "Setup", "Sheet", "Turn", "Value", "Who", "changes", "mend", "moves", "would_change",
]  # fmt: skip
