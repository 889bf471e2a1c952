"""What is set right: steps amended and decided, facts mended, refusals asked why and allowed this once."""

from __future__ import annotations

import html
import json
import re
from urllib.parse import quote

import pytest

from tests.web.house import Device, House


def amended(home: House, tablet: Device) -> None:
    """Anna places at 8, the others elsewhere, Anna sells at 8; then her first shake turns out to have been a 9."""
    home.play(8, 4, 5)
    tablet.post("/table/count", {"n": 8})
    tablet.tap("shake", "sell")
    home.play(6)
    answer = tablet.post("/table/amend", {"n": 1, "do": "shake", "f.count": "9"})
    assert answer.status_code == 200, answer.get_json()


def test_an_amended_count_brings_the_sale_up_that_it_made_impossible(home: House, tablet: Device) -> None:
    amended(home, tablet)
    page = tablet.table()
    assert "This no longer fits" in page
    assert "Anna sells 1 good" in page
    assert 'id="keep"' not in page
    line = page.partition('data-region="line"')[2].partition("</h1>")[0]
    assert ("Anna" in line, "Ben" in line) == (True, False)
    first = home.service.table.snapshot.open[0]
    tablet.post("/table/decide", {"n": first.n, "how": "drop"})
    if not home.service.table.snapshot.open[0].why_not:
        assert "Does this still stand?" in tablet.table()


@pytest.mark.parametrize("money", ["box", "tablet"])
def test_a_dropped_sale_leaves_the_rest_and_says_what_to_move(home: House, money: str) -> None:
    home.begin(money=money)
    tablet = home.tablet()
    amended(home, tablet)
    first = home.service.table.snapshot.open[0]
    assert tablet.post("/table/decide", {"n": first.n, "how": "drop"}).status_code == 200
    assert tablet.post("/table/decide", {"how": "rest"}).status_code == 200
    page = tablet.table()
    moves = page.partition('id="moves"')[2].partition("</p>")[0]
    assert ("Anna gives" in moves, "gives" in moves) == (money == "box", money == "box")
    assert "Put 1 good of Anna here" in moves
    assert [step.status for step in home.service.table.snapshot.steps].count("dropped") == 1
    assert home.state.houses["jewelry"] == (0,)
    assert home.state.houses["forge"] == (1,)


@pytest.mark.parametrize("form", [{"how": "burn", "n": "1"}, {"how": "keep"}, {"how": "keep", "n": "x"}, {}])
def test_a_decision_that_is_none_is_refused(home: House, tablet: Device, form: dict[str, str]) -> None:
    amended(home, tablet)
    assert tablet.post("/table/decide", form).status_code == 422


def test_an_amend_panel_offers_every_count_but_the_one_that_stands(home: House, tablet: Device) -> None:
    home.play(8)
    panel = tablet.get("/table/amend/1").get_data(as_text=True)
    assert 'id="was-9"' in panel
    assert '<button name="f.count" value="8" id="was-8" disabled>' in panel
    assert tablet.get("/table/amend/77").status_code == 404


def mend_groups(tablet: Device, query: str = "") -> list[tuple[str, bool, str]]:
    """Return the groups of the mend form: what each is called, whether it is open, and what is in it."""
    panel = tablet.get(f"/table/mend{query}").get_data(as_text=True)
    found = re.findall(
        r'<details class="card"( open)?>\s*<summary class="button">(.*?)</summary>(.*?)</details>', panel, re.DOTALL
    )
    return [(html.unescape(title), bool(is_open), content) for is_open, title, content in found]


def test_the_form_that_mends_groups_what_lies_on_the_table_and_keeps_it_closed(home: House, tablet: Device) -> None:
    groups = mend_groups(tablet)
    titles = [title for title, _, _ in groups]
    assert titles[:3] == ["Anna", "Ben", "Carla"]
    assert titles[-1] == "what the board says"
    assert titles.index("turn") > titles.index("forge")
    assert not any(is_open for _, is_open, _ in groups)
    printed = groups[-1][2]
    assert "<span>forge 2</span>" in printed
    assert 'name="fact.small.forge.2"' in printed
    opened = [title for title, is_open, _ in mend_groups(tablet, "?fact.money.1=390")]
    assert opened == titles
    assert [title for title, is_open, _ in mend_groups(tablet, "?fact.money.1=390") if is_open] == ["Ben"]


def test_the_order_in_a_row_is_mended_by_names(home: House, tablet: Device) -> None:
    home.play(8, 8)
    row = next(content for title, _, content in mend_groups(tablet) if title == "tailor shop")
    first = row.partition("<select")[2].partition("</select>")[0]
    assert "<span>Place 1</span>" in row
    assert re.findall(r"<option value=\"(\d)\"( selected)?>(\w+)<", first) == [
        ("0", "", "Anna"), ("1", " selected", "Ben"), ("2", "", "Carla"), ("3", "", "nobody"),
    ]  # fmt: skip
    form = {"fingerprint": mend_form(tablet), "fact.tailor/1": "0", "fact.tailor/2": "1"}
    assert tablet.post("/table/mend", form).status_code == 200
    assert home.state.houses["tailor"] == (0, 1)


def mend_form(tablet: Device) -> str:
    panel = tablet.get("/table/mend").get_data(as_text=True)
    return panel.partition('name="fingerprint" value="')[2].partition('"')[0]


