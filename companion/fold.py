"""The fold: a game's state is what its journal's entries make of its first state, and nothing else.

`fold` reads a whole journal, `advance` goes on from a fold by one entry; both give the same. Nothing vanishes: a step
that was taken back, dropped or amended stays in `steps` with what became of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Literal, TypeAlias

from companion import codec
from companion.entries import Act, Amend, Decide, Entry, GoneOn, Header, Undo, overlaid
from companion.errors import NoGame
from rules.core import TABLE, Action, Game, Message, Refusal, Refused, Seat, Setup, Value, Who

Status: TypeAlias = Literal["kept", "amended", "undone", "dropped", "open"]
Lay: TypeAlias = "Callable[[Game[Any], Step, Any], Step]"
STANDING = ("kept", "amended")
"""What became of the steps that made the state."""
ABOUT_ANOTHER = "about_another"
"""Why a step is left to decide that is offered still, but to or about another player than before."""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One action of the journal: entry `n`, what became of it, and the states around it.

    `before` and `after` are the states around it; of a step that does not stand, those around it when it last did.
    `why_not` says why an open step is no longer offered, where that is known; `was` is whom and what an amend took the
    place of.
    """

    n: int
    gesture: int
    who: Seat
    action: Action[Any]
    before: Any
    after: Any
    by: str
    at_wall: str = ""
    evidence: str | None = None
    status: Status = "kept"
    why_not: Refusal | None = None
    was: tuple[Seat, Action[Any]] | None = None
    _told: dict[Seat | None, Message] = field(default_factory=dict, repr=False)

    @property
    def stands(self) -> bool:
        """Whether this step is part of the state."""
        return self.status in STANDING

    @property
    def can_be_kept(self) -> bool:
        """Whether an open step may be kept as it is, as far as is known."""
        return self.why_not is None or self.why_not.code == ABOUT_ANOTHER

    def told(self, game: Game[Any], eyes: Seat | None) -> Message:
        """Say in one sentence what was done, as these eyes may know it."""
        if eyes not in self._told:
            self._told[eyes] = self._tell(game, self.who, self.action, eyes)
        return self._told[eyes]

    def was_told(self, game: Game[Any], eyes: Seat | None) -> Message | None:
        """Say in one sentence what stood here before it was amended, or None."""
        return None if self.was is None else self._tell(game, *self.was, eyes)

    def _tell(self, game: Game[Any], who: Seat, action: Action[Any], eyes: Seat | None) -> Message:
        try:
            return action.tell(game.see(self.before, eyes), who)
        except (LookupError, ValueError, ArithmeticError):  # it never stood: a correction came before it
            return Message("could_not_be", {"who": Who(who), "do": action.do})


@dataclass(frozen=True, slots=True)
class Folded:
    """A journal's fold: the state, each step with what became of it, the steps to decide, the entries themselves.

    `header` is how the table plays now (`entries.overlaid`), `start` the first state; entries up to `settled_n` were
    made under older rules and stand as they are.
    """

    header: Header
    start: Any
    state: Any
    steps: tuple[Step, ...] = ()
    entries: tuple[Entry, ...] = ()
    settled_n: int = 0

    @property
    def open(self) -> tuple[Step, ...]:
        """The steps that a correction left to be decided, the first one first."""
        return tuple(step for step in self.steps if step.status == "open")

    def step(self, n: int) -> Step:
        """Return the step of entry `n`; raises NoGame where there is none that could be changed."""
        for step in self.steps:
            if step.n == n > self.settled_n and step.status != "undone":
                return step
        raise NoGame("no_such_step", got=n)

    @property
    def last_gesture(self) -> int | None:
        """The newest gesture that undo would take back, or None."""
        taken_back = _taken_back(self.entries)
        for entry in reversed(self.entries):
            if entry.n <= self.settled_n:
                return None
            if isinstance(entry.body, Act | Amend | Decide) and entry.gesture not in taken_back:
                return entry.gesture
        return None

    @property
    def next_n(self) -> int:
        """The number of the next entry."""
        return self.entries[-1].n + 1 if self.entries else 1

    @property
    def next_gesture(self) -> int:
        """The number of the next gesture."""
        return self.entries[-1].gesture + 1 if self.entries else 1


def begin(game: Game[Any], header: Header) -> Folded:
    """Return the fold of a game in which nothing happened yet; raises Refused for a set-up the game does not take."""
    start = game.start(Setup(len(header.seats), header.first, header.options, header.sheet))
    return Folded(header, start, start)


