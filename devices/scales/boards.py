"""Load-cell boards: home-made ones around an HX711, and SparkFun's OpenScale."""

from __future__ import annotations

import json
import re
from decimal import Decimal

from devices.scales.numbers import number, weigh
from devices.scales.profile import Profile
from devices.scales.protocol import Protocol, text
from devices.scales.units import SPELLINGS
from devices.scales.weighing import MALFORMED, NOT_WEIGHT, Weighing, refused

_SPELLINGS = {**SPELLINGS, "gram": "g", "grams": "g", "Grams": "g"}
_RAW = re.compile(r"(?:HX711 reading|raw(?: value| reading)?): *-?[0-9]+", re.IGNORECASE)
_TROUBLE = re.compile(r"HX711 not found.*|Timeout, check MCU ?> ?HX711 wiring.*", re.IGNORECASE)
_AVERAGED = re.compile(r"one reading:\t(?P<rest>[^\t|]*)\t?\| average:.*", re.IGNORECASE)
_LABELLED = re.compile(
    r"(?:weight|mass|reading|load|load_cell output val|one reading)[ \t]*(?:[:=][ \t]*|[ \t]+)(?P<rest>.*)",
    re.IGNORECASE,
)
_VALUE = re.compile(r"[ \t]*(?P<value>[ +-]*[0-9][0-9.,]*)[ \t]*(?P<unit>[A-Za-z%]*)[ \t]*")
_NUMBERLIKE = re.compile(r"[ \t+.-]*(?:[0-9]|nan\b|inf\b|ovf\b)", re.IGNORECASE)
_DIGITS = 12
# All ones of a converter of 20 bits or more: a saturated input or a spoilt sample.
_FULL_SCALES = frozenset(Decimal(2**bits - 1) for bits in range(20, 25)) | {Decimal(-(2**23))}
_WORDS_FOR_NO_UNIT = frozenset({"unit", "units"})


def _read_line(line: str, profile: Profile) -> Weighing:
    plain = line.strip(" \t")
    if _RAW.fullmatch(plain):
        return refused("raw_counts")
    if _TROUBLE.fullmatch(plain):
        return refused("device_error")
    if plain.startswith("{"):
        return _read_json(plain, profile)
    found = _AVERAGED.fullmatch(plain) or _LABELLED.fullmatch(plain)
    shown = plain if found is None else found["rest"]
    return _value(shown, profile) if _NUMBERLIKE.match(shown) else NOT_WEIGHT


def _value(shown: str, profile: Profile) -> Weighing:
    found = _VALUE.fullmatch(shown)
    if found is None:
        return MALFORMED
    value = number(found["value"])
    if value in _FULL_SCALES:
        return refused("raw_counts")
    unit = "" if found["unit"].lower() in _WORDS_FOR_NO_UNIT else found["unit"]
    return weigh(value, unit, profile, stable=None, spellings=_SPELLINGS)


def _no_constant(name: str) -> Decimal:
    raise ValueError(name)


def _read_json(line: str, profile: Profile) -> Weighing:
    try:
        shown = json.loads(line, parse_float=Decimal, parse_int=Decimal, parse_constant=_no_constant)
    except (ValueError, ArithmeticError, RecursionError):
        return MALFORMED
    value = next((shown[name] for name in ("weight", "mass", "reading") if name in shown), None)
    unit = next((shown[name] for name in ("unit", "units") if name in shown), "")
    if not isinstance(value, Decimal) or abs(value.adjusted()) > _DIGITS or not isinstance(unit, str):
        return MALFORMED
    return weigh(value, unit, profile, stable=None, spellings=_SPELLINGS)


_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
_OPEN_SCALE = re.compile(
    rf"(?:(?P<time>[0-9]+),)?(?P<value>{_NUMBER}),(?P<unit>kg|lbs),(?:-?[0-9]+,)?(?:{_NUMBER},){{0,2}}"
)
_BARE = re.compile(rf"(?P<first>{_NUMBER}),(?:(?P<second>{_NUMBER}),)?(?:{_NUMBER},){{0,3}}")


def _read_open_scale(line: str, profile: Profile) -> Weighing:
    plain = line.rstrip(" \t")
    if (found := _OPEN_SCALE.fullmatch(plain)) is not None:
        if profile.timestamp is not None and profile.timestamp != (found["time"] is not None):
            return MALFORMED
        return weigh(number(found["value"]), found["unit"], profile, stable=None)
    if (bare := _BARE.fullmatch(plain)) is not None:
        return _without_unit(bare["first"], bare["second"], profile)
    return MALFORMED if _NUMBERLIKE.match(plain) and plain.count(",") > 1 else NOT_WEIGHT


def _without_unit(first: str, second: str | None, profile: Profile) -> Weighing:
    """Read a line whose unit is switched off: which number is the weight can only be said by the settings."""
    if profile.timestamp is None or profile.unit_default is None:
        return Weighing(error="unit_missing")
    shown = second if profile.timestamp else first
    return weigh(number(shown or ""), "", profile, stable=None)


PROTOCOLS = (
    Protocol(
        "hx711-line",
        text(_read_line, allowed="\t"),
        has_header=False,
        has_columns=False,
        says_stable=False,
        has_spikes=True,
    ),
    Protocol("openscale", text(_read_open_scale, allowed="\t"), has_header=False, says_stable=False, has_spikes=True),
)
