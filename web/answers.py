"""What the answer's place shows: the question, or the counted number with what may be done there, and beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from companion import codec
from companion.asking import means
from companion.proposal import Evidence, Proposal
from companion.snapshot import Snapshot
from companion.view import Offer, Seen
from rules.core import TABLE, Game, Message, Noun, Refusal, Seat, Value
from rules.forms import Choice, Count
from web.options import Ahead, Option, Post, counted
from web.sights import Sight

IN_BAR = 3
"""More things to tap than this do not fit the bar: they are listed under the figure."""
BESIDE = 2
OF_OTHERS = ("wrong_place", "not_now", "not_your_turn", "for_the_table", "must_act")
"""Refusals of what nobody at this place would want: another's deed, another place's, or passing while one can act."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One number that may have been counted: where it leads, and what may be tapped there."""

    value: int
    place: Noun | None = None
    options: tuple[Option, ...] = ()
    refusal: Refusal | None = None
    refused: tuple[Refused, ...] = ()

    @property
    def beside(self) -> tuple[Option, ...]:
        """Return what is shown when this stands beside a likelier number: its few options, or the number alone."""
        shown = tuple(option for option in self.options if not is_narrower(option, self.options))
        if len(shown) <= BESIDE and not any(option.asks for option in shown):
            return shown
        first = self.options[0]
        return (Option(TABLE, first.gesture[0]["action"]["do"], None, first.gesture[:1]),)


@dataclass(frozen=True, slots=True)
class Refused:
    """One thing that somebody could want to do and cannot: who, what, why, and the steps that lead there."""

    who: Seat
    do: str
    refusal: Refusal
    steps: tuple[Post, ...] = ()

    @property
    def posts(self) -> str:
        """Return the steps that lead there as they are posted."""
        return codec.dump_json(list(self.steps))


@dataclass(frozen=True, slots=True)
class Counted:
    """The likeliest number and its neighbours."""

    best: Answer
    less: Answer | None
    more: Answer | None


def counting(seen: Seen) -> Offer | None:
    """Return the form by which TABLE is asked for a count that a sense may fill in."""
    if seen.turn is None or TABLE not in seen.turn.movers:
        return None
    offers = (offer for offer in seen.offers[TABLE].values() if offer.choice is not None and offer.choice.sense)
    return next((offer for offer in offers if count_field(offer) is not None), None)


def asks(seen: Seen) -> str:
    """Return what stays the same as long as the game asks these eyes the same: panels that answer it close after."""
    movers = () if seen.turn is None else sorted(seen.turn.movers)
    prints = [(who, offer.do, offer.fingerprint) for who in movers for offer in seen.offers[who].values()]
    return sha256(repr((prints, [step.n for step in seen.open])).encode()).hexdigest()[:16]


def count_field(offer: Offer) -> tuple[str, Count] | None:
    """Return the one counting field of a form."""
    fields = [] if offer.choice is None else list(offer.choice.fields.items())
    if len(fields) != 1 or not isinstance(fields[0][1], Count):
        return None
    return fields[0][0], fields[0][1]


def read_off(seen: Seen, proposal: Proposal, sight: Sight, bots: frozenset[Seat] = frozenset()) -> Counted | None:
    """Return what the proposed count and its neighbours lead to; None where the proposal answers something else.

    For seats that the companion plays (`bots`) nobody has to tap: the count alone is to be accepted.
    """
    offer = counting(seen)
    best = proposal.answers[0].value if proposal.answers else None
    if offer is None or offer.do != proposal.do or not isinstance(best, int):
        return None
    found = count_field(offer)
    assert found is not None  # `counting` chose it so
    assert seen.game is not None
    name, limits = found
    start = Ahead(seen.game, seen.state)
    values = (best - 1, best, best + 1)
    less, middle, more = (_answer(start, offer.do, name, value, sight, bots) for value in values)
    return Counted(middle, less if limits.holds(best - 1) else None, more if limits.holds(best + 1) else None)


def last_count(
    snapshot: Snapshot, games: Sequence[Game[Any]]
) -> tuple[int, tuple[Game[Any], Any] | None, Evidence | None] | None:
    """Return the newest count where no rules ask for one, the game that has a name for it, and its picture."""
    reading = snapshot.count_reading
    best = reading.answers[0].value if reading is not None and reading.answers else None
    if reading is None or not isinstance(best, int):
        return None
    return best, means(games, "gnomes", best), reading.evidence


