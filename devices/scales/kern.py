"""Kern balances that do not speak KCP: the EW and EG series, and PCB, FKB, 572 and their like."""

from __future__ import annotations

import re

from devices.scales.numbers import number, weigh
from devices.scales.profile import Profile
from devices.scales.protocol import Protocol, Talk, text
from devices.scales.units import SPELLINGS
from devices.scales.weighing import MALFORMED, OVERLOAD, Weighing, refused

_EW = re.compile(r"(?P<value>[+ -][ 0-9.,]{7,8})(?P<unit>[A-Za-z% ]{2})(?P<limit>[LGH ])(?P<status>[SUE ])")
_EW_SPELLINGS = {**SPELLINGS, "G": "g", "OT": "ozt", "DW": "dwt", "MO": "mom", "to": "tola", "TO": "tola"}
_EW_STABLE = {"S": True, "U": False}


def _read_ew(line: str, profile: Profile) -> Weighing:
    found = _EW.fullmatch(line)
    if found is None:
        return MALFORMED
    if found["status"] == "E":
        return OVERLOAD  # or underload: the letter covers both
    stable = _EW_STABLE.get(found["status"])
    return weigh(number(found["value"]), found["unit"], profile, stable=stable, spellings=_EW_SPELLINGS)


_PCB = re.compile(r"[M ](?P<value>[ +-](?=.{9}[0-9]) *-?[0-9.,]+)(?: (?P<unit>.{3})?)?")
_PCB_LENGTHS = (13, 16)
_PCB_FAULTS = frozenset({12, 16})


def _read_pcb(line: str, profile: Profile) -> Weighing:
    if line.strip(" ") == "Error" and line.endswith("Error") and len(line) in _PCB_FAULTS:
        return refused("device_error")
    if re.fullmatch(r"ER .+", line):
        return refused("syntax_error")
    found = _PCB.fullmatch(line)
    if found is None or len(line) not in _PCB_LENGTHS:
        return MALFORMED
    unit = (found["unit"] or "").strip(" ")
    return weigh(number(found["value"]), unit, profile, stable=bool(unit))  # no unit until the weight is at rest


PROTOCOLS = (
    Protocol("kern-ew", text(_read_ew)),
    Protocol("kern-pcb", text(_read_pcb), has_header=False, talk=Talk(b"w", tare=b"t")),
)
