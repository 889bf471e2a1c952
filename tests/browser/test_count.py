"""Before a game: the camera is set up by its live picture, and whatever is shaken is counted in large figures."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from companion.simulated.demo import Demo
from tests.browser.conftest import PHONE, TABLET, Table
from tests.browser.hands import SCROLLS, WIDER
from tests.web.serving import served
from web.app import create_app

SHAKES = 10
PACE_MS = 50
RIGHT = 8
"""A camera may misjudge a pile; how often is measured elsewhere. This is about what reaches the screen."""
DEADLINE_S = 150


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    started = Demo(tmp_path_factory.mktemp("demo"), game=None, autoplay=True, pace_ms=PACE_MS)
    yield started
    started.close()


@pytest.fixture(scope="module")
def address(demo: Demo) -> Iterator[str]:
    app = create_app(demo.service, is_open=True)
    with served(app) as found:
        yield found


@pytest.mark.parametrize("size", [TABLET, PHONE], ids=["tablet", "phone"])
def test_the_camera_is_set_up_by_what_it_sees_now(
    at: Callable[[str], Table], address: str, size: tuple[int, int]
) -> None:
    page = at(address).device(size)
    page.request.post("/table/take")
    page.goto("/calibrate")
    page.wait_for_function("() => document.querySelector('#live img').src.endsWith('?2')")
    assert page.evaluate("() => document.querySelector('#live img').naturalWidth") > 0
    assert not page.evaluate(WIDER)
    for one in ("#live img", "#take-empty"):
        expect(page.locator(one)).to_be_in_viewport(ratio=1)


def test_ten_shakes_are_counted_untouched(at: Callable[[str], Table], demo: Demo, address: str) -> None:
    page = at(address).device()
    page.goto("/count")
    seen: dict[str, tuple[int, int]] = {}
    end_s = time.monotonic() + DEADLINE_S
    while len(seen) < SHAKES:
        assert time.monotonic() < end_s, seen
        reading, fell = demo.service.table.snapshot.count_reading, demo.scene.in_tray
        if reading is not None and reading.id not in seen and fell:
            expect(page.locator("#hero")).to_have_text(str(reading.answers[0].value))
            expect(page.locator("#where")).not_to_be_empty()
            seen[reading.id] = (int(page.inner_text("#hero")), fell)
        page.wait_for_timeout(50)
    assert page.evaluate(SCROLLS) == []
    assert sum(shown == fell for shown, fell in seen.values()) >= RIGHT, seen


@pytest.mark.parametrize("size", [TABLET, PHONE], ids=["tablet", "phone"])
def test_what_lies_there_is_asked_by_one_tap(at: Callable[[str], Table], address: str, size: tuple[int, int]) -> None:
    page = at(address).device(size)
    page.goto("/what")
    page.click("#look")
    page.wait_for_selector("#answer, #refused")
    assert page.evaluate(SCROLLS) == []
    assert not page.evaluate(WIDER)
    expect(page.locator("#look")).to_be_in_viewport(ratio=1)
