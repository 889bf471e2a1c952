"""Frames from bytes, however the bytes arrive: lines, and blocks that have a start byte of their own."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field

CAP = 256
"""No frame is longer; what is longer is dropped to its end."""

LINE_ENDS = b"\r\n"

Piece = bytes | str
"""A whole frame, or the word for what was dropped: `malformed` or `oversize`."""


def _nothing(_: bytes) -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Block:
    """A frame with a start byte, that ends after `length` bytes, at a byte of `ends`, or before its next start.

    `free` are the places (from 0) where a start byte is data; elsewhere it ends a broken frame and begins a new one.
    `only` are places where nothing but these bytes can stand; where another does, a new start is looked for behind the
    old one.
    """

    length: int = 0
    ends: bytes = b""
    ends_before_next: bool = False
    free: frozenset[int] = frozenset()
    only: Mapping[int, Container[int]] = field(default_factory=dict)

    def fits(self, place: int, byte: int) -> bool:
        """Tell whether this byte can stand in this place."""
        return place not in self.only or byte in self.only[place]

    def is_whole(self, frame: bytes | bytearray) -> bool:
        """Tell whether these bytes, the last one new, are all of the frame."""
        return len(frame) == self.length or frame[-1] in self.ends


class Assembler:
    """Takes byte after byte and returns whole frames; lines come without their ends, blocks whole.

    CR, LF and any run of them end a line; empty lines are nothing. `alone` are bytes that are a frame by themselves
    where a line could begin. `holds` says of an unfinished line that a line end would be data in this place.
    """

    def __init__(
        self,
        blocks: Mapping[int, Block] | None = None,
        *,
        line_ends: bytes = LINE_ENDS,
        alone: bytes = b"",
        holds: Callable[[bytes], bool] = _nothing,
        is_aligned: bool = True,
    ) -> None:
        self._blocks = blocks or {}
        self._line_ends, self._alone, self._holds = line_ends, alone, holds
        self._bytes = bytearray()
        self._block: Block | None = None
        self._is_skipping = not is_aligned

    @property
    def is_waiting(self) -> bool:
        """Whether a frame has begun and not ended."""
        return bool(self._bytes)

    def drop(self) -> None:
        """Forget an unfinished frame, and what may still come of it."""
        self._is_skipping = self._is_skipping or self._block is None
        self._clear()

    def push(self, byte: int) -> list[Piece]:
        """Take one byte; return the frames it ended and the words for what it made us drop."""
        if self._block is not None:
            return self._in_block(self._block, byte)
        if byte in self._blocks:
            return self._begin(byte)
        if self._is_skipping:
            self._is_skipping = byte not in self._line_ends
            return []
        return self._in_line(byte)

    def _begin(self, byte: int) -> list[Piece]:
        dropped: list[Piece] = ["malformed"] if self._bytes else []
        self._clear()
        self._is_skipping = False
        self._block = self._blocks[byte]
        self._bytes.append(byte)
        return dropped

    def _in_block(self, block: Block, byte: int) -> list[Piece]:
        if byte in self._blocks and len(self._bytes) not in block.free:
            is_whole = block.ends_before_next and byte == self._bytes[0]
            frame = self._taken()
            return [frame if is_whole else "malformed", *self._begin(byte)]
        self._bytes.append(byte)
        if not block.fits(len(self._bytes) - 1, byte):
            return self._again()
        if block.is_whole(self._bytes):
            return [self._taken()]
        return self._capped()

    def _again(self) -> list[Piece]:
        """Look for the start of another frame in the bytes of a broken one."""
        rest = self._taken()[1:]
        pieces: list[Piece] = ["malformed"]
        for byte in rest:
            pieces += self.push(byte)
        return pieces

    def _in_line(self, byte: int) -> list[Piece]:
        if byte in self._line_ends and not self._holds(bytes(self._bytes)):
            return [self._taken()] if self._bytes else []
        if byte in self._alone and not self._bytes:
            return [bytes((byte,))]
        self._bytes.append(byte)
        return self._capped()

    def _capped(self) -> list[Piece]:
        if len(self._bytes) <= CAP:
            return []
        self._clear()
        self._is_skipping = True
        return ["oversize"]

    def _taken(self) -> bytes:
        frame = bytes(self._bytes)
        self._clear()
        return frame

    def _clear(self) -> None:
        self._bytes.clear()
        self._block = None
