"""Cameras at RTSP addresses, through OpenCV's FFMPEG, with limits on every wait. Used in the capture child only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import cv2

from devices.address import Address
from devices.errors import CameraAway
from devices.messages import Setting
from devices.mjpeg import now_ms
from devices.sources import FFMPEG_LIMITS, Shot, Tally
from devices.v4l2 import GrabShot

_CODER_DELAY_MS = 300
"""A camera that codes video sends a frame a few frames late, so its picture is taken to be at least this old."""

_WAITED_MS = 3
"""A frame that did not have to be waited for lay in a queue, and may be as old as the one before."""


class CodedShot(GrabShot):
    """A frame of coded video."""

    def digest(self) -> int | None:
        """Return nothing: a coder repeats a still scene to the bit, so equal frames mean no frozen source."""
        return None


class RtspSource:
    """A network camera that codes video. The first frame sets the size; frames of another size are dropped."""

    def __init__(self, address: Address, tally: Tally) -> None:
        self._tally = tally
        begun_ms = now_ms()
        self._capture = cv2.VideoCapture(address.url, cv2.CAP_FFMPEG, FFMPEG_LIMITS)
        self._empty_ms = now_ms()
        if not self._capture.isOpened():
            waited_ms = self._empty_ms - begun_ms
            is_mute = waited_ms >= FFMPEG_LIMITS[1]
            raise CameraAway("camera_silent") if is_mute else CameraAway("camera_refused", reason="RTSP")
        self._size = self._sized()
        width, height = self._size
        self.granted: Mapping[str, Setting] = {"width": Setting(None, width), "height": Setting(None, height)}

    def _sized(self) -> tuple[int, int]:
        get = self._capture.get
        return round(get(cv2.CAP_PROP_FRAME_WIDTH)), round(get(cv2.CAP_PROP_FRAME_HEIGHT))

    def shots(self) -> Iterator[Shot]:
        """Yield frames as they come; one that does not come in time is the end."""
        while self._grab():
            if self._sized() == self._size:
                yield CodedShot(self._capture, self._empty_ms - _CODER_DELAY_MS)
            else:
                self._tally.wrong_size_frames += 1
        raise CameraAway("camera_ended")

    def _grab(self) -> bool:
        asked_ms = now_ms()
        is_grabbed = bool(self._capture.grab())
        if now_ms() - asked_ms >= _WAITED_MS:
            self._empty_ms = now_ms()
        return is_grabbed

    def close(self) -> None:
        """Hang up, from the thread that reads."""
        self._capture.release()
