"""Bytes in, weighings out: one scale's stream, whatever the cuts between its reads."""

from __future__ import annotations

from collections.abc import Iterator

from devices.scales.assembler import Piece
from devices.scales.profile import PLAIN, Profile
from devices.scales.protocol import Protocol
from devices.scales.weighing import Weighing, refused

DEADLINE_MS = 2000
"""A frame takes no longer from its first byte to its last; the slowest line sends 256 bytes in this time."""


class Parser:
    """Reads one scale's bytes. Never raises for what arrives, never publishes an unfinished frame."""

    def __init__(self, protocol: Protocol, profile: Profile = PLAIN) -> None:
        self._protocol, self._profile = protocol, profile
        self._mask = 0x7F if profile.strip_parity else 0xFF
        self._assembler = protocol.cut(profile)
        self._begun_ms = 0
        self.frame = b""
        """The newest whole frame, for those who look at the raw line."""

    def feed(self, data: bytes, now_ms: int = 0) -> list[Weighing]:
        """Take bytes as they came and the time; return what the frames they ended say, in their order."""
        return list(self.read(data, now_ms))

    def read(self, data: bytes, now_ms: int = 0) -> Iterator[Weighing]:
        """Do as `feed`, one answer after the other; `frame` is the answer's own meanwhile."""
        yield from self.tick(now_ms)
        for byte in data:
            if not self._assembler.is_waiting:
                self._begun_ms = now_ms
            for piece in self._assembler.push(byte & self._mask):
                yield self._said(piece)

    def tick(self, now_ms: int) -> list[Weighing]:
        """Drop a frame that was begun too long ago."""
        if not self._assembler.is_waiting or now_ms - self._begun_ms < DEADLINE_MS:
            return []
        self._assembler.drop()
        return [refused("incomplete")]

    def finish(self) -> list[Weighing]:
        """Say what an unfinished frame is, now that nothing more will come."""
        error = self._protocol.tail_error
        return [refused(error)] if error and self._assembler.is_waiting else []

    def _said(self, piece: Piece) -> Weighing:
        if isinstance(piece, str):
            return refused(piece)
        self.frame = piece
        return self._protocol.decode(piece, self._profile)
