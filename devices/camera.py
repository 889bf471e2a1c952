"""Cameras: the newest picture, never a stale one, and never a service that waits for a driver.

with open_camera("http://127.0.0.1:8081/stream") as camera:
    frame = camera.fresh(timeout_ms=2000)
    print(frame.picture.shape, camera.health().state)
"""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from devices.address import Address, parse_address
from devices.closing import Closing
from devices.errors import CameraAway, CameraClosed, CameraSilent
from devices.found import FoundCamera, list_cameras
from devices.health import Health, news
from devices.link import Link
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
    Ready,
    Setting,
    Unlock,
    Want,
)
from devices.upkeep import Deed, Upkeep, is_fresh
from devices.whereabouts import Whereabouts

__all__ = ["Camera", "FoundCamera", "Frame", "Setting", "list_cameras", "open_camera"]

_TICK_S = 0.1
_LATEST_WAIT_S = 0.3
_ASK_AGAIN_S = 0.5
_CLOSE_S = 1.5

log = logging.getLogger(__name__)


def monotonic_ms() -> int:
    """Return the time in ms that no setting of the wall clock moves."""
    return time.monotonic_ns() // 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A picture (height, width, 3; uint8, BGR; read-only, for threads share it), when it was taken, and its number.

    `taken_ms` is monotonic and never later than the truth; numbers rise, also over restarts.
    """

    picture: NDArray[np.uint8]
    taken_ms: int
    number: int


class _Shelf:
    """The newest frame the service has, and the place to wait for a newer one."""

    def __init__(self) -> None:
        self._news = threading.Condition()
        self.frame: Frame | None = None
        self.answered = self.locked = 0
        self.is_closed = False

    def put(self, frame: Frame | None = None, *, ticket: int = 0, locked: int = 0, is_closed: bool = False) -> None:
        with self._news:
            self.frame = frame or self.frame
            self.locked = max(self.locked, locked)
            self.answered = max(self.answered, ticket)
            self.is_closed = self.is_closed or is_closed
            self._news.notify_all()

    def has_answered(self, ticket: int, have: Frame | None) -> bool:
        return self.answered >= ticket or self.frame is not have

    def wait_for(self, is_there: Callable[[], bool], timeout_s: float) -> bool:
        with self._news:
            return self._news.wait_for(lambda: self.is_closed or is_there(), timeout_s)


class Camera(Closing):
    """One camera, kept alive in the background. Made by `open_camera`; close it, or use it in a `with`.

    All pictures of one opening have one size. A source that changes its size for good is away for some seconds and
    returns with the new one, so whoever is calibrated for a size compares shapes.
    """

    def __init__(self, address: Address, clock_ms: Callable[[], int], locked: Mapping[str, float]) -> None:
        self._address = address
        self._whereabouts = Whereabouts(address)
        self._locked = locked
        self._clock_ms = clock_ms
        self._shelf = _Shelf()
        self._tickets = itertools.count(1)
        self._link: Link | None = None
        self._granted: Mapping[str, Setting] = {}
        self._upkeep = Upkeep(address.shown, is_live=address.is_live, now_ms=clock_ms())
        self._health_ms = clock_ms()
        self._health = self._upkeep.health(self._health_ms)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"camera {address.shown}", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The address the camera was opened with."""
        return self._address.url

    def latest(self) -> Frame | None:
        """Return the newest whole frame if it is younger than 1 s, else None; takes 0.3 s at the very most."""
        have, link = self._shelf.frame, self._link
        if link is not None and self._health.state != "closed":
            number = have.number if have else 0
            ticket = next(self._tickets)
            if link.send(Want(ticket, number, 0, is_patient=False)):
                self._shelf.wait_for(lambda: self._shelf.has_answered(ticket, have), _LATEST_WAIT_S)
        frame = self._shelf.frame
        return frame if frame is not None and self._is_usable(frame) else None

    def _is_usable(self, frame: Frame) -> bool:
        is_trusted = not self._shelf.is_closed and self._health.message_code != "camera_frozen"
        return is_trusted and is_fresh(frame.taken_ms, self._clock_ms())

    def fresh(self, timeout_ms: int = 2000) -> Frame:
        """Return a frame taken after this call began; CameraSilent if none comes in `timeout_ms`."""
        begun_ms = self._clock_ms()
        ticket = next(self._tickets)
        while (left_ms := begun_ms + timeout_ms - self._clock_ms()) > 0:
            if (frame := self._later(begun_ms, ticket, left_ms / 1000)) is not None:
                return frame
        raise CameraSilent(camera=self._address.shown, timeout_ms=timeout_ms, reason=self._health.message_code)

    def _later(self, begun_ms: int, ticket: int, left_s: float) -> Frame | None:
        """Ask once; again and again, for a restart swallows the question."""
        link = self._link
        if link is not None:
            link.send(Want(ticket, 0, begun_ms, is_patient=True))
        self._shelf.wait_for(
            lambda: self._link is not link or _taken_ms(self._shelf.frame) > begun_ms, min(left_s, _ASK_AGAIN_S)
        )
        if self._shelf.is_closed:
            raise CameraClosed(camera=self._address.shown)
        frame = self._shelf.frame
        return frame if _taken_ms(frame) > begun_ms else None

    def health(self) -> Health:
        """Return how the camera is, with the age of its newest frame now."""
        health, passed_ms = self._health, self._clock_ms() - self._health_ms
        if health.frame_age_ms is None:
            return health
        return replace(health, frame_age_ms=health.frame_age_ms + passed_ms)

    def granted(self) -> Mapping[str, Setting]:
        """Return what was asked of the source and what it does, by setting; empty until it has told."""
        return self._granted

    def lock(self, *, warm_up_ms: int = 2000, timeout_ms: int = 12_000) -> Mapping[str, Setting]:
        """Let the camera find its exposure, gain and white balance, fix them, and return what was asked and granted.

        They stay fixed when the camera goes and comes back; `locked` has the values, to open it with another time. A
        source with nothing to fix returns nothing. Raises CameraSilent if it is not done in `timeout_ms`.
        """
        begun_ms, ticket = self._clock_ms(), next(self._tickets)
        while (left_ms := begun_ms + timeout_ms - self._clock_ms()) > 0 and not self._shelf.is_closed:
            link = self._link
            if link is not None:
                link.send(Lock(ticket, warm_up_ms))
            self._shelf.wait_for(partial(self._has_locked, ticket, link), left_ms / 1000)
            if self._shelf.locked >= ticket:
                return {name: setting for name, setting in self._granted.items() if _is_fixed(name, self._locked)}
        raise CameraSilent(camera=self._address.shown, timeout_ms=timeout_ms, reason=self._health.message_code)

    def _has_locked(self, ticket: int, link: Link | None) -> bool:
        """Tell whether an order was carried out, or was lost with the child it was given to."""
        return self._shelf.locked >= ticket or self._link is not link

    def unlock(self) -> None:
        """Let the camera set its exposure, gain and white balance by itself again."""
        self._locked = {}
        if (link := self._link) is not None:
            link.send(Unlock())

    @property
    def locked(self) -> Mapping[str, float]:
        """The values that the camera is fixed at, by name; empty where it sets them by itself."""
        return self._locked

    def retry(self) -> None:
        """Try again at once, for somebody who has just plugged it in; also one that was given up."""
        self._upkeep.hurry(self._clock_ms())

    def close(self) -> None:
        """Let the camera go, in whatever state it is; returns within 2 s."""
        self._stop.set()
        self._shelf.put(is_closed=True)
        if (link := self._link) is not None:
            link.hang_up()
        self._thread.join(_CLOSE_S)

    def __repr__(self) -> str:
        health = self.health()
        age = "no frame" if health.frame_age_ms is None else f"frame {health.frame_age_ms} ms old"
        return f"<Camera {self._address.shown} {health.state}, {age}, {health.restarts} restarts>"

    # What follows runs in the camera's own thread.

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._step()
            except Exception:
                log.exception("the keeper of camera %s failed and goes on", self._address.shown)
                self._give_up_child()
        self._drop_link()
        self._upkeep.close(self._clock_ms())
        self._publish()

    def _step(self) -> None:
        deed = self._upkeep.tick(self._clock_ms())
        if deed is Deed.KILL:
            self._drop_link()
        elif deed is Deed.TRY:
            self._try()
        self._publish()
        if self._link is None:
            self._stop.wait(_TICK_S)
        else:
            self._listen(self._link)

    def _try(self) -> None:
        try:
            address = self._whereabouts.address()
        except CameraAway as error:
            self._upkeep.gone(error.code, error.values, self._clock_ms())
            return
        if self._link is None:
            self._link = Link()
            self._shelf.put()  # whoever waits can ask now
            self._upkeep.spawned(self._clock_ms())
        have = self._shelf.frame
        last_number = max(self._upkeep.number, have.number if have else 0)
        self._link.send(Open(address, last_number + 1, self._locked))

    def _listen(self, link: Link) -> None:
        try:
            heard = link.receive(_TICK_S)
        except (EOFError, OSError):
            self._give_up_child()
        else:
            if heard is not None:
                self._take(*heard)

    def _give_up_child(self) -> None:
        self._drop_link()
        if not self._stop.is_set():
            self._upkeep.gone("camera_crashed", {}, self._clock_ms())

    def _take(self, message: Message, body: bytearray) -> None:
        now_ms = self._clock_ms()
        match message:
            case Picture():
                self._take_picture(message, body, now_ms)
            case Nothing():
                self._shelf.put(ticket=message.ticket)
            case Beat():
                self._upkeep.beat(message, now_ms)
                if message.number:
                    self._whereabouts.remember()
            case Granted():
                self._granted = message.settings
            case Locked():
                self._locked = message.values
                self._shelf.put(locked=message.ticket)
            case Gone():
                self._upkeep.gone(message.code, message.values, now_ms)
            case Ready():
                self._upkeep.ready(now_ms)

    def _take_picture(self, message: Picture, body: bytearray, now_ms: int) -> None:
        if self._upkeep.is_frozen(message.digest, now_ms):
            return
        picture = np.frombuffer(body, np.uint8).reshape(message.height, message.width, 3)
        picture.flags.writeable = False
        self._shelf.put(Frame(picture, message.taken_ms, message.number))

    def _drop_link(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            link.end()

    def _publish(self) -> None:
        """Make the health of the moment visible, and log when the camera goes and when it returns."""
        now_ms = self._clock_ms()
        before, after = self._health, self._upkeep.health(now_ms)
        self._health, self._health_ms = after, now_ms
        if (line := news(f"camera {self._address.shown}", before, after)) is not None:
            log.warning(line)


def _is_fixed(name: str, locked: Mapping[str, float]) -> bool:
    return name.removeprefix("automatic_") in locked


def _taken_ms(frame: Frame | None) -> int:
    return -1 if frame is None else frame.taken_ms


def open_camera(
    url: str, *, locked: Mapping[str, float] | None = None, clock_ms: Callable[[], int] = monotonic_ms
) -> Camera:
    """Open a camera by its address, without waiting for it; CameraUnknown where the address makes no sense.

    Addresses: `0`, `v4l2:/dev/video0?width=1280&height=720&fps=10`, `http://host:port/path` (MJPEG),
    `file:/film.avi?loop=1`, `folder:/pictures?hold_ms=2000&between=empty.jpg&between_ms=1000&skip=a.jpg,b.jpg&loop=1`,
    `picamera2:0?width=..&height=..&fps=..`, `rtsp://host/path`. `locked` fixes exposure and so on at the values that
    `Camera.locked` had before. `clock_ms` must be the monotonic clock of the machine or follow it.
    """
    return Camera(parse_address(url), clock_ms, locked or {})
