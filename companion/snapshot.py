"""What the table is at one moment: immutable, so that any thread may read it while the next one is made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from companion.entries import Entry, Header
from companion.fold import Step
from companion.proposal import Device, Proposal
from rules.core import Game, Message, Result, Seat, Turn, moves


@dataclass(frozen=True, slots=True)
class UndoOffer:
    """What undo would take back now: the gesture, its steps, and the seats for which that is free.

    For anyone else, and for everyone where `free_for` and `by` are empty, the table is asked first.
    """

    gesture: int
    steps: tuple[Step, ...]
    free_for: frozenset[Seat] = frozenset()
    by: str | None = None

    def is_free(self, by: str, seat: Seat | None) -> bool:
        """Whether this one may take it back without asking the table."""
        return by == self.by or seat in self.free_for


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The whole table at one moment; `number` rises with every change. Without a game the table is idle.

    `steps` and `open` are those of the fold, `entries` the journal's, `corrected` the states around the newest
    correction (or, with money in the box, around the newest gesture). Nothing of this leaves but through `view.seen`.
    """

    number: int
    game_id: str | None = None
    game: Game[Any] | None = None
    header: Header | None = None
    state: Any = None
    turn: Turn | None = None
    result: Result | None = None
    steps: tuple[Step, ...] = ()
    open: tuple[Step, ...] = ()
    entries: tuple[Entry, ...] = ()
    corrected: tuple[Any, Any] | None = None
    undo: UndoOffer | None = None
    proposal: Proposal | None = None
    count_reading: Proposal | None = None
    devices: tuple[Device, ...] = ()
    notices: tuple[Message, ...] = ()

    def moves_for(self, eyes: Seat | None) -> tuple[Message, ...]:
        """Return what to move on the table after the newest correction, as these eyes may know it."""
        if self.game is None or self.corrected is None:
            return ()
        before, after = (self.game.facts(self.game.see(state, eyes)) for state in self.corrected)
        return tuple(moves(before, after))
