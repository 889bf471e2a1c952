"""Adam Equipment scales: one line, or the lines of a ticket, of which one is the pan."""

from __future__ import annotations

import re

from devices.scales.numbers import number, weigh
from devices.scales.profile import Profile
from devices.scales.protocol import Line, Protocol, Talk, text
from devices.scales.weighing import MALFORMED, NOT_WEIGHT, Weighing

_PLAIN = re.compile(r"(?P<value>[ +-] *-?[0-9.,]+)(?P<unit>.{3})")
_PLAIN_LENGTH = 16
_LABEL = re.compile(r"(?P<value>[ -] *-?[0-9.,]+)(?P<unit>kg|Kg|KG|lb|LB|g|oz|OZ)")
_LABEL_WIDTHS = (7, 8, 9)
_TICKET = re.compile(r"(?P<name>[A-Za-z][A-Za-z .:]*?)(?P<rest>[ :]+[+-]? *[0-9].*|)")
_AMOUNT = re.compile(r"[ :]*(?P<value>[+-]? *[0-9.,]+) ?(?P<unit>[A-Za-z%]{1,3})?")
_NET = frozenset({"net", "nt", "n", "net wt"})
_GROSS = frozenset({"gross", "gs", "g", "gross wt"})
_NOT_THE_PAN = frozenset(
    {"t", "tare", "total", "ttl", "unit wt", "no", "pcs", "pc", "tare wt", "pt", "date", "time", "id"}
)


def _read(line: str, profile: Profile) -> Weighing:
    if len(line) == _PLAIN_LENGTH and (found := _PLAIN.fullmatch(line)) is not None:
        return weigh(number(found["value"]), found["unit"], profile, stable=None)
    plain = line.rstrip(" ")
    if (found := _LABEL.fullmatch(plain)) is not None and len(found["value"]) in _LABEL_WIDTHS:
        return weigh(number(found["value"]), found["unit"], profile, stable=None)
    return _read_ticket(plain, profile)


def _read_ticket(line: str, profile: Profile) -> Weighing:
    found = _TICKET.fullmatch(line)
    name = found["name"].strip(" .:").lower() if found else ""
    if name in _NOT_THE_PAN:
        return NOT_WEIGHT
    amount = _AMOUNT.fullmatch(found["rest"]) if found else None
    if amount is None or name not in _NET | _GROSS:
        return MALFORMED
    return weigh(number(amount["value"]), amount["unit"] or "", profile, stable=None, is_net=name in _NET)


ADAM = Protocol(
    "adam",
    text(_read),
    has_header=False,
    says_stable=False,
    line=Line(4800),
    talk=Talk(b"P\r\n", every_ms=1000, zero=b"Z\r\n", tare=b"T\r\n", is_shy=True),
)
PROTOCOLS = (ADAM,)