def test_a_mend_sets_what_differs_and_says_what_to_move(home: House, tablet: Device) -> None:
    form = {
        "fingerprint": mend_form(tablet),
        "reason": "a bill under the table",
        "fact.money.0": 430,
        "fact.money.1": 400,
    }
    assert tablet.post("/table/mend", form).status_code == 200
    assert home.state.money == (430, 400, 400)
    page = tablet.table()
    assert "a bill under the table" in page
    assert "Anna takes 30" in page


@pytest.mark.parametrize("value", ["435", "-10", "99999", "many"])
def test_a_mend_that_cannot_be_is_refused(home: House, tablet: Device, value: str) -> None:
    answer = tablet.post("/table/mend", {"fingerprint": mend_form(tablet), "fact.money.0": value})
    assert answer.status_code == 422
    assert home.state.money == (400, 400, 400)


def test_a_refusal_says_why_and_opens_the_mend_that_allows_it_once(home: House, tablet: Device) -> None:
    panel = tablet.get("/table/why/sell?who=0").get_data(as_text=True)
    assert "not now" in panel
    assert 'id="allow"' in panel
    assert tablet.get("/table/why/dance?who=0").status_code == 422


@pytest.mark.parametrize(("language", "words"), [("en", "Rule: our reading 6"), ("de", "Regel: unsere Lesart 6")])
def test_a_refusal_that_rests_on_a_reading_of_ours_says_so_in_words(
    home: House, tablet: Device, language: str, words: str
) -> None:
    home.play(8, 8, 8)
    tablet.post("/table/count", {"n": 8})
    shake = json.dumps([one for one in tablet.gestures() if len(one) == 2][-1][:1])
    tablet.language = language
    assert words in tablet.get(f"/table/why/pass?who=0&gesture={quote(shake)}").get_data(as_text=True)


def test_in_the_place_of_a_sale_that_no_longer_fits_stands_only_what_is_offered_now(
    home: House, tablet: Device
) -> None:
    amended(home, tablet)
    first = home.service.table.snapshot.open[0]
    panel = tablet.get(f"/table/amend/{first.n}?decide=1").get_data(as_text=True)
    assert "Sell goods" not in panel
    assert "<h3>Shake the cup</h3>" in panel
    changed = tablet.post("/table/amend", {"n": first.n, "how": "change", "do": "shake", "f.count": "3"})
    assert changed.status_code == 200
    assert "shakes 3 gnomes" in tablet.table()


def test_a_shake_amended_to_one_with_a_choice_asks_for_the_missing_deed_first(home: House, tablet: Device) -> None:
    home.play(1, 8, 4)
    assert tablet.post("/table/amend", {"n": 1, "do": "shake", "f.count": "2"}).status_code == 200
    page = tablet.table()
    assert "Anna still has to act" in page
    assert 'id="keep"' not in page
    assert 'id="keep-rest"' not in page
    assert 'id="drop-rest"' in page
    ben = home.phone(1)
    assert "Anna still has to act" not in ben.table()
    assert not ben.gestures()
    assert tablet.tap("place").status_code == 200
    assert home.service.table.snapshot.open == ()
    assert [step.status for step in home.service.table.snapshot.steps] == ["amended", "kept", "kept", "kept"]


def test_what_is_left_open_is_dropped_in_one_go(home: House, tablet: Device) -> None:
    amended(home, tablet)
    left = len(home.service.table.snapshot.open)
    assert left > 1
    assert 'id="drop-rest"' in tablet.table()
    assert tablet.post("/table/decide", {"how": "drop_rest"}).status_code == 200
    assert home.service.table.snapshot.open == ()
    assert [step.status for step in home.service.table.snapshot.steps].count("dropped") == left
    assert tablet.post("/table/decide", {"how": "drop_rest"}).get_json()["code"] == "nothing_open"


def test_a_step_about_another_player_may_be_kept_all_the_same(home: House, tablet: Device) -> None:
    home.play(8, 4, 5)
    mark = mend_form(tablet)
    tablet.post("/table/mend", {"fingerprint": mark, "fact.turn": "1"})
    home.play(6)
    n = next(step.n for step in home.service.table.snapshot.steps if step.action.do == "mend")
    amended_to = json.dumps({"do": "mend", "facts": {"turn": 2}, "reason": ""})
    assert tablet.post("/table/amend", {"n": n, "action": amended_to}).status_code == 200
    first = home.service.table.snapshot.open[0]
    assert first.why_not is not None
    page = tablet.table()
    assert 'id="keep"' in page
    assert 'id="keep-rest"' not in page
    assert tablet.post("/table/decide", {"n": first.n, "how": "keep"}).status_code == 200


def test_a_double_shake_and_a_deed_may_stand_in_each_others_place(home: House, tablet: Device) -> None:
    home.play(8, 8, 8)
    tablet.post("/table/count", {"n": 8})
    tablet.tap("shake", "place")
    placed = home.service.table.snapshot.steps[-1]
    assert "double_shake" in tablet.get(f"/table/amend/{placed.n}").get_data(as_text=True)
    assert tablet.post("/table/amend", {"n": placed.n, "do": "double_shake"}).status_code == 200
    assert home.service.table.snapshot.steps[-1].who == -1
    panel = html.unescape(tablet.get(f"/table/amend/{placed.n}").get_data(as_text=True))
    again = next(one for one in re.findall(r'name="action" value="([^>]*?)">', panel) if '"place"' in one)
    assert tablet.post("/table/amend", {"n": placed.n, "action": again}).status_code == 200
    stands = home.service.table.snapshot.steps[-1]
    assert (stands.who, stands.action.do) == (0, "place")
