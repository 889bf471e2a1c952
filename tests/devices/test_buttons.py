"""Buttons and lamps at gpiozero's mock pins, driven from other threads, with everything that can go wrong there."""

from __future__ import annotations

import logging
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from gpiozero import GPIOPinInUse

from devices import gpio
from devices.errors import GpioAway, WiringRefused
from devices.fake_buttons import TRACES, FakeHeader
from devices.health import MESSAGE_CODES
from devices.holders import holders
from devices.lamps import BLINK, OFF, ON
from devices.panel import ButtonEvent, Panel, Wiring, open_panel
from devices.pins import PLACES, PinNote, check_wiring

WIRING = Wiring(buttons={"anna": 17, "ben": 27, "undo": 5}, lamps={"anna": 22, "photo": 23}, hold_ms=200)


@pytest.fixture
def header() -> Iterator[FakeHeader]:
    with FakeHeader() as fake:
        yield fake


@pytest.fixture
def panel(header: FakeHeader, tools: Any) -> Iterator[Panel]:
    with open_panel(WIRING, header.factory) as opened:
        assert tools.eventually(lambda: opened.health().state == "up")
        yield opened


def next_of(panel: Panel) -> ButtonEvent:
    event = panel.next_event(5)
    assert event is not None
    return event


def test_all_recorded_presses_at_once_on_buttons_of_their_own_are_one_press_each(header: FakeHeader) -> None:
    pins = dict(zip(TRACES, PLACES, strict=False))
    with open_panel(Wiring(buttons=pins, hold_ms=2000), header.factory) as panel:
        while panel.health().state != "up":
            assert panel.next_event(0.01) is None
        for name, trace in TRACES.items():
            header.play(pins[name], trace)
        header.wait()
        events = list(iter(lambda: panel.next_event(0.1), None))
        spikes = {"spike", "let go while it bounces"}
        assert sorted((event.name, event.kind) for event in events) == sorted(
            (name, kind) for name in TRACES if name not in spikes for kind in ("press", "release")
        )
        counts = panel.counts()
    assert {name for name, count in counts.items() if not count.presses} == spikes
    assert all(counts[name].noise == 1 for name in spikes)


def test_a_button_pressed_long_is_held_once_and_says_at_release_how_long(panel: Panel, header: FakeHeader) -> None:
    header.press(17, 0.3)
    press, hold, release = (next_of(panel) for _ in range(3))
    assert [event.kind for event in (press, hold, release)] == ["press", "hold", "release"]
    assert hold.at_ms - press.at_ms == 200
    assert (release.held_ms, release.was_hold) == (300, True)


def test_a_button_held_down_shows_as_pressed_and_a_panel_opened_over_it_invents_nothing(
    header: FakeHeader, tools: Any
) -> None:
    header.play(17, (0,))
    header.wait()
    with open_panel(WIRING, header.factory) as panel:
        assert tools.eventually(lambda: panel.health().state == "up")
        assert panel.counts()["anna"].is_pressed
        assert panel.next_event(0.3) is None


def test_a_slow_or_failing_handler_loses_no_press_and_is_counted(
    panel: Panel, header: FakeHeader, tools: Any, caplog: pytest.LogCaptureFixture
) -> None:
    handled: list[ButtonEvent] = []
    go_on = threading.Event()

    def handler(event: ButtonEvent) -> None:
        handled.append(event)
        go_on.wait(10)
        if event.name == "anna":
            raise RuntimeError("no such seat")

    panel.listen(handler)
    header.press(17, 0.05)
    assert tools.eventually(lambda: len(handled) == 1)
    header.press(27, 0.05)  # while the handler is busy with anna
    header.wait()
    assert tools.eventually(lambda: panel.counts()["ben"].presses == 1)
    go_on.set()
    assert tools.eventually(lambda: len(handled) == 4)
    assert tools.eventually(lambda: panel.health().values["handler_errors"] == 2)
    assert sorted((event.name, event.kind) for event in handled) == [
        ("anna", "press"), ("anna", "release"), ("ben", "press"), ("ben", "release"),
    ]  # fmt: skip
    ben = next(event for event in handled if event.name == "ben" and event.kind == "release")
    assert ben.held_ms == 50  # its own time, not the handler's
    assert "no such seat" in caplog.text


