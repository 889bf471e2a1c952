"""Which cameras are plugged in, for the settings page."""

from __future__ import annotations

import fcntl
import os
import struct
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_QUERY_CAPABILITIES = 0x80685600
_CAPABILITY_BYTES = 104
_VIDEO_CAPTURE = 0x00000001
# Nodes of the Pi's own camera and codec blocks: they give no picture by themselves, picamera2 knows how to use them.
_NOT_CAMERAS = ("unicam", "bcm2835-", "rp1-cfe", "rpi-", "pispbe")


@dataclass(frozen=True, slots=True)
class FoundCamera:
    """A camera to pick: the address that finds it again after a restart, its node and the name it gives itself."""

    url: str
    node: str
    name: str


def list_cameras(root: Path = Path("/"), can_capture: Callable[[Path], bool] | None = None) -> list[FoundCamera]:
    """Return the v4l2 nodes that can capture, by number; empty where there are none."""
    asks = can_capture or _can_capture
    classes = sorted(root.glob("sys/class/video4linux/video*"), key=lambda path: (len(path.name), path.name))
    names = Counter(_name(entry) for entry in classes if _index(entry) == 0)
    by_id, by_path = (_links(root / "dev" / "v4l" / kind) for kind in ("by-id", "by-path"))
    found = []
    for entry in classes:
        name, node = _name(entry), root / "dev" / entry.name
        # Twins without a serial number fight over one by-id name; the socket they are in tells them apart.
        links = by_path if names[name] > 1 else by_path | by_id
        if node.exists() and not name.startswith(_NOT_CAMERAS) and asks(node):
            found.append(FoundCamera(f"v4l2:{links.get(node.resolve(), node)}", str(node), name))
    return found


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


def _can_capture(node: Path) -> bool:
    """Ask the driver whether this node gives pictures; its other nodes give data about them."""
    try:
        handle = os.open(node, os.O_RDWR | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        answer = fcntl.ioctl(handle, _QUERY_CAPABILITIES, bytes(_CAPABILITY_BYTES))
    except OSError:
        return False
    finally:
        os.close(handle)
    return bool(struct.unpack_from("=I", answer, 88)[0] & _VIDEO_CAPTURE)
