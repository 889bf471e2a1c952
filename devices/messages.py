"""What the service and a capture child say to each other, and the pipe they say it through."""

from __future__ import annotations

import pickle
import select
import socket
import struct
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field

from devices.address import Address

_SIZES = struct.Struct("!II")
_LONGEST_HEAD = 1 << 20


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting of a camera: what was asked for (None: nothing) and what the camera does (None: not known)."""

    requested: float | str | None
    granted: float | str | None


@dataclass(frozen=True, slots=True)
class Open:
    """To the child: open the source, ending the one that is open; number its frames from here on.

    `locked` are the values that its exposure, gain and so on are fixed at; none: it finds its own.
    """

    address: Address
    first_number: int
    locked: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Want:
    """To the child: send a picture later than both; `is_patient` waits for one, else `Nothing` is an answer."""

    ticket: int
    after_number: int
    after_ms: int
    is_patient: bool


@dataclass(frozen=True, slots=True)
class Lock:
    """To the child: let the source find its values for a while, then fix them and answer `Locked`."""

    ticket: int
    warm_up_ms: int


@dataclass(frozen=True, slots=True)
class Unlock:
    """To the child: let the source find its own values from now on."""


@dataclass(frozen=True, slots=True)
class Ready:
    """From the child: started, opening the source now."""


@dataclass(frozen=True, slots=True)
class Beat:
    """From the child, some four times a second: its newest frame (number 0: none yet) and what it dropped."""

    number: int = 0
    taken_ms: int = 0
    digest: int | None = None
    half_frames: int = 0
    wrong_size_frames: int = 0
    skipped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Granted:
    """From the child: the settings as the source granted them."""

    settings: Mapping[str, Setting]


@dataclass(frozen=True, slots=True)
class Locked:
    """From the child: the values that the source is fixed at now; none where it has nothing to fix."""

    ticket: int
    values: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Gone:
    """From the child: the source could not be opened, or ended."""

    code: str
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Nothing:
    """From the child: no later picture at the moment."""

    ticket: int


@dataclass(frozen=True, slots=True)
class Picture:
    """From the child: a picture; its `height * width * 3` bytes, rows of BGR, follow."""

    number: int
    taken_ms: int
    digest: int | None
    height: int
    width: int


Message = Open | Want | Lock | Unlock | Ready | Beat | Granted | Locked | Gone | Nothing | Picture


class Pipe:
    """Whole messages over one end of a socket pair; with a time limit a peer that stops in mid-word is noticed.

    Sending may be done by several threads, receiving by one. A closed peer raises EOFError or OSError.
    """

    def __init__(self, end: socket.socket, limit_s: float | None = None) -> None:
        self._end = end
        self._end.settimeout(limit_s)
        self._lock = threading.Lock()
        self._poll = select.poll()
        self._poll.register(self._end, select.POLLIN)

    def send(self, message: Message, body: memoryview | bytes = b"") -> None:
        """Send a message and the bytes that belong to it."""
        head = pickle.dumps(message)
        with self._lock:
            self._end.sendall(_SIZES.pack(len(head), len(body)) + head)
            if len(body):
                self._end.sendall(body)

    def has_news(self, timeout_s: float) -> bool:
        """Wait until something can be received; False when the time is over."""
        return bool(self._poll.poll(timeout_s * 1000))

    def receive(self) -> tuple[Message, bytearray]:
        """Return the next message and the bytes that belong to it."""
        head_size, body_size = _SIZES.unpack(self._exactly(_SIZES.size))
        if head_size > _LONGEST_HEAD:
            raise EOFError(f"no message is {head_size} bytes long")
        message: Message = pickle.loads(self._exactly(head_size))
        return message, self._exactly(body_size)

    def _exactly(self, size: int) -> bytearray:
        block = bytearray(size)
        rest = memoryview(block)
        while rest:
            count = self._end.recv_into(rest)
            if not count:
                raise EOFError("the other end is closed")
            rest = rest[count:]
        return block

    def hang_up(self) -> None:
        """End the talk from either side, waking whoever waits in it."""
        try:
            self._end.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # the other side was faster

    def close(self) -> None:
        """Give the descriptor back."""
        self._end.close()
