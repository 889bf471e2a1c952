"""Wakes those who look on: a bell that rings with every new snapshot, and subscriptions that wait for it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import TracebackType

WAIT_S = 15.0
"""How long a subscription waits before it says that nothing happened: proxies drop what is silent for longer."""


class Bell:
    """Rings with the number of the newest snapshot. Safe to use from many threads."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._number = 0
        self._closed = False

    @property
    def number(self) -> int:
        """The newest number that was rung."""
        return self._number

    def ring(self, number: int) -> None:
        """Wake everyone who waits for something newer."""
        with self._changed:
            self._number = number
            self._changed.notify_all()

    def close(self) -> None:
        """End all subscriptions."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def wait(self, after: int, subscription: Subscription, timeout_s: float) -> int | None:
        """Return the newest number once it is over `after`, None when time is up or the waiting was ended."""
        with self._changed:
            over = self._changed.wait_for(lambda: self._number > after or self._is_over(subscription), timeout_s)
            return self._number if over and self._number > after else None

    def is_over(self, subscription: Subscription) -> bool:
        """Whether nothing will come any more."""
        with self._changed:
            return self._is_over(subscription)

    def end(self, subscription: Subscription) -> None:
        """Wake one subscription for the last time."""
        with self._changed:
            subscription.closed = True
            self._changed.notify_all()

    def _is_over(self, subscription: Subscription) -> bool:
        return self._closed or subscription.closed


class Subscription:
    """Yields the newest snapshot number whenever there is a newer one, and None after `wait_s` of silence.

    Numbers may be skipped: who is slow gets the newest one, and nothing piles up. Ends after `close`.
    """

    def __init__(self, bell: Bell, *, after: int, wait_s: float = WAIT_S) -> None:
        self.closed = False
        self._bell = bell
        self._after = after
        self._wait_s = wait_s

    def __iter__(self) -> Iterator[int | None]:
        while not self._bell.is_over(self):
            yield self.next()

    def next(self, timeout_s: float | None = None) -> int | None:
        """Wait for a newer number; None when there is none in time or the subscription ended."""
        number = self._bell.wait(self._after, self, self._wait_s if timeout_s is None else timeout_s)
        if number is not None:
            self._after = number
        return number

    def close(self) -> None:
        """End the waiting, from any thread."""
        self._bell.end(self)

    def __enter__(self) -> Subscription:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