def fold(game: Game[Any], header: Header, entries: Iterable[Entry]) -> Folded:
    """Return what all the entries make of a game; pure, and the same every time."""
    listed = tuple(entries)
    taken_back = _taken_back(listed)
    return reduce(lambda folded, entry: _read(game, folded, entry, taken_back), listed, begin(game, header))


def advance(game: Game[Any], folded: Folded, entry: Entry) -> Folded:
    """Return the fold after one more entry; folds the whole game again only where a correction is taken back."""
    if isinstance(entry.body, Undo) and not _only_newest(folded, entry.body.gesture):
        return fold(game, folded.header, (*folded.entries, entry))
    return _read(game, folded, entry, frozenset())


def actor(game: Game[Any], state: Any, step: Step, action: Action[Any]) -> Seat:
    """Return who does an action that stands in the place of a step: TABLE what only TABLE may do, else the step's seat.

    Where the step was TABLE's, the seat that the game waits for in this state.
    """
    first = step.who if step.was is None else step.was[0]
    if action.table:
        return TABLE
    if first != TABLE:
        return first
    turn = game.turn(state)
    return min((seat for seat in turn.movers or turn.may if seat != TABLE), default=TABLE)


def _taken_back(entries: Iterable[Entry]) -> frozenset[int]:
    return frozenset(entry.body.gesture for entry in entries if isinstance(entry.body, Undo))


def _only_newest(folded: Folded, gesture: int) -> bool:
    """Whether a gesture only laid steps after all others, so that taking it back changes nothing else."""
    made = (entry.body for entry in folded.entries if entry.gesture == gesture)
    return all(isinstance(body, Act) and body.ahead == "no" for body in made)


def _read(game: Game[Any], folded: Folded, entry: Entry, taken_back: frozenset[int]) -> Folded:
    """Lay one entry on a fold; a correction that a later undo takes back has no effect from the beginning."""
    body = entry.body
    folded = replace(folded, header=overlaid(folded.header, body), entries=(*folded.entries, entry))
    match body:
        case Act() if body.ahead != "no":
            return _put_ahead(game, folded, entry, body, is_void=entry.gesture in taken_back)
        case Act():
            return _acted(game, folded, entry, body)
        case Undo(gesture):
            return _taken(folded, gesture)
        case Amend() if entry.gesture not in taken_back:
            return _amended(game, folded, body)
        case Decide() if entry.gesture not in taken_back:
            return _decided(game, folded, body)
        case GoneOn():
            return _gone_on(game, folded, body)
    return folded


def _acted(game: Game[Any], folded: Folded, entry: Entry, act: Act) -> Folded:
    step = _step(game, folded, entry, act)
    step = replace(step, status="open") if folded.open else _laid(game, step, folded.state)
    return replace(folded, steps=(*folded.steps, step), state=step.after)


def _put_ahead(game: Game[Any], folded: Folded, entry: Entry, act: Act, *, is_void: bool) -> Folded:
    """Lay a step before the first open one; after the last of its gesture the open ones are tried again."""
    step = _step(game, folded, entry, act)
    at = next((at for at, one in enumerate(folded.steps) if one.status == "open"), len(folded.steps))
    early, rest = folded.steps[:at], folded.steps[at:]
    if is_void:
        return replace(folded, steps=(*early, replace(step, status="undone"), *rest))
    step = _laid(game, step, folded.state)
    late = _again(game, rest, step.after) if step.stands and act.ahead == "last" else rest
    return _standing(folded, (*early, step, *late))


def _step(game: Game[Any], folded: Folded, entry: Entry, act: Act) -> Step:
    action, now = codec.action_from_data(game, act.action), folded.state
    return Step(entry.n, entry.gesture, act.who, action, now, now, act.by, entry.at_wall, act.evidence)


def _laid(game: Game[Any], step: Step, state: Any) -> Step:
    """Carry a step out on a state; where it is not offered it stays open, with the reason."""
    try:
        after = game.apply(state, step.who, step.action)
    except Refused as refused:
        return replace(step, status="open", why_not=refused.refusal)
    status: Status = "kept" if step.was is None else "amended"
    return replace(step, before=state, after=after, status=status, why_not=None, _told={})


