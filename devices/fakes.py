"""A camera without a camera: shows what it is given at an address like a network camera's, and fails on request.

with FakeCamera() as fake, open_camera(fake.url) as camera:
    fake.show(lambda: scene.render())
    frame = camera.fresh()
"""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, cast, get_args

import cv2
import numpy as np
from numpy.typing import NDArray

from devices.closing import Closing

Pixels = NDArray[np.uint8]
Mode = Literal["run", "hang", "half", "frozen", "slow", "drop", "wrong_size", "rotated", "black", "blown_out"]

_BOUNDARY = "frame"
_NOISE: Mapping[Mode, tuple[int, int]] = {"black": (0, 4), "blown_out": (252, 256)}
_SLOW_S = 0.7
_SEND_LIMIT_S = 5.0

log = logging.getLogger(__name__)


class FakeCamera(Closing):
    """An MJPEG server on this machine, fed by `show`, with modes that fail as cameras do.

    run         a frame at each tick
    hang        open streams fall silent, new ones are never answered
    half        every frame stops in the middle
    frozen      the same frame again and again
    slow        a frame every 0.7 s
    drop        streams are ended, new ones too
    wrong_size  frames of half the width and height
    rotated     frames lying on their side
    black       a covered lens: nothing but a little noise
    blown_out   far too much light, with a little noise

    A scene given as an array is sent unchanged, so a live camera's reader rightly takes it for frozen after a
    while; give a callable that adds a sensor's noise where the camera should seem alive.
    """

    def __init__(self, port: int = 0, *, fps: float = 10, quality: int = 90) -> None:
        self.mode: Mode = "run"
        self._fps, self._quality = fps, quality
        self._scene: Pixels | Callable[[], Pixels] = np.zeros((600, 800, 3), np.uint8)
        self._encoded: tuple[object, str, bytes] = (None, "", b"")
        self._news = threading.Condition()
        self._number, self._jpeg = 0, b""
        self._streams: set[socket.socket] = set()
        self._closing = threading.Event()
        self._random = np.random.default_rng(1)
        self._server = _Server(("127.0.0.1", port), self)
        self._threads = [
            threading.Thread(target=self._server.serve_forever, args=(0.05,), name="fake camera's door", daemon=True),
            threading.Thread(target=self._produce, name="fake camera", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    @property
    def port(self) -> int:
        """The port of this machine the camera answers on."""
        return self._server.server_port

    @property
    def url(self) -> str:
        """The address to give to `open_camera`."""
        return f"http://127.0.0.1:{self.port}/"

    @property
    def streams(self) -> int:
        """How many readers are connected."""
        return len(self._streams)

    def show(self, scene: Pixels | Callable[[], Pixels]) -> None:
        """Show a picture (height, width, BGR) from the next frame on; a callable is asked for each frame."""
        self._scene = scene

    def set_mode(self, mode: Mode) -> None:
        """Behave in this way from now on."""
        if mode not in get_args(Mode):
            raise ValueError(f"no mode {mode!r}; there are {', '.join(get_args(Mode))}")
        self.mode = mode
        with self._news:
            self._news.notify_all()

    def close(self) -> None:
        """End all streams and free the port."""
        self._closing.set()
        with self._news:
            self._news.notify_all()
        for stream in tuple(self._streams):
            _end(stream)
        self._server.shutdown()
        self._server.server_close()
        for thread in self._threads:
            thread.join()

    def __repr__(self) -> str:
        return f"<FakeCamera {self.url} {self.mode}, {self.streams} streams, frame {self._number}>"

    def _produce(self) -> None:
        """Make a frame at each tick, while somebody looks."""
        while not self._closing.wait(self._interval_s()):
            if not self._streams:
                continue
            try:
                jpeg = self._frame()
            except Exception:
                log.exception("the fake camera's scene failed, the last frame stays")
                jpeg = self._jpeg
            with self._news:
                self._number, self._jpeg = self._number + 1, jpeg
                self._news.notify_all()

    def _interval_s(self) -> float:
        """Return the time to the next tick; ticks fall on multiples of the interval, however long a frame took."""
        interval = _SLOW_S if self.mode == "slow" else 1 / self._fps
        return interval - time.monotonic() % interval

    def _frame(self) -> bytes:
        mode = self.mode
        if mode in ("frozen", "hang") and self._jpeg:
            return self._jpeg
        picture = self._scene() if callable(self._scene) else self._scene
        if mode in _NOISE:
            picture = self._random.integers(*_NOISE[mode], picture.shape, np.uint8)
        elif mode == "wrong_size":
            picture = picture[::2, ::2]
        elif mode == "rotated":
            picture = np.ascontiguousarray(np.rot90(picture))
        jpeg = self._encode(picture, mode)
        return jpeg[: len(jpeg) // 2] if mode == "half" else jpeg

    def _encode(self, picture: Pixels, mode: Mode) -> bytes:
        """Encode a picture, or take the bytes of before where it is the same array shown again."""
        key, key_mode, jpeg = self._encoded
        if self._scene is not key or key_mode != mode or callable(self._scene) or mode in _NOISE:
            found, data = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, self._quality])
            if not found:
                raise ValueError(f"no picture: shape {picture.shape}")
            jpeg = data.tobytes()
            self._encoded = (self._scene, mode, jpeg)
        return jpeg

    # What follows is called by the threads of the streams.

    def _serve(self, stream: socket.socket, begin: Callable[[], None]) -> None:
        self._streams.add(stream)
        try:
            if self._may_send():
                begin()
                self._send_frames(stream)
        except OSError:
            return  # the reader went away, which is its right
        finally:
            self._streams.discard(stream)

    def _may_send(self) -> bool:
        """Wait while the camera hangs; False when the stream is to end."""
        with self._news:
            self._news.wait_for(lambda: self._closing.is_set() or self.mode != "hang")
        return not self._closing.is_set() and self.mode != "drop"

    def _send_frames(self, stream: socket.socket) -> None:
        while self._may_send():
            jpeg = self._next_jpeg()
            if self.mode != "hang" and jpeg:  # a frame of before the hang is not sent after it
                stream.sendall(_part(jpeg))

    def _next_jpeg(self) -> bytes:
        number = self._number
        with self._news:
            self._news.wait_for(lambda: self._number > number or self._closing.is_set() or self.mode == "drop")
            return self._jpeg


def _part(jpeg: bytes) -> bytes:
    head = f"--{_BOUNDARY}\r\nContent-Type: image/jpeg\r\nContent-Length: {len(jpeg)}\r\n\r\n"
    return head.encode() + jpeg + b"\r\n"


def _end(stream: socket.socket) -> None:
    try:
        stream.shutdown(socket.SHUT_RDWR)
    except OSError:
        return  # it has ended by itself


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = True

    def __init__(self, address: tuple[str, int], camera: FakeCamera) -> None:
        self.camera = camera
        super().__init__(address, _Stream)

    def server_bind(self) -> None:
        """Bind without asking for the machine's name, which can take seconds."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing about readers that go away in mid-request."""


class _Stream(BaseHTTPRequestHandler):
    timeout = 1.0  # for the request; `close` waits for whoever connects and says nothing
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Send frames until one side has enough; a reader that does not read is left after a while."""
        self.connection.settimeout(_SEND_LIMIT_S)
        self.close_connection = True
        cast(_Server, self.server).camera._serve(self.connection, self._begin)

    def _begin(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", f"multipart/x-mixed-replace; boundary={_BOUNDARY}")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet."""
