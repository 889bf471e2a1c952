"""What one pair of eyes may know of the table. Everything that leaves the companion is made here, from seen states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from companion import codec
from companion.entries import Amend, Decide, DepthChange, Entry, GoneOn, MoneyChange, SeatChange, Undo
from companion.fold import ABOUT_ANOTHER, Status, Step
from companion.snapshot import Snapshot
from rules.core import (
    TABLE,
    Action,
    Choice,
    Game,
    Message,
    Noun,
    Refusal,
    Result,
    Seat,
    Turn,
    Value,
    Who,
)

Offers: TypeAlias = "Mapping[Seat, Mapping[str, Offer]]"
"""By actor and `do`."""


SHARED = ("tablet", "companion")
"""Devices that stand in an entry where nobody's name is known."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One kind of action for one actor: its form with the fingerprint a post must carry, or why there is none.

    `forced` is the one action the form can make, where nothing is left to fill in.
    """

    who: Seat
    do: str
    choice: Choice | None = None
    refusal: Refusal | None = None
    fingerprint: str | None = None
    forced: Action[Any] | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the log: entry `n`, what was said, what became of it; `step` lines can be amended."""

    n: int
    gesture: int
    message: Message
    at_wall: str
    status: Status | Literal["note"] = "note"
    who: Seat = TABLE
    was: Message | None = None
    evidence: str | None = None


@dataclass(frozen=True, slots=True)
class OpenStep:
    """A step that a correction left to be decided, and why it cannot be kept, where it cannot.

    With a reason `can_be_kept` all the same where it would be about another player than before: a person has to say so.
    """

    n: int
    who: Seat
    action: Action[Any]
    message: Message
    why_not: Refusal | None
    can_be_kept: bool = True


@dataclass(frozen=True, slots=True)
class UndoLine:
    """What undo takes back, and the seats and the client for which that is free."""

    gesture: int
    messages: tuple[Message, ...]
    free_for: frozenset[Seat]
    by: str | None


@dataclass(frozen=True, slots=True)
class Seen:
    """The table as these eyes may know it; `facts` is the game's view, `offers` holds every actor's forms.
    `scored` is how it stands if the game were scored now.

    Without a game all of it is empty.
    """

    number: int
    eyes: Seat | None
    game: Game[Any] | None = None
    state: Any = None
    turn: Turn | None = None
    facts: Mapping[str, Value] = field(default_factory=dict)
    offers: Offers = field(default_factory=dict)
    log: tuple[Line, ...] = ()
    open: tuple[OpenStep, ...] = ()
    moves: tuple[Message, ...] = ()
    result: Result | None = None
    undo: UndoLine | None = None
    scored: Result | None = None


def seen(snapshot: Snapshot, eyes: Seat | None) -> Seen:
    """Return the table as these eyes may know it: a seat's, or None for what all may know."""
    game = snapshot.game
    if game is None:
        return Seen(snapshot.number, eyes)
    state = game.see(snapshot.state, eyes)
    return Seen(
        number=snapshot.number,
        eyes=eyes,
        game=game,
        state=state,
        turn=game.turn(state),
        facts=game.view(state),
        offers=_all_offers(game, state, snapshot),
        log=_log(snapshot, game, eyes),
        open=tuple(_open(game, step, eyes) for step in snapshot.open),
        moves=snapshot.moves_for(eyes),
        result=snapshot.result,
        undo=_undo(snapshot, game, eyes),
        scored=game.scored(state),
    )


def offers_to(game: Game[Any], state: Any, who: Seat) -> dict[str, Offer]:
    """Return every kind of action for one actor in a seen state."""
    return {do: _offer(game, who, do, game.offer(state, who, kind)) for do, kind in game.actions.items()}


def _all_offers(game: Game[Any], state: Any, snapshot: Snapshot) -> Offers:
    seats = len(snapshot.header.seats) if snapshot.header else 0
    return {who: offers_to(game, state, who) for who in (TABLE, *range(seats))}


def _offer(game: Game[Any], who: Seat, do: str, offered: Choice | Refusal) -> Offer:
    if isinstance(offered, Refusal):
        return Offer(who, do, refusal=offered)
    return Offer(who, do, offered, None, codec.fingerprint(game, who, do, offered), offered.forced)


def _open(game: Game[Any], step: Step, eyes: Seat | None) -> OpenStep:
    why_not = _hidden(game, step, eyes)
    return OpenStep(step.n, step.who, step.action, step.told(game, eyes), why_not, step.can_be_kept)


def _hidden(game: Game[Any], step: Step, eyes: Seat | None) -> Refusal | None:
    """Return why a step cannot be kept, without values where these eyes do not see the whole state."""
    if step.why_not is None or step.why_not.code == ABOUT_ANOTHER or game.see(step.before, eyes) is step.before:
        return step.why_not
    return Refusal("cannot_do_this", "hidden", {"who": Who(step.who), "do": step.action.do})


def _undo(snapshot: Snapshot, game: Game[Any], eyes: Seat | None) -> UndoLine | None:
    if snapshot.undo is None:
        return None
    offer = snapshot.undo
    said = tuple(step.told(game, eyes) for step in offer.steps)
    return UndoLine(offer.gesture, said or (Message("a_correction"),), offer.free_for, offer.by)


def _log(snapshot: Snapshot, game: Game[Any], eyes: Seat | None) -> tuple[Line, ...]:
    steps = {step.n: step for step in snapshot.steps}
    lines = (_line(entry, steps, game, eyes) for entry in snapshot.entries)
    return tuple(line for line in lines if line is not None)


def _line(entry: Entry, steps: Mapping[int, Step], game: Game[Any], eyes: Seat | None) -> Line | None:
    if entry.n in steps:
        return _told(steps[entry.n], game, eyes)
    note = _note(entry, steps, game, eyes)
    return Line(entry.n, entry.gesture, note, entry.at_wall)


def _told(step: Step, game: Game[Any], eyes: Seat | None) -> Line:
    was = step.was_told(game, eyes)
    said = step.told(game, eyes)
    return Line(step.n, step.gesture, said, step.at_wall, step.status, step.who, was, step.evidence)


def _note(entry: Entry, steps: Mapping[int, Step], game: Game[Any], eyes: Seat | None) -> Message:
    """Say what an entry did that is no action of the game."""
    match entry.body:
        case Undo(gesture, by, why):
            what = tuple(one.told(game, eyes) for one in steps.values() if one.gesture == gesture)
            return Message(
                "log_undo", {"by": _speaker(by), "why": why or None, "what": what or (Message("a_correction"),)}
            )
        case Amend(n, _, by, why):
            return Message("log_amend", {"by": _speaker(by), "why": why or None, "what": steps[n].told(game, eyes)})
        case Decide(n, how, by):
            return Message(f"log_{how}", {"by": _speaker(by), "what": steps[n].told(game, eyes)})
        case SeatChange(seat, how, _, player, name):
            who: dict[str, Value] = {"who": Who(seat), "player": player and Noun(f"player_{player}"), "name": name}
            return Message(f"log_seat_{how}", who)
        case DepthChange(depth):
            return Message("log_depth", {"depth": Noun(f"depth_{depth}")})
        case MoneyChange(where):
            return Message("log_money", {"at": Noun(f"money_{where}")})
        case GoneOn(_, _, rules):
            return Message("log_gone_on", {"rules": rules})
    raise TypeError(f"an entry without a line in the log: {entry.body.kind}")


def _speaker(by: str) -> Noun | str:
    """Return who sent an entry: a player's name, or the device that everybody shares."""
    return Noun(by) if by in SHARED else by
