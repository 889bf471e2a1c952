"""Numbered pictures, faulty servers and ways to wait for a condition."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from devices.camera import Camera, open_camera
from devices.fakes import FakeCamera

Pixels = NDArray[np.uint8]
_BITS, _BLOCK_PX = 16, 20


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
    """The counter of a scene that changes ten times a second."""
    return time.monotonic_ns() // 100_000_000 % (1 << _BITS)


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


@dataclass
class Tools:
    """What the tests share; test modules cannot import each other."""

    numbered = staticmethod(numbered)
    number_in = staticmethod(number_in)
    tenths = staticmethod(tenths)
    eventually = staticmethod(eventually)
    children = staticmethod(children)
    descriptors = staticmethod(descriptors)


@pytest.fixture
def tools() -> Tools:
    return Tools()


@pytest.fixture
def fake() -> Iterator[FakeCamera]:
    with FakeCamera() as camera:
        camera.show(lambda: numbered(tenths()))
        yield camera


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Eighty numbered pictures."""
    for number in range(80):
        cv2.imwrite(str(tmp_path / f"{number:03}.png"), numbered(number))
    return tmp_path


@pytest.fixture
def film(tmp_path: Path) -> Path:
    """Eight seconds of numbered pictures."""
    path = tmp_path / "film.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 10, (320, 240))
    for number in range(80):
        writer.write(numbered(number))
    writer.release()
    return path


@pytest.fixture(params=["http", "folder", "file"])
def address(request: pytest.FixtureRequest) -> str:
    """The address of a source of numbered pictures, ten a second."""
    if request.param == "http":
        return str(request.getfixturevalue("fake").url)
    if request.param == "folder":
        return f"folder:{request.getfixturevalue('folder')}?hold_ms=100"
    return f"file:{request.getfixturevalue('film')}"


@pytest.fixture
def camera(address: str) -> Iterator[Camera]:
    """An open camera that has given its first picture."""
    with open_camera(address) as opened:
        opened.fresh(10_000)
        yield opened
