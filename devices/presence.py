"""Whether a device is there, when to try again, and when to stop trying: pure, the time is passed in."""

from __future__ import annotations

from collections.abc import Mapping

from devices.health import Health, State


class Backoff:
    """Waiting times between tries: 1, 2, 4, 8 s and 8 s for ever; from the start again after a steady while.

    The longest wait leaves two seconds for opening, so that a device is back within ten of its return.
    """

    first_ms, longest_ms, steady_ms = 1000, 8000, 5000

    def __init__(self) -> None:
        self._next_ms = self.first_ms

    def wait_ms(self, up_for_ms: int = 0) -> int:
        """Return how long to wait now, given how long the device had been up before it went."""
        wait = self.first_ms if up_for_ms >= self.steady_ms else self._next_ms
        self._next_ms = min(wait * 2, self.longest_ms)
        return wait


class CrashLoop:
    """Counts crashes without a steady while between them, and says when to give up and play on by hand."""

    most, steady_ms, rest_ms = 5, 60_000, 300_000

    def __init__(self) -> None:
        self.count = 0

    def crashed(self, up_for_ms: int) -> bool:
        """Take note of a crash; True when it is one too many."""
        self.count = 1 if up_for_ms >= self.steady_ms else self.count + 1
        return self.count >= self.most


class Presence:
    """The life of a device that is opened, lost and opened again: takes what happened, says when a try is due.

    `starting` and `closed` are the codes of its beginning and its end.
    """

    def __init__(self, starting: str, closed: str, *, now_ms: int) -> None:
        self._closed = closed
        self._backoff = Backoff()
        self._state: State = "starting"
        self._code, self._values = starting, dict[str, object]()
        self._since_ms = now_ms
        self._retry_ms: int | None = now_ms
        self._losses = 0

    def is_due(self, now_ms: int) -> bool:
        """Tell whether to try now."""
        return self._retry_ms is not None and now_ms >= self._retry_ms

    def hurry(self, now_ms: int) -> None:
        """Make the next try due now, if there is one to come."""
        if self._retry_ms is not None:
            self._retry_ms = now_ms

    def up(self, code: str, values: Mapping[str, object], now_ms: int, *, is_whole: bool = True) -> None:
        """Note that the device is there; where not all of it is, another try will be due."""
        self._retry_ms = None if is_whole else now_ms + self._backoff.wait_ms()
        self._enter("up", code, values, now_ms)

    def away(self, code: str, values: Mapping[str, object], now_ms: int) -> None:
        """Note that the device is not there or was lost, and plan the next try."""
        was_up = self._state == "up"
        self._losses += was_up
        self._retry_ms = now_ms + self._backoff.wait_ms(now_ms - self._since_ms if was_up else 0)
        self._enter("away", code, values, now_ms)

    def close(self, now_ms: int) -> None:
        """Note that the owner is done with the device."""
        self._retry_ms = None
        self._enter("closed", self._closed, {}, now_ms)

    def health(self) -> Health:
        """Return how the device is; restarts are the times it was lost."""
        return Health(self._state, self._since_ms, self._code, self._values, self._losses)

    def _enter(self, state: State, code: str, values: Mapping[str, object], now_ms: int) -> None:
        if state != self._state:
            self._state, self._since_ms = state, now_ms
        self._code, self._values = code, dict(values)
