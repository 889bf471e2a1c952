"""What hands do at the table: shake, type a count, tap what follows."""

from __future__ import annotations

from playwright.sync_api import Page

TAPS = ".bar .action:visible:not(.loses):not(.greyed)"
SCROLLS = """() => ['html', '.line', '.places', '.board', '.answer', '.bar']
  .flatMap(name => [...document.querySelectorAll(name)])
  .filter(one => one.checkVisibility())
  .filter(one => one.scrollHeight > one.clientHeight + 1 || one.scrollWidth > one.clientWidth + 1)
  .map(one => `${one.className || one.tagName}: ${one.scrollWidth} x ${one.scrollHeight}
     in ${one.clientWidth} x ${one.clientHeight}`)"""
"""What scrolls or is cut off of what must not, while a question is open."""
CUT = """() => [...document.querySelectorAll('button, .button')]
  .filter(one => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1).map(one => one.textContent.trim())"""
"""What does not fit the button it stands on."""
WIDER = "() => document.documentElement.scrollWidth > innerWidth"


def number(page: Page) -> int:
    """Return the number of the view that a page shows."""
    return int(page.get_attribute("main", "data-number") or 0)


def count(page: Page, fell: int) -> None:
    """Tap a count on the number pad and wait until it is shown."""
    page.click(f"#n-{fell}")
    page.wait_for_function("fell => document.querySelector('#hero')?.textContent === fell", arg=str(fell))


def tap(page: Page, words: str | None = None) -> None:
    """Tap what is offered at the lower right, or the one that says these words; wait until the table moved on."""
    before = number(page)
    offered = page.locator(TAPS if page.locator(TAPS).count() else ".options .action:visible")
    (offered.filter(has_text=words).first if words else offered.last).click()
    page.wait_for_function("before => Number(document.querySelector('main').dataset.number) > before", arg=before)


def turn(page: Page, fell: int, words: str | None = None) -> None:
    """Play one turn by hand."""
    count(page, fell)
    tap(page, words)
    page.wait_for_selector("#hero", state="detached")


def open_log(page: Page) -> None:
    """Open the log."""
    page.click("details.lines summary")
