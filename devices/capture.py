"""The capture child: owns one source, keeps its newest frame, and sends a picture only when asked.

It is a process of its own because drivers hang and OpenCV can take a process down with it; the service kills it then.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Mapping

import cv2

from devices.errors import DeviceError
from devices.messages import (
    Beat,
    Gone,
    Granted,
    Lock,
    Locked,
    Message,
    Nothing,
    Open,
    Picture,
    Pipe,
    Ready,
    Unlock,
    Want,
)
from devices.mjpeg import now_ms
from devices.sources import Lockable, Shot, Source, Tally, open_source

_BEAT_MS = 250

log = logging.getLogger(__name__)


class Desk:
    """The newest frame and the questions about it; the reading and the talking thread meet here."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self._lock = threading.Lock()
        self._wants: dict[int, Want] = {}
        self._shot: Shot | None = None
        self._number = self._taken_ms = 0
        self._digest: int | None = None
        self._told_ms = self._digested_ms = 0
        self.tally = Tally()
        self.was_asked = False

    def start(self, first_number: int) -> None:
        """Begin a source: its frames are numbered from here on."""
        with self._lock:
            self._number = max(self._number, first_number - 1)
            self._digested_ms = 0

    def end(self) -> None:
        """Forget the frame of a source that is closed; a last sign of life tells of it."""
        with self._lock:
            self._shot = None
            self._beat()

    def put(self, shot: Shot) -> None:
        """Take a frame as the newest and answer who waits for it."""
        with self._lock:
            self._shot, self._number, self._taken_ms = shot, self._number + 1, shot.taken_ms
            if now_ms() - self._digested_ms >= _BEAT_MS:
                self._digest, self._digested_ms = shot.digest(), now_ms()
                self._beat()
            due = [ticket for ticket, want in self._wants.items() if self._satisfies(shot, want)]
            if due and self._send(shot):
                for ticket in due:
                    del self._wants[ticket]

    def ask(self, want: Want) -> None:
        """Answer with the newest frame, with nothing, or leave the question for the next frame."""
        self.was_asked = True
        with self._lock:
            shot = self._shot
            if shot is not None and shot.is_lasting and self._satisfies(shot, want) and self._send(shot):
                return
            if want.is_patient or (shot is not None and not shot.is_lasting):
                self._wants[want.ticket] = want
            else:
                self._pipe.send(Nothing(want.ticket))

    def _satisfies(self, shot: Shot, want: Want) -> bool:
        return self._number > want.after_number and shot.taken_ms > want.after_ms

    def _send(self, shot: Shot) -> bool:
        pixels = shot.picture()
        if pixels is None:
            return False
        height, width = pixels.shape[:2]
        picture = Picture(self._number, shot.taken_ms, shot.digest(), height, width)
        self._pipe.send(picture, pixels.data.cast("B"))
        return True

    def tell(self) -> None:
        """Send a sign of life, if one is due."""
        with self._lock:
            if now_ms() - self._told_ms >= _BEAT_MS:
                self._beat()

    def _beat(self) -> None:
        self._told_ms = now_ms()
        tally = self.tally
        self._pipe.send(
            Beat(self._number, self._taken_ms, self._digest, tally.half_frames, tally.wrong_size_frames, tally.skipped)
        )


class Locker:
    """Fixes what a source sweeps by itself, once it had time to find its values; read by the reading thread."""

    def __init__(self, source: Source, values: Mapping[str, float]) -> None:
        self._source = source if isinstance(source, Lockable) else None
        self._due_ms, self._ticket = 0, 0
        if self._source is not None and values:
            self._source.lock(values)

    def take(self, order: Lock | Unlock) -> None:
        """Let the source find its values, and plan to fix them where that was asked."""
        if self._source is not None:
            self._source.unlock()
        if isinstance(order, Lock):
            self._due_ms, self._ticket = now_ms() + (order.warm_up_ms if self._source else 0), order.ticket

    def done(self) -> Locked | None:
        """Fix the values if that is due, and return the answer."""
        if not self._ticket or now_ms() < self._due_ms:
            return None
        ticket, self._ticket = self._ticket, 0
        return Locked(ticket, self._source.lock({}) if self._source is not None else {})


class Reader:
    """The thread that alone touches the source: it opens, reads and closes, each time it is told to."""

    def __init__(self, pipe: Pipe, desk: Desk) -> None:
        self._pipe = pipe
        self._desk = desk
        self._order: Open | None = None
        self._lock_order: Lock | Unlock | None = None
        self._ordered = threading.Condition()
        threading.Thread(target=self._run, name="reader", daemon=True).start()

    def open(self, order: Open) -> None:
        """Have the source opened, after the one that is open has been closed."""
        with self._ordered:
            self._order = order
            self._ordered.notify()

    def lock(self, order: Lock | Unlock) -> None:
        """Have the source's values fixed, or let go, as soon as it gives frames."""
        self._lock_order = order

    def _next_order(self) -> Open:
        with self._ordered:
            while self._order is None:
                self._ordered.wait()
            order, self._order = self._order, None
            return order

    def _run(self) -> None:
        try:
            while True:
                self._serve(self._next_order())
        except (BrokenPipeError, ConnectionResetError):
            os._exit(0)  # the service is gone, nobody is left to tell
        except Exception:
            log.exception("the camera's reader failed")
            os._exit(1)

    def _serve(self, order: Open) -> None:
        self._desk.start(order.first_number)
        try:
            self._read(order)
        except DeviceError as error:
            self._pipe.send(Gone(error.code, error.values))
        else:
            if self._order is None:
                self._pipe.send(Gone("camera_ended"))

    def _read(self, order: Open) -> None:
        source = open_source(order.address, self._desk.tally, lambda: self._desk.was_asked)
        try:
            self._read_shots(source, Locker(source, order.locked))
        finally:
            self._desk.end()
            source.close()

    def _read_shots(self, source: Source, locker: Locker) -> None:
        told: object = None
        for shot in source.shots():
            self._desk.put(shot)
            locked = self._tend(locker)
            if told is not source.granted:
                told = source.granted
                self._pipe.send(Granted(source.granted))
            if locked is not None:
                self._pipe.send(locked)
            if self._order is not None:
                return

    def _tend(self, locker: Locker) -> Locked | None:
        order, self._lock_order = self._lock_order, None
        if order is not None:
            locker.take(order)
        return locker.done()


def serve(pipe: Pipe) -> None:
    """Do what the service says until it hangs up."""
    desk = Desk(pipe)
    reader = Reader(pipe, desk)
    pipe.send(Ready())
    while True:
        if pipe.has_news(_BEAT_MS / 1000):
            message: Message = pipe.receive()[0]
            if isinstance(message, Open):
                reader.open(message)
            elif isinstance(message, Want):
                desk.ask(message)
            elif isinstance(message, Lock | Unlock):
                reader.lock(message)
        desk.tell()


def main() -> None:
    """Serve on the descriptor given as the only argument; whatever the source does, end when the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the service, which ends us
    cv2.setNumThreads(1)
    try:
        serve(Pipe(socket.socket(fileno=int(sys.argv[1]))))
    except (EOFError, OSError):
        # At once and without cleaning up: the reader may hang in a driver, and the system frees what we hold.
        os._exit(0)
