"""Radwag balances: 21 bytes an answer, and short words about commands."""

from __future__ import annotations

import re
from collections.abc import Mapping

from devices.scales.numbers import number, weigh
from devices.scales.profile import Profile
from devices.scales.protocol import Protocol, Talk, text
from devices.scales.weighing import MALFORMED, NOT_WEIGHT, OVERLOAD, UNDERLOAD, Weighing, refused

_WEIGHT = re.compile(r"(?P<command>S  |SI |SU |SUI)(?P<rest>[ ?^v]) (?P<value>.{10}) (?P<unit>.{3})")
_ANSWER = re.compile(r"(?P<to>[A-Z]{1,4}[0-9]?) (?P<code>[ADIELv^])")
_WORDS: Mapping[str, Weighing] = {
    "A": NOT_WEIGHT,
    "D": NOT_WEIGHT,
    "I": refused("busy"),
    "E": refused("stability_timeout"),
    "L": refused("logical_error"),
}
_WEIGHING = frozenset({"S", "SI", "SU", "SUI"})


def _read(line: str, profile: Profile) -> Weighing:
    if line.rstrip(" ") == "ES":
        return refused("syntax_error")
    if (answer := _ANSWER.fullmatch(line.rstrip(" "))) is not None:
        return _answered(answer["to"], answer["code"])
    found = _WEIGHT.fullmatch(line)
    if found is None:
        return MALFORMED
    if found["rest"] in "^v":
        return OVERLOAD if found["rest"] == "^" else UNDERLOAD
    value = None if found["value"].endswith(" ") else number(found["value"])
    return weigh(value, found["unit"], profile, stable=found["rest"] == " ")


def _answered(to: str, code: str) -> Weighing:
    if code in _WORDS:
        return _WORDS[code]
    if to in _WEIGHING:
        return OVERLOAD if code == "^" else UNDERLOAD
    return refused("zero_error" if to.startswith("Z") else "tare_error" if to.startswith("T") else "device_error")


RADWAG = Protocol("radwag", text(_read), talk=Talk(b"SI\r\n", zero=b"Z\r\n", tare=b"T\r\n"))
PROTOCOLS = (RADWAG,)
