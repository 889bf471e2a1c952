"""Exposure, gain and white balance fixed after a warm-up: what was asked, what was granted, and that it stays."""

from __future__ import annotations

import os
import signal
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import pytest

from devices import v4l2
from devices.address import parse_address
from devices.camera import Camera, open_camera
from devices.capture import Locker
from devices.errors import CameraAway, CameraSilent
from devices.fakes import FakeCamera
from devices.messages import Lock, Locked, Setting, Unlock
from devices.sources import Tally, open_source
from devices.v4l2 import V4l2Source


class Webcam:
    """A capture object with the controls of a common webcam; `stubborn` ones cannot be set, whatever `set` says."""

    def __init__(self, *stubborn: int) -> None:
        self._stubborn = stubborn
        self.values = {
            cv2.CAP_PROP_AUTO_EXPOSURE: 3.0,
            cv2.CAP_PROP_EXPOSURE: 157.0,
            cv2.CAP_PROP_GAIN: 12.0,
            cv2.CAP_PROP_AUTO_WB: 1.0,
            cv2.CAP_PROP_WB_TEMPERATURE: 4600.0,
        }

    def get(self, prop: int) -> float:
        return self.values.get(prop, -1.0)

    def set(self, prop: int, value: float) -> bool:
        is_swept = prop == cv2.CAP_PROP_EXPOSURE and self.values[cv2.CAP_PROP_AUTO_EXPOSURE] == 3
        if prop in self.values and prop not in self._stubborn and not is_swept:
            self.values[prop] = value
        return True

    def grab(self) -> bool:
        return True


def source_of(webcam: Any) -> V4l2Source:
    return V4l2Source(parse_address("v4l2:/dev/video0"), webcam)


def test_a_webcam_is_fixed_at_the_values_in_force_and_says_what_it_granted() -> None:
    source = source_of(webcam := Webcam())
    assert source.lock({}) == {"exposure": 157, "gain": 12, "white_balance": 4600}
    assert webcam.values[cv2.CAP_PROP_AUTO_EXPOSURE] == 1
    assert webcam.values[cv2.CAP_PROP_AUTO_WB] == 0
    granted = {name: setting for name, setting in source.granted.items() if setting.requested is not None}
    assert granted == {
        "format": granted["format"],
        "automatic_exposure": Setting("off", "off"),
        "exposure": Setting(157, 157),
        "gain": Setting(12, 12),
        "automatic_white_balance": Setting("off", "off"),
        "white_balance": Setting(4600, 4600),
    }


def test_a_webcam_that_ignores_what_it_is_told_is_found_out() -> None:
    source = source_of(Webcam(cv2.CAP_PROP_AUTO_EXPOSURE, cv2.CAP_PROP_GAIN))
    source.lock({"exposure": 90, "gain": 3, "white_balance": 5000})
    assert source.granted["automatic_exposure"] == Setting("off", "on")
    assert source.granted["exposure"] == Setting(90, 157)
    assert source.granted["gain"] == Setting(3, 12)
    assert source.granted["white_balance"] == Setting(5000, 5000)


def test_a_webcam_let_go_sweeps_again() -> None:
    source = source_of(webcam := Webcam())
    source.lock({})
    source.unlock()
    assert (webcam.values[cv2.CAP_PROP_AUTO_EXPOSURE], webcam.values[cv2.CAP_PROP_AUTO_WB]) == (3, 1)


