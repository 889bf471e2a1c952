"""When a device is tried again, and when it is given up, on a clock that is passed in."""

from __future__ import annotations

from itertools import pairwise

from devices import health
from devices.health import MESSAGE_CODES, Health, news
from devices.presence import Backoff, CrashLoop, Presence


def presence() -> Presence:
    return Presence("x_starting", "x_closed", now_ms=0)


def test_a_device_is_tried_at_once_and_then_ever_more_rarely() -> None:
    device = presence()
    tries, now_ms = [], 0
    while now_ms < 40_000:
        if device.is_due(now_ms):
            tries.append(now_ms)
            device.away("x_missing", {}, now_ms)
        now_ms += 100
    assert tries == [0, 1000, 3000, 7000, 15_000, 23_000, 31_000, 39_000]


def test_a_device_that_was_up_for_a_while_is_tried_soon() -> None:
    device = presence()
    for _ in range(4):
        device.away("x_missing", {}, 0)
    device.up("x_up", {}, 10_000)
    assert not device.is_due(1_000_000)
    device.away("x_missing", {}, 10_000 + Backoff.steady_ms)
    assert device.is_due(10_000 + Backoff.steady_ms + 1000)
    assert device.health().restarts == 1


def test_what_is_missing_of_a_device_that_is_up_is_tried_again() -> None:
    device = presence()
    device.up("x_partly", {"n": 1}, 0, is_whole=False)
    assert (device.is_due(999), device.is_due(1000)) == (False, True)
    device.up("x_up", {}, 1000)
    assert not device.is_due(100_000)


def test_a_closed_device_is_not_tried() -> None:
    device = presence()
    device.close(5)
    device.hurry(10)
    assert not device.is_due(100_000)
    assert device.health() == Health("closed", 5, "x_closed", {}, 0)


def test_five_crashes_without_a_steady_minute_are_a_loop() -> None:
    loop = CrashLoop()
    assert [loop.crashed(1000) for _ in range(5)] == [False, False, False, False, True]
    assert not loop.crashed(CrashLoop.steady_ms)
    assert loop.count == 1


def test_a_device_that_is_away_is_busy_wrong_stale_or_gone() -> None:
    def condition(code: str) -> str:
        return Health("away", 0, code, {}, 0).condition

    assert set(health._CONDITIONS) <= set(MESSAGE_CODES)
    assert [condition(code) for code in ("gpio_busy", "camera_wrong_size", "camera_frozen", "camera_missing")] == [
        "busy", "wrong", "stale", "gone",
    ]  # fmt: skip
    assert Health("up", 0, "gpio_partly", {}, 0).condition == "present"


def test_the_log_has_one_line_for_each_going_giving_up_and_return() -> None:
    states = ["starting", "away", "away", "up", "away", "given_up", "away", "up", "closed"]
    healths = [Health(state, at * 1000, f"x_{state}", {}, 0) for at, state in enumerate(states)]  # type: ignore[arg-type]
    lines = [news("x", before, after) for before, after in pairwise(healths)]
    assert [line for line in lines if line] == [
        "x is away: x_away",
        "x is back after 1 s",
        "x is away: x_away",
        "x is given up: x_given_up",
        "x is back after 1 s",
    ]
