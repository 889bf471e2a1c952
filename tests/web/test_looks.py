"""What is this, how many, how does the market stand: one tap and one answer, or the reason why there is none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from companion import glancing
from devices.camera import Frame
from tests.web.house import Device, House, house
from vision.errors import PictureRefused
from vision.readings import Box, GemReading, Outline, PieceReading, normalised

RED_BGR = (40, 40, 190)
SQUARE = ((300, 220), (340, 220), (340, 260), (300, 260))


@pytest.fixture
def paper() -> np.ndarray[Any, Any]:
    """White paper under the camera."""
    lamp = np.linspace(236, 224, 640)[None, :, None]
    sheet = np.repeat(np.repeat(lamp, 480, axis=0), 3, axis=2)
    return np.clip(sheet + np.random.default_rng(1).normal(0, 1.5, sheet.shape), 0, 255).astype(np.uint8)


@pytest.fixture
def looking(tmp_path: Path, paper: np.ndarray[Any, Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[House]:
    """A house whose camera shows that paper."""
    with house(tmp_path) as home:
        monkeypatch.setattr(home.service, "fresh", lambda: Frame(paper, 0, 7))
        monkeypatch.setattr(type(home.service), "has_camera", True)
        yield home


def asked(device: Device, path: str) -> str:
    """Tap, and return the page that comes."""
    answer = device.post(path)
    assert answer.status_code == 200, answer.get_json()
    return device.get(answer.get_json()["go"]).get_data(as_text=True)


def test_a_piece_is_named_by_its_colour_in_words_and_by_its_shape_mark(
    looking: House, paper: np.ndarray[Any, Any]
) -> None:
    cv2.circle(paper, (320, 240), 34, RED_BGR, -1, cv2.LINE_AA)
    for language, word in (("en", "Red"), ("de", "Rot")):
        page = asked(looking.device(language), "/what")
        assert re.search(rf'class="word"><svg class="mark c-red.*</svg> {word}</p>', page)
        assert 'class="outline"' in page
    picture = re.search(r'href="(/seen/what/[^"]+)"', page)
    assert picture is not None
    assert looking.device().get(picture[1]).data[:2] == b"\xff\xd8"


def test_where_nothing_lies_that_is_the_answer(looking: House) -> None:
    assert "Nothing lies in the middle" in asked(looking.device(), "/what")


def test_like_pieces_are_counted_by_colour(looking: House, monkeypatch: pytest.MonkeyPatch) -> None:
    outlines = (Outline("red", SQUARE, 0.9), Outline("red 2", SQUARE, 0.9))
    reading = PieceReading(2, {"red": 1, "red 2": 1}, 0.5, outlines, 0)
    monkeypatch.setattr(glancing.pieces, "read", lambda picture: reading)
    page = asked(looking.device(), "/count/pieces")
    assert '<p class="hero" id="hero">2</p>' in page
    assert "1 red 2" in page
    assert "not sure" in page
    assert page.count('class="outline"') == 2


def test_gems_and_the_market_are_offered_where_the_camera_knows_them(
    looking: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = looking.device()
    assert "/count/gems" not in device.get("/what").get_data(as_text=True)
    assert device.post("/count/gems").get_json()["code"] == "gems_not_calibrated"
    likelihood = {"gold": normalised([0, 0, 0, 1]), "red": normalised([1, 0, 0, 0])}
    monkeypatch.setattr(glancing.gems, "read", lambda *_: GemReading(likelihood, 0.99, (), Box(0, 0, 300, 300), 0))
    monkeypatch.setattr(looking.service.gem_wizard, "calibration", object())
    page = asked(device, "/count/gems")
    assert '<p class="hero" id="hero">3</p>' in page
    assert "3 gold" in page
    assert "0 red" not in page


def test_a_market_is_read_as_a_table(looking: House, monkeypatch: pytest.MonkeyPatch) -> None:
    row = {"sell": 8, "sell_crossed": True, "buy": 5, "buy_crossed": False, "sold": True}
    answer = glancing.Glance("market", 0, {"market": {"wood": row, "loam": row}}, sure=True)
    monkeypatch.setattr(looking.service, "glance", lambda kind: looking.service._glances.update({kind: answer}))
    page = asked(looking.device("de"), "/count/market")
    assert "Holz" in page
    assert "loam" in page  # what only the box knows keeps its name
    assert page.count('<span class="only-read">Kreuz oben</span>') == 2


def test_a_refused_picture_says_why(looking: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def dark(_: object) -> None:
        raise PictureRefused("too_dark", {"brightest": 3, "least": 24})

    monkeypatch.setattr(glancing.pieces, "read", dark)
    assert "too dark" in asked(looking.device(), "/count/pieces")


def test_while_a_game_is_played_only_the_table_looks(looking: House) -> None:
    tablet, phone = looking.tablet(), looking.phone(0)
    assert 'href="/what"' in tablet.get("/table/more").get_data(as_text=True)
    assert tablet.post("/what").status_code == 200
    assert phone.post("/what").get_json()["code"] == "only_on_the_table"
    assert "only the tablet in the middle" in phone.get("/what").get_data(as_text=True)
    assert phone.get("/seen/what/7").status_code == 404


def test_an_old_answer_is_not_shown_and_a_forgotten_one_neither(looking: House) -> None:
    device = looking.device()
    asked(device, "/what")
    looking.clock.ms += glancing.FRESH_MS
    assert "Lay one piece" in device.get("/what").get_data(as_text=True)
    asked(device, "/what")
    looking.service.forget()
    assert "Lay one piece" in device.get("/what").get_data(as_text=True)


def test_a_camera_that_looks_away_is_not_asked(looking: House) -> None:
    looking.service.look_away(True)
    assert looking.device().post("/what").get_json()["code"] == "looking_away"


def test_without_a_camera_the_page_says_so(home: House) -> None:
    assert "No camera is set." in home.device().get("/what").get_data(as_text=True)
    assert home.device().post("/what").get_json()["code"] == "no_camera"
    assert home.device().get("/count/tea").status_code == 404
