"""CAS indicators and retail scales."""

from __future__ import annotations

import re
from functools import reduce
from operator import xor

from devices.scales.assembler import Assembler, Block
from devices.scales.numbers import number, weigh
from devices.scales.profile import Profile
from devices.scales.protocol import Protocol, Talk, text, text_of
from devices.scales.weighing import MALFORMED, NOT_WEIGHT, OVERLOAD, UNDERLOAD, Weighing, refused

SOH, STX, ETX, EOT = 0x01, 0x02, 0x03, 0x04
ENQ, ACK, DC1, NAK = b"\x05", b"\x06", b"\x11", b"\x15"

_HEAD = re.compile(rb"(ST|US|OL),(GS|NT|TR),")
_ID, _LAMPS, _COMMA, _LENGTH = 6, 7, 8, 20
_STABLE_LAMP = 0x40


def _cut_22(profile: Profile) -> Assembler:
    def is_id(line: bytes) -> bool:
        return len(line) == _ID and _HEAD.fullmatch(line) is not None

    return Assembler(holds=is_id, is_aligned=profile.aligned)


def _decode_22(frame: bytes, profile: Profile) -> Weighing:
    """Cut by position: the device's number can be any byte, even a comma or a line end."""
    rest = text_of(frame[_COMMA:]) or ""
    lamps = frame[_LAMPS] if len(frame) == _LENGTH else 0
    if not (_HEAD.match(frame) and lamps & 0x80 and rest.startswith(",") and rest[9] == " "):
        return MALFORMED
    is_stable = frame.startswith(b"ST") and bool(lamps & _STABLE_LAMP)
    return _load(frame[:5].decode(), rest[1:9], rest[10:12], profile, is_stable)


def _load(head: str, value: str, unit: str, profile: Profile, is_stable: bool) -> Weighing:
    if head.endswith("TR"):
        return NOT_WEIGHT
    if head.startswith("OL"):
        return UNDERLOAD if "-" in value else OVERLOAD
    return weigh(number(value), unit, profile, stable=is_stable, is_net=head.endswith("NT"))


def _read_18(line: str, profile: Profile) -> Weighing:
    if len(line) != 16 or _HEAD.match(line.encode()) is None:
        return MALFORMED
    return _load(line[:5], line[6:14], line[14:], profile, line.startswith("ST"))


def _read_10(line: str, profile: Profile) -> Weighing:
    return weigh(number(line), "", profile, stable=None) if len(line) == 8 else MALFORMED


_DH = re.compile(r"w(?P<mode>[wnt])(?P<value>[ +-]?[ 0-9.,]{5,9})(?P<unit>kg|lb|g|oz)")


def read_ww(line: str, profile: Profile) -> Weighing:
    """Read `ww000.123kg`: gross, net or tare, and nothing about rest."""
    found = _DH.fullmatch(line)
    if found is None:
        return MALFORMED
    if found["mode"] == "t":
        return NOT_WEIGHT
    return weigh(number(found["value"]), found["unit"], profile, stable=None, is_net=found["mode"] == "n")


_BCC = 12
_ECR_UNITS = {unit: unit for unit in ("kg", "lb", "g", "oz")}
_ECR = Block(length=15, free=frozenset({_BCC}), only={1: {STX}, 13: {ETX}, 14: {EOT}})


def _cut_ecr(profile: Profile) -> Assembler:
    return Assembler({SOH: _ECR}, alone=ACK + NAK, is_aligned=profile.aligned)


def _decode_ecr(frame: bytes, profile: Profile) -> Weighing:
    if frame == ACK:
        return NOT_WEIGHT
    if frame == NAK:
        return refused("nak")
    if frame[0] != SOH:
        return MALFORMED
    if reduce(xor, frame[2:_BCC]) != frame[_BCC]:
        return refused("checksum")
    inner = text_of(frame[2:_BCC]) or ""
    if inner[1:8] == "FFFFFFF":
        return OVERLOAD
    if inner[:1] not in ("S", "U") or inner[1] not in " -+":
        return MALFORMED
    return weigh(number(inner[1:8]), inner[8:], profile, stable=inner[0] == "S", spellings=_ECR_UNITS)


PROTOCOLS = (
    Protocol("cas-22", _decode_22, _cut_22),
    Protocol("cas-18", text(_read_18)),
    Protocol("cas-10", text(_read_10), has_header=False, says_stable=False, needs_unit=True),
    Protocol("cas-dh", text(read_ww), says_stable=False),
    Protocol("cas-ecr", _decode_ecr, _cut_ecr, is_checked=True, talk=Talk(ENQ, every_ms=300, answers={ACK: DC1})),
)
