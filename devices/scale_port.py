"""Ports that a scale can hang on, and what their failures mean."""

from __future__ import annotations

import errno
import os
import select
import termios
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, Protocol
from urllib.parse import urlsplit

import serial

from devices.errors import ScaleAway, ScaleUnknown
from devices.holders import holders
from devices.scales.protocol import Line

READ_S = 0.1
"""A read waits no longer than this for its first byte."""

WRITE_S = 1.0
FAULTS = (OSError, termios.error, TypeError, ValueError, NotImplementedError)
"""What pyserial raises when a device is pulled out, by call and by version; `SerialException` is an OSError."""

_HIDRAW = "/dev/hidraw"
_REPORT_BYTES = 64


class Port(Protocol):
    """Bytes to and from a scale."""

    def read(self) -> bytes:
        """Return what came, after a tenth of a second at the most; empty where nothing did."""

    def write(self, data: bytes) -> None:
        """Send these bytes."""

    def close(self) -> None:
        """Give the port back."""


Opener = Callable[[str, Line], Port]


class SerialPort:
    """Any address that pyserial opens, for ourselves alone where the system can do that."""

    def __init__(self, url: str, line: Line) -> None:
        self._serial = serial.serial_for_url(
            url,
            do_not_open=True,
            baudrate=line.baud,
            bytesize=line.bits,
            parity=line.parity,
            timeout=READ_S,
            write_timeout=WRITE_S if is_node(url) else None,  # not every kind of address can do that
            exclusive=True if is_node(url) else None,
        )
        self._serial.open()

    def read(self) -> bytes:
        """Return what came."""
        first = self._serial.read(1)
        return first + self._serial.read(self._serial.in_waiting) if first else b""

    def write(self, data: bytes) -> None:
        """Send these bytes."""
        self._serial.write(data)

    def close(self) -> None:
        """Give the port back, also where it is gone already."""
        link = getattr(self._serial, "_socket", None)  # pyserial forgets to close one whose other end went first
        with suppress(*FAULTS):
            self._serial.close()
        if link is not None:
            link.close()


class HidPort:
    """A postal scale's report stream under Linux; nothing is ever written to it."""

    def __init__(self, node: str) -> None:
        self._handle = os.open(node, os.O_RDONLY | os.O_NONBLOCK)

    def read(self) -> bytes:
        """Return the next report."""
        ready, _, _ = select.select([self._handle], [], [], READ_S)
        if not ready:
            return b""
        report = os.read(self._handle, _REPORT_BYTES)
        if not report:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return report

    def write(self, data: bytes) -> None:
        """Say nothing: these scales are not spoken to."""

    def close(self) -> None:
        """Give the node back."""
        os.close(self._handle)


def is_node(url: str) -> bool:
    """Tell whether an address is a device of this machine."""
    return "://" not in url


def open_port(url: str, line: Line) -> Port:
    """Open an address; ScaleAway where it is not to be had, ScaleUnknown where it makes no sense."""
    try:
        return HidPort(url) if url.startswith(_HIDRAW) else SerialPort(url, line)
    except FAULTS as error:
        raise _refused(url, error) from error


def check_address(url: str) -> None:
    """Refuse an address that no reader of ours knows; nothing is opened."""
    try:
        serial.serial_for_url(url, do_not_open=True)
    except FAULTS as error:
        valid = ("/dev/ttyUSB0", "socket://HOST:PORT", "rfc2217://HOST:PORT", "sim://scale?protocol=NAME")
        raise ScaleUnknown(scale=without_password(url), what="url", valid=valid) from error


def without_password(url: str) -> str:
    """Return an address with its user and password, if any, left out."""
    host = urlsplit(url).netloc
    return url.replace(host, host.rpartition("@")[2], 1) if "@" in host else url


def _refused(url: str, error: BaseException) -> ScaleAway:
    """Say why a port did not open."""
    number, values = _number(error), {"scale": without_password(url), "reason": _reason(url, error)}
    if is_node(url) and (number in (errno.ENOENT, errno.ENXIO, errno.ENODEV) or not os.path.exists(url)):
        return ScaleAway("scale_missing", **values)
    if number in (errno.EACCES, errno.EPERM):
        return ScaleAway("scale_forbidden", **values, group="dialout")
    if number in (errno.EBUSY, errno.EAGAIN):
        return ScaleAway("scale_busy", **values, holders=holders(url))
    return ScaleAway("scale_refused", **values)


def lost(url: str, error: BaseException) -> ScaleAway:
    """Say why an open port failed: its node is gone, or it is there and somebody else reads from it."""
    code: Literal["scale_taken", "scale_gone"] = "scale_gone"
    values: dict[str, object] = {"scale": without_password(url), "reason": _reason(url, error)}
    if is_node(url) and os.path.exists(url) and (others := holders(url)):
        code, values = "scale_taken", {**values, "holders": others}
    return ScaleAway(code, **values)


def _number(error: BaseException) -> int | None:
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    first = error.args[0] if error.args else None
    return first if isinstance(first, int) else None


def _reason(url: str, error: BaseException) -> str:
    number = _number(error)
    return os.strerror(number) if number is not None else str(error).replace(url, without_password(url))
