"""The camera's set-up on the page: two pictures, and a refusal says what to do."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from companion.simulated.demo import Demo
from tests.web.house import Clock, Device, House
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
    assert tablet.post("/calibrate/empty").get_json() == {"ok": True, "go": "/calibrate"}
    demo.scene.spread()
    wait_for_rest(demo)
    assert tablet.post("/calibrate/pieces").status_code == 200
    assert "The camera counts from now on" in tablet.get("/calibrate").get_data(as_text=True)


def test_fifteen_that_are_not_fifteen_are_refused_with_a_cure(demo: Demo, tablet: Device) -> None:
    assert tablet.post("/calibrate/empty").status_code == 200
    demo.scene.shake(4)
    wait_for_rest(demo)
    refused = tablet.post("/calibrate/pieces")
    assert refused.status_code == 422
    assert "15 gnomes" in refused.get_json()["error"]
    page = tablet.get(refused.get_json()["go"]).get_data(as_text=True)
    assert refused.get_json()["error"] in page
    assert page.count('class="outline"') == refused.get_json()["values"]["seen"]  # drawn over the picture of it
    seen = tablet.get("/calibrate/seen")
    assert (seen.mimetype, seen.data[:2]) == ("image/jpeg", b"\xff\xd8")
    onlooker = House(demo.service, tablet.client.application, Clock()).device()
    assert onlooker.get("/calibrate/seen").status_code == 403
    assert 'class="outline"' not in onlooker.get("/calibrate").get_data(as_text=True)


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
    assert device.post("/calibrate/empty").get_json()["code"] == "no_camera"
    assert device.get("/calibrate/picture").status_code == 204
    assert device.post("/calibrate/sideways").status_code == 404
    assert home.device().post("/calibrate/empty").status_code == 403
