"""Gestures on the fold: what a post, an undo, an amend or a decision makes of a game, checked before anything is kept.

Each function returns the fold with the gesture's entries, or raises; nothing is written here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from companion import codec, offers
from companion.entries import Act, Ahead, Amend, Body, Decide, Entry, Undo
from companion.errors import NoGame, NotAllowed, Stale, Undecided, Unreadable
from companion.fold import Folded, Step, actor, advance
from companion.playing import Playing
from companion.snapshot import UndoOffer
from rules.core import Action, Game, Refused, Seat

Filled: TypeAlias = Action[Any] | Mapping[str, Any]
"""An action, or its data as it was posted."""
How: TypeAlias = Literal["keep", "change", "drop"]


@dataclass(frozen=True, slots=True)
class Post:
    """One filled form: who acts, the action (or its data), the fingerprint it was offered with, its evidence."""

    who: Seat
    action: Filled
    fingerprint: str | None = None
    evidence: str | None = None


@dataclass(frozen=True, slots=True)
class Gesture:
    """Who makes a gesture, when by the wall clock, and what these eyes may know."""

    by: str
    at_wall: str
    eyes: Seat | None = None


def acted(playing: Playing, posts: Sequence[Post], made: Gesture) -> Folded:
    """Carry out posts one after the other; raises Stale, Refused, Unreadable.

    While steps are open, they are laid before the first of these: what a correction brought up is done first.
    """
    if not posts:
        raise Unreadable("nothing_posted")
    game, folded = playing.game, playing.folded
    for left, post in enumerate(posts, 1 - len(posts)):
        action = _read(game, post.action)
        offers.check(game, folded.state, post.who, action, eyes=made.eyes, mark=post.fingerprint)
        ahead: Ahead = "no" if not playing.folded.open else "last" if left == 0 else "more"
        act = Act(post.who, codec.action_to_data(action), made.by, post.fingerprint, post.evidence, ahead)
        folded = laid(playing, [act], made, folded)
    return folded


def undone(
    playing: Playing, offer: UndoOffer | None, made: Gesture, *, why: str, seat: Seat | None, asked: bool
) -> Folded:
    """Take back the newest gesture; raises NotAllowed where the table has to be asked first."""
    if offer is None:
        raise NoGame("nothing_to_undo")
    if not asked and not offer.is_free(made.by, seat):
        what = tuple(step.told(playing.game, made.eyes) for step in offer.steps)
        raise NotAllowed("ask_the_table", what=what)
    return laid(playing, [Undo(offer.gesture, made.by, why, asked)], made)


def amended(playing: Playing, n: int, action: Filled, made: Gesture, *, why: str) -> Folded:
    """Put another action in the place of entry `n`; raises Refused where it was not offered then."""
    _nothing_open(playing.folded)
    step = playing.folded.step(n)
    if not step.stands:
        raise NoGame("no_such_step", got=n)
    new = _read(playing.game, action)
    who = actor(playing.game, step.before, step, new)
    offers.check(playing.game, step.before, who, new, eyes=made.eyes, mark=None)
    return laid(playing, [Amend(n, codec.action_to_data(new), made.by, why)], made)


def decided(playing: Playing, n: int, how: How, action: Filled | None, made: Gesture) -> Folded:
    """Say what becomes of the first open step; raises Refused where what would stand is not offered."""
    step, state = _first_open(playing.folded, n), playing.folded.state
    new = None if action is None else _read(playing.game, action)
    _check_how(how, new)
    if how != "drop":
        who, stands = (step.who, step.action) if new is None else (actor(playing.game, state, step, new), new)
        offers.check(playing.game, state, who, stands, eyes=made.eyes, mark=None)
    return laid(playing, [Decide(n, how, made.by, None if new is None else codec.action_to_data(new))], made)


def kept_rest(playing: Playing, made: Gesture) -> Folded:
    """Keep the open steps up to the first that is no longer offered as it was; raises Refused if that is the first."""
    folded = playing.folded
    _something_open(folded)
    while folded.open and (folded is playing.folded or folded.open[0].why_not is None):
        first = folded.open[0]
        offers.check(playing.game, folded.state, first.who, first.action, eyes=made.eyes, mark=None)
        if first.why_not is not None:
            raise Refused(first.why_not)
        folded = laid(playing, [Decide(first.n, "keep", made.by)], made, folded)
    return folded


def dropped_rest(playing: Playing, made: Gesture) -> Folded:
    """Drop every open step."""
    _something_open(playing.folded)
    return laid(playing, [Decide(step.n, "drop", made.by) for step in playing.folded.open], made)


def laid(playing: Playing, bodies: Iterable[Body], made: Gesture, onto: Folded | None = None) -> Folded:
    """Lay entries of one gesture on the fold of the table, or on what this gesture made of it already."""
    folded = playing.folded if onto is None else onto
    for body in bodies:
        entry = Entry(folded.next_n, playing.folded.next_gesture, body, made.at_wall)
        folded = advance(playing.game, folded, entry)
    return folded


def _read(game: Game[Any], action: Filled) -> Action[Any]:
    if isinstance(action, Action):
        return action
    if not isinstance(action, Mapping):  # a page or a program may have sent anything
        raise Unreadable("not_an_object", got=codec.shown(action))
    return codec.action_from_data(game, action)


def _nothing_open(folded: Folded) -> None:
    if folded.open:
        raise Undecided("decide_first", n=len(folded.open))


def _something_open(folded: Folded) -> None:
    if not folded.open:
        raise NoGame("nothing_open")


def _first_open(folded: Folded, n: int) -> Step:
    _something_open(folded)
    if folded.open[0].n != n:
        raise Stale("another_step_first", got=n, first=folded.open[0].n)
    return folded.open[0]


def _check_how(how: str, new: Action[Any] | None) -> None:
    if how not in ("keep", "change", "drop"):
        raise Unreadable("wrong_value", field="how", got=codec.shown(how), wants=("keep", "change", "drop"))
    if (how == "change") != (new is not None):
        raise Unreadable("missing_field" if new is None else "unknown_field", field="action", known=("how",))
