"""Small laboratory and reloading balances: a sign, a number, a unit, and little else."""

from __future__ import annotations

import re

from devices.scales.numbers import number, weigh
from devices.scales.profile import Profile
from devices.scales.protocol import Decode, Protocol, Talk, text
from devices.scales.weighing import MALFORMED, OVERLOAD, UNDERLOAD, Weighing

_TILDES = "~" * 8


def _columns(layout: str) -> Decode:
    """Make a reader of fixed columns; the value ends with a digit, for it is right-aligned."""
    pattern = re.compile(layout)

    def read(line: str, profile: Profile) -> Weighing:
        found = pattern.fullmatch(line)
        if found is None:
            return MALFORMED
        if found["value"].endswith(_TILDES):
            return UNDERLOAD if line[0] == "-" else OVERLOAD
        stable = found["status"] == " " if "status" in found.groupdict() else None
        return weigh(number(found["value"]), found["unit"], profile, stable=stable)

    return text(read)


_US_SOLID = r"(?P<value>[ +-] (?:[ 0-9.,-]{7}[0-9]|~{8}))(?P<unit>.{3})"
_CREEDMOOR = r"(?P<value>[+-][ 0-9.,]{6}[0-9]) (?P<unit>.{2}) "
_STEINBERG = r"S(?P<status>[ D])(?P<value>(?=.{9,11} ) *-?[0-9.,]+) (?P<unit>[A-Za-z]{1,3}) *"
_GNG = r"(?P<value>[ +-][ 0-9.,-]{7}[0-9]) (?P<unit>.{2})"

PROTOCOLS = (
    Protocol("us-solid", _columns(_US_SOLID), has_header=False, says_stable=False),
    Protocol("creedmoor", _columns(_CREEDMOOR), says_stable=False),
    Protocol("steinberg-sbs", _columns(_STEINBERG)),
    Protocol(
        "gng-jjb", _columns(_GNG), has_header=False, says_stable=False, talk=Talk(b"\x1bp", every_ms=300, tare=b"\x1bt")
    ),
)
