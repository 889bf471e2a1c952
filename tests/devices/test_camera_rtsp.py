"""A network camera that codes video, played by a small RTSP server: what comes, how old it is, and what goes wrong."""

from __future__ import annotations

import re
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import cv2
import pytest

from devices.camera import monotonic_ms, open_camera

_SDP = "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=t\r\nc=IN IP4 0.0.0.0\r\nt=0 0\r\nm=video 0 RTP/AVP 26\r\na=control:t\r\n"
_FPS = 20


def packets(jpeg: bytes, number: int, sequence: int) -> Iterator[bytes]:
    """Cut a JPEG into the RTP packets of RFC 2435, interleaved as RTSP sends them over TCP."""
    tables = b"".join(
        jpeg[match.end() : match.end() + 64] for match in re.finditer(rb"\xff\xdb\x00\x43[\x00\x01]", jpeg)
    )
    start = jpeg.index(b"\xff\xda")
    scan = jpeg[start + 2 + int.from_bytes(jpeg[start + 2 : start + 4]) : -2]
    height, width = struct.unpack("!HH", jpeg[(frame := jpeg.index(b"\xff\xc0")) + 5 : frame + 9])
    for at in range(0, len(scan), 1200):
        piece = scan[at : at + 1200]
        is_last = at + 1200 >= len(scan)
        head = struct.pack("!BBHII", 0x80, 26 | is_last << 7, sequence & 0xFFFF, number * 90_000 // _FPS, 7)
        head += struct.pack("!IBBBB", at, 1, 255, width // 8, height // 8)
        head += struct.pack("!BBH", 0, 0, 128) + tables if at == 0 else b""
        sequence += 1
        yield b"$\0" + struct.pack("!H", len(head + piece)) + head + piece


class RtspCamera:
    """Answers one player at a time; `is_hung` stops the frames and leaves the connection."""

    def __init__(self, picture: Callable[[], Any]) -> None:
        self._picture, self.is_hung = picture, False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"rtsp://127.0.0.1:{self._listener.getsockname()[1]}/live"
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="rtsp camera", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._closing:
            try:
                connection = self._listener.accept()[0]
            except OSError:
                return
            with connection:
                try:
                    self._answer(connection)
                except OSError:
                    continue  # the player went away

    def _answer(self, connection: socket.socket) -> None:
        connection.settimeout(5)
        while request := connection.recv(4096).decode("latin-1"):
            number = re.search(r"CSeq: *(\d+)", request, re.IGNORECASE)
            assert number is not None
            reply = f"RTSP/1.0 200 OK\r\nCSeq: {number[1]}\r\nSession: 1\r\n"
            if request.startswith("DESCRIBE"):
                reply += f"Content-Type: application/sdp\r\nContent-Length: {len(_SDP)}\r\n\r\n{_SDP}"
            elif request.startswith("SETUP"):
                reply += "Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n\r\n"
            else:
                reply += "Public: DESCRIBE, SETUP, PLAY\r\n\r\n"
            connection.sendall(reply.encode())
            if request.startswith("PLAY"):
                self._play(connection)
                return

    def _play(self, connection: socket.socket) -> None:
        sequence, number = 0, 0
        while not self._closing:
            if not self.is_hung:
                jpeg = cv2.imencode(".jpg", self._picture(), [cv2.IMWRITE_JPEG_QUALITY, 80])[1].tobytes()
                for packet in packets(jpeg, number, sequence):
                    connection.sendall(packet)
                    sequence += 1
            number += 1
            time.sleep(1 / _FPS)

    def close(self) -> None:
        self._closing = True
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()


@pytest.fixture
def server(tools: Any) -> Iterator[RtspCamera]:
    camera = RtspCamera(lambda: tools.numbered(tools.tenths()))
    yield camera
    camera.close()


@pytest.mark.usefixtures("soon")
def test_frames_come_fresh_and_a_hung_stream_is_noticed_and_got_over(server: RtspCamera, tools: Any) -> None:
    with open_camera(server.url) as camera:
        before = camera.fresh(15_000)
        assert before.picture.shape == (240, 320, 3)
        assert tools.eventually(lambda: "width" in camera.granted(), 3)  # told beside the frames, so maybe after one
        assert camera.granted()["width"].granted == 320
        time.sleep(1)  # the pause in which the player's own queue would fill with the past
        asked_ms, asked = monotonic_ms(), tools.tenths()
        after = camera.fresh(5_000)
        assert after.taken_ms > asked_ms
        assert (tools.number_in(after.picture) - asked) % tools.length <= 20  # not before the question
        server.is_hung = True
        assert tools.eventually(lambda: camera.health().state == "away", 3)
        assert camera.health().condition in ("stale", "gone")
        assert camera.latest() is None
        server.is_hung = False
        assert camera.fresh(15_000).number > after.number


def test_an_address_that_accepts_and_never_answers_is_silent_three_seconds_later(tools: Any) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as mute,
        open_camera(f"rtsp://anna:secret@127.0.0.1:{mute.getsockname()[1]}/") as camera,
        mute.accept()[0],
    ):
        assert tools.eventually(lambda: camera.health().state == "away", 3)
        health = camera.health()
    assert (health.message_code, health.condition) == ("camera_silent", "stale")
    assert "secret" not in f"{health}{camera!r}"


def test_an_address_nobody_listens_at_is_refused(tools: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    with open_camera(f"rtsp://127.0.0.1:{port}/") as camera:
        assert tools.eventually(lambda: camera.health().message_code == "camera_refused")
