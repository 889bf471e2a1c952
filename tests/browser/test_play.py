"""A game in the browser: played to its end on several devices, corrected, cut off, taken up again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

from playwright.sync_api import expect

from companion.entries import SeatPlan
from companion.proposal import Answer, Proposal
from tests.browser.conftest import PHONE, Table
from tests.browser.hands import SCROLLS, TAPS, count, number, open_log, tap, turn
from tests.web.running import Running
from web.desk import desk_of

SEED = 265
"""A short game: 46 turns."""
MOST_TURNS = 120


def test_two_tablets_and_a_spectator_play_a_whole_simulated_game(table: Table) -> None:
    assert table.home is not None
    home, random = table.home, Random(SEED)
    home.service.table.begin("schuettels", (SeatPlan("Anna", "red"), SeatPlan("Ben", "blue")), sheet="house")
    tablet, second, onlooker = table.tablet(), table.tablet(), table.device(PHONE)
    onlooker.goto("/table")
    for at in range(MOST_TURNS):
        screen = (tablet, second)[at % 2]
        screen.wait_for_selector("#hero", state="detached")
        count(screen, random.randint(1, 15))
        tap(screen)
        if home.service.table.snapshot.result is not None:
            break
    assert home.service.table.snapshot.result is not None
    for screen in (tablet, second, onlooker):
        expect(screen.locator(".standing li")).to_have_count(2)
    assert onlooker.locator("[hx-post]").count() == 0
    best = max(home.state.money)
    expect(onlooker.locator(".standing li").first).to_contain_text(str(best))


def test_a_wrong_count_is_corrected_with_one_tap(table: Table) -> None:
    assert table.home is not None
    tablet = table.tablet()
    answers = tuple(Answer(n, share) for n, share in ((8, 0.7), (9, 0.3)))
    live = table.home.service.table
    live.propose(Proposal("p", live.snapshot.number, "shake", "count", answers))
    expect(tablet.locator("#hero")).to_have_text("8")
    expect(tablet.locator("#where")).to_have_text("tailor shop")
    tablet.locator(".beside", has_text="9").locator("button").click()
    expect(tablet.locator("#o-jewelry-1-0 .mark")).to_be_visible()
    assert table.home.state.supply == (9, 10, 10)


def test_picked_goods_are_what_is_sold(table: Table) -> None:
    assert table.home is not None
    tablet = table.tablet()
    for fell in (8, 4, 5):
        turn(tablet, fell)
    turn(tablet, 8, "Place")
    for fell in (4, 5):
        turn(tablet, fell, "Place")
    count(tablet, 8)
    sale = tablet.locator(TAPS, has_text="Sell")
    expect(sale).to_contain_text("+60")
    tablet.click("#s-tailor-1")
    expect(sale).to_contain_text("+40")
    tablet.locator("#s-tailor-1").press("Enter")
    expect(sale).to_contain_text("+60")
    tablet.click("#s-tailor-2")
    expect(sale).to_have_text("Sell goods+20")
    sale.click()
    expect(tablet.locator("#seat-0 .money")).to_have_text("420")
    assert table.home.state.houses["tailor"] == (0,)


def test_an_amended_count_brings_up_the_sale_it_made_impossible(table: Table) -> None:
    assert table.home is not None
    table.home.begin(money="box")
    tablet = table.tablet()
    for fell in (8, 4, 5):
        turn(tablet, fell)
    turn(tablet, 8, "Sell")
    turn(tablet, 6)
    open_log(tablet)
    tablet.locator("#step-1 button").click()
    tablet.click("#was-9")
    expect(tablet.locator(".answer")).to_contain_text("Anna sells 1 good")
    expect(tablet.locator(".line")).to_contain_text("questions")
    tablet.click("#drop")
    tablet.click("#keep")
    expect(tablet.locator("#moves")).to_contain_text("Anna gives 20 back")
    assert table.home.state.houses["forge"] == (1,)


def test_an_amended_shake_asks_for_the_placement_it_brings_and_keeps_the_rest(table: Table) -> None:
    assert table.home is not None
    tablet = table.tablet()
    for fell in (1, 8, 4):
        turn(tablet, fell)
    open_log(tablet)
    tablet.locator("#step-1 button").click()
    tablet.click("#was-2")
    expect(tablet.locator("#missing")).to_have_text("Anna still has to act")
    expect(tablet.locator(".answer")).to_contain_text("After that: Ben shakes 8 gnomes")
    assert tablet.evaluate(SCROLLS) == []
    tablet.click("#h-tailor")
    expect(tablet.locator("#missing")).to_have_count(0)
    live = table.home.service.table.snapshot
    assert (live.open, [step.status for step in live.steps]) == ((), ["amended", "kept", "kept", "kept"])
    assert table.home.state.supply == (9, 9, 9)


def test_undo_asks_the_table_and_takes_back_on_a_yes(table: Table) -> None:
    assert table.home is not None
    tablet = table.tablet()
    turn(tablet, 8)
    tablet.click("#undo")
    expect(tablet.locator("#notice")).to_contain_text("Anna shakes 8 gnomes")
    tablet.click("#undo-no")
    expect(tablet.locator("#notice")).to_be_empty()
    tablet.click("#undo")
    tablet.click("#undo-yes")
    expect(tablet.locator("#seat-0")).to_contain_text("10 goods")
    expect(tablet.locator("#notice")).to_be_empty()
    assert table.home.state.supply == (10, 10, 10)


def test_why_not_and_allow_it_this_once(table: Table) -> None:
    assert table.home is not None
    tablet = table.tablet()
    tablet.click("#more")
    tablet.click("#mend")
    tablet.locator("#side summary", has_text="Anna").click()
    tablet.fill("[name='fact.supply.0']", "0")
    tablet.fill("[name='fact.storage.0']", "8")
    tablet.fill("[name='fact.tailor.0']", "2")
    tablet.click("#side .main")
    expect(tablet.locator("#seat-0")).to_contain_text("0 goods")
    count(tablet, 8)
    tablet.click("#why-place")
    expect(tablet.locator("#side")).to_contain_text("Rule:")
    tablet.click("#allow")
    expect(tablet.locator("#side [name=reason]")).not_to_be_empty()


def test_what_the_tablet_does_and_who_plays_is_changed_in_mid_game_and_every_page_follows(table: Table) -> None:
    assert table.home is not None
    tablet, onlooker = table.tablet(), table.device(PHONE)
    onlooker.goto("/table")
    turn(tablet, 8)
    for chosen, said in (("count", "Shake the cup."), ("score", "lead together"), ("referee", "Ben, shake the cup")):
        tablet.click("#more")
        tablet.click(f"#depth-{chosen}")
        for page in (tablet, onlooker):
            expect(page.locator("#asked")).to_contain_text(said)
    tablet.click("#more")
    tablet.click("#where-box")
    tablet.click("#more")
    expect(tablet.locator("#where-box")).to_have_attribute("aria-pressed", "true")
    tablet.click("#seats")
    tablet.locator("#side summary", has_text="Ben").click()
    tablet.click("#seat-1-left")
    expect(onlooker.locator("#seat-1 .away")).to_contain_text("has left")
    table.home.service.evidence.keep(b"a crop")
    tablet.click("#more")
    tablet.click("#pictures")
    tablet.click("#forget")
    expect(tablet.locator("#notice")).to_have_text("1 picture deleted.")


def test_a_refresh_keeps_the_seat(table: Table) -> None:
    tablet, phone = table.tablet(), table.device(PHONE)
    tablet.click("#more")
    tablet.click("#invite")
    code = (tablet.locator("details[open] .code").text_content() or "").strip()
    phone.goto("/join")
    phone.fill("#secret", code)
    phone.click("#join-now")
    expect(phone.locator(".seat.mine")).to_contain_text("Anna")
    phone.reload()
    expect(phone.locator(".seat.mine")).to_contain_text("Anna")
    turn(phone, 8)
    expect(tablet.locator("#o-tailor-1-0 .mark")).to_be_visible()


def test_a_qr_code_joins_and_leaves_no_token_in_the_address(table: Table) -> None:
    assert table.home is not None
    table.tablet()
    token = desk_of(table.home.app).invitations.invite("seat", 1).token
    phone = table.device(PHONE)
    phone.goto(f"/join#{token}")
    expect(phone.locator(".seat.mine")).to_contain_text("Ben")
    assert token not in phone.url


def test_a_second_tap_on_what_is_gone_says_so_and_shows_the_table(table: Table) -> None:
    first, second = table.tablet(), table.tablet()
    count(first, 8)
    expect(second.locator("#hero")).to_have_text("8")
    second.evaluate(
        "void (window.swap = htmx.swap, htmx.swap = async () => undefined)"
    )  # the stream is slower than a finger
    tap(first)
    second.evaluate("void (htmx.swap = window.swap)")
    second.locator(TAPS).last.click()
    expect(second.locator("#notice")).to_contain_text("the table has moved on")
    expect(second.locator("#hero")).to_have_count(0)


def test_pulling_the_plug_between_two_actions_loses_nothing(at: Callable[[str], Table], tmp_path: Path) -> None:
    arguments = ("serve", "--data", str(tmp_path), "--port")
    service = Running(*arguments, "0")
    port = service.address.rpartition(":")[2]
    tablet = at(service.address).device()
    tablet.goto("/play")
    for seat, name in enumerate(("Anna", "Ben")):
        tablet.fill(f"#name-{seat}", name)
    tablet.click("#sheet-house")
    tablet.click("#begin")
    turn(tablet, 8)
    count(tablet, 9)
    service.kill()
    expect(tablet.locator("#presence")).to_contain_text("Reconnecting")
    again = Running(*arguments, port)
    expect(tablet.locator("#presence")).to_have_text("Connected", timeout=15_000)
    expect(tablet.locator("#o-tailor-1-0 .mark")).to_be_visible()
    turn(tablet, 9)
    expect(tablet.locator("#o-jewelry-1-1 .mark")).to_be_visible()
    assert again.end() == 0


def test_a_cut_line_is_said_with_the_age_of_the_view(table: Table) -> None:
    tablet = table.tablet()
    tablet.clock.install()
    tablet.reload()
    expect(tablet.locator("#presence")).to_have_text("Connected")
    table.contexts[0].set_offline(True)
    expect(tablet.locator("#presence")).to_contain_text("Reconnecting as of")
    tablet.clock.fast_forward("00:10")
    expect(tablet.locator("#presence")).to_contain_text("Offline as of")
    assert tablet.locator("main[data-stale]").count() == 1
    table.contexts[0].set_offline(False)
    expect(tablet.locator("#presence")).to_have_text("Connected")
    table.complaints.clear()
    assert number(tablet) > 0


def test_what_would_be_pushed_out_trembles_and_stands_still_where_motion_is_not_wanted(table: Table) -> None:
    tablet = table.tablet(motion="no-preference")
    still = table.tablet()
    for fell in (8, 8, 8, 8):
        turn(tablet, fell, "Place")
    count(tablet, 8)
    for page, name in ((tablet, "tremble"), (still, "none")):
        falling = page.locator("#h-tailor .falls")
        expect(falling).to_have_count(1)
        assert falling.evaluate("one => getComputedStyle(one).animationName") == name
    expect(tablet.locator(TAPS, has_text="Place")).to_contain_text("pushed out")
