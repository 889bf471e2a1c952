"""Mettler Toledo retail scales (8217) and Toledo indicators that send without being asked."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

from devices.scales.assembler import Assembler, Block
from devices.scales.numbers import number, weigh
from devices.scales.profile import Profile
from devices.scales.protocol import Line, Protocol, Talk, text_of
from devices.scales.weighing import MALFORMED, MOTION, NOT_WEIGHT, OVERLOAD, UNDERLOAD, Weighing, refused

STX, CR = 0x02, 0x0D

_WEIGHT = re.compile(r"(?P<value> {0,2}[0-9]{1,4}[.,](?P<decimals>[0-9]{2,3}))(?P<net>N?)")
_DECIMALS = {"kg": 3, "lb": 2}


def _cut_8217(profile: Profile) -> Assembler:
    return Assembler({STX: Block(ends=bytes((CR,)))}, is_aligned=profile.aligned)


def _decode_8217(frame: bytes, profile: Profile) -> Weighing:
    if frame[0] != STX:
        return MALFORMED
    inner = text_of(frame[1:-1]) or ""
    if inner == "E":
        return NOT_WEIGHT
    if inner.startswith("?"):
        return _status_8217(inner[1:])
    found = _WEIGHT.fullmatch(inner)
    if found is None or not 5 <= len(found["value"]) <= 7:
        return MALFORMED
    if len(found["decimals"]) != _DECIMALS.get(profile.unit_default or "", len(found["decimals"])):
        return MALFORMED  # pounds have two decimals and kilograms three: a digit was lost, or the unit is set wrong
    return weigh(number(found["value"]), "", profile, stable=True, is_net=bool(found["net"]))


def _status_8217(status: str) -> Weighing:
    """Read the status byte that stands in the place of a weight; bit 5 differs by maker and never is a fault."""
    if len(status) != 1 or not ord(status) & 0x40:
        return MALFORMED
    bits = ord(status)
    if bits & 0x02:
        return replace(OVERLOAD, stable=not bits & 1)
    if bits & 0x04:
        return UNDERLOAD
    if bits & 0x08:
        return refused("zero_error")
    return MOTION if bits & 0x01 else refused("no_change")


TOLEDO_8217 = Protocol(
    "toledo-8217",
    _decode_8217,
    _cut_8217,
    needs_unit=True,
    line=Line(9600, 7, "E"),
    talk=Talk(b"W", every_ms=300, zero=b"Z", tare=b"T\r"),
)


def _cut_continuous(profile: Profile) -> Assembler:
    end = 10 if profile.short else 16
    # The checksum may look like a start byte.
    block = Block(length=end + 1 + profile.checksum, free=frozenset({end + 1}), only={end: {CR}})
    return Assembler({STX: block}, is_aligned=profile.aligned)


def _decode_continuous(frame: bytes, profile: Profile) -> Weighing:
    if frame[0] != STX:
        return MALFORMED
    if profile.checksum and sum(byte & 0x7F for byte in frame) & 0x7F:
        return refused("checksum")
    a, b, c = frame[1:4]
    digits, tare = frame[4:10].decode("latin-1"), frame[10 : 10 if profile.short else 16]
    if not (a & 0xE0 == 0x20 and a & 0x18 and b & 0xA0 == 0x20 and c & 0xA0 == 0x20):
        return MALFORMED
    if not re.fullmatch(r" *[0-9]+", digits) or not re.fullmatch(rb" *[0-9]*", tare):
        return MALFORMED
    if b & 0x04:
        return UNDERLOAD if b & 0x02 else OVERLOAD
    if b & 0x40:
        return refused("zero_error")
    value = Decimal(digits.strip()).scaleb(_exponent(a & 0x07, profile))
    unit = _unit(b, c, profile)
    if unit is None:
        return Weighing(stable=not b & 0x08, error="unit_ambiguous")
    return weigh(-value if b & 0x02 else value, unit, profile, stable=not b & 0x08, is_net=bool(b & 0x01))


def _exponent(code: int, profile: Profile) -> int:
    """Return the power of ten of a decimal code; manuals differ on whether dummy zeros are among the digits."""
    if code >= 2:
        return 2 - code
    return 2 - code if profile.zeros_outside else 0


def _unit(b: int, c: int, profile: Profile) -> str | None:
    """Return the unit of the status bytes, None where they name one that makers do not agree on."""
    if profile.clone_unit_bit:
        return "lb" if c & 0x01 else "kg"
    if c & 0x06:
        return None
    return "g" if c & 0x01 else "kg" if b & 0x10 else "lb"


TOLEDO_CONTINUOUS = Protocol("toledo-continuous", _decode_continuous, _cut_continuous, line=Line(9600, 7, "E"))
PROTOCOLS = (TOLEDO_8217, TOLEDO_CONTINUOUS)
