"""Layouts and references: what is taken, and what is refused by which name."""

import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision import market, pictures
from vision.errors import CalibrationRefused
from vision.market_calibration import Layout, MarketCalibration, calibrate
from vision.pictures import Picture

FOLDER = Path(__file__).parents[1] / "data" / "market" / "session01"
STICKERS = {"0": [10.0, 50.0], "1": [410.0, 40.0], "2": "bottom right", "3": "bottom left"}
STICKER_MM = 18.0


def plain() -> dict[str, Any]:
    return json.loads((FOLDER / "layout.json").read_text())


def changed(way: str, value: object) -> dict[str, Any]:
    """A layout with one thing put in another's place; None takes it away."""
    whole = plain()
    here: Any = whole
    *path, last = way.split("/")
    for key in path:
        here = here[int(key)] if isinstance(here, list) else here[key]
    if value is None:
        del here[last]
    else:
        here[int(last) if isinstance(here, list) else last] = value
    return whole


def reference() -> Picture:
    return pictures.load(FOLDER / "reference.jpg")


def refusal(shown: Picture, layout: Layout) -> CalibrationRefused:
    with pytest.raises(CalibrationRefused) as refused:
        calibrate(shown, layout)
    return refused.value


@pytest.mark.parametrize(
    ("way", "value", "code", "key"),
    [
        ("width", None, "layout_missing", "width"),
        ("width", -3, "layout_wrong", "width"),
        ("width", True, "layout_wrong", "width"),
        ("height", float("nan"), "layout_wrong", "height"),
        ("marker_diameter", None, "layout_missing", "marker_diameter"),
        ("marker_diameter", "14", "layout_wrong", "marker_diameter"),
        ("resources", {}, "layout_wrong", "resources"),
        ("resources", [], "layout_wrong", "resources"),
        ("resources/iron/sell", None, "layout_missing", "resources.iron.sell"),
        ("resources/iron/sell", [], "layout_wrong", "resources.iron.sell"),
        ("resources/iron/buy/2/price", 1.5, "layout_wrong", "resources.iron.buy[2].price"),
        ("resources/iron/buy/2/x", None, "layout_missing", "resources.iron.buy[2].x"),
        ("resources/iron/buy/2/x", 500, "layout_outside", "resources.iron.buy[2]"),
        ("resources/gold/sold/y", -1, "layout_outside", "resources.gold.sold"),
        ("resources/gold/sold", None, "layout_missing", "resources.gold.sold"),
        ("corners_px_in_reference", None, "layout_missing", "corners_px_in_reference"),
        ("corners_px_in_reference", [[0, 0], [9, 0], [9, 9]], "layout_corners", "corners_px_in_reference"),
        ("corners_px_in_reference", [[0, 0], [9, 9], [9, 0], [0, 9]], "layout_corners", "corners_px_in_reference"),
        ("corners_px_in_reference", [[0, 0], [9, 0], [2, 2], [0, 9]], "layout_corners", "corners_px_in_reference"),
        ("corners_px_in_reference", [[0, 0], [0, 9], [9, 9], [9, 0]], "layout_corners", "corners_px_in_reference"),
        ("corners_px_in_reference/1", [1, "x"], "layout_wrong", "corners_px_in_reference[1][1]"),
        ("aruco", {"dictionary": "DICT_NONE", "markers": STICKERS}, "layout_wrong", "aruco.dictionary"),
        ("aruco", {"dictionary": "DICT_4X4_50", "markers": {"0": [1, 1]}}, "layout_wrong", "aruco.markers"),
        ("aruco", {"dictionary": "DICT_4X4_50", "markers": STICKERS | {"4": "in the middle"}}, "layout_wrong",
         "aruco.markers.4"),
    ],
)  # fmt: skip
def test_a_wrong_layout_is_refused_and_the_fault_named(way: str, value: object, code: str, key: str) -> None:
    with pytest.raises(CalibrationRefused) as refused:
        Layout.load(changed(way, value))
    assert (refused.value.code, refused.value.values["key"]) == (code, key)


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=3),
                    lambda deeper: st.lists(deeper, max_size=3) | st.dictionaries(st.sampled_from(
                        ["width", "height", "resources", "sell", "marker_diameter"]), deeper, max_size=3)))  # fmt: skip
def test_whatever_a_file_holds_the_answer_is_a_refusal(found: object) -> None:
    with pytest.raises(CalibrationRefused):
        Layout.load(found if isinstance(found, dict) else {"resources": found})


