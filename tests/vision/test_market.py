"""Reading boards: two that live here, and ones drawn for the purpose."""

import json
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.simulated import market as drawn
from vision import market, pictures
from vision.errors import PictureRefused
from vision.market_calibration import Layout, MarketCalibration, calibrate
from vision.pictures import Picture
from vision.readings import FLOOR, SURE, MarketReading

HERE = Path(__file__).parents[1] / "data" / "market"
STEEP, FLAT = HERE / "session03", HERE / "session01"


@lru_cache(maxsize=2)
def board(folder: Path) -> MarketCalibration:
    return calibrate(pictures.load(folder / "reference.jpg"), Layout.load(folder / "layout.json"))


def frames(folder: Path) -> list[dict[str, Any]]:
    return json.loads((folder / "labels.json").read_text())["frames"]


def picture(folder: Path, number: int = 0) -> Picture:
    return pictures.load(folder / frames(folder)[number]["file"])


def truth(folder: Path, number: int = 0) -> dict[str, Any]:
    return frames(folder)[number]["market"]


def said(reading: MarketReading, calibration: MarketCalibration) -> dict[str, Any]:
    return market.as_labels(reading, calibration.layout)


def moved(shown: Picture, across: float, down: float, turn_deg: float) -> Picture:
    height, width = shown.shape[:2]
    bump = cv2.getRotationMatrix2D((width / 2, height / 2), turn_deg, 1.0)
    bump[:, 2] += across, down
    return cv2.warpAffine(shown, bump, (width, height), borderMode=cv2.BORDER_REPLICATE)


@pytest.mark.parametrize(("folder", "number"), [(FLAT, 0), (FLAT, 1), (STEEP, 0), (STEEP, 1), (STEEP, 2)])
def test_boards_upside_down_and_at_a_slant_are_read_whole(folder: Path, number: int) -> None:
    reading = market.read(picture(folder, number), board(folder))
    assert said(reading, board(folder)) == truth(folder, number)
    assert reading.confidence > 0.9


@settings(max_examples=4, deadline=None)
@given(st.floats(-14, 14), st.floats(-14, 14), st.floats(-1, 1), st.floats(0.8, 1.1))
def test_a_bumped_camera_or_another_lamp_changes_nothing(across: float, down: float, turn: float, light: float) -> None:
    lit = np.clip(moved(picture(STEEP), across, down, turn) * light, 0, 255).astype(np.uint8)
    assert said(market.read(lit, board(STEEP)), board(STEEP)) == truth(STEEP)


def test_a_lamp_of_another_colour_changes_nothing() -> None:
    warm = np.clip(picture(FLAT) * np.array([0.8, 1.0, 1.1]), 0, 255).astype(np.uint8)
    assert said(market.read(warm, board(FLAT)), board(FLAT)) == truth(FLAT)


def test_a_glare_over_a_part_of_the_board_changes_nothing_or_is_owned_up_to() -> None:
    y, x = np.mgrid[:960, :1280]
    glare = 90 * np.exp(-((x - 500) ** 2 + (y - 400) ** 2) / 2 / 140**2)
    reading = market.read(np.clip(picture(FLAT) + glare[..., None], 0, 255).astype(np.uint8), board(FLAT))
    assert said(reading, board(FLAT)) == truth(FLAT) or not reading.sure


def test_a_board_that_was_turned_on_the_table_is_found_again() -> None:
    turned = moved(picture(FLAT), 40, 10, 24)
    assert said(market.read(turned, board(FLAT)), board(FLAT)) == truth(FLAT)


def test_each_answer_is_a_likelihood_and_lies_in_the_box() -> None:
    reading = market.read(picture(STEEP), board(STEEP))
    for one in reading.resources.values():
        for marker in (one.sell, one.buy):
            assert abs(sum(marker.likelihood) - 1) < 1e-9
            assert min(marker.likelihood) >= FLOOR * 0.999
            assert 0 <= marker.crossed <= 1
        assert 0 <= one.sold <= 1
    box = reading.box
    assert len(reading.outlines) >= 14
    for outline in reading.outlines:
        for x, y in outline.polygon_px:
            assert box.x <= x <= box.x + box.width
            assert box.y <= y <= box.y + box.height


def test_readings_repeat_to_the_last_digit() -> None:
    assert market.read(picture(FLAT), board(FLAT)) == market.read(picture(FLAT), board(FLAT))


def test_a_calibration_from_its_file_reads_the_same(tmp_path: Path) -> None:
    board(STEEP).save(tmp_path / "market.npz")
    again = MarketCalibration.load(tmp_path / "market.npz")
    assert again.layout == board(STEEP).layout
    assert market.read(picture(STEEP), again) == market.read(picture(STEEP), board(STEEP))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda p: (p * 0.03).astype(np.uint8), "too_dark"),
        (lambda p: np.full_like(p, 255), "blown_out"),
        (lambda p: cv2.resize(p, (640, 480)), "other_size"),
        (lambda p: p[:, :, 0], "not_colour"),
        (lambda p: np.random.default_rng(1).integers(0, 255, p.shape).astype(np.uint8), "board_lost"),
        (lambda p: cv2.GaussianBlur(p[::-1].copy(), (0, 0), 9), "board_lost"),
    ],
)
def test_a_picture_that_cannot_be_read_is_refused(change, code: str) -> None:
    with pytest.raises(PictureRefused) as refused:
        market.read(change(picture(FLAT)), board(FLAT))
    assert refused.value.code == code


@lru_cache(maxsize=1)
def table() -> tuple[drawn.Market, MarketCalibration]:
    """A drawn board in mild light."""
    one = drawn.draw_market(12)
    one = replace(one, lens=replace(one.lens, noise=1.5, blur_px=0.6))
    return one, calibrate(drawn.render(one, [], [], np.random.default_rng(1)), Layout.load(drawn.layout(one)))


def test_a_ladder_without_a_marker_or_with_two_is_never_sure() -> None:
    one, calibration = table()
    rng = np.random.default_rng(5)
    markers, cubes = drawn.set_up(one, rng)
    x, y = drawn.place_mm(one, 6, "buy", 0)
    beside = replace(markers[-1], cell=0, at_mm=(x, y))
    assert markers[-1].cell != 0
    whole = market.read(drawn.render(one, markers, cubes, rng), calibration)
    assert said(whole, calibration) == drawn.labels_of(one, markers, cubes)
    for odd in (markers[:-1], [*markers, beside]):
        assert market.read(drawn.render(one, odd, cubes, rng), calibration).confidence < SURE


def test_a_hand_over_some_ladders_is_never_wrong_and_sure() -> None:
    for folder in (FLAT, STEEP):
        shown = picture(folder).copy()
        cv2.line(shown, (420, 1000), (560, 500), (120, 150, 205), 150, cv2.LINE_AA)
        try:
            reading = market.read(shown, board(folder))
        except PictureRefused:
            continue
        assert not reading.sure or said(reading, board(folder)) == truth(folder)
