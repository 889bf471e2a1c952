"""MJPEG over HTTP, read by hand.

OpenCV would decode every frame whether or not anybody asks, hide broken ones and keep a queue of old ones. Here a
frame stays bytes until somebody wants it, a broken one is seen and counted, and each carries a time before which it
cannot have arrived.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import io
import re
import select
import socket
import ssl
import time
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

from devices.errors import CameraAway

CONNECT_S = 2.0
READ_S = 2.0
_SLICE_MS = 20
_BLOCK_BYTES = 1 << 16
_LONGEST_BYTES = 32 << 20
_LENGTH = re.compile(rb"content-length:\s*(\d+)", re.IGNORECASE)


def now_ms() -> int:
    """Return the monotonic time, which no setting of the wall clock moves."""
    return time.monotonic_ns() // 1_000_000


class Parts:
    """Cuts a multipart body into its parts, from blocks of any size."""

    def __init__(self, boundary: str) -> None:
        # Cameras disagree on whether the dashes belong to the name; the separator always ends with this.
        self._separator = b"--" + boundary.strip('"').lstrip("-").encode("latin-1")
        self._buffer = bytearray()
        self._searched = 0
        self._body: tuple[int, int | None, int] | None = None

    def feed(self, block: bytes, stamp_ms: int) -> Iterator[tuple[int, bytes]]:
        """Take a block and yield the parts it completes, each with the stamp of the block its body began in."""
        self._buffer += block
        if len(self._buffer) > _LONGEST_BYTES:
            raise ValueError(f"a part is longer than {_LONGEST_BYTES} bytes")
        while (part := self._next(stamp_ms)) is not None:
            yield part

    def _next(self, stamp_ms: int) -> tuple[int, bytes] | None:
        self._body = self._body or self._find_body(stamp_ms)
        if self._body is None:
            return None
        start, length, began_ms = self._body
        end = self._find_end(start) if length is None else start + length
        if end is None or end > len(self._buffer):
            return None
        part = bytes(memoryview(self._buffer)[start:end])
        del self._buffer[:end]
        self._body, self._searched = None, 0
        return began_ms, part

    def _find_body(self, stamp_ms: int) -> tuple[int, int | None, int] | None:
        head_end = self._buffer.find(b"\r\n\r\n")
        if head_end < 0:
            return None
        length = _LENGTH.search(self._buffer, 0, head_end)
        return head_end + 4, int(length[1]) if length else None, stamp_ms

    def _find_end(self, start: int) -> int | None:
        """Find the next separator, without searching again what was searched before."""
        end = self._buffer.find(self._separator, max(start, self._searched))
        self._searched = max(start, len(self._buffer) - len(self._separator))
        return end if end >= 0 else None


class _UnbufferedResponse(http.client.HTTPResponse):
    """A response that leaves unread bytes in the socket, where `select` can see them."""

    def __init__(self, sock: socket.socket, *args: object, **kwargs: object) -> None:
        super().__init__(sock, *args, **kwargs)  # type: ignore[arg-type]
        self.fp.close()
        self.fp = io.BufferedReader(sock.makefile("rb", 0), 1)


class Stream:
    """An open MJPEG stream; iterate it for (arrived no earlier than, in monotonic ms; the part's bytes)."""

    def __init__(self, url: str) -> None:
        self._connection = _connect(url)
        with contextlib.ExitStack() as undo:
            undo.callback(self._connection.close)
            self._socket, self._response = _request(self._connection, url)
            undo.callback(self._response.close)
            self._parts = Parts(_boundary(self._response))
            undo.pop_all()
        self._empty_ms = now_ms()

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        while block := self._read():
            yield from self._parts.feed(block, self._empty_ms)

    def _read(self) -> bytes:
        """Return what has arrived. What is there without waiting may be old: only an empty socket moves the time."""
        give_up_ms = now_ms() + READ_S * 1000
        while not self._has_bytes(_SLICE_MS):
            self._empty_ms = now_ms()
            if self._empty_ms > give_up_ms:
                raise TimeoutError("no bytes came")
        return self._response.read1(_BLOCK_BYTES)

    def _has_bytes(self, timeout_ms: int) -> bool:
        if isinstance(self._socket, ssl.SSLSocket) and self._socket.pending():
            return True
        return bool(select.select([self._socket], [], [], timeout_ms / 1000)[0])

    def close(self) -> None:
        """Hang up."""
        self._response.close()
        self._connection.close()


def _connect(url: str) -> http.client.HTTPConnection:
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=CONNECT_S)
    connection.response_class = _UnbufferedResponse
    return connection


def _request(connection: http.client.HTTPConnection, url: str) -> tuple[socket.socket, http.client.HTTPResponse]:
    parts = urlsplit(url)
    headers = {"Accept": "multipart/x-mixed-replace, */*"}
    if parts.username is not None:
        secret = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
        headers["Authorization"] = "Basic " + base64.b64encode(secret).decode()
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection.request("GET", path, headers=headers)
    # The connection lets go of its socket when the answer has no end; the answer goes on using it.
    wire: socket.socket = connection.sock
    return wire, connection.getresponse()


def _boundary(response: http.client.HTTPResponse) -> str:
    if response.status in (401, 403):
        raise CameraAway("camera_forbidden")
    if response.status != 200:
        raise CameraAway("camera_http_status", status=response.status)
    boundary = response.headers.get_param("boundary")
    if response.headers.get_content_maintype() != "multipart" or not isinstance(boundary, str):
        raise CameraAway("camera_no_stream", content_type=response.headers.get_content_type())
    return boundary


_SIZE_MARKERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def jpeg_size(jpeg: bytes) -> tuple[int, int] | None:
    """Return (width, height) of a JPEG that has its beginning and its end; None for a half one or none."""
    if not jpeg.startswith(b"\xff\xd8") or jpeg.rfind(b"\xff\xd9", max(2, len(jpeg) - 64)) < 0:
        return None
    at = 2
    while at + 9 <= len(jpeg) and jpeg[at] == 0xFF:
        if jpeg[at + 1] in _SIZE_MARKERS:
            height, width = jpeg[at + 5] << 8 | jpeg[at + 6], jpeg[at + 7] << 8 | jpeg[at + 8]
            return width, height
        at += 2 + (jpeg[at + 2] << 8 | jpeg[at + 3])
    return None
