"""The page that only counts: it says what is missing, and never leads nowhere."""

from __future__ import annotations

from companion.proposal import Answer, Proposal
from tests.web.house import Device, House


def page(device: Device) -> str:
    return device.get("/count").get_data(as_text=True)


def test_without_a_camera_it_says_where_to_set_one(home: House) -> None:
    shown = page(home.device())
    assert "No camera is set." in shown
    assert 'href="/calibrate"' in shown
    assert "Shake" not in shown


def test_a_simulated_cup_is_shaken_by_a_button_that_anybody_may_tap(home: House) -> None:
    shaken: list[int] = []
    home.service.shaker = lambda: shaken.append(1) or 1  # type: ignore[func-returns-value]
    device = home.device()
    assert 'hx-post="/table/shake"' in page(device)
    assert device.post("/table/shake").status_code == 200
    assert shaken


def test_a_game_on_the_table_is_taken_up_or_put_aside_from_here(home: House, tablet: Device) -> None:
    home.service.table.counted(Proposal("p", 0, "count", "count", (Answer(9, 1.0),)))
    assert "A game lies on the table." in page(tablet)
    assert 'action="/table/aside"' in page(tablet)
    assert 'action="/table/aside"' not in page(home.device())
    assert tablet.post("/table/aside").status_code == 302
    assert "A game lies" not in page(tablet)
    home.begin(depth="count")
    assert "A game lies" not in page(tablet)
