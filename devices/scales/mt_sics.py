"""Mettler Toledo's Standard Interface Command Set, and Kern's KCP that follows it."""

from __future__ import annotations

import re
from dataclasses import replace

from devices.scales.numbers import number, weigh
from devices.scales.profile import Profile
from devices.scales.protocol import Protocol, Talk, text
from devices.scales.weighing import MALFORMED, NOT_WEIGHT, OVERLOAD, UNDERLOAD, Weighing, refused

# The value is right-aligned in ten characters, or not padded at all; so one that lost a digit is neither.
_WEIGHT = re.compile(
    r"S (?P<status>[SD]) (?P<value>(?=.{9}[0-9](?: |$)) *-?[0-9.,]+|[+-]?[0-9.,]+)(?: (?P<unit>[A-Za-z%]{1,5}))? *"
)
_LEADING_ZEROS = re.compile(r" *[+-]?0[0-9]")
_WITHOUT_WEIGHT = {
    "S I": refused("busy"),
    "S +": OVERLOAD,
    "S -": UNDERLOAD,
    "S L": refused("logical_error"),
    "ES": refused("syntax_error"),
    "ET": refused("transmission_error"),
    "EL": refused("logical_error"),
}
_ANSWER = re.compile(r"(?P<to>@|[A-Z]{1,4}[0-9]{0,2}) (?P<code>[A-DILRS+-])(?: .*)?")


def _read(line: str, profile: Profile) -> Weighing:
    plain = line.rstrip(" ")
    if (known := _WITHOUT_WEIGHT.get(plain)) is not None:
        return known
    if (found := _WEIGHT.fullmatch(line)) is not None:
        value = None if _LEADING_ZEROS.match(found["value"]) else number(found["value"])
        return weigh(value, found["unit"] or "", profile, stable=found["status"] == "S")
    if (answer := _ANSWER.fullmatch(plain)) is not None and answer["to"] != "S":
        return _answered(answer["to"], answer["code"])
    return MALFORMED


def _answered(to: str, code: str) -> Weighing:
    """Read the answer to a command that asked for something else than the weight."""
    if code == "I":
        return refused("busy")
    if code == "L":
        return refused("logical_error")
    if code in "+-":
        return refused("zero_error" if to.startswith("Z") else "tare_error" if to.startswith("T") else "device_error")
    return NOT_WEIGHT


MT_SICS = Protocol("mt-sics", text(_read), talk=Talk(b"SI\r\n", zero=b"Z\r\n", tare=b"T\r\n"))
KERN_KCP = replace(MT_SICS, name="kern-kcp")
PROTOCOLS = (MT_SICS, KERN_KCP)
