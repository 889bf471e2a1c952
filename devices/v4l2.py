"""Cameras at v4l2 nodes, through OpenCV. Used in the capture child only."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import cv2

from devices.address import Address
from devices.errors import CameraAway
from devices.found import captures
from devices.holders import holders
from devices.messages import Setting
from devices.mjpeg import now_ms
from devices.sources import Pixels, Shot, as_pixels


@dataclass(frozen=True, slots=True)
class Control:
    """A setting that a camera sweeps by itself: its value's property, its automatic's, and that one's off and on."""

    name: str
    value: int
    automatic: int | None = None
    off: float = 0
    on: float = 1


CONTROLS = (
    Control("exposure", cv2.CAP_PROP_EXPOSURE, cv2.CAP_PROP_AUTO_EXPOSURE, off=1, on=3),  # V4L2's own numbers
    Control("gain", cv2.CAP_PROP_GAIN),
    Control("white_balance", cv2.CAP_PROP_WB_TEMPERATURE, cv2.CAP_PROP_AUTO_WB),
    Control("focus", cv2.CAP_PROP_FOCUS, cv2.CAP_PROP_AUTOFOCUS),
)


class GrabShot:
    """A frame the driver holds until the next grab."""

    is_lasting = False

    def __init__(self, capture: cv2.VideoCapture, taken_ms: int) -> None:
        self.taken_ms = taken_ms
        self._capture = capture
        self._pixels: Pixels | None = None

    def picture(self) -> Pixels | None:
        """Decode the grabbed frame, once."""
        if self._pixels is None:
            found, pixels = self._capture.retrieve()
            self._pixels = as_pixels(pixels) if found else None
        return self._pixels

    def digest(self) -> int | None:
        """Return the checksum of every eighth row: a sensor's noise is in each of them."""
        pixels = self.picture()
        return None if pixels is None else zlib.crc32(pixels[::8].tobytes())


class V4l2Source:
    """A camera at a v4l2 node: every frame is grabbed, so that none is old, and few are decoded."""

    def __init__(self, address: Address, capture: cv2.VideoCapture | None = None) -> None:
        self._capture = capture or _open_node(address.target)
        self.granted: Mapping[str, Setting] = self._ask(address)

    def _ask(self, address: Address) -> dict[str, Setting]:
        """Set the format first, then size, then rate, for each depends on the ones before; read all back."""
        self._capture.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG"))
        self._capture.set(cv2.CAP_PROP_BUFFERSIZE, 2)
        numbers = {"width": cv2.CAP_PROP_FRAME_WIDTH, "height": cv2.CAP_PROP_FRAME_HEIGHT, "fps": cv2.CAP_PROP_FPS}
        for name, prop in numbers.items():
            if (wish := address.number(name)) is not None:
                self._capture.set(prop, wish)
        code = int(self._capture.get(cv2.CAP_PROP_FOURCC)) & 0xFFFFFFFF
        granted = {"format": Setting("MJPG", code.to_bytes(4, "little").decode("latin-1"))}
        for name, prop in numbers.items():
            granted[name] = Setting(address.number(name), round(self._capture.get(prop)))
        return granted

    def shots(self) -> Iterator[Shot]:
        """Yield grabbed frames; one that cannot be grabbed is the end."""
        while self._capture.grab():
            yield GrabShot(self._capture, self._taken_ms())
        raise CameraAway("camera_ended")

    def _taken_ms(self) -> int:
        """Return the driver's time of the frame where it is one of our clock, else now."""
        now, stamp = now_ms(), round(self._capture.get(cv2.CAP_PROP_POS_MSEC))
        return stamp if 0 <= now - stamp < 10_000 else now

    def lock(self, values: Mapping[str, float]) -> Mapping[str, float]:
        """Switch each automatic control off and fix its value; what the camera does not have is left out."""
        locked = dict[str, float]()
        settings = dict(self.granted)
        for control in CONTROLS:
            value = values.get(control.name, self._capture.get(control.value))
            if self._capture.get(control.value) >= 0:  # OpenCV says -1 for a control that is not there
                settings |= self._fix(control, value)
                locked[control.name] = value
        self.granted = settings
        return locked

    def _fix(self, control: Control, value: float) -> dict[str, Setting]:
        settings = dict[str, Setting]()
        if control.automatic is not None:  # first, for a value is refused while the camera sets it by itself
            self._capture.set(control.automatic, control.off)
            is_off = self._capture.get(control.automatic) == control.off
            settings[f"automatic_{control.name}"] = Setting("off", "off" if is_off else "on")
        self._capture.set(control.value, value)
        return settings | {control.name: Setting(value, self._capture.get(control.value))}

    def unlock(self) -> None:
        """Switch the automatic controls on."""
        for control in CONTROLS:
            if control.automatic is not None:
                self._capture.set(control.automatic, control.on)

    def close(self) -> None:
        """Release the node, from the thread that reads it: from another one it would end the process."""
        self._capture.release()


def _open_node(path: str) -> cv2.VideoCapture:
    if not os.path.exists(path):
        raise CameraAway("camera_missing", path=path)
    if not os.access(path, os.R_OK | os.W_OK):
        raise CameraAway("camera_forbidden", path=path)
    capture = cv2.VideoCapture(path, cv2.CAP_V4L2)
    if not capture.isOpened():
        raise _refusal(path)
    return capture


def _refusal(path: str) -> CameraAway:
    """Say why a node that is there and ours to open does not open."""
    if others := holders(path):
        return CameraAway("camera_busy", holders=others)
    if captures(Path(path)) is False:
        return CameraAway("camera_no_pictures", path=path)
    return CameraAway("camera_refused", reason=path)
