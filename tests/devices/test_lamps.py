"""Patterns of light on a clock that is passed in."""

from __future__ import annotations

import pytest

from devices.lamps import BLINK, FLASH, OFF, ON, PATTERNS, TWICE, Lights, Pattern


def seen(pattern: Pattern, step_ms: int = 100, until_ms: int = 1500) -> str:
    return "".join("#" if pattern.is_lit(passed_ms) else "." for passed_ms in range(0, until_ms, step_ms))


def test_patterns_look_as_they_are_called() -> None:
    assert seen(OFF) == "." * 15
    assert seen(ON) == "#" * 15
    assert seen(BLINK) == "#####.....#####"
    assert seen(FLASH) == "#" + "." * 14
    assert seen(TWICE, step_ms=60) == "##...##" + "." * 18
    assert all(pattern.is_lit(0) for pattern in PATTERNS.values() if pattern != OFF)


def test_steady_light_never_changes_and_a_blinking_one_says_when() -> None:
    assert (OFF.change_ms(700), ON.change_ms(700)) == (None, None)
    assert [BLINK.change_ms(passed_ms) for passed_ms in (0, 499, 500, 1200)] == [500, 1, 500, 300]


@pytest.mark.parametrize("steps_ms", [(100, 200, 300), (0,), (100, -1)])
def test_steps_that_make_no_pattern_are_refused(steps_ms: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="no pattern"):
        Pattern(steps_ms)


def test_a_pattern_begins_when_it_is_set_and_goes_on_when_it_is_set_again() -> None:
    lights = Lights()
    lights.set("anna", BLINK, 300)
    lights.set("anna", BLINK, 900)
    assert [lights.is_lit("anna", now_ms) for now_ms in (300, 799, 800, 1299, 1300)] == [True, True, False, False, True]
    assert lights.change_ms(1000) == 300
    lights.set("anna", ON, 1100)
    assert lights.change_ms(1200) is None
    assert not lights.is_lit("ben", 1200)
