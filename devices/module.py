"""The Raspberry Pi camera module, through picamera2, which comes with the system and not from a package index."""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from devices.address import Address
from devices.errors import CameraAway
from devices.messages import Setting
from devices.mjpeg import now_ms
from devices.sources import Pixels, Shot

PACKAGE = "python3-picamera2"
_MANUAL_FOCUS, _CONTINUOUS_FOCUS = 0, 2
_FRAMES_UNTIL_IN_FORCE = 6
_PLAIN = {"exposure": "ExposureTime", "gain": "AnalogueGain", "focus": "LensPosition"}


def _in_force(metadata: Mapping[str, Any]) -> dict[str, float]:
    """Return by our names what a frame was taken with."""
    values = {name: float(metadata[key]) for name, key in _PLAIN.items() if key in metadata}
    if "ColourGains" in metadata:
        values["red_gain"], values["blue_gain"] = map(float, metadata["ColourGains"])
    return values


def _controls(values: Mapping[str, float]) -> dict[str, Any]:
    """Return by libcamera's names what to take frames with."""
    controls: dict[str, Any] = {key: values[name] for name, key in _PLAIN.items() if name in values}
    if "exposure" in values:
        controls["ExposureTime"] = round(values["exposure"])
    if "red_gain" in values:
        controls["ColourGains"] = (values["red_gain"], values["blue_gain"])
    return controls


class ModuleShot:
    """A frame the camera stack lends us; taking its pixels copies them, so it is done only when asked."""

    is_lasting = False

    def __init__(self, request: Any) -> None:
        now, stamp = now_ms(), request.get_metadata().get("SensorTimestamp", 0) // 1_000_000
        self.taken_ms = int(stamp) if 0 <= now - stamp < 10_000 else now
        self._request = request
        self._pixels: Pixels | None = None

    def picture(self) -> Pixels | None:
        """Copy the pixels; what picamera2 calls RGB888 lies in memory as BGR."""
        if self._pixels is None:
            self._pixels = np.ascontiguousarray(self._request.make_array("main"), dtype=np.uint8)
        return self._pixels

    def digest(self) -> int | None:
        """Return the checksum of every eighth row."""
        pixels = self.picture()
        return None if pixels is None else zlib.crc32(pixels[::8].tobytes())


class ModuleSource:
    """A camera module; `picamera2:0?width=..&height=..&fps=..`, the number may be left out."""

    def __init__(self, address: Address) -> None:
        try:
            picamera2 = importlib.import_module("picamera2")
        except ImportError:
            raise CameraAway("camera_picamera2_missing", package=PACKAGE) from None
        try:
            self._camera = picamera2.Picamera2(int(address.target or 0))
            self.granted: Mapping[str, Setting] = self._start(address)
        except (RuntimeError, IndexError, ValueError) as error:
            raise CameraAway("camera_module_failed", reason=str(error)) from error

    def _start(self, address: Address) -> dict[str, Setting]:
        wish = {name: address.number(name) for name in ("width", "height", "fps")}
        size = (wish["width"] or 1280, wish["height"] or 720)
        fps = wish["fps"] or 10
        main = {"size": size, "format": "RGB888"}
        self._camera.configure(
            self._camera.create_video_configuration(main=main, controls={"FrameRate": fps}, buffer_count=3)
        )
        self._camera.start()
        width, height = self._camera.camera_configuration()["main"]["size"]
        granted = {"width": width, "height": height, "fps": fps}
        return {name: Setting(wish[name], granted[name]) for name in wish}

    def shots(self) -> Iterator[Shot]:
        """Yield frames, giving each back to the camera stack before the next is taken."""
        while True:
            request = self._camera.capture_request()
            try:
                yield ModuleShot(request)
            finally:
                request.release()

    def lock(self, values: Mapping[str, float]) -> Mapping[str, float]:
        """Fix exposure, gain, colour gains and the lens, where there is one; read back what came into force."""
        wish = dict(values) or _in_force(self._metadata())
        controls = {"AeEnable": False, "AwbEnable": False, **_controls(wish)}
        if "focus" in wish:
            controls["AfMode"] = _MANUAL_FOCUS
        self._set(controls)
        for _ in range(_FRAMES_UNTIL_IN_FORCE):
            metadata = self._metadata()
        came = _in_force(metadata)
        self.granted = {**self.granted, **{name: Setting(value, came.get(name)) for name, value in wish.items()}}
        return wish

    def unlock(self) -> None:
        """Let the camera stack find its own values."""
        focus = {"AfMode": _CONTINUOUS_FOCUS} if "AfMode" in self._camera.camera_controls else {}
        self._set({"AeEnable": True, "AwbEnable": True, **focus})

    def _set(self, controls: Mapping[str, Any]) -> None:
        try:
            self._camera.set_controls(controls)
        except (RuntimeError, ValueError) as error:
            raise CameraAway("camera_module_failed", reason=str(error)) from error

    def _metadata(self) -> Mapping[str, Any]:
        metadata: Mapping[str, Any] = self._camera.capture_metadata()
        return metadata

    def close(self) -> None:
        """Let the camera go."""
        self._camera.close()
