"""The header's pins through gpiozero: one factory chosen by name, and every failure as data.

gpiozero's own choice of a factory hides why the better ones failed, its `bounce_time` loses presses, and its factories
share one table of pins for the whole process. So there is one header, its factory is named, and debouncing is ours.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gpiozero import GPIOPinInUse, InputDevice, OutputDevice, PinInvalidPin
from gpiozero.exc import PinUnknownPi

from devices.errors import DeviceError, GpioAway
from devices.holders import holders
from devices.pins import pin_name

_STALE_US = 10_000_000

Opener = Callable[[], Any]
"""Makes a gpiozero pin factory."""


def monotonic_us() -> int:
    """Return the time in microseconds that no setting of the wall clock moves."""
    return time.monotonic_ns() // 1000


def _lgpio() -> Any:
    with _writable_folder():
        return importlib.import_module("gpiozero.pins.lgpio").LGPIOFactory()


@contextlib.contextmanager
def _writable_folder() -> Iterator[None]:
    """Lend lgpio a folder where ours is none it can write to: it puts a pipe there and changes to it."""
    if os.access(".", os.W_OK):
        yield
        return
    ours = Path.cwd()
    os.environ.setdefault("LG_WD", tempfile.gettempdir())
    try:
        yield
    finally:
        os.chdir(ours)


def _mock() -> Any:
    return importlib.import_module("gpiozero.pins.mock").MockFactory()


FACTORIES: dict[str, Opener] = {"lgpio": _lgpio, "mock": _mock}
"""The factories that may be named in the settings."""


def opener(gpio: str) -> Opener:
    """Return what opens a factory of this name; GpioAway where there is no such name."""
    if gpio not in FACTORIES:
        raise GpioAway("gpio_unknown_factory", given=gpio, valid=tuple(FACTORIES))
    return FACTORIES[gpio]


class Contact:
    """An input pin that a button closes to ground."""

    def __init__(self, factory: Any, gpio: int, on_edge: Callable[[bool, int], None]) -> None:
        self._name, self._on_edge = pin_name(gpio), on_edge
        with _explained(self._name):
            factory.pin(gpio)  # a pin that fails inside the device would stay reserved for it
            self._device = InputDevice(gpio, pull_up=True, pin_factory=factory)
            self._device.pin.edges = "both"
            self._device.pin.when_changed = self._changed  # held weakly by gpiozero, so for as long as we live

    def _changed(self, ticks: float, is_high: bool) -> None:
        """Take an edge with the kernel's time where that is of our clock; called in a thread of gpiozero's."""
        now_us, at_us = monotonic_us(), int(ticks * 1_000_000)
        self._on_edge(not is_high, at_us if 0 <= now_us - at_us < _STALE_US else now_us)

    def is_closed(self) -> bool:
        """Look at the pin; GpioAway where that fails."""
        with _explained(self._name):
            return bool(self._device.is_active)

    def close(self) -> None:
        """Give the pin back, whatever state it is in."""
        with contextlib.suppress(Exception):
            self._device.pin.when_changed = None  # lgpio's pins go on telling otherwise
        _give_back(self._device)


class Lamp:
    """An output pin, high for light."""

    def __init__(self, factory: Any, gpio: int) -> None:
        self._name, self._is_lit = pin_name(gpio), False
        with _explained(self._name):
            factory.pin(gpio)
            self._device = OutputDevice(gpio, initial_value=False, pin_factory=factory)

    def show(self, is_lit: bool) -> None:
        """Light it or not; GpioAway where that fails."""
        if is_lit != self._is_lit:
            with _explained(self._name):
                self._device.value = is_lit
            self._is_lit = is_lit

    def close(self) -> None:
        """Put it out and give the pin back, whatever state it is in."""
        with contextlib.suppress(Exception):
            self._device.off()
        _give_back(self._device)


def _give_back(device: Any) -> None:
    with contextlib.suppress(Exception):
        device.close()
    device._pin = None  # or gpiozero would try once more when it is collected, and complain on the terminal


class Header:
    """An open factory and what was claimed through it."""

    def __init__(self, open_factory: Opener) -> None:
        with _explained():
            self._factory = open_factory()
        self._claimed: list[Contact | Lamp] = []

    def contact(self, gpio: int, on_edge: Callable[[bool, int], None]) -> Contact:
        """Claim a pin for a button; `on_edge` gets (is closed, microseconds), in another thread."""
        contact = Contact(self._factory, gpio, on_edge)
        self._claimed.append(contact)
        return contact

    def lamp(self, gpio: int) -> Lamp:
        """Claim a pin for a lamp."""
        lamp = Lamp(self._factory, gpio)
        self._claimed.append(lamp)
        return lamp

    def close(self) -> None:
        """Put out every lamp and give all back, whatever fails on the way."""
        for device in self._claimed:
            device.close()
        self._claimed.clear()
        # A pin that cannot be closed would stay in gpiozero's table, with a handle that is gone.
        self._factory.pins.clear()
        with contextlib.suppress(Exception):
            self._factory.close()


@contextlib.contextmanager
def _explained(pin: str = "") -> Iterator[None]:
    """Turn whatever gpiozero and the library below it raise into GpioAway with the reason as it was said."""
    try:
        yield
    except DeviceError:
        raise
    except Exception as error:
        code = _code(error)
        values: dict[str, object] = {"reason": f"{type(error).__name__}: {error}"}
        values |= {"pin": pin} if pin else {}
        values |= {"holders": _others()} if code == "gpio_busy" else {}
        raise GpioAway(code, **values) from error


def _code(error: Exception) -> str:
    kinds = {
        ImportError: "gpio_library_missing",
        PinUnknownPi: "gpio_not_a_pi",
        GPIOPinInUse: "gpio_pin_in_use",
        PinInvalidPin: "gpio_pin_unknown",
        PermissionError: "gpio_forbidden",
    }
    text = str(error)
    if "GPIO busy" in text:  # lgpio has one kind of error for all
        return "gpio_busy"
    if "can not open gpiochip" in text:
        return "gpio_forbidden" if _chips() else "gpio_no_chip"
    return next((code for kind, code in kinds.items() if isinstance(error, kind)), "gpio_failed")


def _chips() -> list[Path]:
    return sorted(Path("/dev").glob("gpiochip*"))


def _others() -> tuple[str, ...]:
    return tuple(dict.fromkeys(other for chip in _chips() for other in holders(str(chip))))
