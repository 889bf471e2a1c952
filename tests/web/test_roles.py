"""Who may do what: the shared screen, phones of seats, spectators, the host; and how they come in."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from companion.settings import Settings
from tests.web.house import Device, House, house
from web.addresses import for_others
from web.app import CLIENTS
from web.clients import TOKEN_LIVES_S, TRIES, hashed
from web.desk import desk_of
from web.visitors import COOKIE

ELSEWHERE = "192.0.2.7"


def code_of(home: House, seat: int = 0) -> str:
    return desk_of(home.app).invitations.invite("seat", seat).code


def test_a_spectator_sees_the_table_and_nothing_to_tap(home: House, tablet: Device) -> None:
    tablet.post("/table/count", {"n": 8})
    page = home.device().table()
    assert 'id="hero">8<' in page
    assert "/table/act" not in page
    assert "/table/undo" not in page


@pytest.mark.parametrize("path", ["/table/act", "/table/count", "/table/undo", "/table/decide", "/table/mend"])
def test_a_spectator_is_told_to_join(home: House, tablet: Device, path: str) -> None:
    tablet.post("/table/count", {"n": 8})
    gesture = '[{"who": -1, "action": {"do": "shake", "count": 8}, "fingerprint": "x"}]'
    answer = home.device().post(path, {"gesture": gesture, "n": 3, "how": "keep"})
    assert (answer.status_code, answer.get_json()["code"]) == (403, "only_looks_on")
    assert home.state.phase == "shake"


def test_a_phone_acts_for_its_seat_and_for_the_table(home: House, tablet: Device) -> None:
    anna = home.phone(0)
    assert anna.post("/table/count", {"n": 8}).status_code == 200
    assert anna.tap("shake").status_code == 200
    assert home.state.supply == (9, 10, 10)


def test_a_phone_does_not_act_for_another_seat(home: House, tablet: Device) -> None:
    home.play(8, 8, 8)
    tablet.post("/table/count", {"n": 8})
    gestures = [one for one in tablet.gestures() if len(one) == 2]
    ben = home.phone(1)
    answer = ben.post("/table/act", {"gesture": str(gestures[0]).replace("'", '"')})
    assert (answer.status_code, answer.get_json()["code"]) == (403, "not_your_seat")
    assert not [one for one in ben.gestures() if len(one) == 2]


def test_the_first_device_has_the_table_and_the_next_one_needs_a_code(home: House) -> None:
    home.tablet()
    second = home.device(at=ELSEWHERE)
    assert second.post("/table/take").headers["Location"] == "/join"
    refused = second.post("/table/begin", {"game": "schuettels"})
    assert (refused.status_code, refused.get_json()["code"]) == (403, "table_is_taken")


def test_whoever_sits_at_the_companions_own_machine_always_gets_the_table(home: House) -> None:
    first = home.device(at=ELSEWHERE)
    home.begin()
    assert first.post("/table/take").headers["Location"] == "/table"
    assert home.device().post("/table/take").headers["Location"] == "/table"
    through_a_name = home.device().post("/table/take", Host="203.0.113.5")
    assert through_a_name.headers["Location"] == "/join"


def test_the_link_that_is_printed_at_start_makes_one_host(home: House, tablet: Device) -> None:
    invitation = desk_of(home.app).invitations.invite_host()
    home.clock.ms += TOKEN_LIVES_S * 1000
    owner = home.device(at=ELSEWHERE)
    assert owner.post("/join", {"secret": ""}).status_code == 403
    assert owner.post("/join", {"secret": "dä"}).status_code == 403
    assert owner.post("/join", {"secret": invitation.token}).get_json()["go"] == "/table"
    assert desk_of(home.app).door.clients.all()[-1].host
    assert home.device(at=ELSEWHERE).post("/join", {"secret": invitation.token}).status_code == 403


@pytest.mark.parametrize(
    ("host", "listens", "shown"),
    [
        ("192.0.2.9:8000", "0.0.0.0", "http://192.0.2.9:8000"),
        ("localhost:8000", "127.0.0.1", None),
        ("127.0.0.1:8000", "192.0.2.9", "http://192.0.2.9:8000"),
        ("[::1]:8000", "::1", None),
        ("localhost", "", "http://localhost"),
    ],
)
def test_a_code_shows_an_address_that_phones_reach(host: str, listens: str, shown: str | None) -> None:
    assert for_others("http", host, listens) == shown


def test_where_phones_cannot_come_the_screen_says_so(tmp_path: Path) -> None:
    with house(tmp_path, listens="127.0.0.1") as home:
        panel = home.tablet().get("/table/invite").get_data(as_text=True)
        assert "--host 0.0.0.0" in panel
        assert "<svg" not in panel


def test_a_code_lets_one_device_in_once(home: House, tablet: Device) -> None:
    code = code_of(home)
    first, second = home.device(), home.device()
    assert first.post("/join", {"secret": f"{code[:3]} {code[3:]}"}).get_json()["go"] == "/table"
    refused = second.post("/join", {"secret": code})
    assert (refused.status_code, refused.get_json()["code"]) == (403, "wrong_code")


def test_a_token_of_a_qr_code_lets_in_too_and_is_gone_after_five_minutes(home: House, tablet: Device) -> None:
    invitation = desk_of(home.app).invitations.invite("seat", 1)
    home.clock.ms += TOKEN_LIVES_S * 1000
    assert home.device().post("/join", {"secret": invitation.token}).status_code == 403
    fresh = desk_of(home.app).invitations.invite("seat", 1)
    assert home.device().post("/join", {"secret": fresh.token}).status_code == 200


def test_five_tries_a_minute_and_then_a_pause(home: House, tablet: Device) -> None:
    guesser = home.device()
    answers = [guesser.post("/join", {"secret": "000000"}).status_code for _ in range(TRIES + 1)]
    assert answers == [403] * TRIES + [429]
    home.clock.ms += 60_000
    assert guesser.post("/join", {"secret": code_of(home)}).status_code == 200


def test_the_screen_shows_a_code_and_a_qr_code_for_every_seat(tablet: Device) -> None:
    panel = tablet.get("/table/invite").get_data(as_text=True)
    assert panel.count("<svg") == 4
    assert len(re.findall(r'class="code">\d{3} \d{3}<', panel)) == 4


def test_a_refresh_keeps_the_seat_also_after_a_restart(tmp_path: Path) -> None:
    with house(tmp_path) as home:
        home.tablet()
        credential = home.phone(1).client.get_cookie(COOKIE)
        assert credential is not None
    with house(tmp_path) as again:
        phone = again.device()
        phone.client.set_cookie(COOKIE, credential.value)
        assert "mine" in phone.table()


def test_a_credential_is_kept_hashed_and_its_cookie_is_strict(home: House, tablet: Device, tmp_path: Path) -> None:
    device = home.device()
    answer = device.post("/join", {"secret": code_of(home)})
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    credential = cookie.partition("=")[2].partition(";")[0]
    assert len(credential) == 32
    kept = (tmp_path / CLIENTS).read_text()
    assert credential not in kept
    assert hashed(credential) in kept


def test_a_phone_of_an_earlier_game_only_looks_on(home: House, tablet: Device) -> None:
    phone = home.phone(0)
    home.begin()
    assert phone.post("/table/count", {"n": 8}).get_json()["code"] == "only_looks_on"


def test_a_damaged_list_of_devices_lets_everyone_join_anew(tmp_path: Path) -> None:
    (tmp_path / CLIENTS).write_text("{half")
    with house(tmp_path) as home:
        assert home.tablet().get("/table").status_code == 200


def test_the_pin_makes_a_host_who_sends_devices_away(tmp_path: Path) -> None:
    with house(tmp_path, settings=Settings(pin="2468")) as home:
        tablet, phone = home.tablet(), home.phone(0)
        key = desk_of(home.app).door.clients.all()[1].key
        assert tablet.post("/devices/remove", {"key": key}).get_json()["code"] == "only_the_host"
        assert tablet.post("/pin", {"pin": "1357"}).get_json()["code"] == "wrong_pin"
        assert tablet.post("/pin", {"pin": "2468"}).status_code == 200
        assert tablet.post("/devices/remove", {"key": key}).status_code == 302
        assert phone.post("/table/count", {"n": 8}).get_json()["code"] == "only_looks_on"


def test_without_a_pin_nobody_is_asked_for_one(home: House, tablet: Device) -> None:
    assert 'type="password"' not in tablet.get("/join").get_data(as_text=True)
    assert home.device().post("/pin", {"pin": ""}).status_code == 403


def test_in_a_demo_every_device_has_the_table(tmp_path: Path) -> None:
    with house(tmp_path, is_open=True) as home:
        home.tablet()
        assert home.device().post("/table/take").headers["Location"] == "/table"
