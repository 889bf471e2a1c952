"""How the table plays from now on: said once at the table, and every page follows."""

from __future__ import annotations

import html
from pathlib import Path

import pytest

from companion.proposal import Answer, Proposal
from companion.service import BOT_PACE_MS
from companion.settings import Settings
from tests.web.house import Device, House, house


def header(home: House) -> tuple[str, str]:
    found = home.service.table.snapshot.header
    assert found is not None
    return found.depth, found.money


def test_a_table_that_counts_in_mid_game_shows_what_fell_and_asks_nothing(home: House, tablet: Device) -> None:
    home.play(8)
    assert "Ben, shake the cup" in tablet.table()
    assert tablet.post("/table/depth", {"depth": "count"}).status_code == 200
    page = tablet.table()
    assert "Ben, shake the cup" not in page
    assert "Shake the cup." in page
    assert not tablet.gestures()
    assert "Schüttel's" in html.unescape(home.device().table().partition('id="main"')[2].partition("</h1>")[0])
    home.service.table.counted(Proposal("p", 0, "count", "count", (Answer(9, 1.0),)))
    page = home.device().table()
    assert 'id="hero">9<' in page
    assert 'id="where">jewelry shop<' in page
    assert tablet.post("/table/depth", {"depth": "referee"}).status_code == 200
    page = tablet.table()
    assert "Ben, shake the cup" in page
    assert "From here on: referee." in page
    assert home.state.supply == (9, 10, 10)


def test_the_panel_shows_what_is_chosen_now(home: House, tablet: Device) -> None:
    tablet.post("/table/depth", {"depth": "score"})
    tablet.post("/table/money", {"where": "box"})
    panel = tablet.get("/table/more").get_data(as_text=True)
    assert header(home) == ("score", "box")
    for name, pressed in (("depth-count", "false"), ("depth-score", "true"), ("where-box", "true")):
        assert f'aria-pressed="{pressed}" id="{name}"' in panel


@pytest.mark.parametrize(
    ("path", "form", "code"),
    [
        ("/table/depth", {"depth": "dream"}, "wrong_value"),
        ("/table/depth", {}, "wrong_value"),
        ("/table/money", {"where": "pocket"}, "wrong_value"),
        ("/table/seat", {"seat": "0", "plays": "chess"}, "wrong_value"),
        ("/table/seat", {"seat": "9", "plays": "left"}, "no_such_seat"),
        ("/table/seat", {"seat": "9", "plays": "here"}, "no_such_seat"),
        ("/table/seat", {"seat": "Anna", "plays": "left"}, "wrong_value"),
    ],
)
def test_what_makes_no_sense_changes_nothing(
    home: House, tablet: Device, path: str, form: dict[str, str], code: str
) -> None:
    entries = home.service.table.snapshot.entries
    answer = tablet.post(path, form)
    assert (answer.status_code, answer.get_json()["code"]) == (422, code)
    assert home.service.table.snapshot.entries == entries


@pytest.mark.parametrize("path", ["/table/depth", "/table/money", "/table/seat", "/pictures/forget", "/pictures/learn"])
def test_a_phone_changes_none_of_it(home: House, tablet: Device, path: str) -> None:
    for device in (home.phone(0), home.device()):
        assert device.post(path, {"depth": "count"}).get_json()["code"] == "only_on_the_table"


def test_who_leaves_comes_back_or_is_played_by_the_companion(home: House, tablet: Device) -> None:
    panel = tablet.get("/table/seats").get_data(as_text=True)
    assert panel.count("<summary") == 3
    tablet.post("/table/seat", {"seat": "1", "plays": "left"})
    assert "Ben has left the table." in tablet.table()
    assert 'class="who away"' in tablet.table()
    assert "has left" in tablet.get("/table/seats").get_data(as_text=True)
    tablet.post("/table/seat", {"seat": "1", "plays": "greedy"})
    assert "the companion plays, simply" in tablet.get("/table/seats").get_data(as_text=True)
    tablet.post("/table/seat", {"seat": "1", "plays": "left"})
    tablet.post("/table/seat", {"seat": "1", "plays": "here"})
    seats = home.service.table.snapshot.header
    assert seats is not None
    assert (seats.seats[1].player, seats.seats[1].away) == ("person", False)
    assert "Ben is back." in tablet.table()


def test_a_seat_is_played_by_the_companion_from_the_start(home: House) -> None:
    form = {"game": "schuettels", "sheet": "house", "first": "1"}
    people = {"name-0": "Anna", "colour-0": "red", "name-1": "Robo", "colour-1": "blue", "player-1": "greedy"}
    assert home.device().post("/table/begin", {**form, **people}).status_code == 200
    header = home.service.table.snapshot.header
    assert header is not None
    assert [seat.player for seat in header.seats] == ["person", "greedy"]
    wrong = home.devices[0].post("/table/begin", {**form, **people, "player-0": "ghost"})
    assert (wrong.status_code, wrong.get_json()["code"]) == (422, "unknown_player")


def test_the_evenings_pictures_are_forgotten_and_counted(home: House, tablet: Device) -> None:
    for one in (b"one", b"two"):
        home.service.evidence.keep(one)
    assert "Delete them" in tablet.get("/table/more").get_data(as_text=True)
    assert tablet.post("/pictures/forget").get_json()["said"] == "2 pictures deleted."
    assert tablet.post("/pictures/forget").get_json()["said"] == "0 pictures deleted."


def test_the_devices_page_says_what_is_kept_and_asks_once_before_it_is_gone(home: House, tablet: Device) -> None:
    home.service.evidence.keep(b"one")
    page = tablet.get("/devices").get_data(as_text=True)
    assert "1 picture of the tray is kept" in page
    assert page.index('<details class="card">') < page.index('id="forget"')
    assert "Learning from taps: on" in page
    assert tablet.post("/pictures/learn", {"on": ""}).status_code == 200
    assert not home.service.settings.keep_corrections
    assert "Learning from taps: off" in tablet.get("/devices").get_data(as_text=True)
    gone = tablet.post("/pictures/forget", {"all": "1", "back": "/devices"}).get_json()["go"]
    assert "1 picture deleted." in tablet.get(gone).get_data(as_text=True)
    assert "/pictures/learn" not in home.device().get("/devices").get_data(as_text=True)


def test_the_host_forgets_pictures_from_anywhere(tmp_path: Path) -> None:
    with house(tmp_path, settings=Settings(pin="2468")) as home:
        home.begin()
        host = home.device("de")
        assert host.post("/pin", {"pin": "2468"}).status_code == 200
        home.service.evidence.keep(b"one")
        assert host.post("/pictures/forget").get_json()["said"] == "1 Bild gelöscht."


def test_for_a_seat_that_the_companion_plays_only_the_count_is_tapped(home: House, tablet: Device) -> None:
    home.play(8)
    tablet.post("/table/seat", {"seat": "1", "plays": "greedy"})
    tablet.post("/table/count", {"n": 2})
    assert "It was 2" in tablet.table()
    assert tablet.tap("shake").status_code == 200
    assert [step["action"]["do"] for one in tablet.gestures() for step in one] == ["double_shake"]
    home.clock.ms += 2 * BOT_PACE_MS
    home.service.tick()
    home.clock.ms += 2 * BOT_PACE_MS
    home.service.tick()
    assert home.state.on_turn == 2
    assert "Ben places a good" in tablet.table()
