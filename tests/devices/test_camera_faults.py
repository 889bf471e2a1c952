"""Sources that hang, lie, repeat themselves or go away."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from devices.camera import Camera, open_camera
from devices.errors import CameraSilent
from devices.fakes import FakeCamera, Mode
from devices.health import MESSAGE_CODES
from devices.presence import Backoff, CrashLoop
from tests.bench.unplug_camera import run
from vision.errors import PictureRefused
from vision.pictures import Picture, refuse_light


@pytest.fixture
def address(fake: FakeCamera) -> str:
    return fake.url


FAULTS: dict[Mode, tuple[str, float]] = {
    # The code of the health, and the seconds until it is seen.
    "hang": ("camera_silent", 3),
    "half": ("camera_broken_frames", 3),
    "frozen": ("camera_frozen", 3.5),
    "drop": ("camera_ended", 1),
    "wrong_size": ("camera_wrong_size", 3),
    "rotated": ("camera_wrong_size", 3),
}


def trial(mode: Mode, tools: Any) -> dict[str, object]:
    """Break a camera, look, mend it, look again; return what was seen."""
    code, seconds = FAULTS[mode]
    with FakeCamera() as fake, open_camera(fake.url) as camera:
        fake.show(lambda: tools.numbered(tools.tenths()))
        camera.fresh(10_000)
        fake.set_mode(mode)
        seen: dict[str, object] = {"url": fake.url, "code": code}
        seen["goes"] = tools.eventually(lambda: camera.health().state == "away", seconds)
        seen["health"] = camera.health().message_code
        seen["shows nothing"] = tools.eventually(lambda: camera.latest() is None, 1)
        with pytest.raises(CameraSilent) as raised:
            camera.fresh(200)
        seen["reason"] = raised.value.values["reason"]
        fake.set_mode("run")
        seen["returns"] = tools.eventually(lambda: camera.health().state == "up")
        seen["shows"] = tools.eventually(lambda: camera.latest() is not None, 1)
    return seen


def test_each_fault_is_seen_named_logged_once_and_got_over(tools: Any, caplog: pytest.LogCaptureFixture) -> None:
    """All faults at once, since most of the time is spent waiting."""
    caplog.set_level(logging.INFO)
    with ThreadPoolExecutor() as pool:
        trials = list(pool.map(lambda mode: trial(mode, tools), FAULTS))
    for seen in trials:
        url, code = seen["url"], seen["code"]
        assert seen["health"] == code
        assert seen["reason"] in MESSAGE_CODES  # the same, or what a new try found meanwhile
        assert all(seen[what] for what in ("goes", "shows nothing", "returns", "shows")), seen
        went, returned = [text for text in caplog.messages if f" {url} " in text]
        assert went == f"camera {url} is away: {code}"
        assert returned.startswith(f"camera {url} is back after ")


def test_frames_dropped_are_counted(camera: Camera, fake: FakeCamera, tools: Any) -> None:
    fake.set_mode("half")
    assert tools.eventually(lambda: camera.health().values["half_frames"] != 0)
    fake.set_mode("wrong_size")
    assert tools.eventually(lambda: camera.health().values["wrong_size_frames"] != 0)
    fake.set_mode("run")
    assert camera.fresh(5000).picture.shape == (240, 320, 3)


def test_a_slow_camera_is_a_healthy_one(camera: Camera, fake: FakeCamera, tools: Any) -> None:
    fake.set_mode("slow")
    first = camera.fresh().number
    assert tools.eventually(lambda: camera.fresh().number >= first + 2)
    assert (camera.health().state, camera.health().restarts) == ("up", 0)


@pytest.mark.parametrize(("mode", "code"), [("black", "too_dark"), ("blown_out", "blown_out")])
def test_a_camera_in_bad_light_is_a_healthy_one_and_its_pictures_are_refused_with_the_reason(
    camera: Camera, fake: FakeCamera, mode: Mode, code: str, tools: Any
) -> None:
    fake.set_mode(mode)
    assert tools.eventually(lambda: _refusal(camera.fresh().picture) == code)
    assert (camera.health().state, camera.health().restarts) == ("up", 0)


def _refusal(picture: Picture) -> str:
    try:
        refuse_light(picture)
    except PictureRefused as error:
        return error.code
    return ""


def test_the_first_frame_shown_after_a_request_is_the_one_given(camera: Camera, fake: FakeCamera, tools: Any) -> None:
    for number in range(1, 15):
        fake.show(tools.numbered(number))
        assert tools.number_in(camera.fresh().picture) == number


def test_a_server_that_restarts_on_its_port_is_found_again(camera: Camera, fake: FakeCamera, tools: Any) -> None:
    port = fake.port
    fake.close()
    assert tools.eventually(lambda: camera.health().state == "away", 3)
    with FakeCamera(port) as again:
        again.show(lambda: tools.numbered(tools.tenths()))
        assert tools.eventually(lambda: camera.health().state == "up")
        assert camera.health().restarts >= 1
        assert camera.fresh().number > 0


def test_an_address_that_accepts_and_does_not_answer_is_away_three_seconds_later(tools: Any) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as mute,
        open_camera(f"http://127.0.0.1:{mute.getsockname()[1]}/") as camera,
        mute.accept()[0],
    ):
        assert camera.latest() is None
        assert tools.eventually(lambda: camera.health().state == "away", 3)
        assert camera.health().message_code == "camera_silent"


def test_an_address_nobody_listens_at_is_away(tools: Any) -> None:
    with FakeCamera() as gone:
        url = gone.url
    with open_camera(url) as camera:
        assert tools.eventually(lambda: camera.health().message_code == "camera_refused")
        assert camera.health().values["reason"] == "Connection refused"


def test_a_file_that_hangs_in_open_or_read_does_not_hold_up_close(tmp_path: Path, film: Path, tools: Any) -> None:
    """A pipe in the place of a film: the open blocks in the system, where no time limit of OpenCV reaches."""
    pipe = tmp_path / "pipe.avi"
    os.mkfifo(pipe)
    with open_camera(f"file:{pipe}"):
        with open(pipe, "wb") as writer:  # returns when the child is in its open
            writer.write(film.read_bytes()[:20_000])
            writer.flush()
            begun = time.monotonic()
            # Leaving the block closes the camera while the child is in its read.
        (child,) = tools.children()
        os.kill(child, 0)
    assert time.monotonic() - begun < 2
    assert not tools.children()


def test_a_child_that_stands_still_is_replaced(camera: Camera, tools: Any) -> None:
    (stopped,) = tools.children()
    os.kill(stopped, signal.SIGSTOP)
    assert tools.eventually(lambda: camera.health().state == "away", 3.5)
    assert tools.eventually(lambda: camera.health().state == "up")
    assert stopped not in tools.children()


@pytest.mark.usefixtures("soon")
def test_a_child_that_keeps_crashing_is_given_up_calmly_and_tried_when_asked(
    fake: FakeCamera, tools: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(CrashLoop, "most", 2)
    with open_camera(fake.url) as camera:
        for crash in ("away", "given_up"):
            camera.fresh(10_000)
            assert tools.eventually(lambda: camera.health().state == "up")
            (child,) = tools.children()
            os.kill(child, signal.SIGKILL)
            assert tools.eventually(lambda crash=crash: camera.health().state == crash)
        health = camera.health()
        assert (health.message_code, health.condition) == ("camera_given_up", "given_up")
        assert health.values["crashes"] == 2
        with pytest.raises(CameraSilent):
            camera.fresh(500)  # longer than a try would have waited
        camera.retry()
        assert camera.fresh(10_000).number > 0
        assert tools.eventually(lambda: camera.health().state == "up")
    assert [text.split(" is ")[1].split(" after")[0] for text in caplog.messages] == [
        "away: camera_crashed",
        "back",
        "given up: camera_given_up",
        "back",
    ]


def test_thirty_cameras_leave_nothing_behind(fake: FakeCamera, tools: Any) -> None:
    open_camera(fake.url).close()
    assert tools.eventually(lambda: fake.streams == 0)
    before = tools.descriptors()
    for cycle in range(30):
        with open_camera(fake.url) as camera:
            if cycle % 10 == 0:
                camera.fresh(10_000)
        assert not tools.children()
    assert tools.eventually(lambda: tools.descriptors() == before)


def test_twenty_times_unplugged_nothing_more_is_held_than_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, name in ((Backoff, "first_ms"), (Backoff, "longest_ms"), (CrashLoop, "most")):
        monkeypatch.setattr(kind, name, getattr(kind, name))  # the bench sets them for itself
    footprints = run(20, ways=3)
    assert footprints == [footprints[0]] * 21


def test_a_killed_service_leaves_no_child(fake: FakeCamera, tools: Any) -> None:
    program = f"""
        from devices.camera import open_camera
        camera = open_camera({fake.url!r})
        camera.fresh(10_000)
        print(camera._link.pid, flush=True)
        camera._thread.join()
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    root = str(Path(__file__).resolve().parents[2])
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": root}
    ) as service:
        assert service.stdout is not None
        child = int(service.stdout.readline())
        assert fake.streams == 1
        service.kill()
    assert tools.eventually(lambda: not Path(f"/proc/{child}").exists() or _is_zombie(child), 3)
    assert tools.eventually(lambda: fake.streams == 0, 3)


def _is_zombie(pid: int) -> bool:
    return ") Z " in Path(f"/proc/{pid}/stat").read_text()


def test_the_child_does_not_import_the_service() -> None:
    program = "import sys, devices.capture; print(*sorted(sys.modules))"
    root = str(Path(__file__).resolve().parents[2])
    shown = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": root},
    )
    assert not {"companion", "web", "rules", "vision", "flask", "devices.camera"} & set(shown.stdout.split())
