"""Scales that are unplugged, switched off, held by others, or send what nobody can read."""

from __future__ import annotations

import errno
import logging
import subprocess
import sys
import termios
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import serial

from devices.errors import DeviceError, ScaleAway, ScaleSilent
from devices.fake_scale import FakeScale, Mode
from devices.health import MESSAGE_CODES
from devices.scale import Scale, ScaleConfig, open_scale
from devices.scale_port import open_port
from devices.scales.protocol import Line

FAULTS: dict[Mode, str] = {
    "mute": "scale_silent",
    "half": "scale_unreadable",
    "flood": "scale_unreadable",
    "dribble": "scale_unreadable",
}


@pytest.fixture
def fake() -> Iterator[FakeScale]:
    with FakeScale("st-gs", load_g=500.0) as scale:
        yield scale


@pytest.fixture
def scale(fake: FakeScale) -> Iterator[Scale]:
    with open_scale(fake.url, "st-gs", fake.config) as opened:
        opened.settled()
        yield opened


def trial(mode: Mode, tools: Any) -> dict[str, Any]:
    """Break a scale, look, mend it, look again; return what was seen."""
    with FakeScale("st-gs", load_g=500.0) as fake, open_scale(fake.url, "st-gs", fake.config) as scale:
        scale.settled()
        seen: dict[str, Any] = {"url": fake.url, "code": FAULTS[mode]}
        fake.set_mode(mode)
        seen["goes"] = tools.eventually(lambda: scale.health().state == "away", 6)
        seen["health"], seen["condition"] = scale.health().message_code, scale.health().condition
        seen["shows nothing"] = scale.latest() is None
        fake.set_mode("run")
        seen["returns"] = tools.eventually(lambda: scale.health().state == "up")
        seen["weighs"] = scale.settled().weighing.grams == 500.0
    return seen


def test_each_fault_is_seen_named_logged_once_and_got_over(tools: Any, caplog: pytest.LogCaptureFixture) -> None:
    """All faults at once, since most of the time is spent waiting."""
    caplog.set_level(logging.INFO)
    with ThreadPoolExecutor() as pool:
        trials = list(pool.map(lambda mode: trial(mode, tools), FAULTS))
    for seen in trials:
        assert all(seen[what] for what in ("goes", "shows nothing", "returns", "weighs")), seen
        assert seen["health"] == seen["code"]
        went, returned = [text for text in caplog.messages if f" {seen['url']} " in text]
        assert went == f"scale {seen['url']} is away: {seen['code']}"
        assert returned.startswith(f"scale {seen['url']} is back after ")


@pytest.mark.parametrize("mode", ["noise", "echo"])
def test_noise_and_an_echo_are_lived_with(fake: FakeScale, scale: Scale, mode: Mode) -> None:
    fake.set_mode(mode)
    fake.put(700.0)
    numbers = []
    for _ in range(3):
        reading = scale.settled()
        numbers.append(reading.number)
        assert reading.weighing.grams in (500.0, 700.0)
    assert numbers == sorted(numbers)
    assert scale.health().state == "up"


def test_an_unplugged_scale_is_away_at_once_and_back_soon_under_its_name(
    fake: FakeScale, scale: Scale, tools: Any, caplog: pytest.LogCaptureFixture
) -> None:
    threads, descriptors = threading.active_count(), tools.descriptors()
    for cycle in range(20):
        fake.unplug()
        assert tools.eventually(lambda: scale.health().state == "away", 2)
        assert scale.latest() is None
        fake.replug()
        assert tools.eventually(lambda: scale.health().state == "up" and scale.latest() is not None, 5), cycle
    assert scale.settled().weighing.grams == 500.0
    assert scale.health().restarts == 20
    assert (threading.active_count(), tools.descriptors()) == (threads, descriptors)
    lines = [text for text in caplog.messages if fake.url in text]
    assert len(lines) == 40
    assert all(text.endswith("scale_gone") for text in lines[::2])


def broken(what: str, error: BaseException) -> Any:
    """A port that fails in one call."""

    class Port:
        def read(self) -> bytes:
            if what == "read":
                raise error
            time.sleep(0.01)
            return b"S S      57.25 g\r\n"

        def write(self, data: bytes) -> None:
            if what == "write":
                raise error

        def close(self) -> None:
            """Nothing is open."""

    return Port()


