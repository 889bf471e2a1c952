"""A real browser on a real server: what the tests in Chromium share."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.web.house import House, house
from tests.web.serving import served

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
TABLET, PHONE = (1024, 768), (390, 844)
PATIENCE_MS = 10_000


def chromium() -> str:
    """Return where the system's Chromium is."""
    found = (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))
    path = next((one for one in found if one), None)
    assert path is not None, "no Chromium on this machine: install the package chromium"
    return path


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        yield started
        started.close()


@dataclass
class Table:
    """A house, its address, and the devices that look at it. Mistakes on a page's console fail the test."""

    browser: Browser
    address: str
    home: House | None = None

    def __post_init__(self) -> None:
        self.contexts: list[BrowserContext] = []
        self.complaints: list[str] = []

    def device(self, size: tuple[int, int] = TABLET, *, dark: bool = False, language: str = "en", **more: Any) -> Page:
        """Return the page of a device that was never here."""
        context = self.browser.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme="dark" if dark else "light",
            locale=language,
            base_url=self.address,
            reduced_motion=more.pop("motion", "reduce"),
            **more,
        )
        context.set_default_timeout(PATIENCE_MS)
        self.contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda said: said.type == "error" and self.complaints.append(said.text))
        return page

    def tablet(self, size: tuple[int, int] = TABLET, **more: Any) -> Page:
        """Return the shared screen with a game on it."""
        page = self.device(size, **more)
        assert self.home is not None
        if self.home.service.table.snapshot.game is None:
            self.home.begin()
        page.goto("/")
        page.click("#go-on")
        page.wait_for_selector(".play")
        return page

    def close(self) -> None:
        for context in self.contexts:
            context.close()


@pytest.fixture
def table(browser: Browser, tmp_path: Path) -> Iterator[Table]:
    with house(tmp_path, is_open=True) as home, served(home.app) as address:
        opened = Table(browser, address, home)
        yield opened
        opened.close()
        assert [one for one in opened.complaints if "409" not in one and "403" not in one] == []


@pytest.fixture
def at(browser: Browser) -> Iterator[Callable[[str], Table]]:
    """Return tables at addresses that are served elsewhere."""
    opened: list[Table] = []

    def table_at(address: str) -> Table:
        opened.append(Table(browser, address))
        return opened[-1]

    yield table_at
    for one in opened:
        one.close()
