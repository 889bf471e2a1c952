"""Postal scales on USB (Dymo, Stamps.com): six-byte reports of the HID point-of-sale tables; not a serial line."""

from __future__ import annotations

from decimal import Decimal

from devices.scales.assembler import Assembler, Block
from devices.scales.numbers import weigh
from devices.scales.profile import Profile
from devices.scales.protocol import Protocol
from devices.scales.weighing import MALFORMED, OVERLOAD, UNDERLOAD, Weighing, refused

REPORT, LENGTH = 3, 6

_UNITS = {0: "", 1: "mg", 2: "g", 3: "kg", 4: "ct", 5: "tael", 6: "gr", 7: "dwt", 8: "t", 10: "ozt", 11: "oz", 12: "lb"}
_STABLE = {2: True, 3: False, 4: True}
_WITHOUT_WEIGHT = {
    1: refused("device_error"),
    5: UNDERLOAD,
    6: OVERLOAD,
    7: refused("device_error"),
    8: refused("zero_error"),
}
_POWERS = frozenset((0, 1, *range(256 - 8, 256)))
# A lost byte shifts the rest, to where it means nothing.
_FRAME = Block(length=LENGTH, free=frozenset(range(1, LENGTH)), only={1: range(1, 9), 2: range(13), 3: _POWERS})


def _signed(byte: int) -> int:
    return byte - 256 if byte > 127 else byte


def _cut(profile: Profile) -> Assembler:
    return Assembler({REPORT: _FRAME}, line_ends=b"")


def _decode(report: bytes, profile: Profile) -> Weighing:
    if len(report) != LENGTH:
        return MALFORMED
    status, unit, power = report[1:4]
    if status in _WITHOUT_WEIGHT:
        return _WITHOUT_WEIGHT[status]
    value = Decimal(int.from_bytes(report[4:], "little")).scaleb(_signed(power))
    if status == 2 and value:
        return MALFORMED
    return weigh(value, _UNITS.get(unit, "?"), profile, stable=_STABLE[status])


USB_HID_SCALE = Protocol("usb-hid-scale", _decode, _cut, is_serial=False, tail_error="malformed")
PROTOCOLS = (USB_HID_SCALE,)