def test_the_values_are_those_at_the_end_of_the_warm_up(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [1000]
    monkeypatch.setattr("devices.capture.now_ms", lambda: clock[0])
    locker = Locker(source_of(webcam := Webcam()), {})
    assert locker.done() is None
    locker.take(Lock(5, warm_up_ms=2000))
    webcam.values[cv2.CAP_PROP_EXPOSURE] = 300
    clock[0] = 2999
    assert locker.done() is None
    clock[0] = 3000
    assert locker.done() == Locked(5, {"exposure": 300, "gain": 12, "white_balance": 4600})
    assert locker.done() is None
    locker.take(Unlock())
    assert webcam.values[cv2.CAP_PROP_AUTO_EXPOSURE] == 3


def test_values_of_before_are_fixed_from_the_first_frame() -> None:
    Locker(source_of(webcam := Webcam()), {"exposure": 80.0})
    assert webcam.values[cv2.CAP_PROP_EXPOSURE] == 80
    assert webcam.values[cv2.CAP_PROP_AUTO_EXPOSURE] == 1


def test_a_source_with_nothing_to_fix_says_so_at_once(fake: FakeCamera) -> None:
    with open_camera(fake.url) as camera:
        assert camera.lock(timeout_ms=10_000) == {}
        assert camera.locked == {}


def test_locking_a_camera_that_is_not_there_ends_in_time(tmp_path: Path) -> None:
    with open_camera(f"v4l2:{tmp_path}/video0") as camera, pytest.raises(CameraSilent):
        camera.lock(timeout_ms=300)


STAND_IN = """
    import time
    from types import SimpleNamespace
    import numpy as np

    class Picamera2:
        camera_controls = {"AfMode": (0, 2, 0)}

        def __init__(self, number):
            self.controls, self.begun = {}, time.monotonic()

        def create_video_configuration(self, **wish):
            return wish

        def configure(self, configuration):
            pass

        def camera_configuration(self):
            return {"main": {"size": (64, 48)}}

        def start(self):
            pass

        def set_controls(self, controls):
            self.controls |= controls

        def capture_metadata(self):
            swept = 100 + int(time.monotonic() - self.begun)
            exposure = self.controls.get("ExposureTime", swept)
            gains = self.controls.get("ColourGains", (1.5, 1.25))
            # The gain comes in steps of a half, as sensors grant it.
            gain = round(2 * self.controls.get("AnalogueGain", 2.2)) / 2
            return {"ExposureTime": exposure, "AnalogueGain": gain, "ColourGains": gains, "LensPosition": 5.0}

        def capture_request(self):
            time.sleep(0.05)
            noise = np.random.default_rng().integers(0, 255, (48, 64, 3), np.uint8)
            stamp = {"SensorTimestamp": time.monotonic_ns()}
            return SimpleNamespace(
                get_metadata=lambda: stamp, make_array=lambda name: noise, release=lambda: None
            )

        def close(self):
            pass
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tools: Any) -> Iterator[Camera]:
    """A camera module whose stack is a stand-in, found by the capture child as the system's would be."""
    (tmp_path / "picamera2.py").write_text(textwrap.dedent(STAND_IN))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with open_camera("picamera2:") as camera:
        camera.fresh(10_000)
        yield camera


def test_a_camera_module_stays_fixed_when_its_child_is_replaced(module: Camera, tools: Any) -> None:
    granted = module.lock(warm_up_ms=300)
    values = module.locked
    assert set(values) == {"exposure", "gain", "red_gain", "blue_gain", "focus"}
    assert granted["gain"] == Setting(2.0, 2.0)
    assert granted["exposure"] == Setting(values["exposure"], values["exposure"])
    (child,) = tools.children()
    os.kill(child, signal.SIGKILL)
    assert tools.eventually(lambda: module.health().state == "away")
    module.fresh(10_000)
    assert tools.eventually(lambda: module.granted().get("exposure") == granted["exposure"])
    assert module.locked == values
    module.unlock()
    assert module.locked == {}


@pytest.mark.parametrize(
    ("others", "can_capture", "code"),
    [
        (("motion (pid 812)",), None, "camera_busy"),
        ((), False, "camera_no_pictures"),
        ((), None, "camera_refused"),
    ],
)
def test_a_node_that_does_not_open_says_who_has_it_or_that_it_gives_no_pictures(
    others: tuple[str, ...], can_capture: bool | None, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "video1").touch()
    monkeypatch.setattr(v4l2, "holders", lambda node: others)
    monkeypatch.setattr(v4l2, "captures", lambda node: can_capture)
    with pytest.raises(CameraAway) as raised:
        open_source(parse_address(f"v4l2:{tmp_path}/video1"), Tally(), lambda: True)
    assert raised.value.code == code
    assert raised.value.values.get("holders", ()) == others
