"""How many camera answers in a row were right: after enough of them the table is offered to keep sure ones."""

from __future__ import annotations

from companion.entries import Act, Amend, Body, Undo
from companion.evidence import EvidenceStore
from companion.snapshot import Snapshot


class Streak:
    """Counts kept camera answers without a correction."""

    def __init__(self, evidence: EvidenceStore) -> None:
        self._evidence = evidence
        self._judged: tuple[str | None, int] = (None, 0)
        self.length = 0

    def follow(self, snapshot: Snapshot) -> bool:
        """Look at what is new since the last call; return whether anything was."""
        at = (snapshot.game_id, len(snapshot.entries))
        if at == self._judged:
            return False
        new = snapshot.entries[self._judged[1] if at[0] == self._judged[0] else 0 :]
        self._judged = at
        for entry in new:
            self.length = self._after(entry.body)
        return True

    def _after(self, body: Body) -> int:
        if isinstance(body, Amend | Undo):
            return 0
        if not isinstance(body, Act) or body.evidence is None:
            return self.length
        seen = self._evidence.note(body.evidence)
        return self.length + 1 if seen is not None and seen.read in body.action.values() else 0
