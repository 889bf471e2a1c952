"""Where pictures come from: one class per kind of source. Used in the capture child only."""

from __future__ import annotations

import http.client
import os
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

import cv2
import numpy as np
from numpy.typing import NDArray

from devices.address import Address
from devices.errors import CameraAway
from devices.messages import Setting
from devices.mjpeg import Stream, jpeg_size, now_ms
from devices.play import FolderPlay

Pixels = NDArray[np.uint8]

_NETWORK_DELAY_MS = 80
"""A network camera exposes, encodes and sends before its first byte is here; its picture is at least this old."""

_OPEN_LIMIT_MS, _READ_LIMIT_MS = 2000, 2000
FFMPEG_LIMITS = [
    *(cv2.CAP_PROP_OPEN_TIMEOUT_MSEC, _OPEN_LIMIT_MS),
    *(cv2.CAP_PROP_READ_TIMEOUT_MSEC, _READ_LIMIT_MS),
]
"""For opening: FFMPEG alone would wait for half a minute."""

_PICTURE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".bmp", ".webp"})


@dataclass(slots=True)
class Tally:
    """What was dropped on the way, for the health page."""

    half_frames: int = 0
    wrong_size_frames: int = 0
    skipped: tuple[str, ...] = ()


class Shot(Protocol):
    """One frame, not necessarily decoded. `is_lasting`: it can be looked at after the next one was taken."""

    taken_ms: int
    is_lasting: bool

    def picture(self) -> Pixels | None:
        """Return the pixels (height, width, BGR); None where the frame turns out to be broken."""

    def digest(self) -> int | None:
        """Return a number that is equal for equal frames."""


class Source(Protocol):
    """An open source of frames, read by one thread."""

    granted: Mapping[str, Setting]

    def shots(self) -> Iterator[Shot]:
        """Yield frames as they are taken until the source ends; CameraAway or OSError when it fails."""

    def close(self) -> None:
        """Let the device go."""


@runtime_checkable
class Lockable(Protocol):
    """A source whose exposure, gain and white balance can be fixed."""

    granted: Mapping[str, Setting]

    def lock(self, values: Mapping[str, float]) -> Mapping[str, float]:
        """Fix these values, or those in force where none are given; return them, and what came of it in `granted`."""

    def unlock(self) -> None:
        """Let the camera find its own values."""


class ArrayShot:
    """A frame that is pixels already."""

    is_lasting = True

    def __init__(self, pixels: Pixels) -> None:
        self.taken_ms = now_ms()
        self._pixels = pixels

    def picture(self) -> Pixels | None:
        """Return the pixels."""
        return self._pixels

    def digest(self) -> int | None:
        """Return nothing: a file may repeat itself as long as it likes."""
        return None


class JpegShot:
    """A frame that is a JPEG until somebody looks."""

    is_lasting = True

    def __init__(self, jpeg: bytes, taken_ms: int, tally: Tally) -> None:
        self.taken_ms = taken_ms
        self._jpeg = jpeg
        self._tally = tally
        self._pixels: Pixels | None = None

    def picture(self) -> Pixels | None:
        """Decode the JPEG, once."""
        if self._pixels is None and self._jpeg:
            self._pixels = _decoded(self._jpeg)
            if self._pixels is None:
                self._tally.half_frames += 1
                self._jpeg = b""
        return self._pixels

    def digest(self) -> int | None:
        """Return the checksum of the encoded frame."""
        return zlib.crc32(self._jpeg)


class HttpSource:
    """An MJPEG address. The first frame sets the size; frames of another size are dropped."""

    def __init__(self, address: Address, tally: Tally) -> None:
        self._tally = tally
        self._size: tuple[int, int] | None = None
        self.granted: Mapping[str, Setting] = {}
        try:
            self._stream = Stream(address.url)
        except CameraAway:
            raise
        except TimeoutError:
            raise CameraAway("camera_silent") from None
        except (OSError, http.client.HTTPException) as error:
            raise CameraAway("camera_refused", reason=_reason(error)) from error

    def shots(self) -> Iterator[Shot]:
        """Yield whole frames of the right size."""
        try:
            for arrived_ms, jpeg in self._stream:
                if self._is_good(jpeg_size(jpeg)):
                    yield JpegShot(jpeg, arrived_ms - _NETWORK_DELAY_MS, self._tally)
        except TimeoutError:
            raise CameraAway("camera_silent") from None
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise CameraAway("camera_ended") from error

    def _is_good(self, size: tuple[int, int] | None) -> bool:
        if size is None:
            self._tally.half_frames += 1
            return False
        if self._size is None:
            self._size = size
            self.granted = {"width": Setting(None, size[0]), "height": Setting(None, size[1])}
        if size != self._size:
            self._tally.wrong_size_frames += 1
        return size == self._size

    def close(self) -> None:
        """Hang up."""
        self._stream.close()


