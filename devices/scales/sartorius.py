"""Sartorius balances (SBI): 16 characters with their line end, or 22 with an identifier in front."""

from __future__ import annotations

import re
from collections.abc import Mapping

from devices.scales.numbers import number, weigh
from devices.scales.profile import Profile
from devices.scales.protocol import Line, Protocol, Talk, text
from devices.scales.weighing import MALFORMED, NOT_WEIGHT, OVERLOAD, UNDERLOAD, Weighing, refused

_SHORT, _LONG, _IDENTIFIER = 14, 20, 6
_UNVERIFIED = re.compile(r"([0-9.,]+)\[([0-9]+)\]( *)$")
_TROUBLE = re.compile(r"err *[0-9]{1,4}", re.IGNORECASE)
_STATES: Mapping[str, Weighing] = {
    **dict.fromkeys(("High", "HIGH", "H", "HH"), OVERLOAD),
    **dict.fromkeys(("Low", "LOW", "L", "LL"), UNDERLOAD),
    "--": NOT_WEIGHT,
    **dict.fromkeys(("C", "Cal.", "Cal", "CAL", "CAL."), refused("calibrating")),
}
_ON_THE_PAN = re.compile(r"|N[0-9]?|G[#0-9]?|Qnt")


def _read(line: str, profile: Profile) -> Weighing:
    if len(line) not in (_SHORT, _LONG):
        return MALFORMED
    identifier, body = line[: len(line) - _SHORT].strip(" "), line[-_SHORT:]
    if (state := _state(body.strip(" "))) is not None:
        return state
    value = _value(body[:11])
    if value is None:
        return MALFORMED
    if not _ON_THE_PAN.fullmatch(identifier):
        return NOT_WEIGHT
    unit = body[11:]
    is_net = True if identifier[:1] == "N" else False if identifier[:1] == "G" else None
    # The unit is shown once the weight is at rest.
    return weigh(number(value), unit, profile, stable=bool(unit.strip(" ")), is_net=is_net)


def _state(shown: str) -> Weighing | None:
    return refused("device_error") if _TROUBLE.fullmatch(shown) else _STATES.get(shown)


def _value(field: str) -> str | None:
    """Return sign and digits; those in brackets are not verified, but part of the number."""
    plain = _UNVERIFIED.sub(r"\1\2\3", field)
    return plain if number(plain) is not None and (plain[-1] == " " or plain != field) else None


SARTORIUS_SBI = Protocol(
    "sartorius-sbi",
    text(_read),
    has_header=False,
    line=Line(9600, 8, "O"),
    talk=Talk(b"\x1bP", every_ms=300, zero=b"\x1bV", tare=b"\x1bU"),
)
PROTOCOLS = (SARTORIUS_SBI,)
