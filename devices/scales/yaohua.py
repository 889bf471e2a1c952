"""Yaohua XK3190 indicators and their clones, in all the forms that their menu offers."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import reduce
from operator import xor

from devices.scales.assembler import Assembler, Block
from devices.scales.cas import read_ww
from devices.scales.numbers import number, weigh
from devices.scales.profile import Profile
from devices.scales.protocol import Protocol, text_of
from devices.scales.weighing import MALFORMED, OVERLOAD, UNDERLOAD, Weighing, refused

STX, ETX, EQUALS = 0x02, 0x03, ord("=")

_FORMAT_0_BLOCK = Block(length=12, only={11: {ETX}})
_FORMAT_0 = re.compile(r"(?P<value>[+-][0-9]{6})(?P<decimals>[0-6])[0-9A-F]{2}")
_A12E = re.compile(r"(?P<mode>WG|WN)(?P<value>.{7})(?P<unit>kg|lb)[0-9A-F]{2}")
_A12E_OUT_OF_RANGE = {"         OL23": OVERLOAD, "         LO23": UNDERLOAD}
_EQUALS = re.compile(r"-?[0-9.]{6,8}-?")
_EQUALS_WIDTHS = (7, 8)


def _cut(profile: Profile) -> Assembler:
    blocks = {STX: _FORMAT_0_BLOCK, EQUALS: Block(ends_before_next=True)}
    return Assembler(blocks, is_aligned=profile.aligned)


def _decode(frame: bytes, profile: Profile) -> Weighing:
    if frame[0] == STX:
        return _format_0(frame[1:-1], profile)
    if frame[0] == EQUALS:
        return _format_1_2(text_of(frame[1:].strip(b"\r\n")) or "", profile)
    line = text_of(frame) or ""
    if line in _A12E_OUT_OF_RANGE:
        return _A12E_OUT_OF_RANGE[line]
    if line.startswith("w"):
        return read_ww(line, profile)
    return _a12e(line, profile)


def _is_checked(frame: bytes) -> bool:
    """Tell whether the last two characters are the XOR of all before them, in hex."""
    return reduce(xor, frame[:-2]) == int(frame[-2:], 16)


def _format_0(inner: bytes, profile: Profile) -> Weighing:
    found = _FORMAT_0.fullmatch(text_of(inner) or "")
    if found is None:
        return MALFORMED
    if not _is_checked(inner):
        return refused("checksum")
    return weigh(Decimal(found["value"]).scaleb(-int(found["decimals"])), "", profile, stable=None)


def _a12e(line: str, profile: Profile) -> Weighing:
    found = _A12E.fullmatch(line)
    if found is None:
        return MALFORMED
    if not _is_checked(line.encode()):
        return refused("checksum")
    return weigh(number(found["value"]), found["unit"], profile, stable=None, is_net=found["mode"] == "WN")


def _format_1_2(inner: str, profile: Profile) -> Weighing:
    """Read `=` frames. The order of the digits cannot be seen, unless a sign stands at one end."""
    if _EQUALS.fullmatch(inner) is None or len(inner) not in _EQUALS_WIDTHS:
        return MALFORMED
    is_reversed = profile.reversed
    if is_reversed is None:
        if "-" not in inner and inner != inner[::-1]:
            return refused("not_weight")
        is_reversed = inner.endswith("-")
    value = inner[::-1] if is_reversed else inner
    return weigh(number(value), "", profile, stable=None)


YAOHUA = Protocol("yaohua", _decode, _cut, says_stable=False)
PROTOCOLS = (YAOHUA,)