class FileSource:
    """A film that plays at its rate and keeps showing its last picture, or begins again."""

    def __init__(self, address: Address, tally: Tally) -> None:
        if not os.path.exists(address.target):
            raise CameraAway("camera_missing", path=address.target)
        self._path = address.target
        self._capture = cv2.VideoCapture(address.target, cv2.CAP_FFMPEG, FFMPEG_LIMITS)
        if not self._capture.isOpened():
            raise CameraAway("camera_not_video", path=address.target)
        self._loops = bool(address.options.get("loop"))
        own_fps = self._capture.get(cv2.CAP_PROP_FPS)
        self._fps = address.number("fps") or (own_fps if 0 < own_fps <= 120 else 10)
        self.granted: Mapping[str, Setting] = {"fps": Setting(address.number("fps"), round(self._fps))}

    def shots(self) -> Iterator[Shot]:
        """Yield the film's pictures, each in its time."""
        pixels: Pixels | None = None
        for _ in _ticks(self._fps):
            pixels = self._next(pixels)
            if pixels is None:
                raise CameraAway("camera_not_video", path=self._path)
            yield ArrayShot(pixels)

    def _next(self, last: Pixels | None) -> Pixels | None:
        found, pixels = self._capture.read()
        if not found and self._loops:
            self._capture.set(cv2.CAP_PROP_POS_FRAMES, 0)
            found, pixels = self._capture.read()
        return as_pixels(pixels) if found else last

    def close(self) -> None:
        """Close the file."""
        self._capture.release()


class FolderSource:
    """A folder whose pictures are shown in name order, each as long as a table would hold it.

    The play begins when somebody first looks, so that the first picture is not shown to nobody.
    """

    def __init__(self, address: Address, tally: Tally, is_watched: Callable[[], bool]) -> None:
        self._folder = Path(address.target)
        if not self._folder.is_dir():
            raise CameraAway("camera_folder_missing", path=address.target)
        self._tally = tally
        self._is_watched = is_watched
        self._fps = address.number("fps") or 10
        self._play = self._plan(address)
        self.granted: Mapping[str, Setting] = {"fps": Setting(address.number("fps"), self._fps)}

    def _plan(self, address: Address) -> FolderPlay:
        between = address.text("between")
        if between and not (self._folder / between).is_file():
            raise CameraAway("camera_picture_missing", name=between)
        hidden = {between, *address.names("skip")}
        names = sorted(path.name for path in self._folder.iterdir() if path.suffix.lower() in _PICTURE_SUFFIXES)
        return FolderPlay(
            [name for name in names if name not in hidden],
            hold_ms=address.number("hold_ms") or 2000,
            between=between,
            between_ms=address.number("between_ms") or 1000,
            loops=bool(address.options.get("loop")),
        )

    def shots(self) -> Iterator[Shot]:
        """Yield the picture of the moment, over and over like a camera."""
        shown: str | None = None
        pixels: Pixels | None = None
        for _ in _ticks(self._fps):
            name = self._play.at(now_ms(), self._is_watched())
            if name != shown:
                shown, pixels = name, self._load(name)
            if pixels is not None:
                yield ArrayShot(pixels)

    def _load(self, name: str) -> Pixels | None:
        """Read a picture; one that is none is named, and left out from then on."""
        if not name:
            raise CameraAway("camera_folder_empty", path=str(self._folder))
        pixels = _read_picture(self._folder / name)
        if pixels is None:
            self._tally.skipped = (*self._tally.skipped, name)
            self._play.drop(name)
        return pixels

    def close(self) -> None:
        """Do nothing: no file stays open."""


def open_source(address: Address, tally: Tally, is_watched: Callable[[], bool]) -> Source:
    """Open what an address points at; CameraAway says why it cannot be."""
    if address.scheme == "folder":
        return FolderSource(address, tally, is_watched)
    if address.scheme == "picamera2":
        from devices.module import ModuleSource  # only where there is one

        return ModuleSource(address)
    if address.scheme == "v4l2":
        from devices.v4l2 import V4l2Source

        return V4l2Source(address)
    if address.scheme == "rtsp":
        from devices.rtsp import RtspSource

        return RtspSource(address, tally)
    return FileSource(address, tally) if address.scheme == "file" else HttpSource(address, tally)


def _decoded(encoded: bytes) -> Pixels | None:
    if not encoded:
        return None
    try:
        pixels = cv2.imdecode(np.frombuffer(encoded, np.uint8), cv2.IMREAD_COLOR)
    except cv2.error:
        return None
    return None if pixels is None else as_pixels(pixels)


def _read_picture(path: Path) -> Pixels | None:
    try:
        return _decoded(path.read_bytes())
    except OSError:
        return None


def as_pixels(array: object) -> Pixels:
    return np.ascontiguousarray(array, dtype=np.uint8)


def _ticks(fps: float) -> Iterator[None]:
    """Yield at a steady rate; after a delay go on from now and do not catch up."""
    due = time.monotonic()
    while True:
        yield
        due = max(due + 1 / fps, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))


def _reason(error: BaseException) -> str:
    strerror = getattr(error, "strerror", None)
    return strerror if isinstance(strerror, str) else type(error).__name__