def _laid_again(game: Game[Any], step: Step, state: Any) -> Step:
    """Carry a step out once more, as long as it is about the same player: else a person has to say so."""
    laid = _laid(game, step, state)
    was, now = _about(game, step, step.before), _about(game, step, state)
    if not laid.stands or was == now:
        return laid
    return replace(step, status="open", why_not=Refusal(ABOUT_ANOTHER, "a correction", {"who": was, "now": now}))


def _about(game: Game[Any], step: Step, state: Any) -> Value | None:
    """Return the player that a step's form is about in a state, as all may know it; None where it names none."""
    offered = game.offer(game.see(state, None), step.who, type(step.action))
    return None if isinstance(offered, Refusal) else offered.about.get("who")


def _taken(folded: Folded, gesture: int) -> Folded:
    """Take back the steps of a gesture, which are the newest that stand."""
    return _standing(folded, [replace(s, status="undone") if s.gesture == gesture else s for s in folded.steps])


def _amended(game: Game[Any], folded: Folded, body: Amend) -> Folded:
    at = _index(folded, body.n)
    before = _standing(folded, folded.steps[:at]).state
    changed = _laid(game, _with_action(game, folded.steps[at], body.action, before), before)
    late = folded.steps[at + 1 :]
    late = tuple(_again(game, late, changed.after) if changed.stands else _left_open(late))
    return _standing(folded, (*folded.steps[:at], changed, *late))


def _again(game: Game[Any], steps: Iterable[Step], state: Any, lay: Lay | None = None) -> Iterator[Step]:
    """Carry steps out once more: those still offered stand; from the first that is not, all are left to be decided."""
    listed = iter(steps)
    for step in listed:
        if step.status in ("undone", "dropped"):
            yield step
            continue
        laid = (lay or _laid_again)(game, step, state)
        yield laid
        if not laid.stands:
            break
        state = laid.after
    yield from _left_open(listed)


def _left_open(steps: Iterable[Step]) -> Iterator[Step]:
    for step in steps:
        yield step if step.status in ("undone", "dropped") else replace(step, status="open", why_not=None)


def _decided(game: Game[Any], folded: Folded, body: Decide) -> Folded:
    at, state = _index(folded, body.n), folded.state
    step = folded.steps[at] if body.action is None else _with_action(game, folded.steps[at], body.action, state)
    drops = body.how == "drop"
    decided = replace(step, status="dropped", why_not=None) if drops else _laid(game, step, state)
    after = _standing(folded, (*folded.steps[:at], decided)).state
    return _standing(folded, (*folded.steps[:at], decided, *_first_tried(game, folded.steps[at + 1 :], after)))


def _first_tried(game: Game[Any], steps: Iterable[Step], state: Any) -> Iterator[Step]:
    """Say of the first step still open why it cannot be kept, if it cannot: the table sees the reason beside it."""
    tried = False
    for step in steps:
        if step.status == "open" and not tried:
            tried = True
            yield replace(step, why_not=_laid_again(game, step, state).why_not)
        else:
            yield step


def _with_action(game: Game[Any], step: Step, data: Mapping[str, Any], state: Any) -> Step:
    action = codec.action_from_data(game, data)
    was = (step.who, step.action) if step.was is None else step.was
    return replace(step, action=action, who=actor(game, state, step, action), was=was, status="kept", _told={})


def _standing(folded: Folded, steps: Sequence[Step]) -> Folded:
    """Return the fold with these steps; its state is that after the newest one that stands."""
    newest = next((step for step in reversed(steps) if step.stands and step.n > folded.settled_n), None)
    return replace(folded, steps=tuple(steps), state=folded.start if newest is None else newest.after)


def _gone_on(game: Game[Any], folded: Folded, body: GoneOn) -> Folded:
    """Go on from a stored state: earlier steps stand as history, later ones are carried out on it once more.

    What those were about in the fold before says nothing: that fold went astray earlier.
    """
    state = codec.state_from_data(game, body.state)
    early = tuple(_settled(step) for step in folded.steps if step.n <= body.after)
    late = _again(game, (step for step in folded.steps if step.n > body.after), state, _laid)
    return _standing(replace(folded, start=state, settled_n=body.after), (*early, *late))


def _settled(step: Step) -> Step:
    """What stood under older rules stands, whatever the rules of today say of it."""
    return replace(step, status="kept", why_not=None) if step.status == "open" else step


def _index(folded: Folded, n: int) -> int:
    for at, step in enumerate(folded.steps):
        if step.n == n:
            return at
    raise NoGame("no_such_step", got=n)
