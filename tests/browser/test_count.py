"""Count depth: whatever is shaken is counted in large figures, and nobody touches anything."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import expect

from companion.simulated.demo import Demo
from tests.browser.conftest import Table, served
from web.app import close, create_app

SHAKES = 10
PACE_MS = 200
RIGHT = 8
"""A camera may misjudge a pile; how often is measured elsewhere. This is about what reaches the screen."""
DEADLINE_S = 150


def test_ten_shakes_are_counted_untouched(at: Callable[[str], Table], tmp_path: Path) -> None:
    demo = Demo(tmp_path, game=None, autoplay=True, pace_ms=PACE_MS)
    app = create_app(demo.service, is_open=True)
    try:
        with served(app) as address:
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
    finally:
        close(app)
        demo.close()
    assert sum(shown == fell for shown, fell in seen.values()) >= RIGHT, seen