@pytest.mark.parametrize(
    "error",
    [
        serial.SerialException("readiness to read but no data"),
        OSError(errno.EIO, "Input/output error"),
        termios.error(errno.EIO, "Input/output error"),
        TypeError("'NoneType' object cannot be interpreted as an integer"),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize("what", ["read", "write"])
def test_whatever_a_lost_port_raises_in_a_call_it_is_just_gone(what: str, error: BaseException, tools: Any) -> None:
    with open_scale("/dev/none", "mt-sics", open_port=lambda url, line: broken(what, error)) as scale:
        assert tools.eventually(lambda: scale.health().message_code == "scale_gone", 2)
        assert scale.health().values["reason"]


def test_a_reader_that_fails_for_a_reason_of_its_own_goes_on(tools: Any, caplog: pytest.LogCaptureFixture) -> None:
    port = broken("read", ZeroDivisionError("a mistake of ours"))
    with open_scale("/dev/none", "mt-sics", open_port=lambda url, line: port) as scale:
        assert tools.eventually(lambda: scale.health().state == "away", 2)
        assert "goes on" in caplog.text


def refusing(error: Exception) -> Callable[[str, Line], Any]:
    def opener(url: str, line: Line) -> Any:
        raise error

    return opener


def test_a_port_held_for_some_seconds_is_no_trouble_yet(tools: Any) -> None:
    """Whoever probes modems holds a new port for some ten seconds."""
    late_ms = [0]

    def clock_ms() -> int:
        return time.monotonic_ns() // 1_000_000 + late_ms[0]

    busy = refusing(ScaleAway("scale_busy", scale="x", holders=()))
    with open_scale("/dev/none", "mt-sics", open_port=busy, clock_ms=clock_ms) as scale:
        assert not tools.eventually(lambda: scale.health().state != "starting", 0.4)
        late_ms[0] = 16_000
        assert tools.eventually(lambda: scale.health().message_code == "scale_busy", 2)
        assert scale.health().condition == "busy"


HOLD = """
    import sys, serial
    port = serial.Serial(sys.argv[1], exclusive=True)
    print("held", flush=True)
    sys.stdin.read()
"""


def test_who_holds_a_port_is_named(fake: FakeScale) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(HOLD), fake.url],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(ScaleAway) as raised:
            open_port(fake.url, Line())
        assert raised.value.code == "scale_busy"
        assert any(str(other.pid) in one for one in _texts(raised.value.values["holders"]))
        other.kill()
    open_port(fake.url, Line()).close()


def _texts(given: object) -> tuple[str, ...]:
    return given if isinstance(given, tuple) else ()


def test_reasons_not_to_open_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no port")
    expected = {
        str(tmp_path / "none"): "scale_missing",
        str(tmp_path / "file"): "scale_refused",
        "/dev/hidraw999": "scale_missing",
        "socket://127.0.0.1:1": "scale_refused",
    }
    for url, code in expected.items():
        with pytest.raises(DeviceError) as raised:
            open_port(url, Line())
        assert raised.value.code == code
        assert set(raised.value.values) <= set(MESSAGE_CODES[code])


def test_a_port_of_somebody_else_is_forbidden_and_the_group_is_named(
    fake: FakeScale, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = serial.SerialException(errno.EACCES, "could not open port")
    monkeypatch.setattr("devices.scale_port.SerialPort", refusing(error))
    with pytest.raises(ScaleAway) as raised:
        open_port(fake.url, Line())
    assert raised.value.code == "scale_forbidden"
    assert raised.value.values["group"] == "dialout"


def test_a_scale_that_never_was_there_is_found_when_it_comes(tools: Any) -> None:
    with FakeScale("st-gs", load_g=500.0) as fake:
        fake.unplug()
        with open_scale(fake.url, "st-gs", fake.config) as scale:
            assert tools.eventually(lambda: scale.health().message_code == "scale_missing", 2)
            with pytest.raises(ScaleSilent) as raised:
                scale.settled(100)
            assert raised.value.values["reason"] == "scale_missing"
            fake.replug()
            assert scale.settled(3000).weighing.grams == 500.0


@pytest.mark.parametrize("mode", ["run", "mute", "flood", "unplugged"])
def test_closing_is_quick_whatever_the_scale_does(fake: FakeScale, mode: str, tools: Any) -> None:
    scale = open_scale(fake.url, "st-gs", fake.config)
    assert tools.eventually(lambda: scale.health().state == "up", 3)
    if mode == "unplugged":
        fake.unplug()
    else:
        fake.set_mode(mode)  # type: ignore[arg-type]
    began = time.monotonic()
    scale.close()
    assert time.monotonic() - began < 2
    assert not any(thread.name == f"scale {fake.url}" for thread in threading.enumerate())


def test_a_password_is_not_shown(tools: Any) -> None:
    with open_scale("socket://anna:secret@127.0.0.1:1", "mt-sics") as scale:
        assert tools.eventually(lambda: scale.health().state == "away", 3)
        assert "secret" not in f"{scale!r} {scale.health()}"


def test_a_scale_under_two_names_of_speed_is_opened_as_it_is_set(fake: FakeScale) -> None:
    lines = []

    def opener(url: str, line: Line) -> Any:
        lines.append(line)
        return open_port(url, line)

    with open_scale(fake.url, "st-gs", ScaleConfig(line=Line(19200)), open_port=opener) as scale:
        scale.settled()
    assert lines == [Line(19200)]
