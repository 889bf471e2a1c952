"""A scale that nobody has named: candidates with reasons, and no weight before a known one confirms it."""

from __future__ import annotations

import time
from decimal import Decimal
from typing import Any

import pytest

from devices.errors import ScaleNotConfirmed
from devices.fake_frames import SPEECHES, Display
from devices.fake_scale import FakeScale
from devices.scale import ScaleConfig, open_scale
from devices.scales.protocol import Line
from devices.scales.registry import PROTOCOLS
from devices.scales.search import ANSWER_MS, LINES, LISTEN_MS, Search, candidates, confirmed, parity_of, questions

TWINS = {"kern-kcp": "mt-sics", "cas-18": "st-gs"}
"""Whose frames another one's are to the letter."""


def sent(name: str, grams: str = "823") -> bytes:
    unit = next(iter(SPEECHES[name].units))
    value = {"kg": Decimal(grams) / 1000, "g": Decimal(grams), "oz": Decimal(grams) / Decimal("28.349523125")}[unit]
    places = Decimal(1).scaleb(-SPEECHES[name].units[unit])
    return SPEECHES[name].encode(Display(value.quantize(places), unit)) * 4


@pytest.mark.parametrize("name", PROTOCOLS)
def test_each_protocol_is_the_likeliest_reading_of_its_own_frames(name: str) -> None:
    first, *_ = candidates(sent(name))
    assert first.protocol.name == TWINS.get(name, name)
    assert "frames_fit" in first.reasons
    assert abs((confirmed(sent(name), 823.0, 16.0)[0].reading.grams or 0) - 823) < 1


def test_a_unit_that_no_frame_says_is_found_by_the_known_weight() -> None:
    (found, *_) = confirmed(sent("toledo-8217"), 823.0, 16.0)
    assert found.profile.unit_default == "kg"
    assert "unit_assumed" in found.reasons
    assert confirmed(sent("toledo-8217"), 500.0, 10.0) == []


def test_the_order_of_digits_is_found_by_the_known_weight() -> None:
    data = b"=573.1000=573.1000=573.1000="
    both = [one.profile.reversed for one in candidates(data) if one.protocol.name == "yaohua"]
    assert sorted(str(one) for one in both) == ["False", "True"]
    assert {one.profile.reversed for one in confirmed(data, 1375.0, 20.0)} == {True}
    assert "order_unknown" in candidates(data)[0].reasons


@pytest.mark.parametrize(("odd", "parity"), [(0, "even"), (1, "odd")])
def test_parity_left_in_the_bytes_is_told_and_masked(odd: int, parity: str) -> None:
    data = bytes(byte | ((byte.bit_count() + odd) % 2) << 7 for byte in sent("and-standard"))
    assert parity_of(data) == parity
    assert f"parity_{parity}" in candidates(data)[0].reasons
    assert candidates(data)[0].profile.strip_parity
    assert parity_of(sent("and-standard")) is None
    assert parity_of(bytes((0x00, 0x80, 0xF8, 0xFE, 0xFF)) * 4) is None


def test_noise_is_no_scale() -> None:
    assert candidates(bytes((0x00, 0x80, 0xF8, 0xFE, 0xFF)) * 40) == []
    assert candidates(b"") == []


def test_questions_come_after_listening_one_at_a_time_and_are_harmless() -> None:
    search = Search(Line(9600), 0)
    assert search.say(LISTEN_MS - 1) == []
    now_ms, asked = LISTEN_MS, list[bytes]()
    while not search.is_over(now_ms):
        asked += search.say(now_ms)
        now_ms += ANSWER_MS
    assert asked == list(questions(Line(9600)))
    assert b"SI\r\n" in asked
    acts = {one for protocol in PROTOCOLS.values() for one in (protocol.talk.zero, protocol.talk.tare) if one}
    assert not acts & set(asked)
    assert b"P\r\n" not in asked  # beeps


def test_a_scale_that_sends_is_never_asked() -> None:
    search = Search(Line(9600), 0)
    search.hear(sent("st-gs"))
    assert search.say(LISTEN_MS + ANSWER_MS) == []
    assert not search.is_over(LISTEN_MS + ANSWER_MS)


@pytest.mark.parametrize("name", ["st-gs", "cas-ecr"])
def test_a_guess_weighs_nothing_until_a_known_weight_confirms_it(name: str, tools: Any) -> None:
    """One that sends by itself, and one that has to be asked in two steps."""
    with FakeScale(name, load_g=500.0) as fake, open_scale(fake.url, config=ScaleConfig(line=Line(9600))) as scale:
        assert tools.eventually(lambda: scale.health().message_code == "scale_unconfirmed", 15)
        assert scale.latest() is None
        assert scale.candidates()[0].protocol.name == name
        with pytest.raises(ScaleNotConfirmed):
            scale.confirm(300.0)
        with pytest.raises(ScaleNotConfirmed):
            scale.confirm(0.0)
        assert scale.latest() is None
        assert tools.eventually(lambda: len(scale.candidates()) > 0, 3)
        assert scale.confirm(500.0).protocol.name == name
        assert scale.settled().weighing.grams == 500.0
        assert scale.candidates() == []
        assert scale.health().message_code == "scale_up"


def test_a_silent_line_is_tried_at_other_speeds(tools: Any) -> None:
    lines = []

    class Mute:
        def read(self) -> bytes:
            late_ms[0] += 100
            return b""

        def write(self, data: bytes) -> None:
            """Nobody listens."""

        def close(self) -> None:
            """Nothing is open."""

    def opener(url: str, line: Line) -> Any:
        lines.append(line)
        return Mute()

    late_ms = [0]
    with open_scale("/dev/none", open_port=opener, clock_ms=lambda: late_ms[0]) as scale:
        assert tools.eventually(lambda: scale.health().message_code == "scale_silent", 5)
        assert scale.candidates() == []
    assert lines == list(LINES)


def test_a_scale_found_at_another_speed_is_opened_at_that_one_again(tools: Any) -> None:
    lines, speaks = [], Line(19200)

    class Port:
        def __init__(self, line: Line) -> None:
            self.line, self.reads = line, 0

        def read(self) -> bytes:
            late_ms[0] += 100
            self.reads += 1
            if self.line == speaks and lost:
                lost.clear()
                raise OSError("unplugged")
            time.sleep(0.001)
            return b"ST,GS,+  0.500kg\r\n" if self.line == speaks else b""

        def write(self, data: bytes) -> None:
            """Nobody listens."""

        def close(self) -> None:
            """Nothing is open."""

    def opener(url: str, line: Line) -> Any:
        lines.append(line)
        return Port(line)

    late_ms, lost = [0], list[bool]()
    with open_scale("/dev/none", open_port=opener, clock_ms=lambda: late_ms[0]) as scale:
        assert tools.eventually(lambda: len(scale.candidates()) > 0)
        scale.confirm(500.0)
        assert tools.eventually(lambda: scale.latest() is not None)
        count = len(lines)
        lost.append(True)
        late_ms[0] += 10_000
        assert tools.eventually(lambda: scale.health().state == "away", 3)
        late_ms[0] += 10_000
        assert tools.eventually(lambda: scale.latest() is not None)
    assert lines[count:] == [speaks]
