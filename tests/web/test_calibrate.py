"""The camera's set-up on the page: two pictures, and a refusal says what to do."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import cv2
import pytest

from companion.corrections import Correction
from companion.evidence import Note
from companion.simulated.demo import Demo
from companion.simulated.pawns import apart
from tests.web.house import Clock, Device, House
from vision import refit
from web.app import close, create_app

PATIENCE_S = 5.0


def wait_for_rest(demo: Demo) -> None:
    """Wait until the simulated hand is out of the picture."""
    end_s = time.monotonic() + PATIENCE_S
    while not demo.scene.at_rest:
        assert time.monotonic() < end_s
        time.sleep(0.01)


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    shown = Demo(tmp_path, game=None, autoplay=False, pace_ms=50)
    yield shown
    shown.close()


@pytest.fixture
def tablet(demo: Demo) -> Iterator[Device]:
    app = create_app(demo.service, is_open=True)
    device = House(demo.service, app, Clock()).device()
    device.post("/table/take")
    yield device
    close(app)


def test_two_pictures_set_the_camera_up(demo: Demo, tablet: Device) -> None:
    assert tablet.post("/calibrate/gnomes/empty").get_json() == {"ok": True, "go": "/calibrate"}
    demo.scene.spread()
    wait_for_rest(demo)
    assert tablet.post("/calibrate/gnomes/pieces").status_code == 200
    assert "The camera counts from now on" in tablet.get("/calibrate").get_data(as_text=True)


def test_fourteen_are_refused_with_a_cure_and_the_picture_of_what_was_seen(demo: Demo, tablet: Device) -> None:
    assert tablet.post("/calibrate/gnomes/empty").status_code == 200
    scene = demo.scene
    scene._show(scene._paint(apart(scene._table, scene._random)[:14]), 14)
    wait_for_rest(demo)
    refused = tablet.post("/calibrate/gnomes/pieces")
    assert refused.status_code == 422
    assert "15 gnomes" in refused.get_json()["error"]
    page = tablet.get(refused.get_json()["go"]).get_data(as_text=True)
    assert refused.get_json()["error"] in page
    assert "shows 14 pieces" in page
    assert page.count('class="outline"') == 14
    seen = tablet.get("/calibrate/gnomes/seen")
    assert (seen.mimetype, seen.data[:2]) == ("image/jpeg", b"\xff\xd8")
    onlooker = House(demo.service, tablet.client.application, Clock()).device()
    assert onlooker.get("/calibrate/gnomes/seen").status_code == 403
    assert 'class="outline"' not in onlooker.get("/calibrate").get_data(as_text=True)


def test_the_camera_learns_from_taps_when_asked_and_says_why_not(demo: Demo, tablet: Device) -> None:
    service = demo.service
    assert 'id="learn"' not in tablet.get("/calibrate").get_data(as_text=True)
    calibration = service.wizard.calibration
    assert calibration is not None
    crop = cv2.imencode(".jpg", calibration.empty)[1].tobytes()
    height, width = calibration.empty.shape[:2]
    seen = Note("gnomes", refit.identity(calibration), (0, 0, width, height), 1, 0.0)
    service.corrections.keep(crop, Correction(seen, 1))
    assert 'id="learn"' in tablet.get("/calibrate").get_data(as_text=True)
    assert tablet.post("/calibrate/gnomes/learn").get_json()["go"] == "/calibrate"
    service.school.close()
    assert "Counts with a picture to learn from: 1; needed: 12." in tablet.get("/calibrate").get_data(as_text=True)
    assert service.wizard.calibration is calibration
    onlooker = House(demo.service, tablet.client.application, Clock()).device()
    assert onlooker.post("/calibrate/gnomes/learn").status_code == 403


def test_gems_are_shown_to_the_camera_in_two_pictures_too(
    demo: Demo, tablet: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tablet.post("/calibrate/gems/empty").status_code == 200
    refused = tablet.post("/calibrate/gems/pieces")
    assert refused.get_json()["code"] == "not_6"
    assert "six gems" in tablet.get("/calibrate").get_data(as_text=True)
    assert not demo.service.knows("gems")


def test_only_the_table_sees_what_the_camera_sees(demo: Demo, tablet: Device) -> None:
    picture = tablet.get("/calibrate/picture")
    assert (picture.status_code, picture.mimetype, picture.data[:2]) == (200, "image/jpeg", b"\xff\xd8")
    onlooker = House(demo.service, tablet.client.application, Clock()).device()
    assert onlooker.get("/calibrate/picture").status_code == 403
    assert "/calibrate/picture" not in onlooker.get("/calibrate").get_data(as_text=True)
    assert 'src="/calibrate/picture"' in tablet.get("/calibrate").get_data(as_text=True)
    demo.service.look_away(True)
    assert (tablet.get("/calibrate/picture").status_code, tablet.get("/calibrate/picture").data) == (204, b"")


def test_without_a_camera_the_page_says_so(home: House) -> None:
    device = home.tablet()
    assert "No camera is set" in device.get("/calibrate").get_data(as_text=True)
    assert device.post("/calibrate/gnomes/empty").get_json()["code"] == "no_camera"
    assert device.get("/calibrate/picture").status_code == 204
    assert device.post("/calibrate/gnomes/sideways").status_code == 404
    assert home.device().post("/calibrate/gnomes/empty").status_code == 403
