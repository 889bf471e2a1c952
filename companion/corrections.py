"""Learning from taps: of each count that a person said or confirmed, the crop it rests on and the right answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from companion.asking import Question
from companion.evidence import EvidenceStore, Note, PictureStore
from companion.fold import Step
from companion.settings import Settings
from companion.snapshot import Snapshot
from rules.core import Choice, Game

COMPANION = "companion"
"""Who carries out by itself what nobody tapped."""


@dataclass(frozen=True, slots=True)
class Correction:
    """What was seen in a crop, and the `right` answer that a person gave: it may be what was read."""

    seen: Note
    right: int


class CorrectionStore(PictureStore[Correction]):
    """The crops whose right answer is known."""

    def __init__(self, data: Path, own: Settings) -> None:
        super().__init__(
            data / "corrections",
            Correction,
            most=own.corrections_most,
            most_mb=own.corrections_most_mb,
            most_days=own.corrections_most_days,
        )

    def of(self, sense: str, calibration: str) -> list[tuple[bytes, Correction]]:
        """Return the crops of one sense that were read with one calibration, the newest first."""
        its = [
            (name, one) for name, one in self.notes() if (one.seen.sense, one.seen.calibration) == (sense, calibration)
        ]
        return [(jpeg, one) for name, one in its if (jpeg := self.get(name)) is not None]


_Known: TypeAlias = tuple[str, Any]


class Learner:
    """Follows the game on the table: what is kept, amended or taken back tells which reading was right.

    What was there when a game was first seen is known already; nothing is kept while `may_keep` says no. A count that
    the companion carried out by itself confirms nothing, for nobody may have looked.
    """

    def __init__(self, evidence: EvidenceStore, kept: CorrectionStore, may_keep: Callable[[], bool]) -> None:
        self._evidence, self._kept, self._may_keep = evidence, kept, may_keep
        self._seen: tuple[str | None, int] = (None, 0)
        self._known: dict[str, _Known] = {}

    def follow(self, snapshot: Snapshot) -> None:
        """Look at what is new since the last call."""
        seen = (snapshot.game_id, len(snapshot.entries))
        if seen == self._seen or snapshot.game is None:
            return
        if seen[0] != self._seen[0]:
            self._known = {step.evidence: _what(step) for step in snapshot.steps if step.evidence}
        self._seen = seen
        for step in snapshot.steps:
            if step.evidence and self._known.get(step.evidence) != _what(step):
                self._known[step.evidence] = _what(step)
                self._learn(step.evidence, snapshot.game, step)

    def _learn(self, crop: str, game: Game[Any], step: Step) -> None:
        right, seen = _answer(game, step), self._note(crop)
        if seen is None or right is None or (step.by == COMPANION and right == seen.read):
            self._kept.drop(crop)
            return
        jpeg = self._kept.get(crop) or self._evidence.get(crop)
        if jpeg is not None and self._may_keep():
            self._kept.keep(jpeg, Correction(seen, right))

    def _note(self, crop: str) -> Note | None:
        """Return what was read in a crop, also where its evidence is gone and the correction is still there."""
        kept = self._kept.note(crop)
        return self._evidence.note(crop) if kept is None else kept.seen


def _what(step: Step) -> _Known:
    return step.status, step.action


def _answer(game: Game[Any], step: Step) -> int | None:
    """Return the count that stands for a step; None where none does, or where another deed stands in its place."""
    offered = game.offer(step.before, step.who, type(step.action)) if step.stands else None
    if not isinstance(offered, Choice) or offered.sense is None:
        return None
    found = getattr(step.action, Question(game, step.before, offered).field)
    return found if isinstance(found, int) else None
