"""How it looks and reads: nothing scrolls, nothing is too small to hit, nothing keeps anyone out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from companion.entries import SeatPlan
from companion.proposal import Answer, Evidence, Outline, Proposal
from tests.browser.conftest import PHONE, TABLET, Table
from tests.browser.hands import CUT, SCROLLS, WIDER, count, open_log, tap, turn

PAGES = (
    "/", "/play", "/count", "/what", "/count/pieces", "/join", "/devices", "/calibrate", "/help", "/help/play",
    "/help/phones",
)  # fmt: skip
SIZES = {"tablet": TABLET, "phone": PHONE}
LEAST_PX, ACTION_PX = 48, 56
SIX = tuple(
    SeatPlan(name, colour)
    for name, colour in zip(
        ("Anna-Magdalena Wilhelmin", "Ben", "Carla", "Dora", "Emil", "Fay"),
        ("red", "blue", "yellow", "green", "white", "black"),
        strict=True,
    )
)
AXE_OPTIONS = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],
}

SMALL = """least => [...document.querySelectorAll('button, a, input, select, summary, [data-open], label.tick')]
  .filter(one => one.checkVisibility() && !one.closest('.prose'))
  .filter(one => !(one.matches('input') && one.closest('label.tick')))
  .map(one => [(one.id || one.textContent || one.tagName).trim().slice(0, 40), one.getBoundingClientRect()])
  .filter(([, box]) => box.width > 0 && Math.min(box.width, box.height) < least - 0.5)
  .map(([what, box]) => `${what}: ${Math.round(box.width)} x ${Math.round(box.height)}`)"""


def violations(page: Page) -> list[str]:
    found = Axe().run(page, options=AXE_OPTIONS).response["violations"]
    return [f"{one['id']}: {one['nodes'][0]['html'][:160]}" for one in found]


State = Callable[[Page], Any]


def asked(page: Page) -> None:
    expect(page.locator("#asked")).to_be_visible()


def with_a_sale(page: Page) -> None:
    """Anna may sell two goods or push her own one out."""
    while page.locator("#seat-0.turn").count() == 0:
        turn(page, 14)
    count(page, 8)


def at_the_tent(page: Page) -> None:
    count(page, 2)


def at_the_pig_pit(page: Page) -> None:
    count(page, 7)


def carrying_itself_out(page: Page) -> None:
    count(page, 10)


STATES: dict[str, State] = {
    "asked": asked,
    "a sale": with_a_sale,
    "the tent": at_the_tent,
    "the pig pit": at_the_pig_pit,
    "carries itself out": carrying_itself_out,
}


@contextmanager
def played(table: Table, size: tuple[int, int], seats: tuple[SeatPlan, ...] = SIX, **more: Any) -> Iterator[Page]:
    """Open a game in which something stands in most houses."""
    assert table.home is not None
    table.home.service.table.begin("schuettels", seats, sheet="house")
    table.home.play(8, 8, 9, 11, 10, 13, 8, 8, 6, 5, 10, 4, 8, 12, 5)
    yield table.tablet(size, **more)


@pytest.mark.parametrize("size", SIZES)
def test_nothing_scrolls_and_everything_can_be_hit_while_a_question_is_open(table: Table, size: str) -> None:
    with played(table, SIZES[size]) as page:
        for name, state in STATES.items():
            _back_to_the_question(table, page)
            state(page)
            assert page.evaluate(SCROLLS) == [], name
            assert page.evaluate(SMALL, LEAST_PX) == [], name
            actions = page.locator(".bar .action:visible").all()
            assert all((one.bounding_box() or {"height": 0})["height"] >= ACTION_PX for one in actions), name


@pytest.mark.parametrize("size", SIZES)
def test_what_to_move_after_a_step_of_six_fits_too(table: Table, size: str) -> None:
    assert table.home is not None
    with played(table, SIZES[size]) as page:
        table.home.service.table.set_money("box", by="tablet", key="box")
        count(page, 10)
        tap(page)
        expect(page.locator("#moves")).to_contain_text("pays 30")
        expect(page.locator("#moves")).not_to_contain_text("goods")
        assert page.evaluate(SCROLLS) == []


def _back_to_the_question(table: Table, page: Page) -> None:
    assert table.home is not None
    table.home.service.table.propose(None)
    expect(page.locator("#hero")).to_have_count(0)


@pytest.mark.parametrize("size", SIZES)
def test_a_picture_of_the_camera_fits_beside_everything_else(table: Table, size: str) -> None:
    assert table.home is not None
    with played(table, SIZES[size]) as page:
        service = table.home.service
        crop = service.evidence.keep(page.screenshot(type="jpeg", clip={"x": 0, "y": 0, "width": 300, "height": 280}))
        outlines = (Outline("white", ((20, 20), (60, 20), (60, 60), (20, 60))),)
        answers = (Answer(7, 0.9), Answer(8, 0.1))
        proposal = Proposal(
            "p", service.table.snapshot.number, "shake", "count", answers, evidence=Evidence(crop, outlines)
        )
        service.table.propose(proposal)
        expect(page.locator("#crop image")).to_be_visible()
        assert page.locator("#crop .mark").count() == 1
        assert page.evaluate(SCROLLS) == []


@pytest.mark.parametrize("size", SIZES)
def test_ordinary_pages_are_never_wider_than_the_screen(table: Table, size: str) -> None:
    table.tablet()
    page = table.device(SIZES[size])
    for path in PAGES:
        page.goto(path)
        assert not page.evaluate(WIDER), path
        assert page.evaluate(SMALL, LEAST_PX) == [], path


@pytest.mark.parametrize(("dark", "language"), [(False, "en"), (True, "de")])
def test_no_page_keeps_anyone_out(table: Table, dark: bool, language: str) -> None:
    found: dict[str, list[str]] = {}
    with played(table, TABLET, dark=dark, language=language) as page:
        for path in PAGES:
            page.goto(path)
            found[path] = violations(page)
        page.goto("/table")
        found["asked"] = violations(page)
        count(page, 8)
        found["counted"] = violations(page)
        page.click("#type-it")
        page.click("#side-2")
        expect(page.locator("#hero")).to_have_text("2")
        found["picks"] = violations(page)
        for panel in ("type-it", "more", "invite", "mend", "seats"):
            if panel in ("invite", "mend", "seats"):
                page.click("#more")
            page.click(f"#{panel}")
            page.wait_for_selector(".play[data-side] #close-side")
            found[panel] = violations(page) + page.evaluate(CUT)
        page.click("#close-side")
        open_log(page)
        found["log"] = violations(page)
        page.locator("#step-1 button").click()
        page.wait_for_selector("#was-9")
        found["amend"] = violations(page)
    assert {name: bad for name, bad in found.items() if bad} == {}


def test_a_theme_and_a_way_up_are_chosen_on_the_device(table: Table) -> None:
    page = table.tablet()
    page.click("#more")
    page.get_by_role("button", name="Dark").click()
    expect(page.locator("html[data-theme=dark]")).to_have_count(1)
    page.click("#more")
    page.get_by_role("button", name="Turn around").click()
    expect(page.locator("html[data-flip]")).to_have_count(1)
    count(page, 8)
    assert (page.locator("#hero").bounding_box() or {"x": 999})["x"] < TABLET[0] / 2
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(22, 24, 27)"
