"""What a family has to say about itself: how its frames are cut, read, asked for, and on what line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from devices.scales.assembler import Assembler
from devices.scales.profile import Profile
from devices.scales.weighing import MALFORMED, Weighing

Parity = Literal["N", "E", "O"]
Decode = Callable[[bytes, Profile], Weighing]


@dataclass(frozen=True, slots=True)
class Line:
    """The settings of a serial line that a family leaves its maker with."""

    baud: int = 9600
    bits: Literal[7, 8] = 8
    parity: Parity = "N"


@dataclass(frozen=True, slots=True)
class Talk:
    """What may be said to a scale: `ask` changes nothing on it and is repeated at `every_ms` at the most.

    `answers` are the frames that wait for a word of ours. A shy scale beeps or falls silent when it is asked again
    and again, so it is asked on demand alone. Empty bytes: the protocol has no such command.
    """

    ask: bytes = b""
    every_ms: int = 250
    answers: Mapping[bytes, bytes] = field(default_factory=dict)
    zero: bytes = b""
    tare: bytes = b""
    is_shy: bool = False


def lines(profile: Profile) -> Assembler:
    """Cut text into lines."""
    return Assembler(is_aligned=profile.aligned)


@dataclass(frozen=True, slots=True)
class Protocol:
    """One way in which scales speak. `decode` reads a whole frame as `cut` makes them.

    `has_header`: a frame's beginning can be told from the middle of another. `says_stable`: it has a stability flag.
    `is_checked`: damage in transit is found out by the frame alone. `needs_unit`: its frames carry no unit.
    `has_columns`: its fields stand at fixed places, so that little else looks like it.
    `has_spikes`: single wild samples are to be expected.
    `tail_error`: what an unfinished frame is where frames come whole or not at all.
    """

    name: str
    decode: Decode
    cut: Callable[[Profile], Assembler] = lines
    has_header: bool = True
    says_stable: bool = True
    is_checked: bool = False
    needs_unit: bool = False
    has_spikes: bool = False
    has_columns: bool = True
    is_serial: bool = True
    line: Line = Line()
    talk: Talk = Talk()
    tail_error: str | None = None


def text_of(frame: bytes, *, allowed: str = "") -> str | None:
    """Return a frame as text, None where it holds anything but 0x20 to 0x7E and what is allowed."""
    text = frame.decode("latin-1")
    return text if all(" " <= char <= "~" or char in allowed for char in text) else None


def text(read: Callable[[str, Profile], Weighing], *, allowed: str = "") -> Decode:
    """Make a decoder of frames from one of text: anything unprintable in a frame makes it malformed."""

    def decode(frame: bytes, profile: Profile) -> Weighing:
        shown = text_of(frame, allowed=allowed)
        return MALFORMED if shown is None else read(shown, profile)

    return decode
