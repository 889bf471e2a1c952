"""The service's hold on a capture child: start it, talk with it, and end it whatever it does."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

from devices.messages import Message, Pipe

_ROOT = str(Path(__file__).resolve().parent.parent)
_TALK_LIMIT_S = 2.0
_LEAVE_S = 0.3
_QUIET = {
    "OPENCV_LOG_LEVEL": "ERROR",
    "OPENCV_FFMPEG_LOGLEVEL": "-8",
    "OPENCV_VIDEOIO_V4L_SELECT_TIMEOUT": "2",
    "OPENBLAS_NUM_THREADS": "1",
}


class Link:
    """A running capture child.

    Not made by `multiprocessing`: its children import the program's main module, which here is all of the service.
    """

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._child = _start(theirs.fileno())
            except OSError:
                ours.close()
                raise
        self._pipe = Pipe(ours, _TALK_LIMIT_S)
        self._was_heard = False

    @property
    def pid(self) -> int:
        """The child's process number."""
        return self._child.pid

    def send(self, message: Message) -> bool:
        """Say something; False where the child no longer listens."""
        try:
            self._pipe.send(message)
        except OSError:
            return False
        return True

    def receive(self, timeout_s: float) -> tuple[Message, bytearray] | None:
        """Return what the child says next, or None after the time; EOFError or OSError when it is lost."""
        if not self._pipe.has_news(timeout_s):
            return None
        heard = self._pipe.receive()
        self._was_heard = True
        return heard

    def hang_up(self) -> None:
        """Wake whoever waits for the child; safe from any thread."""
        self._pipe.hang_up()

    def end(self) -> None:
        """End the child, kindly where it listens, and give back all it took; returns within a second."""
        self._pipe.hang_up()
        try:
            self._child.wait(_LEAVE_S if self._was_heard else 0)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._pipe.close()


def _start(descriptor: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", "-c", "from devices.capture import main; main()", str(descriptor)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=[descriptor],
        env={**os.environ, **_QUIET, "PYTHONPATH": _python_path()},
    )


def _python_path() -> str:
    return os.pathsep.join([_ROOT, *filter(None, [os.environ.get("PYTHONPATH")])])
