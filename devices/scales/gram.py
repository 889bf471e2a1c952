"""Gram indicators, protocol PC0: 14 bytes with a status byte of flags."""

from __future__ import annotations

from devices.scales.assembler import Assembler, Block
from devices.scales.numbers import number, weigh
from devices.scales.profile import Profile
from devices.scales.protocol import Protocol, Talk, text_of
from devices.scales.weighing import MALFORMED, Weighing

STX, ETX, CR = 0x02, 0x03, 0x0D
GROSS, TARE, ZERO, ALWAYS, STABLE = 0x01, 0x02, 0x08, 0x20, 0x40

_FRAME = Block(length=14, only={12: {CR}, 13: {ETX}})


def _cut(profile: Profile) -> Assembler:
    return Assembler({STX: _FRAME}, is_aligned=profile.aligned)


def _decode(frame: bytes, profile: Profile) -> Weighing:
    inner = text_of(frame[1:12]) if frame[0] == STX else None
    if inner is None or not ord(inner[0]) & ALWAYS or inner[1] not in " +-" or inner[8] == " ":
        return MALFORMED
    flags = ord(inner[0])
    is_net = bool(flags & TARE) and not flags & GROSS
    return weigh(number(inner[1:9]), inner[9:], profile, stable=bool(flags & STABLE), is_net=is_net)


GRAM_PC0 = Protocol("gram-pc0", _decode, _cut, talk=Talk(b"$", zero=b"z", tare=b"t"))
PROTOCOLS = (GRAM_PC0,)
