"""A scale without a scale: a real serial line (a pty) with somebody at the other end who speaks any protocol.

with FakeScale("ohaus") as fake, open_scale(fake.url, "ohaus", fake.config) as scale:
    fake.put(57.3)
    print(scale.settled().weighing.grams)
"""

from __future__ import annotations

import os
import select
import tempfile
import threading
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Literal, get_args

from devices.fake_frames import SPEECHES, Display
from devices.scales.cas import ACK, DC1, ENQ
from devices.scales.conversation import ScaleConfig
from devices.scales.profile import Profile
from devices.scales.protocol import Line
from devices.scales.registry import PROTOCOLS
from devices.scales.units import GRAMS

Mode = Literal["run", "mute", "noise", "half", "dribble", "flood", "echo"]

_TICK_S = 0.02
_DRIBBLE_S = 0.3


class FakeScale:
    """A simulated scale at a name like a serial port's, with a pan, keys, and modes that fail as scales do.

    run      as it should
    mute     powered off: nothing is sent, nothing answered
    noise    every fourth frame has a damaged byte
    half     frames stop in the middle
    dribble  a byte now and then
    flood    bytes without an end
    echo     sends back what it hears before it answers

    A load moves the display for `settle_ms`, above `capacity_g` it is too much, under -`capacity_g`/50 too little.
    """

    def __init__(
        self,
        protocol: str = "st-gs",
        *,
        load_g: float = 0.0,
        capacity_g: float = 5000.0,
        settle_ms: int = 300,
        rate_hz: float = 10.0,
        clock_ms: Callable[[], int] = lambda: time.monotonic_ns() // 1_000_000,
    ) -> None:
        self.protocol, self._speech, self._talk = PROTOCOLS[protocol], SPEECHES[protocol], PROTOCOLS[protocol].talk
        self._capacity_g, self._settle_ms, self._rate_hz, self._clock_ms = capacity_g, settle_ms, rate_hz, clock_ms
        self.mode: Mode = "run"
        self._units = tuple(self._speech.units)
        self._unit = self._units[0]
        self._from_g = self._load_g = load_g
        self._put_ms = -settle_ms
        self._zero_g, self._tare_g = 0.0, 0.0
        self._heard, self._sent = bytearray(), 0
        self._lock = threading.Lock()
        self._folder = tempfile.TemporaryDirectory(prefix="scale-")
        self.url = str(Path(self._folder.name) / "port")
        self._master: int | None = None
        self._slave: int | None = None
        self._stop = threading.Event()
        self.replug()
        self._thread = threading.Thread(target=self._run, name=f"fake scale {protocol}", daemon=True)
        self._thread.start()

    @property
    def config(self) -> ScaleConfig:
        """How to read this scale: with eight bits, for a pty has no parity, and the unit its frames do not say."""
        unit = self._units[0] if self.protocol.needs_unit else None
        return ScaleConfig(Profile(unit_default=unit, checksum=True), Line(9600))

    # The pan and the keys.

    def put(self, grams: float) -> None:
        """Have this lie on the pan; the display moves there."""
        with self._lock:
            now_ms = self._clock_ms()
            self._from_g, self._load_g, self._put_ms = self._on_pan_g(now_ms), grams, now_ms

    def press_zero(self) -> None:
        """Take the load for nothing."""
        self._zero_g, self._tare_g = self._load_g, 0.0

    def press_tare(self) -> None:
        """Take the load for a tare."""
        self._tare_g = self._load_g - self._zero_g

    def press_unit(self) -> None:
        """Show the next unit."""
        self._unit = self._units[(self._units.index(self._unit) + 1) % len(self._units)]

    def press_print(self) -> None:
        """Send the display once."""
        self._send(self.frame())

    def set_mode(self, mode: Mode) -> None:
        """Behave in this way from now on."""
        if mode not in get_args(Mode):
            raise ValueError(f"no mode {mode!r}; there are {', '.join(get_args(Mode))}")
        self.mode = mode

    def unplug(self) -> None:
        """Pull the cable: the port's name vanishes and who holds it loses it."""
        with self._lock:
            Path(self.url).unlink(missing_ok=True)
            for end in (self._master, self._slave):
                if end is not None:
                    os.close(end)
            self._master = self._slave = None

    def replug(self) -> None:
        """Plug the cable in again; the port is another one, under the same name."""
        with self._lock:
            self._master, self._slave = os.openpty()
            tty.setraw(self._slave)
            os.set_blocking(self._master, False)
            link = Path(self.url)
            link.unlink(missing_ok=True)
            link.symlink_to(os.ttyname(self._slave))

    def close(self) -> None:
        """End the scale and its port."""
        self._stop.set()
        self._thread.join()
        self.unplug()
        self._folder.cleanup()

    def __enter__(self) -> FakeScale:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<FakeScale {self.protocol.name} {self.url} {self.mode}, {self._load_g} g>"

    # The display.

    def _on_pan_g(self, now_ms: int) -> float:
        passed = min(1.0, (now_ms - self._put_ms) / self._settle_ms) if self._settle_ms else 1.0
        return self._from_g + (self._load_g - self._from_g) * passed

    def display(self) -> Display:
        """Return what the display shows now."""
        now_ms = self._clock_ms()
        gross_g = self._on_pan_g(now_ms) - self._zero_g
        state: Literal["load", "over", "under"] = "load"
        if gross_g > self._capacity_g:
            state = "over"
        elif gross_g < -self._capacity_g / 50:
            state = "under"
        places = Decimal(1).scaleb(-self._speech.units[self._unit])
        value = (Decimal(gross_g - self._tare_g) / GRAMS[self._unit]).quantize(places)
        return Display(value, self._unit, now_ms - self._put_ms >= self._settle_ms, self._tare_g != 0, state)

    def frame(self) -> bytes:
        """Return the frame that says what the display shows; empty where the protocol has none for it."""
        return self._speech.encode(self.display())

    # What follows runs in the scale's own thread.

    def _run(self) -> None:
        next_s = time.monotonic()
        while not self._stop.is_set():
            self._hear()
            if self._speech.is_continuous and time.monotonic() >= next_s:
                next_s = max(next_s + 1 / self._rate_hz, time.monotonic())
                self._send(self.frame())

    def _hear(self) -> None:
        """Wait a little for words, and do what they say."""
        master = self._master
        if master is None:
            self._stop.wait(_TICK_S)
            return
        with suppress(OSError, ValueError):
            ready, _, _ = select.select([master], [], [], _TICK_S)
            if ready:
                self._take(os.read(master, 256))

    def _take(self, words: bytes) -> None:
        if self.mode == "mute":
            return
        if self.mode == "echo":
            self._send(words)
        self._heard += words
        for command in self._commands():
            self._do(command)

    def _commands(self) -> Iterator[bytes]:
        """Take whole commands out of what was heard; what is none is passed over."""
        known = (self._talk.ask, self._talk.zero, self._talk.tare, *self._talk.answers.values())
        while self._heard:
            found = next((one for one in known if one and self._heard.startswith(one)), None)
            if found is None and any(one.startswith(bytes(self._heard)) for one in known):
                return
            del self._heard[: len(found or b"?")]
            if found is not None:
                yield found

    def _do(self, command: bytes) -> None:
        if command == self._talk.zero:
            self.press_zero()
        elif command == self._talk.tare:
            self.press_tare()
        elif command == ENQ:
            self._send(ACK)
        elif command in (self._talk.ask, DC1):
            self._send(self.frame())

    def _send(self, frame: bytes) -> None:
        self._sent += 1
        if self.mode == "mute" or not frame:
            return
        if self.mode == "noise" and self._sent % 4 == 0:
            frame = frame[:3] + b"\xff" + frame[4:]
        if self.mode == "half":
            frame = frame[: len(frame) // 2]
        if self.mode == "flood":
            frame = b"x" * 400
        if self.mode == "dribble":
            frame = frame[:1]
            self._stop.wait(_DRIBBLE_S)
        with self._lock, suppress(OSError):  # who does not read loses what comes, as on a line
            if self._master is not None:
                os.write(self._master, frame)
