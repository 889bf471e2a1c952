"""A header without a Pi: gpiozero's mock pins, driven from another thread as real contacts drive them.

with FakeHeader() as header, open_panel(Wiring(buttons={"anna": 17}), header.factory) as panel:
    header.play(17, TRACES["worn microswitch"])
    panel.next_event()
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from gpiozero.pins.mock import MockFactory, MockPin

from devices.closing import Closing
from devices.gpio import monotonic_us

Trace = tuple[int, ...]
"""The times, in microseconds, at which a contact turns: closed at the first, open at the second, and so on."""

TRACES: Mapping[str, Trace] = {
    "clean": (0, 140_000),
    # One side wipes for a millisecond, as tactile switches do.
    "tactile switch": (0, 38, 61, 190, 402, 455, 1_020, 126_500),
    # The lever strikes and rebounds, ever more shortly, and rattles when it lets go.
    "microswitch": (
        *(0, 610, 1_340, 1_720, 2_180, 2_390, 2_760, 2_850, 3_110, 184_000),
        *(184_160, 184_420, 184_950, 185_300, 186_700, 187_050),
    ),
    # Dirty contacts on both edges, with rests that are long and still no end.
    "worn microswitch": (
        *(0, 1_900, 4_400, 9_100, 10_200, 10_250, 15_800, 17_000, 22_600, 24_900, 29_400, 231_000),
        *(231_700, 234_100, 241_000, 243_800, 252_200, 252_600, 259_900, 260_800),
    ),
    "spike": (0, 2_000),
    # gpiozero 1039: the short press swallows the one behind it.
    "short press, then a normal one": (0, 12_000, 72_000, 210_000),
    # gpiozero 697: let go while the contact still bounces.
    "let go while it bounces": (0, 3_000, 5_000, 14_000),
}
"""Presses as a logic analyser writes them down, shaped after published pictures of switches; made, not measured."""


class _FakePin(MockPin):  # type: ignore[misc]
    """A pin that reads as its contact is at this moment, though the edges come late, as the kernel's do."""

    def __init__(self, factory: Any, info: Any) -> None:
        super().__init__(factory, info)
        if self._number in factory.header.busy:
            raise RuntimeError("'GPIO busy'")  # in lgpio's words

    def _get_state(self) -> Any:
        self.factory.header.fail_if_lost()
        return self._state if self._function == "output" else not self.factory.header.is_closed(self._number)

    def _change_state(self, value: Any) -> bool:
        self.factory.header.fail_if_lost()
        return bool(super()._change_state(value))

    def turn(self, is_high: bool, at_us: int) -> None:
        """Tell whoever listens of an edge and of the time it had."""
        self._state = is_high
        if self._when_changed is not None:
            super(MockPin, self)._call_when_changed(at_us / 1_000_000, is_high)


class _FakeFactory(MockFactory):  # type: ignore[misc]
    def __init__(self, header: FakeHeader) -> None:
        super().__init__(pin_class=_FakePin)
        self.header = header


class FakeHeader(Closing):
    """A header whose buttons are pressed by `press` and `play`. Pins in `busy` belong to some other program."""

    def __init__(self) -> None:
        self.busy: set[int] = set()
        self._lost = ""
        self._factory: _FakeFactory | None = None
        self._edges: dict[int, list[tuple[int, bool]]] = {}
        self._fingers: list[threading.Thread] = []
        self._closing = threading.Event()

    def factory(self) -> Any:
        """Make a factory, for `open_panel`."""
        self.fail_if_lost()
        self._factory = _FakeFactory(self)
        return self._factory

    def lose(self, reason: str) -> None:
        """Let all that touches a pin, and every new factory, fail for this reason; an empty one ends it."""
        self._lost = reason

    def fail_if_lost(self) -> None:
        """Raise RuntimeError while the header is lost."""
        if self._lost:
            raise RuntimeError(self._lost)

    def press(self, gpio: int, for_s: float = 0.1) -> None:
        """Press and release a button cleanly, in another thread."""
        self.play(gpio, (0, int(for_s * 1_000_000)))

    def play(self, gpio: int, trace: Trace) -> None:
        """Turn a contact at the times of a trace, from now on, in another thread; an odd one leaves it closed."""
        begun_us = monotonic_us()
        edges = [(begun_us + at_us, turn % 2 == 0) for turn, at_us in enumerate(trace)]
        self._edges[gpio] = edges
        finger = threading.Thread(target=self._press, args=(gpio, edges), name=f"finger at GPIO{gpio}", daemon=True)
        self._fingers.append(finger)
        finger.start()

    def _press(self, gpio: int, edges: list[tuple[int, bool]]) -> None:
        for at_us, is_closed in edges:
            if self._closing.wait(max(0, at_us - monotonic_us()) / 1_000_000):
                return
            if self._factory is not None and not self._lost:
                self._factory.pin(gpio).turn(not is_closed, at_us)

    def is_closed(self, gpio: int) -> bool:
        """Tell whether the contact at a pin is closed now."""
        now_us = monotonic_us()
        return next((closed for at_us, closed in reversed(self._edges.get(gpio, [])) if at_us <= now_us), False)

    def is_lit(self, gpio: int) -> bool:
        """Tell whether there is light at a pin."""
        factory = self._factory
        return factory is not None and factory.pin(gpio)._function == "output" and bool(factory.pin(gpio)._state)

    def wait(self) -> None:
        """Wait until every trace has been played."""
        for finger in tuple(self._fingers):
            finger.join()

    def close(self) -> None:
        """Let every finger go."""
        self._closing.set()
        self.wait()
