"""Generic indicators that send `ST,GS,+  0.123kg`, in the dialects that their many makers gave it."""

from __future__ import annotations

import re
from decimal import Decimal

from devices.scales.numbers import number, weigh
from devices.scales.profile import Profile
from devices.scales.protocol import Protocol, Talk, text
from devices.scales.weighing import MALFORMED, NOT_WEIGHT, OVERLOAD, UNDERLOAD, Weighing

_FRAME = re.compile(r"(?P<status>ST|US|OL), ?(?P<mode>GS|NT|TR|PT|[GNT](?= ?,| ?[+-]| )) ?(?P<comma>,?)(?P<rest>.*)")
_LOAD = re.compile(r"(?P<sign>[+-]?)(?P<value> *[0-9]+(?:[.,][0-9]+)?),? {0,2}(?P<unit>[A-Za-z%]{0,3})")
_OUT_OF_RANGE = re.compile(r" *(?P<sign>[+-]?)[ 0-9.,]*[A-Za-z%]{0,3}")
_PIECES = re.compile(r" *(?P<value>[0-9]+) ?(?P<unit>PCS|pcs)")
_WIDTH, _WIDTH_WITHOUT_POINT, _WIDTH_WITHOUT_SIGN = 6, 7, 8


def _read(line: str, profile: Profile) -> Weighing:
    plain = line.rstrip(" \t")
    if (pieces := _PIECES.fullmatch(plain)) is not None:
        return weigh(number(pieces["value"]), pieces["unit"], profile, stable=None)
    frame = _FRAME.fullmatch(plain)
    if frame is None:
        return MALFORMED
    if frame["mode"][0] in "TP":
        return NOT_WEIGHT
    if frame["status"] == "OL":
        return _out_of_range(frame["rest"])
    found = _LOAD.fullmatch(frame["rest"])
    if found is None:
        return MALFORMED
    return weigh(
        _value(found["sign"], found["value"], has_comma=bool(frame["comma"])),
        found["unit"],
        profile,
        stable=frame["status"] == "ST",
        is_net=frame["mode"][0] == "N",
    )


def _out_of_range(rest: str) -> Weighing:
    found = _OUT_OF_RANGE.fullmatch(rest)
    if found is None:
        return MALFORMED
    return UNDERLOAD if found["sign"] == "-" else OVERLOAD


def _value(sign: str, value: str, *, has_comma: bool) -> Decimal | None:
    """Return the number, None where it is too narrow for its field: something was lost, a sign perhaps."""
    has_point = "." in value or "," in value
    width = (_WIDTH if has_point else _WIDTH_WITHOUT_POINT) if sign else _WIDTH_WITHOUT_SIGN if has_comma else 0
    return number(sign + value) if len(value) >= width else None


ST_GS = Protocol("st-gs", text(_read, allowed="\t"), talk=Talk(b"R", zero=b"Z", tare=b"T"))
PROTOCOLS = (ST_GS,)
