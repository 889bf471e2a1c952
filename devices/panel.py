"""The panel: the buttons and lamps at the header of the Pi, kept alive in the background; every one is optional.

with open_panel(Wiring(buttons={"anna": 17, "undo": 27}, lamps={"anna": 22, "photo": 23})) as panel:
    panel.set_lamp("anna", BLINK)
    event = panel.next_event(timeout_s=1.0)
    with panel.light("photo"):
        frame = camera.fresh()
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from queue import Empty, SimpleQueue

from devices.buttons import Bank, ButtonCount, ButtonEvent
from devices.closing import Closing
from devices.errors import GpioAway
from devices.gpio import Contact, Header, Lamp, Opener, monotonic_us, opener
from devices.health import Health, news
from devices.lamps import ON, Lights, Pattern
from devices.pins import PinNote, Wiring, check_wiring
from devices.presence import Presence

__all__ = ["ButtonEvent", "Panel", "Pattern", "Wiring", "open_panel"]

_CHECK_S = 0.25
_SHOWN_S = 0.5
_CLOSE_S = 1.5

Edge = tuple[str, bool, int]

log = logging.getLogger(__name__)


class Panel(Closing):
    """The wired buttons and lamps. Made by `open_panel`; close it, or use it in a `with`.

    One thread of ours claims the pins, and claims them again when they were lost. gpiozero's threads only put edges,
    with their time, into its queue; what comes out waits in another one for a single reader: `next_event`, or the
    handler given to `listen`.
    """

    def __init__(self, wiring: Wiring, open_factory: Opener, clock_us: Callable[[], int]) -> None:
        self.notes: tuple[PinNote, ...] = check_wiring(wiring)
        self._wiring, self._open_factory, self._clock_us = wiring, open_factory, clock_us
        self._bank = Bank(wiring.settle_ms, wiring.hold_ms)
        self._lights = Lights()
        self._edges = SimpleQueue[Edge | None]()
        self._events = SimpleQueue[ButtonEvent | None]()
        self._contacts: dict[str, Contact] = {}
        self._lamps: dict[str, Lamp] = {}
        self._presence = Presence("gpio_starting", "gpio_closed", now_ms=self._now_ms())
        self._health = self._presence.health()
        self._errors = 0
        self._shown = threading.Condition()
        self._asked = self._answered = 0
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="panel", daemon=True)
        self._thread.start()

    def next_event(self, timeout_s: float | None = None) -> ButtonEvent | None:
        """Return the next thing a button did; None when the time is over or the panel was closed."""
        with contextlib.suppress(Empty):
            event = self._events.get(timeout=timeout_s)
            if event is None:
                self._events.put(None)  # for the next who asks a closed panel
            return event
        return None

    def listen(self, handler: Callable[[ButtonEvent], object]) -> None:
        """Have each event handled, one after the other, in a thread of its own, until the panel is closed.

        A slow handler delays the others' handling, not their times; what one raises is logged and counted.
        """
        threading.Thread(target=self._handle, args=(handler,), name="panel's reader", daemon=True).start()

    def set_lamp(self, name: str, pattern: Pattern) -> None:
        """Show a pattern, now or as soon as the lamp is there; a name without a lamp is passed over."""
        if name in self._wiring.lamps:
            self._lights.set(name, pattern, self._now_ms())
            self._edges.put(None)

    @contextlib.contextmanager
    def light(self, name: str) -> Iterator[None]:
        """Keep a lamp lit for a photo, from the beginning of the block to its end, then show what it showed before."""
        before = self._lights.pattern(name)
        self.set_lamp(name, ON)
        self._wait_shown()
        try:
            yield
        finally:
            self.set_lamp(name, before)

    def _wait_shown(self) -> None:
        """Wait until the lamps are as wanted now, or half a second where there are none."""
        with self._shown:
            self._asked += 1
            asked = self._asked
            self._edges.put(None)
            self._shown.wait_for(lambda: self._answered >= asked, _SHOWN_S if self._lamps else 0)

    def counts(self) -> Mapping[str, ButtonCount]:
        """Return for each button whether it is pressed, its presses and its noise."""
        return self._bank.counts()

    def health(self) -> Health:
        """Return how the panel is; `values` name what is missing and count `handler_errors`."""
        health = self._health
        return replace(health, values={**health.values, "handler_errors": self._errors})

    def retry(self) -> None:
        """Try again at once, for somebody who has just plugged something in."""
        self._presence.hurry(self._now_ms())
        self._edges.put(None)

    def close(self) -> None:
        """Put out every lamp and give the pins back; returns within 2 s."""
        self._stop.set()
        self._edges.put(None)
        self._thread.join(_CLOSE_S)
        self._events.put(None)

    def __repr__(self) -> str:
        return f"<Panel {self._health.state}, {len(self._contacts)} buttons, {len(self._lamps)} lamps>"

    def _handle(self, handler: Callable[[ButtonEvent], object]) -> None:
        while (event := self.next_event()) is not None:
            try:
                handler(event)
            except Exception:
                log.exception("the handler of button %s failed and the next one is taken", event.name)
                self._errors += 1

    def _now_ms(self) -> int:
        return self._clock_us() // 1000

    # What follows runs in the panel's own thread.

    def _run(self) -> None:
        while not self._stop.is_set():
            if self._presence.is_due(self._now_ms()):
                self._try()
            else:
                self._listen(_CHECK_S)
            self._publish()
        self._presence.close(self._now_ms())
        self._publish()

    def _try(self) -> None:
        """Open the header and serve it until it is lost or the panel is closed."""
        try:
            header = Header(self._open_factory)
            try:
                self._serve(header)
            finally:
                self._contacts.clear()
                self._lamps.clear()
                self._bank.clear()
                header.close()
        except GpioAway as error:
            self._presence.away(error.code, error.values, self._now_ms())

    def _serve(self, header: Header) -> None:
        while not self._stop.is_set():
            if self._presence.is_due(self._now_ms()):
                self._claim(header)
                self._publish()
            self._listen(self._wait_s())
            self._look()

    def _claim(self, header: Header) -> None:
        """Claim what is not claimed yet; the panel is up with some pins, and away with none, for the first's reason."""
        lost = _Lost()
        for name, gpio in self._wiring.buttons.items():
            if name not in self._contacts:
                with lost.button(name):
                    contact = header.contact(gpio, self._teller(name))
                    self._bank.add(name, contact.is_closed(), self._clock_us())
                    self._contacts[name] = contact
        for name, gpio in self._wiring.lamps.items():
            if name not in self._lamps:
                with lost.lamp(name):
                    self._lamps[name] = header.lamp(gpio)
        self._judge(lost)

    def _judge(self, lost: _Lost) -> None:
        now_ms = self._now_ms()
        if lost.reason is None:
            self._presence.up("gpio_up", {}, now_ms)
        elif self._contacts or self._lamps:
            values = {"buttons": tuple(lost.buttons), "lamps": tuple(lost.lamps), **lost.reason.values}
            self._presence.up("gpio_partly", values, now_ms, is_whole=False)
        else:
            raise lost.reason

    def _teller(self, name: str) -> Callable[[bool, int], None]:
        return lambda is_closed, at_us: self._edges.put((name, is_closed, at_us))

    def _wait_s(self) -> float:
        """Return how long nothing will happen by itself."""
        now_us = self._clock_us()
        due_us, change_ms = self._bank.due_us, self._lights.change_ms(now_us // 1000)
        waits = [_CHECK_S]
        waits += [(due_us - now_us) / 1e6] if due_us is not None else []
        waits += [change_ms / 1000] if change_ms is not None else []
        return max(0.0, min(waits))

    def _listen(self, timeout_s: float) -> None:
        """Take the edges that are there, or wait for one."""
        with contextlib.suppress(Empty):
            self._take(self._edges.get(timeout=timeout_s))
            while True:
                self._take(self._edges.get_nowait())

    def _take(self, edge: Edge | None) -> None:
        if edge is not None:
            self._tell(self._bank.edge(*edge))

    def _look(self) -> None:
        """Hold what is known against the pins, after all edges, and show the lamps."""
        asked = self._asked
        for name, contact in self._contacts.items():
            self._tell(self._bank.check(name, contact.is_closed(), self._clock_us()))
        for name, lamp in self._lamps.items():
            lamp.show(self._lights.is_lit(name, self._now_ms()))
        with self._shown:
            self._answered = asked
            self._shown.notify_all()

    def _tell(self, events: list[ButtonEvent]) -> None:
        for event in events:
            self._events.put(event)

    def _publish(self) -> None:
        """Make the health of the moment visible, and log when the panel goes and when it returns."""
        before, after = self._health, self._presence.health()
        self._health = after
        if (line := news("panel", before, after)) is not None:
            log.warning(line)


class _Lost:
    """The pins that could not be claimed, and the first one's reason; the others may be well."""

    def __init__(self) -> None:
        self.buttons: list[str] = []
        self.lamps: list[str] = []
        self.reason: GpioAway | None = None

    def button(self, name: str) -> contextlib.AbstractContextManager[None]:
        """Claim a button within this."""
        return self._keep(self.buttons, name)

    def lamp(self, name: str) -> contextlib.AbstractContextManager[None]:
        """Claim a lamp within this."""
        return self._keep(self.lamps, name)

    @contextlib.contextmanager
    def _keep(self, names: list[str], name: str) -> Iterator[None]:
        try:
            yield
        except GpioAway as error:
            names.append(name)
            self.reason = self.reason or error


def open_panel(wiring: Wiring, gpio: str | Opener = "lgpio", *, clock_us: Callable[[], int] = monotonic_us) -> Panel:
    """Open the buttons and lamps of a wiring, without waiting for them.

    `gpio` names the pin factory (`lgpio`, `mock`) or makes one. Raises WiringRefused where the wiring makes no sense,
    GpioAway where there is no factory of this name. `clock_us` must be the monotonic clock or follow it.
    """
    return Panel(wiring, opener(gpio) if isinstance(gpio, str) else gpio, clock_us)