def test_lamps_show_patterns_and_all_go_out_at_the_end(header: FakeHeader, tools: Any) -> None:
    with open_panel(WIRING, header.factory) as panel:
        assert tools.eventually(lambda: panel.health().state == "up")
        panel.set_lamp("anna", BLINK)
        panel.set_lamp("nobody", ON)
        assert tools.eventually(lambda: header.is_lit(22))
        assert tools.eventually(lambda: not header.is_lit(22), 2)
        panel.set_lamp("anna", ON)
        assert tools.eventually(lambda: header.is_lit(22))
        factory = header._factory
        assert factory is not None
        pins = dict(factory.pins)
    assert not any(pin._state for pin in pins.values() if pin._function == "output")


def test_the_lamp_for_the_photo_is_lit_before_the_block_begins_and_put_back_after(
    panel: Panel, header: FakeHeader, tools: Any
) -> None:
    for before in (OFF, ON):
        panel.set_lamp("photo", before)
        with panel.light("photo"):
            assert header.is_lit(23)
        assert tools.eventually(lambda before=before: header.is_lit(23) == (before == ON))


@pytest.mark.usefixtures("soon")
def test_a_header_lost_and_found_says_so_once_each_and_goes_on(
    panel: Panel, header: FakeHeader, tools: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    panel.set_lamp("anna", ON)
    header.lose("gpiochip0 vanished")
    assert tools.eventually(lambda: panel.health().state == "away")
    health = panel.health()
    assert (health.message_code, health.condition) == ("gpio_failed", "wrong")
    assert health.values["reason"] == "RuntimeError: gpiochip0 vanished"
    header.press(17)
    header.wait()
    header.lose("")
    assert tools.eventually(lambda: panel.health().state == "up")
    assert panel.health().restarts == 1
    assert tools.eventually(lambda: header.is_lit(22))  # as it was wanted before
    assert panel.next_event(0.1) is None  # nobody saw the press
    header.press(17)
    assert next_of(panel).kind == "press"
    assert [message.split(" after")[0] for message in caplog.messages] == [
        "panel is away: gpio_failed",
        "panel is back",
    ]


@pytest.mark.usefixtures("soon")
def test_a_pin_that_another_program_holds_is_named_and_the_others_work(header: FakeHeader, tools: Any) -> None:
    header.busy = {17, 22}
    with open_panel(WIRING, header.factory) as panel:
        assert tools.eventually(lambda: panel.health().message_code == "gpio_partly")
        health = panel.health()
        assert (health.state, health.values["buttons"], health.values["lamps"]) == ("up", ("anna",), ("anna",))
        assert (health.values["pin"], health.values["reason"]) == ("GPIO17 (pin 11)", "RuntimeError: 'GPIO busy'")
        header.press(27)
        assert next_of(panel).name == "ben"
        assert next_of(panel).kind == "release"
        header.busy = set()
        assert tools.eventually(lambda: panel.health().message_code == "gpio_up")
        header.press(17)
        assert next_of(panel).name == "anna"


@pytest.mark.usefixtures("soon")
def test_a_second_start_finds_every_pin_busy_and_waits_calmly(header: FakeHeader, tools: Any) -> None:
    header.busy = {*PLACES}
    with open_panel(WIRING, header.factory) as panel:
        assert tools.eventually(lambda: panel.health().state == "away")
        health = panel.health()
        assert (health.message_code, health.condition) == ("gpio_busy", "busy")
        assert "holders" in health.values
        header.busy = set()
        assert tools.eventually(lambda: panel.health().state == "up")


def test_asking_again_does_not_wait_for_the_next_try(header: FakeHeader, tools: Any) -> None:
    header.lose("no header")
    with open_panel(WIRING, header.factory) as panel:
        assert tools.eventually(lambda: panel.health().state == "away")
        header.lose("")
        panel.retry()
        assert tools.eventually(lambda: panel.health().state == "up", 0.9)


def broken(error: Exception) -> Callable[[], object]:
    def factory() -> object:
        raise error

    return factory


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ImportError("No module named 'lgpio'"), "gpio_library_missing"),
        (RuntimeError("can not open gpiochip"), "gpio_no_chip"),
        (PermissionError(13, "Permission denied"), "gpio_forbidden"),
        (RuntimeError("'GPIO busy'"), "gpio_busy"),
        (GPIOPinInUse("pin GPIO17 is already in use"), "gpio_pin_in_use"),
        (KeyError("x"), "gpio_failed"),
    ],
)
def test_what_a_factory_raises_is_told_as_it_was_said(
    error: Exception, code: str, tools: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpio, "_chips", list)
    with open_panel(WIRING, broken(error)) as panel:
        assert tools.eventually(lambda: panel.health().state == "away")
        health = panel.health()
        assert (health.message_code, health.values["reason"]) == (code, f"{type(error).__name__}: {error}")
        assert code in MESSAGE_CODES
        panel.set_lamp("photo", ON)
        with panel.light("photo"):
            assert panel.next_event(0) is None


