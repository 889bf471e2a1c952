"""Printed numbers, and what they weigh in a unit."""

from __future__ import annotations

import re
from decimal import Decimal

from devices.scales.profile import Profile
from devices.scales.units import GRAMS, OTHER_QUANTITIES, SPELLINGS, TAELS, Spellings
from devices.scales.weighing import MALFORMED, Weighing

_NUMBER = re.compile(r" *([+-]?) *([0-9]{1,12}(?:[.,][0-9]{1,12})?) *")
_DIGITS = 15


def number(text: str) -> Decimal | None:
    """Return a printed number, or None where it is none.

    One sign at the most, blanks around it; one decimal point or comma, with digits on both sides.
    """
    found = _NUMBER.fullmatch(text)
    if found is None or len(found[2]) > _DIGITS:
        return None
    value = Decimal(found[2].replace(",", "."))
    return -value if found[1] == "-" else value


def weigh(
    value: Decimal | None,
    unit: str,
    profile: Profile,
    *,
    stable: bool | None,
    is_net: bool | None = None,
    spellings: Spellings = SPELLINGS,
) -> Weighing:
    """Put a number and a unit as printed together; a blank unit is the profile's. Exact up to the last float."""
    if value is None:
        return MALFORMED
    printed = unit.strip()
    if printed in TAELS:
        return Weighing(unit="tael", stable=stable, is_net=is_net, error="unit_ambiguous")
    if printed in OTHER_QUANTITIES:
        return Weighing(unit=OTHER_QUANTITIES[printed], stable=stable, is_net=is_net, error="not_mass")
    meant = spellings.get(printed) if printed else profile.unit_default
    if meant is None:
        return MALFORMED if printed else Weighing(stable=stable, is_net=is_net, error="unit_missing")
    grams = float(value * GRAMS[meant]) + 0.0  # makes a negative zero plain
    return Weighing(grams=grams, unit=meant, stable=stable, is_net=is_net)
