"""North American retail and bench scales: NCI's ECR protocol, and the Scale Manufacturers Association's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal

from devices.scales.assembler import Assembler
from devices.scales.numbers import number, weigh
from devices.scales.profile import Profile
from devices.scales.protocol import Protocol, Talk, text
from devices.scales.weighing import MALFORMED, NOT_WEIGHT, OVERLOAD, UNDERLOAD, Weighing, refused

ETX = b"\x03"

_WEIGHT = r"\n(?P<shown>[^\r\n]+)\r"
_ECR = re.compile(rf"(?:[^\n]*)(?:{_WEIGHT})?\n(?P<status>[^\r\n]{{2,8}})\r")
_UNKNOWN = re.compile(r"[^\n]*\n\?\r")
_LOAD = re.compile(r"(?P<value>-?[ 0-9.,]{4,9}) ?(?P<unit>[A-Za-z]{1,2})")
_POUNDS = re.compile(r" *(?P<lb>[0-9]{1,4}) ?LB *(?P<oz>[0-9]{1,2}(?:[.,][0-9]{1,3})?) ?OZ", re.IGNORECASE)
_FILLED: Mapping[str, Weighing] = {"^": OVERLOAD, "_": UNDERLOAD, "-": refused("zero_error")}
_FILL = 9
_OUNCES = 16


def _cut_ecr(profile: Profile) -> Assembler:
    return Assembler(line_ends=ETX, is_aligned=profile.aligned)


def _read_ecr(frame: str, profile: Profile) -> Weighing:
    if _UNKNOWN.fullmatch(frame):
        return refused("unknown_command")
    found = _ECR.fullmatch(frame)
    if found is None:
        return MALFORMED
    if found["shown"] is None:
        return refused("status_only")  # what the bits of a status mean differs by model
    shown = found["shown"]
    if shown[:_FILL] == shown[0] * _FILL and shown[0] in _FILLED:
        return _FILLED[shown[0]]
    if (pounds := _POUNDS.fullmatch(shown)) is not None:
        return weigh(_pounds(pounds["lb"], pounds["oz"]), "lb", profile, stable=None)
    load = _LOAD.fullmatch(shown)
    return weigh(number(load["value"]), load["unit"], profile, stable=None) if load else MALFORMED


def _pounds(pounds: str, ounces: str) -> Decimal | None:
    more = Decimal(ounces.replace(",", "."))
    return Decimal(pounds) + more / _OUNCES if more < _OUNCES else None


_SMA = re.compile(r"(?P<status>[ ZOUEIT])[ 0-9](?P<mode>[GgNnTt])(?P<motion>[M ]).(?P<value>.{10})(?P<unit>.{3})")
_SMA_STATES: Mapping[str, Weighing] = {
    "O": OVERLOAD,
    "U": UNDERLOAD,
    "E": refused("zero_error"),
    "I": refused("zero_error"),
    "T": refused("tare_error"),
}
_SMA_ANSWERS = {"?": refused("unknown_command"), "!": refused("transmission_error")}
_SMA_INFORMATION = re.compile(r"[A-Z]{2,4} ?:.*")
_NO_VALUE = "-" * 10


def _read_sma(line: str, profile: Profile) -> Weighing:
    if line in _SMA_ANSWERS:
        return _SMA_ANSWERS[line]
    if _SMA_INFORMATION.fullmatch(line):
        return NOT_WEIGHT
    found = _SMA.fullmatch(line)
    if found is None:
        return MALFORMED
    if (state := _SMA_STATES.get(found["status"])) is not None:
        return state
    if found["value"] == _NO_VALUE:
        return refused("busy")
    if found["mode"] in "Tt":
        return NOT_WEIGHT
    return weigh(
        number(found["value"]) if found["value"][-1] != " " else None,
        found["unit"],
        profile,
        stable=found["motion"] != "M",
        is_net=found["mode"] in "Nn",
    )


PROTOCOLS = (
    Protocol("nci-ecr", text(_read_ecr, allowed="\r\n"), _cut_ecr, says_stable=False, talk=Talk(b"W\r", every_ms=1000)),
    Protocol("sma", text(_read_sma), talk=Talk(b"\nW\r", zero=b"\nZ\r", tare=b"\nT\r")),
)
