"""How network cameras answer, and the camera module, each played by a stand-in."""

from __future__ import annotations

import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from devices.address import parse_address
from devices.errors import CameraAway
from devices.messages import Setting
from devices.mjpeg import Stream, now_ms
from devices.sources import Tally, open_source

Answer = Callable[[bytes], list[bytes]]
MULTIPART = b"HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=b\r\n"
PART = b"--b\r\nContent-Length: 4\r\n\r\nabcd\r\n"


@pytest.fixture
def serve() -> Iterator[Callable[[Answer], str]]:
    """Answer one request with the blocks a function makes of it; the URL is given back."""
    listener = socket.create_server(("127.0.0.1", 0))
    threads = []

    def answer_one(answer: Answer) -> None:
        connection = listener.accept()[0]
        with connection:
            for block in answer(connection.recv(4096)):
                connection.sendall(block)

    def start(answer: Answer) -> str:
        threads.append(threading.Thread(target=answer_one, args=(answer,)))
        threads[-1].start()
        return f"http://anna:p%40ss@127.0.0.1:{listener.getsockname()[1]}/stream?size=2"

    yield start
    for thread in threads:
        thread.join()
    listener.close()


def chunked(block: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(block), block)


@pytest.mark.parametrize(
    "blocks",
    [
        [MULTIPART + b"\r\n" + PART + PART],
        [MULTIPART + b"\r\n", PART[:30], PART[30:] + PART],
        [MULTIPART + b"Transfer-Encoding: chunked\r\n\r\n", chunked(PART[:9]), chunked(PART[9:] + PART), b"0\r\n\r\n"],
    ],
)
def test_a_stream_gives_its_parts_until_it_ends(blocks: list[bytes], serve: Callable[[Answer], str]) -> None:
    stream = Stream(serve(lambda request: blocks))
    assert [part for _, part in stream] == [b"abcd", b"abcd"]
    stream.close()


def test_a_stream_asks_with_path_query_and_password(serve: Callable[[Answer], str]) -> None:
    requests: list[bytes] = []

    def answer(request: bytes) -> list[bytes]:
        requests.append(request)
        return [MULTIPART + b"\r\n"]

    Stream(serve(answer)).close()
    assert requests[0].startswith(b"GET /stream?size=2 HTTP/1.1\r\n")
    assert b"\r\nAuthorization: Basic YW5uYTpwQHNz\r\n" in requests[0]


def test_what_waited_in_the_socket_is_not_taken_for_new(serve: Callable[[Answer], str]) -> None:
    stream = Stream(serve(lambda request: [MULTIPART + b"\r\n" + PART]))
    opened_ms = now_ms()
    time.sleep(0.3)  # the reader is held up while the part waits
    ((arrived_ms, _),) = list(stream)
    assert arrived_ms <= opened_ms + 5
    stream.close()


@pytest.mark.parametrize(
    ("head", "code", "values"),
    [
        (b"HTTP/1.0 404 Not Found\r\n\r\n", "camera_http_status", {"status": 404}),
        (b"HTTP/1.0 401 Unauthorized\r\n\r\n", "camera_forbidden", {}),
        (b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n", "camera_no_stream", {"content_type": "text/html"}),
        (b"HTTP/1.0 200 OK\r\nContent-Type: multipart/x-mixed-replace\r\n\r\n", "camera_no_stream", None),
        (b"SSH-2.0 hello\r\n", "camera_refused", {"reason": "BadStatusLine"}),
        (b"", "camera_refused", {"reason": "RemoteDisconnected"}),
    ],
)
def test_an_answer_that_is_no_stream_is_named(
    head: bytes, code: str, values: dict[str, object] | None, serve: Callable[[Answer], str]
) -> None:
    url = serve(lambda request: [head])
    with pytest.raises(CameraAway) as raised:
        open_source(parse_address(url), Tally(), lambda: True)
    assert raised.value.code == code
    assert values is None or raised.value.values == values


class ModuleOfWood:
    """A stand-in for picamera2's camera: grants a smaller picture and counts what it lends."""

    lent = 0

    def __init__(self, number: int) -> None:
        if number:
            raise IndexError("list index out of range")

    def create_video_configuration(self, **wish: Any) -> dict[str, Any]:
        return wish

    def configure(self, configuration: dict[str, Any]) -> None:
        assert configuration["main"] == {"size": (1920, 1080), "format": "RGB888"}

    def camera_configuration(self) -> dict[str, Any]:
        return {"main": {"size": (64, 48)}}

    def start(self) -> None:
        self.started_ns = time.monotonic_ns()

    def capture_request(self) -> Any:
        ModuleOfWood.lent += 1
        return SimpleNamespace(
            get_metadata=lambda: {"SensorTimestamp": self.started_ns},
            make_array=lambda name: np.zeros((48, 64, 3), np.uint8),
            release=self.take_back,
        )

    def take_back(self) -> None:
        ModuleOfWood.lent -= 1

    def close(self) -> None:
        self.is_closed = True


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "picamera2", SimpleNamespace(Picamera2=ModuleOfWood))


@pytest.mark.usefixtures("module")
def test_a_camera_module_tells_the_sensors_own_time_and_gets_every_frame_back() -> None:
    source = open_source(parse_address("picamera2:?width=1920&height=1080&fps=5"), Tally(), lambda: True)
    assert source.granted == {"width": Setting(1920, 64), "height": Setting(1080, 48), "fps": Setting(5, 5)}
    shots = source.shots()
    first, second = next(shots), next(shots)
    assert ModuleOfWood.lent == 1
    picture = second.picture()
    assert picture is not None
    assert picture.shape == (48, 64, 3)
    assert first.taken_ms == second.taken_ms <= now_ms()
    assert not second.is_lasting
    shots.close()  # type: ignore[attr-defined]
    assert ModuleOfWood.lent == 0
    source.close()


@pytest.mark.usefixtures("module")
def test_a_camera_module_that_is_not_there_is_named() -> None:
    with pytest.raises(CameraAway) as raised:
        open_source(parse_address("picamera2:1"), Tally(), lambda: True)
    assert (raised.value.code, raised.value.values["reason"]) == ("camera_module_failed", "list index out of range")