def _answer(start: Ahead, do: str, name: str, value: int, sight: Sight, bots: frozenset[Seat]) -> Answer:
    led = counted(start, do, name, value)
    if isinstance(led, Refusal):
        return Answer(value, refusal=led)
    ahead, accept = led
    place = None if accept.tells is None else _place(accept.tells)
    movers = sorted(ahead.game.turn(ahead.state).movers - {TABLE})
    if not movers:
        return Answer(value, place, (accept,))
    mine = [who for who in movers if sight.acts_for(who) and who not in bots]
    options = tuple(option for who in mine for option in ahead.options(who))
    refused = tuple(no for who in mine for no in refusals(ahead, who))
    return Answer(value, place, options or (replace(accept, tells=None),), refused=refused)


def _place(message: Message) -> Noun | None:
    where = message.values.get("where")
    return where if isinstance(where, Noun) else None


def refusals(ahead: Ahead, who: Seat) -> Iterator[Refused]:
    """Return what an actor could want here and cannot: what is of this place, not what belongs to others."""
    for do, refusal in ahead.refusals(who).items():
        if refusal.code not in OF_OTHERS:
            yield Refused(who, do, refusal, ahead.steps)


def to_do(seen: Seen, sight: Sight, bots: frozenset[Seat] = frozenset()) -> tuple[Option, ...]:
    """Return everything that this device may tap for those whom the game waits for.

    Seats that the companion plays act by themselves, but not while a correction left steps open.
    """
    if seen.game is None or seen.turn is None:
        return ()
    ahead = Ahead(seen.game, seen.state)
    asked = counting(seen)
    waits = seen.turn.movers if seen.open else seen.turn.movers - bots
    movers = [who for who in sorted(waits) if sight.acts_for(who)]
    options = (option for who in movers for option in ahead.options(who))
    return tuple(option for option in options if asked is None or option.do != asked.do)


def not_to_do(seen: Seen, sight: Sight) -> tuple[Refused, ...]:
    """Return what those on turn could want to do now and cannot."""
    if seen.game is None or seen.turn is None:
        return ()
    ahead = Ahead(seen.game, seen.state)
    movers = [who for who in sorted(seen.turn.movers) if who != TABLE and sight.acts_for(who)]
    return tuple(no for who in movers for no in refusals(ahead, who))


def calls(seen: Seen, sight: Sight) -> tuple[Option, ...]:
    """Return what anybody may call at any time and nobody waits for."""
    if seen.game is None or not sight.acts_for(TABLE):
        return ()
    ahead = Ahead(seen.game, seen.state)
    offers = [offer for offer in seen.offers[TABLE].values() if offer.choice and offer.choice.kind.called]
    return tuple(option for offer in offers for option in _forced(ahead, offer.choice))


def _forced(ahead: Ahead, choice: Choice | None) -> Iterable[Option]:
    if choice is not None and choice.forced is not None:
        yield ahead.option(TABLE, choice, choice.forced)


def figure(seen: Seen, sight: Sight) -> tuple[int, Noun | None] | None:
    """Return the number and the place that the open forms of a seat are about."""
    if seen.turn is None:
        return None
    for who in sorted(seen.turn.movers - {TABLE}):
        for offer in seen.offers[who].values():
            about: dict[str, Value] = {} if offer.choice is None else dict(offer.choice.about)
            n, where = about.get("n"), about.get("where")
            if isinstance(n, int):
                return n, where if isinstance(where, Noun) else None
    return None


def is_narrower(option: Option, among: Iterable[Option]) -> bool:
    """Say whether another option of the same form takes more of what is drawn, so that it is shown first."""
    several = [one for one in among if one.group == option.group and len(one.picks) > 1]
    return bool(several) and option.picks != several[0].picks


def shown_in_bar(options: tuple[Option, ...]) -> bool:
    """Say whether these options fit the bar."""
    return sum(not is_narrower(option, options) for option in options) <= IN_BAR


def nested(message: Message) -> Iterator[Message]:
    """Return a message and every message within it."""
    yield message
    yield from _within(tuple(message.values.values()))


def _within(values: Any) -> Iterator[Message]:
    for value in values:
        if isinstance(value, Message):
            yield from nested(value)
        elif isinstance(value, tuple):
            yield from _within(value)
