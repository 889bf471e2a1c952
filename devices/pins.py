"""The pins of a Raspberry Pi's header: where they are, what else uses them, and whether a wiring makes sense. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from devices.errors import WiringRefused

PLACES: Mapping[int, int] = {
    2: 3, 3: 5, 4: 7, 14: 8, 15: 10, 17: 11, 18: 12, 27: 13, 22: 15, 23: 16, 24: 18, 10: 19, 9: 21, 25: 22, 11: 23,
    8: 24, 7: 26, 0: 27, 1: 28, 5: 29, 6: 31, 12: 32, 13: 33, 19: 35, 16: 36, 26: 37, 20: 38, 21: 40,
}  # fmt: skip
"""GPIO number to place on the header (40 pins, the same on every Pi since the B+)."""

OTHER_USES: Mapping[int, str] = {
    0: "HAT EEPROM",
    1: "HAT EEPROM",
    2: "I2C",
    3: "I2C",
    4: "1-Wire",
    14: "serial console",
    15: "serial console",
}
"""Pins that an overlay or the system commonly takes; a button there works only where that is switched off."""


@dataclass(frozen=True, slots=True)
class Wiring:
    """Which pin (GPIO number) each named button and lamp is at, and how long a button settles and is held for.

    Buttons close to ground, the Pi's own pull-up holds them open; lamps are lit by a high pin.
    """

    buttons: Mapping[str, int] = field(default_factory=dict)
    lamps: Mapping[str, int] = field(default_factory=dict)
    settle_ms: int = 20
    hold_ms: int = 1000


@dataclass(frozen=True, slots=True)
class PinNote:
    """Something to know about a pin that is no mistake: another use that it commonly has."""

    name: str
    pin: str
    use: str


def pin_name(gpio: int) -> str:
    """Return what people call a pin: its number and its place on the header."""
    return f"GPIO{gpio} (pin {PLACES[gpio]})" if gpio in PLACES else f"GPIO{gpio}"


def check_wiring(wiring: Wiring) -> tuple[PinNote, ...]:
    """Return what to know about a wiring; WiringRefused names a pin that is none or used twice, or wrong times."""
    at = [*wiring.buttons.items(), *wiring.lamps.items()]
    for name, gpio in at:
        if gpio not in PLACES:
            raise WiringRefused("gpio_pin_unknown", name=name, pin=pin_name(gpio))
    users = defaultdict[int, list[str]](list)
    for name, gpio in at:
        users[gpio].append(name)
    for gpio, names in users.items():
        if len(names) > 1:
            raise WiringRefused("gpio_pin_twice", pin=pin_name(gpio), names=tuple(names))
    if not 1 <= wiring.settle_ms < wiring.hold_ms:
        raise WiringRefused("gpio_times", settle_ms=wiring.settle_ms, hold_ms=wiring.hold_ms)
    return tuple(PinNote(name, pin_name(gpio), OTHER_USES[gpio]) for name, gpio in at if gpio in OTHER_USES)
