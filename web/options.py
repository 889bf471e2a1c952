"""What may be tapped: each small form written out as one option a filled form, what it brings beside it.

An option is one gesture, posted as it stands here: the steps before it (a count that is accepted by tapping what
follows) and the action itself, each with the fingerprint of the form it was offered by.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, combinations, permutations, product
from typing import Any, TypeAlias

from companion import codec
from rules.core import TABLE, Action, Choice, Game, Message, Refusal, Refused, Seat
from rules.forms import Assign, Count, Field, Order, Pick, Text, Values

MOST = 64
"""More filled forms than this nobody looks through: such a form is filled in field by field."""

Post: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Brings:
    """What an action changes in money: for the one who acts, and for others by seat."""

    own: int = 0
    others: Mapping[Seat, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Option:
    """One thing to tap: who does what, what it says, what it brings, and the gesture to post.

    `picks` names what it takes of what is drawn (`house=forge`), `is_one_of_several` says that its form asks
    which one; `asks` is a form that cannot be written out.
    """

    who: Seat
    do: str
    tells: Message | None
    gesture: tuple[Post, ...]
    brings: Brings = Brings()
    picks: tuple[str, ...] = ()
    is_one_of_several: bool = False
    asks: bool = False

    @property
    def group(self) -> str:
        """Return what options have in common that come from one form."""
        return codec.dump_json([self.gesture[:-1], self.who, self.do])

    @property
    def posts(self) -> str:
        """Return the gesture as it is posted."""
        return codec.dump_json(list(self.gesture))


@dataclass(frozen=True, slots=True)
class Ahead:
    """A state that is reached by steps nobody took yet, and those steps as posts."""

    game: Game[Any]
    state: Any
    steps: tuple[Post, ...] = ()

    def after(self, who: Seat, action: Action[Any]) -> Ahead:
        """Return where this action leads; raises Refused."""
        choice = self.game.offer(self.state, who, type(action))
        state = self.game.apply(self.state, who, action)
        assert isinstance(choice, Choice)  # apply would have raised
        return Ahead(self.game, state, (*self.steps, post(self.game, who, choice, action)))

    def options(self, who: Seat) -> tuple[Option, ...]:
        """Return everything one actor may tap here; calls that nobody waits for are not among it."""
        kinds = (kind for kind in self.game.actions.values() if not kind.called)
        offers = ((kind, self.game.offer(self.state, who, kind)) for kind in kinds)
        return tuple(chain.from_iterable(self.of(who, offer) for _, offer in offers if isinstance(offer, Choice)))

    def refusals(self, who: Seat) -> dict[str, Refusal]:
        """Return what this actor cannot do here, and why not."""
        kinds = {do: kind for do, kind in self.game.actions.items() if not kind.called and not kind.table}
        offers = {do: self.game.offer(self.state, who, kind) for do, kind in kinds.items()}
        return {do: offer for do, offer in offers.items() if isinstance(offer, Refusal)}

    def of(self, who: Seat, choice: Choice) -> Iterator[Option]:
        """Write one form out, the widest filled form first; what cannot be written out asks for a form."""
        filled = written_out(choice)
        several = len(filled) > 1 and all(len(picks(choice, action)) == 1 for action in filled)
        for action in filled:
            yield replace(self.option(who, choice, action), is_one_of_several=several)
        if not filled or any(isinstance(one, Values) and one.limits for one in choice.fields.values()):
            yield Option(who, choice.kind.do, None, (*self.steps, _open_post(self.game, who, choice)), asks=True)

    def option(self, who: Seat, choice: Choice, action: Action[Any]) -> Option:
        """Return one filled form as an option."""
        gesture = (*self.steps, post(self.game, who, choice, action))
        tells = action.tell(self.state, who)
        return Option(who, action.do, tells, gesture, self._brings(who, action), picks(choice, action))

    def _brings(self, who: Seat, action: Action[Any]) -> Brings:
        before, after = _money(self.game, self.state), _money(self.game, self.game.apply(self.state, who, action))
        change = {seat: after[seat] - amount for seat, amount in before.items() if after[seat] != amount}
        return Brings(change.pop(who, 0), change)


def _money(game: Game[Any], state: Any) -> dict[Seat, int]:
    facts = game.facts(state).values()
    return {fact.whose: fact.value for fact in facts if fact.what.key == "money" and fact.whose is not None}


def post(game: Game[Any], who: Seat, choice: Choice, action: Action[Any]) -> Post:
    """Return one step of a gesture: who, the action, and the fingerprint of the form."""
    return _open_post(game, who, choice) | {"action": codec.action_to_data(action)}


def _open_post(game: Game[Any], who: Seat, choice: Choice) -> Post:
    fingerprint = codec.fingerprint(game, who, choice.kind.do, choice)
    return {"who": who, "action": {"do": choice.kind.do}, "fingerprint": fingerprint}


def picks(choice: Choice, action: Action[Any]) -> tuple[str, ...]:
    """Return what an action takes of what is drawn, as `field=value`."""
    fields = (name for name, one in choice.fields.items() if isinstance(one, Pick))
    return tuple(f"{name}={value}" for name in fields for value in getattr(action, name))


def written_out(choice: Choice) -> tuple[Action[Any], ...]:
    """Return every filled form that fits, the one with most picks first; empty where there are too many to look at."""
    parts = [tuple(_answers(one)) for one in choice.fields.values()]
    size = 1
    for part in parts:
        size *= len(part)
    if not 0 < size <= MOST:
        return ()
    filled = (choice.kind(**dict(zip(choice.fields, values, strict=True))) for values in product(*parts))
    return tuple(action for action in filled if choice.fits(action) is None)


def _answers(one: Field) -> Iterable[object]:
    """Return every answer of a small field, nothing for one that has to be filled in."""
    match one:
        case Pick(among, least, most) if len(among) <= 6 or most == 1:
            sizes = range(most, least - 1, -1)
            return [picked for size in sizes for picked in combinations(among, size)]
        case Count(least, most, step) if (most - least) // step < MOST:
            return range(least, most + 1, step)
        case Values():
            return [{}]
        case Text():
            return [""]
        case Order(things) if len(things) <= 4:
            return permutations(things)
        case Assign() if one.sole:
            return one.sole
    return one.sole


def counted(ahead: Ahead, do: str, name: str, value: int) -> tuple[Ahead, Option] | Refusal:
    """Return where one answer of TABLE's counting form leads, and that step as an option, or why nowhere."""
    choice = ahead.game.offer(ahead.state, TABLE, ahead.game.actions[do])
    if isinstance(choice, Refusal):
        return choice
    action = choice.kind(**{name: value})
    try:
        return ahead.after(TABLE, action), ahead.option(TABLE, choice, action)
    except Refused as refused:
        return refused.refusal
