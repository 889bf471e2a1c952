"""What is plugged in, for the settings page; and where a device went that the system gave another name."""

from __future__ import annotations

import fcntl
import importlib
import os
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

_QUERY_CAPABILITIES = 0x80685600
_CAPABILITY_BYTES = 104
_VIDEO_CAPTURE = 0x00000001
# Nodes of the Pi's own camera and codec blocks: they give no picture by themselves, picamera2 knows how to use them.
_NOT_CAMERAS = ("unicam", "bcm2835-", "rp1-cfe", "rpi-", "pispbe")


@dataclass(frozen=True, slots=True)
class UsbIdentity:
    """What a USB device says it is, and the socket it is in (`1-1.3`). Many cheap ones have no serial number."""

    vid: int
    pid: int
    serial: str = ""
    location: str = ""

    def is_alike(self, other: UsbIdentity | None) -> bool:
        """Tell whether the other is of the same make, and says nothing that makes it another piece."""
        return other is not None and (self.vid, self.pid, self.serial) == (other.vid, other.pid, other.serial)


class Plugged(Protocol):
    """Anything that may have come by USB."""

    @property
    def usb(self) -> UsbIdentity | None:
        """Its identity; None where it did not come by USB."""


P = TypeVar("P", bound=Plugged)


@dataclass(frozen=True, slots=True)
class Found:
    """Something to pick: the name that finds it again after a restart, its node and what it says of itself."""

    url: str
    node: str
    name: str
    usb: UsbIdentity | None = None


@dataclass(frozen=True, slots=True)
class FoundCamera(Found):
    """A camera; its `url` is one for `open_camera`."""


@dataclass(frozen=True, slots=True)
class FoundPort(Found):
    """A serial port."""


@dataclass(frozen=True, slots=True)
class Twins(Generic[P]):
    """Several devices that may be the one that is looked for: a person has to say which."""

    candidates: tuple[P, ...]


Registry = Callable[[], Sequence[P]]
"""Says what is plugged in now; tests plug in and out what they like."""


def find_again(wanted: UsbIdentity, present: Iterable[P], others: Iterable[UsbIdentity] = ()) -> P | Twins[P] | None:
    """Return the device with this identity under whatever name it has now, None where it is not plugged in.

    Of several alike it is the one in the same socket. Where none is there, one alike that is not one of the `others`
    has been moved; two may each be the one, and that is asked, not guessed.
    """
    taken = set(others)
    alike = [one for one in present if wanted.is_alike(one.usb)]
    here = [one for one in alike if one.usb == wanted]
    moved = [one for one in alike if one.usb not in taken]
    for group in (here, moved):
        if len(group) == 1:
            return group[0]
    return Twins(tuple(moved)) if moved else None


def list_cameras(root: Path = Path("/"), can_capture: Callable[[Path], bool | None] | None = None) -> list[FoundCamera]:
    """Return the v4l2 nodes that can capture, by number; empty where there are none."""
    asks = can_capture or captures
    return [camera for _, camera in _cameras(root) if asks(Path(camera.node))]


def plugged_cameras(root: Path = Path("/")) -> list[FoundCamera]:
    """Return the first node of each camera without touching it, so that a hung driver holds up nobody."""
    return [camera for index, camera in _cameras(root) if index == 0]


def _cameras(root: Path) -> Iterator[tuple[int, FoundCamera]]:
    """Yield which of its camera's nodes each is, and what there is to say of it."""
    classes = sorted(root.glob("sys/class/video4linux/video*"), key=lambda path: (len(path.name), path.name))
    names = Counter(_name(entry) for entry in classes if _index(entry) == 0)
    by_id, by_path = (_links(root / "dev" / "v4l" / kind) for kind in ("by-id", "by-path"))
    for entry in classes:
        name, node = _name(entry), root / "dev" / entry.name
        # Twins without a serial number fight over one by-id name; the socket they are in tells them apart.
        links = by_path if names[name] > 1 else by_path | by_id
        if node.exists() and not name.startswith(_NOT_CAMERAS):
            yield _index(entry), FoundCamera(f"v4l2:{links.get(node.resolve(), node)}", str(node), name, _usb(entry))


def list_ports(root: Path = Path("/"), comports: Callable[[], Iterable[Any]] | None = None) -> list[FoundPort]:
    """Return the serial ports, USB ones first, by name; empty where there are none.

    `comports` gives pyserial's records, with `device`, `description`, `vid`, `pid`, `serial_number` and `location`.
    """
    ports = [_port(record) for record in (comports or _comports)()]
    alike = Counter((usb.vid, usb.pid, usb.serial) for _, _, usb in ports if usb)
    by_id, by_path = (_links(root / "dev" / "serial" / kind) for kind in ("by-id", "by-path"))
    found = []
    for node, name, usb in sorted(ports, key=lambda port: (port[2] is None, len(port[0]), port[0])):
        links = by_path if usb and alike[usb.vid, usb.pid, usb.serial] > 1 else by_path | by_id
        found.append(FoundPort(str(links.get(Path(node).resolve(), node)), node, name, usb))
    return found


def _comports() -> Iterable[Any]:
    records: Iterable[Any] = importlib.import_module("serial.tools.list_ports").comports()
    return records


def _port(record: Any) -> tuple[str, str, UsbIdentity | None]:
    if record.vid is None:
        return record.device, record.description or record.device, None
    location = (record.location or "").partition(":")[0]
    usb = UsbIdentity(record.vid, record.pid, record.serial_number or "", location)
    return record.device, record.description or record.device, usb


def _usb(entry: Path) -> UsbIdentity | None:
    """Read the identity of the USB device whose interface a node belongs to."""
    device = (entry / "device").resolve().parent
    try:
        vid, pid = (int((device / name).read_text(), 16) for name in ("idVendor", "idProduct"))
    except (OSError, ValueError):
        return None
    serial = device / "serial"
    return UsbIdentity(vid, pid, serial.read_text(errors="replace").strip() if serial.exists() else "", device.name)


def _name(entry: Path) -> str:
    try:
        return (entry / "name").read_text(errors="replace").strip()
    except OSError:
        return entry.name


def _index(entry: Path) -> int:
    """Return which of its camera's nodes this is; the first one gives pictures."""
    try:
        return int((entry / "index").read_text())
    except (OSError, ValueError):
        return 0


def _links(folder: Path) -> dict[Path, Path]:
    """Map nodes to their names in this folder, which survive a restart."""
    return {link.resolve(): link for link in sorted(folder.iterdir())} if folder.is_dir() else {}


def captures(node: Path) -> bool | None:
    """Ask the driver whether this node gives pictures (others give data about them); None where it does not answer."""
    try:
        handle = os.open(node, os.O_RDWR | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        answer = fcntl.ioctl(handle, _QUERY_CAPABILITIES, bytes(_CAPABILITY_BYTES))
    except OSError:
        return None
    finally:
        os.close(handle)
    return bool(struct.unpack_from("=I", answer, 88)[0] & _VIDEO_CAPTURE)
