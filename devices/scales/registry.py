"""All protocols by name."""

from __future__ import annotations

from collections.abc import Mapping

from devices.scales import (
    aandd,
    adam,
    boards,
    cas,
    gram,
    hid,
    kern,
    mt_sics,
    nci,
    ohaus,
    radwag,
    sartorius,
    small,
    st_gs,
    toledo,
    yaohua,
)
from devices.scales.protocol import Protocol

_FAMILIES = (
    mt_sics,
    toledo,
    aandd,
    st_gs,
    cas,
    yaohua,
    ohaus,
    sartorius,
    kern,
    adam,
    nci,
    radwag,
    gram,
    small,
    boards,
    hid,
)

PROTOCOLS: Mapping[str, Protocol] = {one.name: one for family in _FAMILIES for one in family.PROTOCOLS}
