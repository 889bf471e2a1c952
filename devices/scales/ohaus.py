"""Ohaus scales: Scout, Navigator, Defender, Ranger. A blank where `?` could stand means stable."""

from __future__ import annotations

import re

from devices.scales.numbers import number, weigh
from devices.scales.profile import Profile
from devices.scales.protocol import Protocol, Talk, text
from devices.scales.weighing import MALFORMED, NOT_WEIGHT, Weighing, refused

# Printed examples differ from the stated widths, so fields are told by pattern; but none is narrower than nine, and
# this tells a frame from its tail.
_FRAME = re.compile(
    r"(?P<value>[ +-]{0,16}[0-9]+(?:[.,][0-9]+)?)"
    r"(?: (?P<unit>[A-Za-z%]{1,5})(?: *(?P<moves>\?))?(?: *(?P<legend>[A-Za-z0-9:/ ]+?))?)?"
)
_NARROWEST = 9
_CLOCK = re.compile(r"[0-9]{2}:[0-9]{2}:[0-9]{2}")
_NET = frozenset({"N", "NET"})
_GROSS = frozenset({"G", "B", "B/G", "GROSS"})
_LEGENDS = _NET | _GROSS | {"", "WET WT", "DRY WT", "AIR WT", "LIQ WT", "HI", "OK", "LO", "OVER", "UNDER", "ACCEPT"}
_NOT_THE_PAN = frozenset(
    {"TOTAL", "T", "TARE", "PT", "REF WT", "TARGET", "AVG", "MIN", "MAX", "PEAK", "HOLD", "DIF", "SD"}
)
_TROUBLE = re.compile(r"Err(?:or)? *[0-9.]+", re.IGNORECASE)


def _read(line: str, profile: Profile) -> Weighing:
    plain = line.rstrip(" \t")
    if plain == "OK!":
        return NOT_WEIGHT
    if plain == "ES":
        return refused("syntax_error")
    if _TROUBLE.fullmatch(plain.strip()):
        return refused("device_error")
    found = _FRAME.fullmatch(plain)
    if found is None or len(found["value"]) < _NARROWEST:
        return MALFORMED
    legend = (found["legend"] or "").strip().upper()
    if legend in _NOT_THE_PAN:
        return NOT_WEIGHT
    if legend not in _LEGENDS and not _CLOCK.fullmatch(legend):
        return MALFORMED
    is_net = True if legend in _NET else False if legend in _GROSS else None
    # Ohaus prints a unit always; a line without one comes from elsewhere, and its rest means nothing.
    stable = found["moves"] is None if found["unit"] else None
    return weigh(number(found["value"]), found["unit"] or "", profile, stable=stable, is_net=is_net)


OHAUS = Protocol(
    "ohaus",
    text(_read, allowed="\t"),
    has_header=False,
    has_columns=False,
    talk=Talk(b"IP\r\n", zero=b"Z\r\n", tare=b"T\r\n"),
)
PROTOCOLS = (OHAUS,)
