"""Numbered pictures, faulty servers and ways to wait for a condition."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from devices.camera import Camera, open_camera
from devices.fakes import FakeCamera
from devices.presence import Backoff

Pixels = NDArray[np.uint8]
_BITS, _BLOCK_PX = 16, 20
LENGTH = 80


def numbered(number: int) -> Pixels:
    """Draw a counter as white and black blocks, below a strip of sensor noise."""
    picture = np.full((240, 320, 3), 90, np.uint8)
    picture[40:60] = np.random.default_rng(number).integers(0, 255, (20, 320, 3), np.uint8)
    for bit in range(_BITS):
        picture[:_BLOCK_PX, bit * _BLOCK_PX : (bit + 1) * _BLOCK_PX] = 255 if number >> bit & 1 else 0
    return picture


def number_in(picture: Pixels) -> int:
    """Read the counter back."""
    middle = _BLOCK_PX // 2
    return sum((int(picture[middle, bit * _BLOCK_PX + middle, 0]) > 127) << bit for bit in range(_BITS))


def tenths() -> int:
    """The counter of a scene that changes ten times a second; it turns over as film and folder do."""
    return time.monotonic_ns() // 100_000_000 % LENGTH


def eventually(is_so: Callable[[], bool], within_s: float = 10.0) -> bool:
    """Wait for a condition; False when the time is over."""
    deadline = time.monotonic() + within_s
    while not is_so():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def children() -> set[int]:
    """The processes started by this one."""
    lists = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    return {int(pid) for path in lists for pid in path.read_text().split()}


def descriptors() -> int:
    """How many descriptors are open."""
    return len(os.listdir("/proc/self/fd"))


class Tools:
    """What the tests share; test modules cannot import each other."""

    length = LENGTH

    numbered = staticmethod(numbered)
    number_in = staticmethod(number_in)
    tenths = staticmethod(tenths)
    eventually = staticmethod(eventually)
    descriptors = staticmethod(descriptors)

    def __init__(self) -> None:
        self._older = children()

    def children(self) -> set[int]:
        """The processes started by this one since the test began."""
        return children() - self._older


@pytest.fixture
def tools() -> Tools:
    return Tools()


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try again after a tenth of a second; how long the waits are is tested on a clock."""
    monkeypatch.setattr(Backoff, "first_ms", 100)
    monkeypatch.setattr(Backoff, "longest_ms", 100)


@pytest.fixture
def fake() -> Iterator[FakeCamera]:
    with FakeCamera() as camera:
        camera.show(lambda: numbered(tenths()))
        yield camera


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eighty numbered pictures."""
    path = tmp_path_factory.mktemp("pictures")
    for number in range(LENGTH):
        cv2.imwrite(str(path / f"{number:03}.png"), numbered(number))
    return path


@pytest.fixture(scope="session")
def film(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight seconds of numbered pictures."""
    path = tmp_path_factory.mktemp("films") / "film.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 10, (320, 240))
    for number in range(LENGTH):
        writer.write(numbered(number))
    writer.release()
    return path


REAL = os.environ.get("COMPANION_TEST_CAMERA", "")
KINDS = ("http", "folder", "file", *(["real"] if REAL else []))


def address_of(kind: str, fake: FakeCamera, folder: Path, film: Path) -> str:
    """The address of an endless source of numbered pictures, ten a second; or of a real camera, where one is named."""
    addresses = {"http": fake.url, "folder": f"folder:{folder}?hold_ms=100&loop=1", "file": f"file:{film}?loop=1"}
    return addresses.get(kind, REAL)


@pytest.fixture(params=KINDS)
def address(request: pytest.FixtureRequest, fake: FakeCamera, folder: Path, film: Path) -> str:
    return address_of(request.param, fake, folder, film)


@pytest.fixture
def camera(address: str, tools: Tools) -> Iterator[Camera]:
    """An open camera of a test's own, that has given its first picture."""
    with open_camera(address) as opened:
        opened.fresh(10_000)
        yield opened


@pytest.fixture(scope="module")
def steady(folder: Path, film: Path) -> Iterator[dict[str, Camera]]:
    """One camera of each kind, for tests that leave them as they are."""
    with contextlib.ExitStack() as stack:
        fake = stack.enter_context(FakeCamera())
        fake.show(lambda: numbered(tenths()))
        cameras = {kind: stack.enter_context(open_camera(address_of(kind, fake, folder, film))) for kind in KINDS}
        for camera in cameras.values():
            camera.fresh(10_000)
        yield cameras
