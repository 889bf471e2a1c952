"""A&D balances: the standard format and its menu variants (DP, NU, CSV)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from devices.scales.assembler import Assembler
from devices.scales.numbers import number, weigh
from devices.scales.profile import Profile
from devices.scales.protocol import Line, Protocol, Talk, text
from devices.scales.units import SPELLINGS
from devices.scales.weighing import MALFORMED, NOT_WEIGHT, OVERLOAD, UNDERLOAD, Weighing, refused

ACK = b"\x06"

_SPELLINGS = {**SPELLINGS, "t": "tola"}
_NUMBER = r"(?P<number>[+-][0-9.,]{7,9})"
_IN_FRONT = r"(?:[A-Za-z0-9 ./:_-]{1,20}[,;]){0,6}?"
_HEADER = r"(?P<header>ST|US|QT|WT)"
_SECOND = r"(?:(?:HI|OK|LO|--)[,;])?"
_UNIT = r"(?P<unit> {3}|  \S| \S{2}|\S{3})"  # right-aligned
_FORMS = tuple(
    re.compile(form)
    for form in (
        # CSV puts a comma before the unit and may put identifier, date and time in front.
        rf"{_IN_FRONT}{_HEADER}[,;]{_SECOND}{_NUMBER}[,;]{_UNIT}",
        rf"{_HEADER}[,;]{_SECOND}{_NUMBER}{_UNIT}",
        rf"(?=.{{15,16}}$){_HEADER} +(?P<number>[+-][0-9.,]+){_UNIT}",
        _NUMBER,
    )
)
_OUT_OF_RANGE = re.compile(rf"{_IN_FRONT}OL(?:[,;]| +){_SECOND}(?P<sign>[+-])(?:[0-9., ]+|9{{7}}E\+19)(?:[,;]?.{{3}})?")
_TROUBLE = re.compile(r"EC,E(?P<code>[0-9]{2})")
_TROUBLES: Mapping[str, str] = {
    "00": "transmission_error",
    "01": "syntax_error",
    "02": "busy",
    "03": "transmission_error",
    "04": "syntax_error",
    "06": "syntax_error",
    "07": "logical_error",
    "11": "stability_timeout",
}


def _read(line: str, profile: Profile) -> Weighing:
    if line == ACK.decode():
        return NOT_WEIGHT
    if (trouble := _TROUBLE.fullmatch(line)) is not None:
        return refused(_TROUBLES.get(trouble["code"], "device_error"))
    if (found := _OUT_OF_RANGE.fullmatch(line)) is not None:
        return UNDERLOAD if found["sign"] == "-" else OVERLOAD
    for form in _FORMS:
        if (found := form.fullmatch(line)) is not None:
            return _weighed(found.groupdict(), profile)
    return MALFORMED


def _weighed(parts: Mapping[str, str], profile: Profile) -> Weighing:
    stable = parts["header"] != "US" if "header" in parts else None
    return weigh(number(parts["number"]), parts.get("unit", ""), profile, stable=stable, spellings=_SPELLINGS)


def _cut(profile: Profile) -> Assembler:
    return Assembler(alone=ACK, is_aligned=profile.aligned)


AND_STANDARD = Protocol(
    "and-standard",
    text(_read, allowed=ACK.decode()),
    _cut,
    line=Line(2400, 7, "E"),
    talk=Talk(b"Q\r\n", zero=b"Z\r\n", tare=b"T\r\n"),
)
PROTOCOLS = (AND_STANDARD,)
