"""A bank of named buttons: edges in, presses, releases and holds out. Pure; what a name means is for others to say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from devices.debounce import Debounce, Event, Hold, Press, Release

Kind = Literal["press", "hold", "release"]


@dataclass(frozen=True, slots=True)
class ButtonEvent:
    """What a button did and when (monotonic ms). A release says how long it was pressed and whether a hold came first.

    Whoever reads late sees by `at_ms` what the finger saw: an old press may be about something that has passed.
    """

    name: str
    kind: Kind
    at_ms: int
    held_ms: int = 0
    was_hold: bool = False


@dataclass(frozen=True, slots=True)
class ButtonCount:
    """For the wizard: whether a button is pressed now, its presses, and the spikes that were none."""

    is_pressed: bool
    presses: int
    noise: int


class Bank:
    """Some buttons by name. Those not added are unknown: their edges are of the time before and pass unseen."""

    def __init__(self, settle_ms: int, hold_ms: int) -> None:
        self._settle_us, self._hold_us = settle_ms * 1000, hold_ms * 1000
        self._contacts: dict[str, Debounce] = {}
        self._presses: dict[str, int] = {}
        self._noise_before: dict[str, int] = {}

    def add(self, name: str, is_closed: bool, now_us: int) -> None:
        """Begin with a button as it is now: one that is pressed says nothing until it was released."""
        self._contacts[name] = Debounce(is_closed, now_us, settle_us=self._settle_us, hold_us=self._hold_us)
        self._presses.setdefault(name, 0)

    def clear(self) -> None:
        """Forget how the buttons are, not how often they were pressed."""
        self._noise_before = {name: count.noise for name, count in self.counts().items()}
        self._contacts.clear()

    @property
    def due_us(self) -> int | None:
        """When to `check` next for something to happen without an edge."""
        return min((due for contact in self._contacts.values() if (due := contact.due_us) is not None), default=None)

    def edge(self, name: str, is_closed: bool, at_us: int) -> list[ButtonEvent]:
        """Take an edge of a button and return what happened until it."""
        contact = self._contacts.get(name)
        return self._told(name, contact.edge(is_closed, at_us)) if contact is not None else []

    def check(self, name: str, is_closed: bool, now_us: int) -> list[ButtonEvent]:
        """Take what a button's pin says now, after its edges."""
        return self._told(name, self._contacts[name].check(is_closed, now_us))

    def counts(self) -> Mapping[str, ButtonCount]:
        """Return the counters of all buttons there have been."""
        return {name: self._count(name) for name in tuple(self._presses)}

    def _count(self, name: str) -> ButtonCount:
        contact, before = self._contacts.get(name), self._noise_before.get(name, 0)
        if contact is None:
            return ButtonCount(False, self._presses[name], before)
        return ButtonCount(contact.is_pressed, self._presses[name], before + contact.noise)

    def _told(self, name: str, events: list[Event]) -> list[ButtonEvent]:
        self._presses[name] += sum(isinstance(event, Press) for event in events)
        return [_named(name, event) for event in events]


def _named(name: str, event: Event) -> ButtonEvent:
    at_ms = event.at_us // 1000
    match event:
        case Press():
            return ButtonEvent(name, "press", at_ms)
        case Hold():
            return ButtonEvent(name, "hold", at_ms)
        case Release():
            return ButtonEvent(name, "release", at_ms, event.held_us // 1000, event.was_hold)
