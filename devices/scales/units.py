"""Units of weight, exact, and the spellings that scales use for them."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

GRAMS: Mapping[str, Decimal] = {
    "g": Decimal(1),
    "kg": Decimal(1000),
    "mg": Decimal("0.001"),
    "lb": Decimal("453.59237"),
    "oz": Decimal("28.349523125"),
    "ozt": Decimal("31.1034768"),
    "ct": Decimal("0.2"),
    "gr": Decimal("0.06479891"),
    "dwt": Decimal("1.55517384"),
    "mom": Decimal("3.75"),
    "tola": Decimal("11.6638038"),
    "t": Decimal(1_000_000),
}
"""Grams in one of each unit."""

Spellings = Mapping[str, str]

SPELLINGS: Spellings = {
    **{unit: unit for unit in GRAMS},
    **dict.fromkeys(("Kg", "KG"), "kg"),
    **dict.fromkeys(("LB", "Lb", "lbs", "LBS"), "lb"),
    **dict.fromkeys(("OZ", "Oz"), "oz"),
    "OZT": "ozt",
    "CT": "ct",
    **dict.fromkeys(("GN", "gn", "GR"), "gr"),
    "DWT": "dwt",
}
"""What most makers mean; `gr` is grain everywhere, never gram."""

TAELS = frozenset({"tl", "TL", "tael", "TAEL", "tls", "tlt", "tlh"})
"""One code for at least three regional weights."""

OTHER_QUANTITIES: Mapping[str, str | None] = {
    **dict.fromkeys(("pcs", "PCS", "Pcs", "pc", "PC"), "pcs"),
    "%": "%",
    "N": "N",
    "DS": None,
}
"""Pieces, percent, newton and density: quantities that are no weight, by spelling; None has no unit."""