def test_a_gpiochip_that_may_not_be_opened_is_told_from_none(monkeypatch: pytest.MonkeyPatch, tools: Any) -> None:
    monkeypatch.setattr(gpio, "_chips", lambda: [Path("/dev/gpiochip0")])
    with open_panel(WIRING, broken(RuntimeError("can not open gpiochip"))) as panel:
        assert tools.eventually(lambda: panel.health().message_code == "gpio_forbidden")


def test_the_real_factory_without_its_library_says_what_is_missing(monkeypatch: pytest.MonkeyPatch, tools: Any) -> None:
    monkeypatch.setitem(sys.modules, "gpiozero.pins.lgpio", None)
    with open_panel(WIRING) as panel:
        assert tools.eventually(lambda: panel.health().message_code == "gpio_library_missing")


def test_a_factory_nobody_knows_is_refused_with_those_there_are() -> None:
    with pytest.raises(GpioAway) as raised:
        open_panel(WIRING, "wiringpi")
    assert (raised.value.code, raised.value.values) == (
        "gpio_unknown_factory",
        {"given": "wiringpi", "valid": ("lgpio", "mock")},
    )


def test_the_mock_factory_is_there_by_name(tools: Any) -> None:
    with open_panel(WIRING, "mock") as panel:
        assert tools.eventually(lambda: panel.health().state == "up")
        assert repr(panel) == "<Panel up, 3 buttons, 2 lamps>"


@pytest.mark.parametrize(
    ("wiring", "code", "values"),
    [
        (Wiring({"a": 17}, {"b": 17}), "gpio_pin_twice", {"pin": "GPIO17 (pin 11)", "names": ("a", "b")}),
        (Wiring({"a": 99}), "gpio_pin_unknown", {"name": "a", "pin": "GPIO99"}),
        (Wiring({"a": 17}, settle_ms=30, hold_ms=30), "gpio_times", {"settle_ms": 30, "hold_ms": 30}),
    ],
)
def test_a_wiring_that_makes_no_sense_is_refused(wiring: Wiring, code: str, values: dict[str, object]) -> None:
    with pytest.raises(WiringRefused) as raised:
        open_panel(wiring, "mock")
    assert (raised.value.code, raised.value.values) == (code, values)


def test_pins_that_overlays_take_are_warned_of_by_name() -> None:
    notes = check_wiring(Wiring({"a": 2, "b": 17}, {"c": 14, "d": 4}))
    assert notes == (
        PinNote("a", "GPIO2 (pin 3)", "I2C"),
        PinNote("c", "GPIO14 (pin 8)", "serial console"),
        PinNote("d", "GPIO4 (pin 7)", "1-Wire"),
    )


def test_a_closed_panel_answers_at_once_and_leaves_no_thread(header: FakeHeader) -> None:
    before = threading.active_count()
    panel = open_panel(WIRING, header.factory)
    panel.listen(lambda event: None)
    panel.close()
    panel.close()
    assert panel.next_event(5) is None
    assert panel.next_event(5) is None
    assert panel.health().condition == "closed"
    for thread in threading.enumerate():
        if thread.name.startswith("panel"):
            thread.join(2)
    assert threading.active_count() == before


def test_who_holds_a_node_is_found_by_name(tmp_path: Path) -> None:
    node, proc = tmp_path / "video0", tmp_path / "proc"
    node.touch()
    (proc / "812" / "fd").mkdir(parents=True)
    (proc / "812" / "fd" / "3").symlink_to(node)
    (proc / "812" / "comm").write_text("motion\n")
    (proc / "900" / "fd").mkdir(parents=True)
    (proc / "self").mkdir()
    assert holders(str(node), proc) == ("motion (pid 812)",)
