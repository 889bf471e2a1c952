"""Scales: the newest weighing with its age, whatever hangs at the cable, and never a weight that is none.

with open_scale("/dev/ttyUSB0", "mt-sics") as scale:
    reading = scale.settled(timeout_ms=5000)
    print(reading.weighing.grams, scale.health().state)
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from types import TracebackType
from urllib.parse import parse_qsl, urlsplit

from devices.errors import ScaleAway, ScaleCannot, ScaleNotConfirmed, ScaleSilent, ScaleUnknown
from devices.health import Health, news
from devices.presence import Presence
from devices.scale_port import (
    FAULTS,
    Opener,
    Port,
    check_address,
    is_node,
    lost,
    open_port,
    without_password,
)
from devices.scales.conversation import Conversation, Heard, ScaleConfig
from devices.scales.protocol import Line, Protocol
from devices.scales.registry import PROTOCOLS
from devices.scales.search import LINES, Candidate, Search
from devices.scales.weighing import Weighing

__all__ = ["AUTO", "Candidate", "Scale", "ScaleConfig", "ScaleReading", "open_scale"]

AUTO = "auto"
SIMULATED = "sim://"

_TICK_S = 0.1
_CLOSE_S = 1.8
_BUSY_MS = 15_000
_RAW_BYTES = 256
_TOLERANCE = 0.02

log = logging.getLogger(__name__)


def monotonic_ms() -> int:
    """Return the time in ms that no setting of the wall clock moves."""
    return time.monotonic_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class ScaleReading:
    """An answer about the load, when it came (monotonic ms), its number (they rise) and the frame it came in.

    `is_settled`: the weight is at rest, by the scale's word or by staying the same, and more than one frame says so.
    """

    weighing: Weighing
    taken_ms: int
    number: int
    frame: bytes
    is_settled: bool


class Scale:
    """One scale, kept alive in the background. Made by `open_scale`; close it, or use it in a `with`."""

    def __init__(
        self,
        url: str,
        protocol: Protocol | None,
        config: ScaleConfig,
        open_port: Opener,
        clock_ms: Callable[[], int],
        ends: Callable[[], None] = lambda: None,
    ) -> None:
        self.url, self.protocol = url, protocol
        self._search: Search | None = None
        self._line_number = 0
        self._shown = without_password(url)
        self._config, self._open_port, self._clock_ms, self._ends = config, open_port, clock_ms, ends
        self._news = threading.Condition()
        self._reading: ScaleReading | None = None
        self._commands: list[bytes] = []
        self._is_wanted = False
        self._raw, self._number = b"", 0
        self._busy_since_ms: int | None = None
        self._had_node = True
        self._presence = Presence("scale_starting", "scale_closed", now_ms=clock_ms())
        self._health = self._presence.health()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"scale {self._shown}", daemon=True)
        self._thread.start()

    def latest(self) -> ScaleReading | None:
        """Return the newest answer about the load, however old: its age is the reader's to judge. None: none yet.

        A scale that went away has no newest answer until it is back.
        """
        return self._reading

    def age_ms(self, reading: ScaleReading) -> int:
        """Return how old a reading is now."""
        return self._clock_ms() - reading.taken_ms

    def next(self, after: int = 0, timeout_s: float | None = None) -> ScaleReading | None:
        """Return the newest reading with a number above `after`, waiting for it; None when the time is over."""

        def is_newer() -> bool:
            return self._stop.is_set() or (self._reading is not None and self._reading.number > after)

        with self._news:
            self._news.wait_for(is_newer, timeout_s)
            reading = self._reading
        return reading if reading is not None and reading.number > after and not self._stop.is_set() else None

    def settled(self, timeout_ms: int = 5000) -> ScaleReading:
        """Return a weight at rest that came after this call began; ScaleSilent if none does in time."""
        begun_ms, number = self._clock_ms(), 0
        while (left_ms := begun_ms + timeout_ms - self._clock_ms()) > 0 and not self._stop.is_set():
            self.ask()
            reading = self.next(number, min(left_ms, 1000) / 1000)
            if reading is None:
                continue
            number = reading.number
            if reading.is_settled and reading.taken_ms > begun_ms:
                return reading
        raise ScaleSilent(scale=self._shown, timeout_ms=timeout_ms, reason=self._health.message_code)

    def ask(self) -> None:
        """Ask the scale at once, where its protocol has a question; a shy one is asked by this alone."""
        self._is_wanted = True

    def zero(self) -> None:
        """Have the scale take the present load for nothing; ScaleCannot where its protocol has no such command."""
        self._command("zero", self.protocol.talk.zero if self.protocol else b"")

    def tare(self) -> None:
        """Have the scale take the present load for a tare; ScaleCannot where its protocol has no such command."""
        self._command("tare", self.protocol.talk.tare if self.protocol else b"")

    def _command(self, name: str, said: bytes) -> None:
        if not said:
            raise ScaleCannot(scale=self._shown, command=name, protocol=self._name)
        with self._news:
            self._commands.append(said)

    def candidates(self) -> list[Candidate]:
        """Return what a scale that nobody has named could be, the likeliest first, with reasons and readings."""
        search = self._search
        return search.candidates() if search and self.protocol is None else []

    def confirm(self, known_g: float, tolerance_g: float | None = None) -> Candidate:
        """Take the likeliest candidate that reads the known weight which lies on the scale; from then on it weighs.

        The tolerance is 2 % where none is given. ScaleNotConfirmed where no candidate reads this weight, or it is none.
        """
        search, tolerance_g = self._search, known_g * _TOLERANCE if tolerance_g is None else tolerance_g
        fitting = search.confirmed(known_g, tolerance_g) if search and known_g > tolerance_g else []
        if not fitting:
            raise ScaleNotConfirmed(scale=self._shown, known_g=known_g)
        self._config = replace(self._config, profile=fitting[0].profile, line=search.line if search else None)
        self.protocol = fitting[0].protocol
        return fitting[0]

    def raw(self) -> bytes:
        """Return the newest bytes that came, to be shown beside what was read in them."""
        return self._raw

    def health(self) -> Health:
        """Return how the scale is, with the age of its newest reading now."""
        reading = self._reading
        return replace(self._health, frame_age_ms=None if reading is None else self.age_ms(reading))

    def close(self) -> None:
        """Let the port go, in whatever state it is; returns within 2 s."""
        self._stop.set()
        with self._news:
            self._news.notify_all()
        self._thread.join(_CLOSE_S)
        self._ends()

    def __enter__(self) -> Scale:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        health = self.health()
        age = "no reading" if health.frame_age_ms is None else f"reading {health.frame_age_ms} ms old"
        return f"<Scale {self._shown} {self._name} {health.state}, {age}, {health.restarts} restarts>"

    @property
    def _name(self) -> str:
        return self.protocol.name if self.protocol else AUTO

    # What follows runs in the scale's own thread.

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                if self._presence.is_due(self._clock_ms()):
                    self._try()
                else:
                    self._wait()
            except Exception:
                log.exception("the reader of scale %s failed and goes on", self._shown)
                self._away(ScaleAway("scale_gone", scale=self._shown))
        self._presence.close(self._clock_ms())
        self._publish()

    def _wait(self) -> None:
        """Wait for the next try; a node that returns makes it due."""
        self._stop.wait(_TICK_S)
        has_node = not is_node(self.url) or os.path.exists(self.url)
        if has_node and not self._had_node:
            self._presence.hurry(self._clock_ms())
        self._had_node = has_node

    def _try(self) -> None:
        """Open the port and serve it until it is lost or the scale is closed."""
        line = self._line()
        try:
            port = self._open_port(self.url, line)
        except ScaleAway as error:
            self._not_opened(error)
            return
        self._busy_since_ms = None
        try:
            if self.protocol is None:
                self._find(port, line)
            if self.protocol is not None:
                self._serve(port, self.protocol)
        except ScaleAway as error:
            self._away(error)
        finally:
            port.close()

    def _not_opened(self, error: ScaleAway) -> None:
        """Take note; a port that was just plugged in is often held for some seconds by whoever probes modems."""
        now_ms = self._clock_ms()
        if error.code == "scale_busy":
            self._busy_since_ms = now_ms if self._busy_since_ms is None else self._busy_since_ms
            if now_ms - self._busy_since_ms < _BUSY_MS:
                self._stop.wait(_TICK_S)
                return
        self._away(error)

    def _away(self, error: ScaleAway) -> None:
        self._reading = None
        self._had_node = not is_node(self.url) or os.path.exists(self.url)
        self._presence.away(error.code, error.values, self._clock_ms())
        self._publish()

    def _line(self) -> Line:
        if self._config.line is not None:
            return self._config.line
        return self.protocol.line if self.protocol else LINES[self._line_number % len(LINES)]

    def _find(self, port: Port, line: Line) -> None:
        """Look for the protocol at one line setting, until it is confirmed; the next try takes the next setting."""
        search = self._search = Search(line, self._clock_ms(), asks=self._config.asks)
        while not self._stop.is_set() and self.protocol is None:
            self._write(port, search.say(self._clock_ms()))
            if data := self._read(port):
                search.hear(data)
            if names := tuple(one.protocol.name for one in search.candidates()):
                values = {"scale": self._shown, "candidates": names}
                self._presence.up("scale_unconfirmed", values, self._clock_ms())
                self._publish()
            elif search.is_over(self._clock_ms()):
                self._next_line()
                return

    def _next_line(self) -> None:
        """Try the next setting at once; when all have been tried, or the scale was there already, after a while."""
        self._line_number += 1
        is_round = self._line_number % len(LINES) == 0 or self._config.line is not None or not is_node(self.url)
        if is_round or self._health.state == "up":
            raise ScaleAway("scale_unreadable" if self._raw else "scale_silent", scale=self._shown, protocol=AUTO)

    def _serve(self, port: Port, protocol: Protocol) -> None:
        talk = Conversation(protocol, self._config, self._clock_ms())
        self._commands.clear()
        while not self._stop.is_set():
            self._speak(port, talk)
            for heard in talk.hear(self._read(port), self._clock_ms()):
                self._put(heard)
            self._judge(talk)

    def _speak(self, port: Port, talk: Conversation) -> None:
        if self._is_wanted:
            self._is_wanted = False
            talk.want()
        with self._news:
            said, self._commands = self._commands, []
        self._write(port, said + talk.say(self._clock_ms()))

    def _read(self, port: Port) -> bytes:
        try:
            data = port.read()
        except FAULTS as error:
            raise lost(self.url, error) from error
        self._raw = (self._raw + data)[-_RAW_BYTES:]
        return data

    def _write(self, port: Port, said: list[bytes]) -> None:
        try:
            for words in said:
                port.write(words)
        except FAULTS as error:
            raise lost(self.url, error) from error

    def _put(self, heard: Heard) -> None:
        with self._news:
            self._number += 1
            self._reading = ScaleReading(heard.weighing, self._clock_ms(), self._number, heard.frame, heard.is_settled)
            self._news.notify_all()

    def _judge(self, talk: Conversation) -> None:
        verdict = talk.verdict(self._clock_ms())
        values = {"scale": self._shown, "protocol": self._name, "rejected": talk.rejected}
        if verdict in ("scale_silent", "scale_unreadable"):
            raise ScaleAway(verdict, **values)
        if verdict is not None:
            self._presence.up(verdict, values, self._clock_ms())
        self._publish()

    def _publish(self) -> None:
        """Make the health of the moment visible, and log when the scale goes and when it returns."""
        before, after = self._health, self._presence.health()
        self._health = after
        if (line := news(f"scale {self._shown}", before, after)) is not None:
            log.warning(line)


def _unknown(url: str, what: str, given: str, valid: tuple[str, ...]) -> ScaleUnknown:
    return ScaleUnknown(scale=without_password(url), what=what, given=given, valid=valid)


def open_scale(
    url: str,
    protocol: str = AUTO,
    config: ScaleConfig | None = None,
    *,
    clock_ms: Callable[[], int] = monotonic_ms,
    open_port: Opener = open_port,
) -> Scale:
    """Open a scale by its address, without waiting for it; ScaleUnknown where address or protocol makes no sense.

    Addresses: every one of pyserial (`/dev/ttyUSB0`, `socket://host:port`, `rfc2217://host:port`), `/dev/hidraw0` for a
    postal scale, `sim://scale?protocol=ohaus&load=57.3` for one that is not there. `auto` finds out what it could be
    and weighs nothing until `confirm` was told a known weight. `clock_ms` must be the machine's monotonic clock or
    follow it.
    """
    if url.startswith(SIMULATED):
        return _open_simulated(url, clock_ms)
    check_address(url)
    if protocol not in PROTOCOLS and protocol != AUTO:
        raise _unknown(url, "protocol", protocol, (AUTO, *PROTOCOLS))
    return Scale(url, PROTOCOLS.get(protocol), config or ScaleConfig(), open_port, clock_ms)


def _open_simulated(url: str, clock_ms: Callable[[], int]) -> Scale:
    """Open a scale that brings its own line, and takes it away when it is closed."""
    from devices.fake_scale import FakeScale  # a table with a real scale needs none of it

    given = dict(parse_qsl(urlsplit(url).query))
    name, load = given.get("protocol", "st-gs"), given.get("load", "0")
    if name not in PROTOCOLS:
        raise _unknown(url, "protocol", name, tuple(PROTOCOLS))
    try:
        fake = FakeScale(name, load_g=float(load))
    except ValueError:
        raise _unknown(url, "load", load, ("grams",)) from None
    return Scale(fake.url, fake.protocol, fake.config, open_port, clock_ms, ends=fake.close)
