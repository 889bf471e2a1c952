"""What every request and every answer is held to."""

from __future__ import annotations

import pytest

from tests.web.house import Device, House
from web.security import is_known_host, is_own_post

PAGES = ("/", "/play", "/table", "/count", "/join", "/devices", "/calibrate", "/help", "/api/health", "/nowhere")


@pytest.mark.parametrize("path", PAGES)
def test_every_answer_carries_the_headers(tablet: Device, path: str) -> None:
    headers = tablet.get(path).headers
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("localhost", True),
        ("localhost:8000", True),
        ("192.168.1.20:8000", True),  # an address cannot be a name turned on us
        ("[::1]:8000", True),
        ("table.local:8000", True),
        ("TABLE.local.", True),
        ("evil.example", False),
        ("localhost.evil.example", False),
        ("[half", False),
        ("", False),
    ],
)
def test_only_known_hosts_are_answered(host: str, known: bool) -> None:
    assert is_known_host(host, {"localhost", "table.local"}) is known


@pytest.mark.parametrize(
    ("origin", "own"),
    [
        (None, True),  # a program, not a browser
        ("http://table.local:8000", True),
        ("http://TABLE.local:8000", True),
        ("http://table.local", False),
        ("http://evil.example", False),
        ("null", False),
        ("http://[half", False),
    ],
)
def test_a_post_comes_from_our_own_pages(origin: str | None, own: bool) -> None:
    assert is_own_post(origin, "table.local:8000") is own


def test_a_foreign_host_and_a_foreign_page_are_refused(home: House, tablet: Device) -> None:
    foreign_host = tablet.client.get("/api/health", headers={"Host": "evil.example"})
    assert (foreign_host.status_code, foreign_host.get_json()["code"]) == (421, "foreign_host")
    foreign_page = tablet.post("/table/count", {"n": 8}, Origin="http://evil.example")
    assert (foreign_page.status_code, foreign_page.get_json()["code"]) == (403, "foreign_page")
    assert home.service.table.snapshot.proposal is None


def test_a_name_with_markup_stays_a_name(home: House) -> None:
    form = {"game": "schuettels", "name-0": "<b onx=1>", "colour-0": "red", "name-1": "{{ 7*7 }}", "colour-1": "blue"}
    device = home.device()
    assert device.post("/table/begin", {**form, "sheet": "house"}).status_code == 200
    page = device.table()
    assert "<b onx" not in page
    assert "{{ 7*7 }}" in page


def test_a_colour_with_markup_is_drawn_as_a_stranger(home: House) -> None:
    form = {"game": "schuettels", "name-0": "A", "colour-0": '"><script>', "name-1": "B", "colour-1": "blue"}
    device = home.device()
    device.post("/table/begin", form)
    assert '"><script>' not in device.table()


@pytest.mark.parametrize("path", ["/evidence/deadbeef", "/games/nothing/page.css", "/help/secrets", "/help/game/x"])
def test_what_is_not_there_is_said_so(tablet: Device, path: str) -> None:
    assert tablet.get(path).status_code == 404


def test_no_back_link_leads_elsewhere(tablet: Device) -> None:
    answer = tablet.post("/choose", {"back": "https://evil.example", "theme": "dark"})
    assert answer.headers["Location"] == "/"


def test_a_mistake_of_ours_is_said_in_plain_words(home: House, tablet: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home.service, "type_count", lambda n: 1 / 0)
    answer = tablet.post("/table/count", {"n": 8})
    assert (answer.status_code, answer.get_json()["code"]) == (500, "went_wrong")
    assert "Traceback" not in answer.get_data(as_text=True)
