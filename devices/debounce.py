"""Debouncing of one contact: pure, driven by edges and by the times that are passed in.

A contact counts as closed, or as open, once it has rested so for `settle_us`. So one press gives one `Press`, however
its contacts bounce; a spike gives nothing and is counted as noise; and a press after a spike is a press. Bounce would
have to rest twice for a whole `settle_us` to look like a second press: 20 ms are safe for contacts that bounce for
less than 40.

Edges can be lost (the kernel keeps sixteen of a busy line), so the pin is looked at as well: `check` withholds what a
pin contradicts, and believes the pin where no edge explains it within `settle_us`.
"""

from __future__ import annotations

from dataclasses import dataclass

SETTLE_US = 20_000
HOLD_US = 1_000_000


@dataclass(frozen=True, slots=True)
class Press:
    """The contact closed at this time and stayed so."""

    at_us: int


@dataclass(frozen=True, slots=True)
class Hold:
    """The contact has been closed for the time that makes a hold; comes once a press, while it is still closed."""

    at_us: int


@dataclass(frozen=True, slots=True)
class Release:
    """The contact opened at this time and stayed so, `held_us` after it closed; `was_hold`: a hold came before."""

    at_us: int
    held_us: int
    was_hold: bool


Event = Press | Hold | Release


class Debounce:
    """One contact's life in events. Times are monotonic microseconds; edges come in their order, maybe late.

    A contact that is closed at the start is neither pressed nor held until it was opened.
    """

    def __init__(self, is_closed: bool, now_us: int, *, settle_us: int = SETTLE_US, hold_us: int = HOLD_US) -> None:
        if not 0 < settle_us < hold_us:
            raise ValueError(f"a contact settles in {settle_us} us and is held after {hold_us} us")
        self._settle_us, self._hold_us = settle_us, hold_us
        self._is_closed = self._is_pressed = is_closed  # what the contact does; what was told of it
        self._rests_from_us = self._pressed_us = now_us
        self._is_settled, self._was_hold = True, is_closed
        self._doubted_us: int | None = None
        self.noise = 0

    @property
    def is_pressed(self) -> bool:
        """Whether the contact counts as closed."""
        return self._is_pressed

    @property
    def due_us(self) -> int | None:
        """When to `check` next for something to happen without an edge; None where nothing will."""
        if self._doubted_us is not None:
            return self._doubted_us + self._settle_us
        if not self._is_settled:
            return self._rests_from_us + self._settle_us
        return self._pressed_us + self._hold_us if self._is_pressed and not self._was_hold else None

    def edge(self, is_closed: bool, at_us: int) -> list[Event]:
        """Take an edge and return what happened until it."""
        self._doubted_us = None
        at_us = max(at_us, self._rests_from_us)
        events = self._until(at_us)
        # An edge to where the contact is already says that the one between was lost: the rest begins again.
        self._is_closed, self._rests_from_us, self._is_settled = is_closed, at_us, False
        return events

    def check(self, is_closed: bool, now_us: int) -> list[Event]:
        """Take what the pin says now, after all edges known, and return what happened until now."""
        if is_closed != self._is_closed and not self._is_lost(now_us):
            return []
        self._doubted_us = None
        return self._until(now_us)

    def _is_lost(self, now_us: int) -> bool:
        """Tell whether the edge that the pin speaks of was lost and not only late; if so, take it as seen."""
        if self._doubted_us is None:
            self._doubted_us = now_us
        if now_us - self._doubted_us < self._settle_us:
            return False
        self._is_closed, self._rests_from_us, self._is_settled = not self._is_closed, self._doubted_us, False
        return True

    def _until(self, now_us: int) -> list[Event]:
        events = []
        while (due_us := self.due_us) is not None and due_us <= now_us:
            event = self._hold(due_us) if self._is_settled else self._settle()
            events += [event] if event is not None else []
        return events

    def _hold(self, at_us: int) -> Event:
        self._was_hold = True
        return Hold(at_us)

    def _settle(self) -> Event | None:
        self._is_settled = True
        if self._is_closed == self._is_pressed:
            self.noise += 1
            return None
        self._is_pressed = self._is_closed
        if not self._is_closed:
            return Release(self._rests_from_us, self._rests_from_us - self._pressed_us, self._was_hold)
        self._pressed_us, self._was_hold = self._rests_from_us, False
        return Press(self._rests_from_us)