def test_a_layout_that_is_no_file_or_no_json_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "half.json").write_text('{"width": 4')
    for name, code in (("none.json", "no_file"), ("half.json", "layout_broken")):
        with pytest.raises(CalibrationRefused) as refused:
            Layout.load(tmp_path / name)
        assert (refused.value.code, refused.value.values["file"]) == (code, name)


@pytest.mark.parametrize("whole", [plain(), plain() | {"aruco": {"dictionary": "DICT_4X4_50", "markers": STICKERS}}])
def test_a_layout_written_and_read_is_the_same(whole: dict[str, Any]) -> None:
    layout = Layout.load(whole)
    assert Layout.load(json.loads(layout.dumps())) == layout


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda p: (p * 0.04).astype(np.uint8), "too_dark"),
        (lambda p: np.full_like(p, 254), "blown_out"),
        (lambda p: cv2.blur(p, (31, 1)), "shaken"),
        (lambda p: cv2.GaussianBlur(p, (0, 0), 6), "shaken"),
        (lambda p: p[:700], "board_outside"),
    ],
)
def test_a_reference_that_would_mislead_is_refused(change, code: str) -> None:
    assert refusal(change(reference()), Layout.load(plain())).code == code


def test_a_reference_with_markers_on_it_is_refused() -> None:
    error = refusal(pictures.load(FOLDER / "market00.jpg"), Layout.load(plain()))
    assert error.code == "not_empty"
    assert "coal.buy" in error.values["ladders"]


def test_a_board_too_small_says_how_small_and_how_large_it_must_be() -> None:
    small = cv2.resize(reference(), None, fx=0.3, fy=0.3, interpolation=cv2.INTER_AREA)
    corners = (np.array(plain()["corners_px_in_reference"]) * 0.3).tolist()
    error = refusal(small, Layout.load(changed("corners_px_in_reference", corners)))
    assert error.code == "board_small"
    assert 0 < error.values["marker_px"] < error.values["least_px"]


def with_stickers(shown: Picture) -> Picture:
    """Stick ArUco stickers on a picture of the board."""
    onto = calibrate(reference(), Layout.load(plain())).board
    kind = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    found = shown.copy()
    for number, (x, y) in enumerate([(10.0, 50.0), (410.0, 40.0), (408.0, 262.0), (10.0, 280.0)]):
        sticker = cv2.copyMakeBorder(cv2.aruco.generateImageMarker(kind, number, 96), 16, 16, 16, 16, 0, value=255)
        half = STICKER_MM / 2 * 128 / 96
        place = np.array([[x - half, y - half], [x + half, y - half], [x + half, y + half], [x - half, y + half]])
        seen = cv2.perspectiveTransform(place[None], onto)[0].astype(np.float32)
        warp = cv2.getPerspectiveTransform(np.float32([[0, 0], [128, 0], [128, 128], [0, 128]]), seen)
        size = (shown.shape[1], shown.shape[0])
        mask = cv2.warpPerspective(np.full_like(sticker, 255), warp, size) > 127
        found[mask] = cv2.warpPerspective(sticker, warp, size, flags=cv2.INTER_AREA)[mask][:, None]
    return found


def test_a_board_is_found_by_stickers_where_nobody_clicked_corners() -> None:
    whole = plain() | {"aruco": {"dictionary": "DICT_4X4_50", "markers": {
        "0": [10.0, 50.0], "1": [410.0, 40.0], "2": [408.0, 262.0], "3": [10.0, 280.0]}}}  # fmt: skip
    corners = whole.pop("corners_px_in_reference")
    layout = Layout.load(whole)
    board = calibrate(with_stickers(reference()), layout)
    seen = cv2.perspectiveTransform(layout.corners_mm[None], board.board)[0]
    assert np.abs(seen - corners).max() < 4
    frame = json.loads((FOLDER / "labels.json").read_text())["frames"][0]
    reading = market.read(with_stickers(pictures.load(FOLDER / frame["file"])), board)
    assert market.as_labels(reading, layout) == frame["market"]
    assert refusal(reference(), layout).code == "board_not_found"


@pytest.mark.parametrize("keep", [0, 10, 5000])
def test_a_broken_calibration_file_is_refused(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "market.npz"
    calibrate(reference(), Layout.load(plain())).save(path)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(CalibrationRefused) as refused:
        MarketCalibration.load(path)
    assert refused.value.code == "broken_file"
