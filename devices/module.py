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

    def close(self) -> None:
        """Let the camera go."""
        self._camera.close()
