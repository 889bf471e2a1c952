"""When a scale is asked, what counts as rest, as silence and as a spike: with a clock of our own."""

from __future__ import annotations

from itertools import pairwise

import pytest

from devices.scales.conversation import SILENT_MS, Conversation, ScaleConfig
from devices.scales.profile import Profile
from devices.scales.registry import PROTOCOLS
from devices.scales.settling import Settling, SpikeFilter
from devices.scales.weighing import OVERLOAD, Weighing, refused

STABLE = b"S S      57.25 g\r\n"


def weight(grams: float, stable: bool | None = True) -> Weighing:
    return Weighing(grams, "g", stable)


def test_a_single_frame_is_not_believed_and_a_second_one_is() -> None:
    settling = Settling(0.5)
    assert not settling.see(weight(57.25), 0)
    assert settling.see(weight(57.3), 100)
    assert not settling.see(weight(97.3), 200)  # one damaged digit
    assert not settling.see(weight(57.25), 300)
    assert settling.see(weight(57.25), 400)


@pytest.mark.parametrize("between", [OVERLOAD, weight(57.25, False), refused("motion")])
def test_motion_and_overload_begin_the_wait_anew(between: Weighing) -> None:
    settling = Settling(0.5)
    settling.see(weight(57.25), 0)
    assert not settling.see(between, 100)
    assert not settling.see(weight(57.25), 200)
    assert settling.see(weight(57.25), 300)


def test_a_scale_without_a_flag_is_at_rest_when_its_weight_stays() -> None:
    settling = Settling(0.5)
    assert [settling.see(weight(57 + 0.1 * (n % 3), None), 200 * n) for n in range(5)] == [False] * 3 + [True] * 2
    assert not settling.see(weight(60, None), 1000)
    drifting = Settling(0.5)
    assert not any(drifting.see(weight(57 + 0.3 * n, None), 200 * n) for n in range(20))


def test_no_change_is_a_second_word_for_the_weight_before() -> None:
    config = ScaleConfig(Profile(unit_default="kg"))
    talk = Conversation(PROTOCOLS["toledo-8217"], config, 0)
    assert talk.hear(b"\x02?@\r", 5) == []
    (first,) = talk.hear(b"\x0202.375\r", 10)
    (again,) = talk.hear(b"\x02?@\r", 300)
    assert (first.is_settled, again.is_settled) == (False, True)
    assert again.weighing.grams == 2375.0
    (moving,) = talk.hear(b"\x02?A\r", 600)
    assert moving.weighing.error == "motion"
    assert talk.hear(b"\x02?@\r", 900) == []


def test_spikes_are_left_out_and_counted_also_at_zero() -> None:
    spikes = SpikeFilter(50.0)
    seen = [spikes.see(weight(grams, None)) for grams in (0.0, 0.0, 0.0, 8388.0, 0.0, 0.0, -9000.0, 0.0)]
    assert [one.grams for one in seen if one] == [0.0] * 6
    assert spikes.rejected == 2
    assert spikes.see(refused("device_error")) == refused("device_error")


def test_a_load_that_stays_is_no_spike() -> None:
    spikes = SpikeFilter(50.0)
    seen = [spikes.see(weight(grams, None)) for grams in (0.0, 0.0, 300.0, 300.0, 300.0)]
    assert [one.grams for one in seen if one] == [0.0, 300.0, 300.0]


def test_a_scale_is_asked_at_once_and_again_when_it_was_quiet() -> None:
    talk = Conversation(PROTOCOLS["mt-sics"], ScaleConfig(), 1000)
    assert talk.say(1000) == [b"SI\r\n"]
    assert talk.say(1100) == []
    talk.hear(STABLE, 1200)
    assert talk.say(1400) == []
    assert talk.say(1450) == [b"SI\r\n"]


def test_whoever_wants_to_know_at_once_does_not_press_the_scale() -> None:
    talk = Conversation(PROTOCOLS["kern-kcp"], ScaleConfig(), 0)
    asked = list[int]()
    for now_ms in range(0, 2000, 20):
        talk.want()
        if talk.say(now_ms):
            asked.append(now_ms)
            talk.hear(STABLE, now_ms + 5)
    assert min(after - before for before, after in pairwise(asked)) > 100


def test_a_scale_that_sends_by_itself_is_not_asked_after_the_first_time() -> None:
    talk = Conversation(PROTOCOLS["st-gs"], ScaleConfig(), 0)
    asked = 0
    for now_ms in range(0, 5000, 100):
        asked += len(talk.say(now_ms))
        talk.hear(b"ST,GS,+  0.123kg\r\n", now_ms)
    assert asked == 1
    assert talk.verdict(5000) == "scale_up"
    assert talk.verdict(4900 + SILENT_MS) == "scale_silent"


def test_two_frames_of_one_read_keep_their_own_lines() -> None:
    talk = Conversation(PROTOCOLS["mt-sics"], ScaleConfig(), 0)
    heard = talk.hear(STABLE + b"S D      57.35 g\r\n", 0)
    assert [one.frame for one in heard] == [STABLE.strip(), b"S D      57.35 g"]


def test_one_frame_is_enough_where_it_carries_a_check() -> None:
    talk = Conversation(PROTOCOLS["cas-ecr"], ScaleConfig(), 0)
    assert [one.is_settled for one in talk.hear(b"\x01\x02S 01.375kga\x03\x04", 0)] == [True]


def test_a_signal_that_waits_for_a_word_gets_it() -> None:
    talk = Conversation(PROTOCOLS["cas-ecr"], ScaleConfig(), 0)
    assert talk.say(0) == [b"\x05"]
    talk.hear(b"\x06", 10)
    assert talk.say(10) == [b"\x11"]


def test_a_shy_scale_is_asked_when_somebody_wants_to_know() -> None:
    talk = Conversation(PROTOCOLS["adam"], ScaleConfig(), 0)
    assert [talk.say(now_ms) for now_ms in (0, 5000, 60_000)] == [[], [], []]
    talk.want()
    assert talk.say(60_001) == [b"P\r\n"]
    talk.want()
    assert talk.say(60_500) == []  # it beeps each time
    assert talk.say(61_001) == [b"P\r\n"]
    assert talk.verdict(120_000) == "scale_waiting"
    talk.hear(b"        57.25 g \r\n        57.25 g \r\n", 120_001)
    assert talk.verdict(900_000) == "scale_up"  # its silence means no change


def test_silence_and_what_does_not_read_are_told_apart() -> None:
    silent, other = (Conversation(PROTOCOLS["mt-sics"], ScaleConfig(), 0) for _ in range(2))
    for now_ms in range(0, SILENT_MS, 200):
        assert silent.verdict(now_ms) is None
        other.hear(b"ST,GS,+  0.123kg\r\n", now_ms)
    assert silent.verdict(SILENT_MS) == "scale_silent"
    assert other.verdict(SILENT_MS) == "scale_unreadable"


def test_the_first_line_of_a_protocol_without_headers_is_dropped_at_each_opening() -> None:
    talk = Conversation(PROTOCOLS["gng-jjb"], ScaleConfig(), 0)
    assert talk.hear(b"-  57.250 g \r\n", 0) == []
    assert [one.weighing.grams for one in talk.hear(b"-  57.250 g \r\n", 100)] == [-57.25]
