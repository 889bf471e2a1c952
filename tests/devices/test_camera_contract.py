"""What every kind of camera keeps to, run on each kind that needs no cable.

And on a real one, where the environment's COMPANION_TEST_CAMERA has its address.
"""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import pytest

from devices.camera import Camera, monotonic_ms, open_camera
from devices.errors import CameraClosed, CameraSilent

KINDS = ("http", "folder", "file", *(["real"] if "COMPANION_TEST_CAMERA" in os.environ else []))


def test_a_fresh_frame_after_a_pause_is_newer_than_the_request(steady: dict[str, Camera], tools: Any) -> None:
    before = {kind: camera.fresh() for kind, camera in steady.items()}
    time.sleep(2)  # the pause in which a camera's own queue would fill with the past
    for kind, camera in steady.items():
        asked_ms = monotonic_ms()
        after = camera.fresh()
        assert after.taken_ms > asked_ms
        assert after.number > before[kind].number
        if kind == "real":
            continue  # its pictures have no numbers
        passed = tools.number_in(after.picture) - tools.number_in(before[kind].picture)
        assert passed % tools.length >= 17, kind  # tenths of a second


@pytest.mark.parametrize("kind", KINDS)
def test_the_latest_frame_is_the_newest_one_and_young(steady: dict[str, Camera], kind: str) -> None:
    numbers = []
    for _ in range(30):
        frame = steady[kind].latest()
        assert frame is not None
        assert monotonic_ms() - frame.taken_ms < 1000
        numbers.append(frame.number)
        time.sleep(0.01)
    assert numbers == sorted(numbers)
    assert numbers[-1] > numbers[0]


@pytest.mark.parametrize("kind", KINDS)
def test_a_frame_is_a_picture_nobody_can_change_for_the_others(steady: dict[str, Camera], kind: str) -> None:
    frame = steady[kind].fresh()
    assert frame.picture.shape == (240, 320, 3) or kind == "real"
    with pytest.raises(ValueError, match="read-only"):
        frame.picture[0, 0] = 0


@pytest.mark.parametrize("kind", KINDS)
def test_an_open_camera_says_how_it_is(steady: dict[str, Camera], kind: str, tools: Any) -> None:
    camera = steady[kind]
    assert tools.eventually(lambda: camera.health().state == "up")
    health = camera.health()
    assert (health.message_code, health.restarts) == ("camera_up", 0)
    assert health.frame_age_ms is not None
    assert 0 <= health.frame_age_ms < 1000
    assert camera.url.startswith(kind) or kind == "real"
    assert repr(camera).startswith(f"<Camera {camera.url} up, frame ")
    assert tools.eventually(lambda: len(camera.granted()) > 0)


def test_a_closed_camera_gives_nothing_and_leaves_no_child(camera: Camera, tools: Any) -> None:
    camera.close()
    camera.close()
    assert camera.latest() is None
    with pytest.raises(CameraClosed):
        camera.fresh()
    assert camera.health().state == "closed"
    assert not tools.children()


def test_a_killed_child_is_replaced_and_numbers_go_on_rising(camera: Camera, tools: Any) -> None:
    before = camera.fresh()
    (child,) = tools.children()
    os.kill(child, signal.SIGKILL)
    assert tools.eventually(lambda: camera.health().state == "away")
    assert camera.health().message_code == "camera_crashed"
    assert camera.fresh(10_000).number > before.number
    assert tools.eventually(lambda: camera.health().state == "up")
    assert camera.health().restarts == 1


def test_a_child_that_stands_still_does_not_hold_up_anybody(camera: Camera, tools: Any) -> None:
    (child,) = tools.children()
    os.kill(child, signal.SIGSTOP)
    begun = time.monotonic()
    with pytest.raises(CameraSilent) as raised:
        camera.fresh(200)
    assert raised.value.values["timeout_ms"] == 200
    camera.latest()
    assert time.monotonic() - begun < 1
    begun = time.monotonic()
    camera.close()
    assert time.monotonic() - begun < 2
    assert not tools.children()


def test_closing_at_once_is_quick(address: str, tools: Any) -> None:
    begun = time.monotonic()
    open_camera(address).close()
    assert time.monotonic() - begun < 2
    assert not tools.children()
