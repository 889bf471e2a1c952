"""What is tapped: once however often it is sent, refused in words where it is stale or makes no sense."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest

from companion.errors import Unreadable
from rules.core import Message
from tests.web.house import Device, House
from web.keys import Keys

SEATED = {"game": "schuettels", "name-0": "Anna", "colour-0": "red"}


def gesture_of(tablet: Device, *dos: str) -> str:
    return json.dumps([one for one in tablet.gestures() if [step["action"]["do"] for step in one] == list(dos)][-1])


def test_a_count_and_what_follows_it_are_one_gesture(home: House, tablet: Device) -> None:
    home.play(8, 8, 8)
    tablet.post("/table/count", {"n": 8})
    answer = tablet.tap("shake", "place").get_json()
    assert answer["ok"]
    steps = home.service.table.snapshot.steps
    assert [step.action.do for step in steps if step.gesture == answer["gesture"]] == ["shake", "place"]


def test_the_same_tap_twice_acts_once(home: House, tablet: Device) -> None:
    tablet.post("/table/count", {"n": 8})
    gesture = gesture_of(tablet, "shake")
    first = tablet.post("/table/act", {"gesture": gesture}, key="one tap").get_json()
    second = tablet.post("/table/act", {"gesture": gesture}, key="one tap").get_json()
    assert (second["gesture"], second["again"]) == (first["gesture"], True)
    assert home.state.supply == (9, 10, 10)


def test_a_key_that_served_another_tap_is_refused(home: House, tablet: Device) -> None:
    tablet.post("/table/count", {"n": 8})
    tablet.post("/table/act", {"gesture": gesture_of(tablet, "shake")}, key="one tap")
    entries = home.service.table.snapshot.entries
    for path, form in (("/table/undo", {"asked": "1"}), ("/table/act", {"gesture": "[]"})):
        answer = tablet.post(path, form, key="one tap")
        assert (answer.status_code, answer.get_json()["code"]) == (422, "key_used")
    assert home.service.table.snapshot.entries == entries


def test_keys_are_remembered_within_bounds() -> None:
    keys = Keys(most=2)
    for key in ("first", "second", "third"):
        keys.took(key, "this")
    keys.must_match("first", "another")
    keys.must_match("third", "this")
    with pytest.raises(Unreadable):
        keys.must_match("third", "another")


def test_a_stale_tap_is_refused_with_the_fresh_view(home: House, tablet: Device) -> None:
    tablet.post("/table/count", {"n": 8})
    gesture = gesture_of(tablet, "shake")
    tablet.post("/table/act", {"gesture": gesture})
    late = tablet.post("/table/act", {"gesture": gesture})
    body = late.get_json()
    assert (late.status_code, body["code"], body["ok"]) == (409, "stale", False)
    assert "Ben" in body["regions"]["line"]
    assert home.state.supply == (9, 10, 10)


@pytest.mark.parametrize(
    ("count", "code"),
    [
        ("0", "nobody_fell"),  # at least one has to leave the cup
        ("16", "out_of_range"),  # there are 15
        ("-1", "out_of_range"),
        ("eight", "wrong_value"),
        ("", "wrong_value"),
        ("8.0", "wrong_value"),
    ],
)
def test_a_count_that_cannot_be_is_refused_and_the_game_goes_on(
    home: House, tablet: Device, count: str, code: str
) -> None:
    answer = tablet.post("/table/count", {"n": count})
    assert (answer.status_code, answer.get_json()["code"]) == (422, code)
    assert home.service.table.snapshot.proposal is None
    home.play(8)


@pytest.mark.parametrize(
    ("gesture", "code"),
    [
        ("", "not_json"),
        ("{", "not_json"),
        ("{}", "wrong_value"),
        ("[]", "wrong_value"),
        ("[1]", "not_an_object"),
        ('[{"who": "Anna", "action": {"do": "shake", "count": 8}, "fingerprint": "x"}]', "wrong_value"),
        ('[{"who": -1, "action": "shake", "fingerprint": "x"}]', "wrong_value"),
        ('[{"who": -1, "action": {"do": "shake", "count": 8}}]', "missing_field"),
        ('[{"who": -1, "action": {"do": "shake", "count": "eight"}, "fingerprint": "x"}]', "wrong_value"),
        ('[{"who": -1, "action": {"do": "dance"}, "fingerprint": "x"}]', "unknown_action"),
        ('[{"who": 0, "action": {"do": "place", "house": ["forge"]}, "fingerprint": "x"}]', "stale"),  # out of turn
        ('[{"who": 9, "action": {"do": "place", "house": ["forge"]}, "fingerprint": "x"}]', "stale"),
    ],
)
def test_a_post_that_makes_no_sense_says_so_in_one_shape(home: House, tablet: Device, gesture: str, code: str) -> None:
    before = home.service.table.snapshot
    answer = tablet.post("/table/act", {"gesture": gesture})
    body = answer.get_json()
    assert body["code"] == code
    assert body["error"]
    assert (body["status"], body["ok"]) == (answer.status_code, False)
    assert home.service.table.snapshot.entries == before.entries


def test_a_post_without_a_key_is_refused(home: House, tablet: Device) -> None:
    tablet.post("/table/count", {"n": 8})
    answer = tablet.client.post("/table/act", data={"gesture": gesture_of(tablet, "shake")})
    assert (answer.status_code, answer.get_json()["code"]) == (422, "missing_key")


def test_a_number_of_another_turn_is_stale(home: House, tablet: Device) -> None:
    before = tablet.asks()
    home.play(8)
    late = tablet.post("/table/count", {"n": 3, "fingerprint": before})
    assert (late.status_code, late.get_json()["code"]) == (409, "stale")
    assert tablet.post("/table/left", {"n": 3, "fingerprint": ""}).get_json()["code"] == "missing_field"
    assert home.service.table.snapshot.proposal is None


def test_who_opens_the_number_pad_has_time(home: House, tablet: Device) -> None:
    tablet.post("/table/count", {"n": 3})
    assert "Carries itself out" in tablet.table()
    assert tablet.asks() in tablet.get("/table/pad").get_data(as_text=True)
    assert "Carries itself out" not in tablet.table()
    assert home.device().get("/table/pad").status_code == 403


@pytest.mark.parametrize("gesture", ["[{}]", "[1]", "[[[]]]", "[" * 5000 + "]" * 5000])
def test_a_form_of_no_gesture_says_so(tablet: Device, gesture: str) -> None:
    answer = tablet.get(f"/table/form?gesture={gesture}", **{"HX-Request": "true"})
    assert 400 <= answer.status_code < 500


@pytest.mark.parametrize("who", ["--5", "²", "99", "-2", "Anna"])
def test_why_not_is_asked_for_somebody_at_the_table(tablet: Device, who: str) -> None:
    answer = tablet.get(f"/table/why/place?who={who}", **{"HX-Request": "true"})
    assert (answer.status_code, answer.get_json()["code"]) == (422, "wrong_value")


def test_what_is_left_in_the_cup_says_what_fell(home: House, tablet: Device) -> None:
    tablet.post("/table/left", {"n": 7})
    assert 'id="hero">8<' in tablet.table()


def test_undo_of_a_shake_asks_the_table_first(home: House, tablet: Device) -> None:
    home.play(8)
    asked = tablet.post("/table/undo")
    assert (asked.status_code, asked.get_json()["code"]) == (403, "ask_the_table")
    assert "Anna shakes 8 gnomes" in asked.get_json()["html"]
    assert tablet.post("/table/undo", {"asked": "1"}).status_code == 200
    assert home.state.supply == (10, 10, 10)


def test_a_phone_cannot_answer_for_the_table(home: House, tablet: Device) -> None:
    home.play(8)
    assert home.phone(1).post("/table/undo", {"asked": "1"}).get_json()["code"] == "only_on_the_table"


def test_a_value_that_the_box_has_not_told_is_asked_in_the_form_that_needs_it(home: House) -> None:
    home.begin(sheet="box")
    tablet = home.tablet()
    home.play(8, 4, 5)
    tablet.post("/table/count", {"n": 8})
    page = tablet.table()
    query = page.partition("/table/form?")[2].partition('"')[0].replace("&amp;", "&")
    panel = tablet.get(f"/table/form?{query}").get_data(as_text=True)
    assert 'name="f.says.small.tailor.1"' in panel
    assert "What does space 1 at the tailor shop say?" in panel
    assert "How many storage spaces are there?" in panel
    assert "Do it" not in panel
    assert re.search(r'<button class="action main">Sell goods', panel)
    gesture = html.unescape(re.findall(r'name="gesture" value="([^"]*)"', panel)[0])
    filled: dict[str, Any] = {"gesture": gesture, "f.says.small.tailor.1": 40, "f.says.small.storage": 12}
    assert tablet.post("/table/act", {**filled, "f.says.small.tailor.1": "dear"}).status_code == 422
    assert (
        tablet.post("/table/act", {"gesture": gesture, "f.says.small.tailor.1": ""}).get_json()["code"] == "say_first"
    )
    assert tablet.post("/table/act", filled).status_code == 200
    assert home.state.money[0] == 440


def test_money_in_the_box_ends_each_step_with_what_to_move(home: House) -> None:
    home.begin(money="box")
    tablet = home.tablet()
    home.play(3)
    assert "Anna pays 40" in tablet.table()


def test_anybody_at_the_table_calls_a_double_shake(home: House, tablet: Device) -> None:
    assert home.phone(2).tap("double_shake").status_code == 200
    assert home.state.money == (360, 400, 400)


def test_a_game_is_begun_with_names_colours_first_and_options(home: House) -> None:
    form = {
        "game": "schuettels",
        "name-0": "Anna",
        "colour-0": "red",
        "name-2": " Ben ",
        "colour-2": "blue",
        "first": "2",
    }
    more = {"option-zero": "fine", "money": "box", "sheet": "house"}
    device = home.device()
    answer = device.post("/table/begin", {**form, **more}, key="begin")
    assert answer.get_json() == {"ok": True, "go": "/table"}
    header = home.service.table.snapshot.header
    assert header is not None
    assert (header.names, header.first, header.money, header.options["zero"]) == (("Anna", "Ben"), 1, "box", "fine")
    device.post("/table/begin", {**form, **more}, key="begin")
    assert len(home.service.table.games()) == 1


def test_a_game_is_set_up_with_players_that_only_want_their_names(home: House) -> None:
    names = re.findall(
        r'name="name-\d" id="name-\d" value="([^"]*)"', home.device().get("/play").get_data(as_text=True)
    )
    assert names == ["Player 1", "Player 2", "", "", "", ""]


def test_the_next_game_is_set_up_with_those_who_played_the_last(home: House, tablet: Device) -> None:
    for _ in range(2):
        page = tablet.get("/play").get_data(as_text=True)
        names = re.findall(r'name="name-\d" id="name-\d" value="([^"]*)"', page)
        assert names == ["Anna", "Ben", "Carla", "", "", ""]
        tablet.post("/table/aside")


@pytest.mark.parametrize(
    ("form", "code"),
    [
        ({"game": "chess"}, "unknown_game"),
        (SEATED, "number_of_seats"),
        ({**SEATED, "name-1": "Ben", "colour-1": "red"}, "colour_taken"),
        ({**SEATED, "name-1": "ANNA", "colour-1": "blue"}, "name_taken"),
        ({**SEATED, "name-1": "Ben", "colour-1": "blue", "option-risky": "yes"}, "risky_needs_four"),
        ({**SEATED, "name-1": "Ben", "colour-1": "plaid"}, "unknown_colour"),
    ],
)
def test_a_game_that_cannot_be_set_up_so_is_refused(home: House, form: dict[str, str], code: str) -> None:
    answer = home.device().post("/table/begin", form)
    assert answer.get_json()["code"] == code
    assert home.service.table.snapshot.game is None


def test_a_game_put_aside_is_taken_up_again(home: House, tablet: Device) -> None:
    home.play(8)
    tablet.post("/table/aside")
    assert tablet.get("/table").status_code == 302
    start = tablet.get("/").get_data(as_text=True)
    path = start.partition('action="/table/open/')[2].partition('"')[0]
    assert tablet.post(f"/table/open/{path}").status_code == 302
    assert home.state.supply == (9, 10, 10)


def test_notices_are_shown_until_somebody_saw_them(home: House, tablet: Device) -> None:
    home.service.table.notice((Message("offer_keep_sure", {"n": 20}),))
    assert "1 question" in tablet.table()
    assert tablet.post("/table/notice", {"key": "offer_keep_sure", "yes": "1"}).status_code == 200
    assert home.service.settings.confirm == "sure"
    assert home.service.table.snapshot.notices == ()


def test_a_table_that_only_keeps_the_score_enters_what_counts(home: House) -> None:
    home.begin(depth="score")
    tablet = home.tablet()
    page = tablet.table()
    mark = page.partition('name="fingerprint" value="')[2].partition('"')[0]
    assert "shake the cup" not in page
    assert 'id="standing"' in page
    for gone in ("village", "/table/shake", "tailor"):
        assert gone not in page
    form = {"fingerprint": mark, "fact.money.0": 410, "fact.money.1": 730, "fact.money.2": 400}
    assert tablet.post("/table/mend", form).status_code == 200
    assert "Ben leads" in tablet.table()
    assert tablet.post("/table/depth", {"depth": "referee"}).status_code == 200
    assert "Anna, shake the cup" in tablet.table()
