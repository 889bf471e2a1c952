"""Who looks, at which page, in which language: one kind of eyes, for which a view is rendered once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rules.messages import TABLE, Seat

Role = Literal["table", "seat", "watch"]
Page = Literal["table", "count"]


@dataclass(frozen=True, slots=True)
class Sight:
    """One kind of eyes. Two devices with the same sight are shown the same."""

    page: Page
    role: Role
    language: str
    seat: Seat | None = None
    game: str | None = None

    @property
    def eyes(self) -> Seat | None:
        """Return whose knowledge is shown: a seat's, or None for what all may know."""
        return self.seat if self.role == "seat" else None

    def acts_for(self, who: Seat) -> bool:
        """Say whether this device may act for a seat or for TABLE."""
        return self.role == "table" or (self.role == "seat" and who in (TABLE, self.seat))
