"""What every scale keeps to, run on a simulated one of each protocol over a real line."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest
import serial
import serial.rfc2217

from devices.errors import ScaleCannot, ScaleSilent, ScaleUnknown
from devices.fake_frames import SPEECHES
from devices.fake_scale import FakeScale
from devices.scale import Scale, ScaleConfig, ScaleReading, open_scale
from devices.scales.profile import Profile
from devices.scales.protocol import Line
from devices.scales.registry import PROTOCOLS

LOAD_G = 823.5
ROUNDING_G = 4.0


def shown_g(reading: ScaleReading) -> float:
    assert reading.weighing.grams is not None
    assert reading.is_settled
    return reading.weighing.grams


def trial(name: str) -> dict[str, Any]:
    """Load, change the unit, tare, overload; return what was read."""
    with FakeScale(name, load_g=LOAD_G) as fake, open_scale(fake.url, name, fake.config) as scale:
        seen: dict[str, Any] = {"first": scale.settled(8000), "state": scale.health().state}
        fake.press_unit()
        seen["other unit"] = scale.settled(8000)
        try:
            scale.tare()
        except ScaleCannot:
            fake.press_tare()
        time.sleep(0.15)  # until the words are at the other end; the scale has no answer to them
        seen["tared"] = scale.settled(8000)
        fake.put(60_000)
        seen["over"] = _settled_or_none(scale)
        fake.press_zero()
        fake.put(0)
        seen["under"] = _settled_or_none(scale)
    return seen


def _settled_or_none(scale: Scale) -> ScaleReading | None:
    try:
        return scale.settled(1200)
    except ScaleSilent:
        return None


@pytest.fixture(scope="module")
def trials() -> dict[str, dict[str, Any]]:
    """All protocols at once, since most of the time is spent waiting."""
    with ThreadPoolExecutor(len(PROTOCOLS)) as pool:
        return dict(zip(PROTOCOLS, pool.map(trial, PROTOCOLS), strict=True))


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_load_is_weighed_in_any_unit_and_neither_too_much_nor_too_little_is_a_weight(
    trials: dict[str, dict[str, Any]], name: str
) -> None:
    seen = trials[name]
    assert abs(shown_g(seen["first"]) - LOAD_G) < ROUNDING_G
    assert seen["state"] == "up"
    assert abs(shown_g(seen["other unit"]) - LOAD_G) < ROUNDING_G
    assert abs(shown_g(seen["tared"])) < ROUNDING_G
    assert (seen["over"], seen["under"]) == (None, None)
    assert seen["first"].number < seen["other unit"].number < seen["tared"].number
    assert seen["first"].taken_ms <= seen["other unit"].taken_ms <= seen["tared"].taken_ms


def test_there_is_a_simulated_scale_for_every_protocol() -> None:
    assert set(SPEECHES) == set(PROTOCOLS)


@pytest.fixture
def fake() -> Iterator[FakeScale]:
    with FakeScale("mt-sics", load_g=50.0) as scale:
        yield scale


@pytest.fixture
def scale(fake: FakeScale) -> Iterator[Scale]:
    with open_scale(fake.url, "mt-sics", fake.config) as opened:
        opened.settled()
        yield opened


def test_a_load_before_the_start_is_seen_and_the_same_value_again_is_no_zero(scale: Scale, fake: FakeScale) -> None:
    assert shown_g(scale.settled()) == 50.0
    assert shown_g(scale.settled()) == 50.0
    assert fake.url in repr(scale)


def test_a_weight_in_motion_is_shown_and_not_taken() -> None:
    with FakeScale("mt-sics", settle_ms=1000) as fake, open_scale(fake.url, "mt-sics", fake.config) as scale:
        scale.settled()
        fake.put(80.0)
        seen: list[ScaleReading] = []
        while not seen or seen[-1].weighing.grams != 80.0 or not seen[-1].is_settled:
            reading = scale.next(seen[-1].number if seen else 0, 3.0)
            assert reading is not None
            seen.append(reading)
        moving = [one for one in seen if one.weighing.stable is False]
        assert moving
        assert not any(one.is_settled for one in moving)


def test_zero_is_asked_of_the_scale(scale: Scale) -> None:
    scale.zero()
    assert abs(shown_g(scale.settled())) in (0.0, 50.0)  # the words may be on their way
    assert shown_g(scale.settled()) == 0.0


def test_the_age_of_a_reading_rises_and_no_reading_is_no_weight(scale: Scale, fake: FakeScale, tools: Any) -> None:
    reading = scale.settled()
    fake.set_mode("mute")
    assert tools.eventually(lambda: scale.age_ms(reading) > 200)
    health = scale.health()
    assert health.frame_age_ms is not None
    with pytest.raises(ScaleSilent) as raised:
        scale.settled(150)
    assert raised.value.values["timeout_ms"] == 150


def test_a_shy_scale_is_asked_on_demand_alone() -> None:
    with FakeScale("adam", load_g=20.0) as fake, open_scale(fake.url, "adam", fake.config) as scale:
        assert scale.next(0, 0.5) is None
        assert scale.health().message_code == "scale_waiting"
        fake.press_print()  # dropped: the port could have been opened within it
        fake.press_print()
        reading = scale.next(0, 2.0)
        assert reading is not None
        assert reading.weighing.grams == 20.0


def test_a_scale_that_only_sends_is_not_asked_and_one_that_must_not_be_is_left_alone() -> None:
    with FakeScale("ohaus", load_g=20.0) as fake:
        config = ScaleConfig(line=Line(), asks=False)
        with open_scale(fake.url, "ohaus", config) as scale:
            assert scale.next(0, 0.5) is None


def test_a_closed_scale_gives_nothing_more(scale: Scale) -> None:
    began = time.monotonic()
    scale.close()
    assert time.monotonic() - began < 2
    assert scale.next(0, 5.0) is None
    assert scale.health().state == "closed"
    assert "closed" in repr(scale)


def test_spikes_of_a_load_cell_are_left_out_and_counted() -> None:
    with FakeScale("hx711-line") as fake, open_scale(fake.url, "hx711-line", fake.config) as scale:
        scale.settled()
        fake.put(4000.0)
        fake.put(0.0)  # less than a sample's time
        fake.press_print()
        assert abs(shown_g(scale.settled())) < 1.0


def test_a_simulated_scale_is_opened_by_its_address() -> None:
    with open_scale("sim://scale?protocol=radwag&load=57.3", "auto") as scale:
        assert shown_g(scale.settled()) == 57.3
        assert scale.protocol.name == "radwag"


@pytest.mark.parametrize(
    ("url", "protocol", "what"),
    [
        ("nonsense://here", "ohaus", "url"),
        ("/dev/ttyUSB9", "abacus", "protocol"),
        ("sim://scale?protocol=abacus", "auto", "protocol"),
        ("sim://scale?load=much", "auto", "load"),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(url: str, protocol: str, what: str) -> None:
    with pytest.raises(ScaleUnknown) as raised:
        open_scale(url, protocol)
    assert raised.value.values["what"] == what
    assert raised.value.values["valid"]


def test_a_scale_is_read_over_a_network(tools: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"socket://127.0.0.1:{listener.getsockname()[1]}"
        with open_scale(url, "mt-sics") as scale:
            peer, _ = listener.accept()
            with closing(peer):
                assert peer.recv(16).startswith(b"SI\r\n")
                peer.sendall(b"S S      57.25 g\r\n" * 2)
                reading = scale.next(1, 2.0)
                assert reading is not None
                assert reading.weighing.grams == 57.25
                assert reading.is_settled
            assert tools.eventually(lambda: scale.health().state == "away", 2)
            assert scale.latest() is None


def test_a_link_that_takes_words_and_gives_none_is_silent(tools: Any) -> None:
    """Writing to a dead link succeeds for long: only what comes from the scale counts."""
    late_ms = [0]

    def clock_ms() -> int:
        return time.monotonic_ns() // 1_000_000 + late_ms[0]

    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"socket://127.0.0.1:{listener.getsockname()[1]}"
        with open_scale(url, "mt-sics", clock_ms=clock_ms) as scale:
            peer, _ = listener.accept()
            with closing(peer):
                assert peer.recv(16)
                late_ms[0] = 4000
                assert tools.eventually(lambda: scale.health().message_code == "scale_silent", 2)
                assert scale.health().condition == "stale"


@pytest.mark.filterwarnings("ignore:set(Daemon|Name)")
def test_a_serial_server_gets_the_speed_and_parity_that_were_asked_for(tools: Any) -> None:
    """The line's settings reach the other end of an RFC 2217 link, which a pty cannot show."""
    wired = serial.serial_for_url("loop://", timeout=0.05)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"rfc2217://127.0.0.1:{listener.getsockname()[1]}"
        server = threading.Thread(target=_serve, args=(listener, wired), daemon=True)
        server.start()
        with open_scale(url, "toledo-8217", ScaleConfig(Profile(unit_default="kg"))) as scale:
            assert tools.eventually(lambda: (wired.baudrate, wired.bytesize, wired.parity) == (9600, 7, "E"))
            assert scale.latest() is None  # a loop only echoes our own questions
    server.join(3)


def _serve(listener: socket.socket, wired: Any) -> None:
    peer, _ = listener.accept()
    with closing(peer):
        manager = serial.rfc2217.PortManager(wired, _Writer(peer))
        while data := peer.recv(256):
            wired.write(b"".join(manager.filter(data)))


class _Writer:
    def __init__(self, peer: socket.socket) -> None:
        self._peer = peer

    def write(self, data: bytes) -> None:
        self._peer.sendall(data)
