import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from vision import gem_calibration, gems, pictures
from vision.errors import CalibrationRefused
from vision.gem_calibration import GemCalibration, calibrate
from vision.gem_colours import COLOURS

HERE = Path(__file__).parents[1] / "data" / "gems"
HOMES = [HERE / "session02", HERE / "session04"]
IDS = ["laminate", "pine"]


def both(home: Path) -> tuple[np.ndarray, np.ndarray]:
    return pictures.load(home / "empty.jpg"), pictures.load(home / "palette.jpg")


def row(home: Path) -> np.ndarray:
    return np.array([[x, y] for x, y, _ in json.loads((home / "labels.json").read_text())["palette_centres"]])


def refusal(empty: np.ndarray, palette: np.ndarray) -> CalibrationRefused:
    with pytest.raises(CalibrationRefused) as refused:
        calibrate(empty, palette)
    return refused.value


@pytest.mark.parametrize("home", HOMES, ids=IDS)
def test_the_row_is_found_where_it_lies_gold_first(home: Path) -> None:
    found = calibrate(*both(home))
    assert np.abs(found.row_px - row(home)).max() < 0.25 * found.across_px
    outlines = gem_calibration.outlines_of_row(found)
    assert tuple(outline.colour for outline in outlines) == COLOURS
    for outline, (x, y) in zip(outlines, row(home), strict=True):
        assert cv2.pointPolygonTest(np.array(outline.polygon_px), (x, y), False) > 0


@pytest.mark.parametrize("turn", [cv2.ROTATE_180, cv2.ROTATE_90_CLOCKWISE])
def test_the_row_may_run_in_any_direction(turn: int) -> None:
    empty, palette = (cv2.rotate(p, turn) for p in both(HOMES[1]))
    found, straight = calibrate(empty, palette), calibrate(*both(HOMES[1]))
    assert np.abs(found.looks - straight.looks).max() < 0.25
    frame = cv2.rotate(pictures.load(HOMES[1] / "gems01.jpg"), turn)
    labels = json.loads((HOMES[1] / "labels.json").read_text())["frames"]
    assert dict(gems.read(frame, found).by_colour) == labels[1]["by_colour"]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda p: (p * 0.04).astype(np.uint8), "too_dark"),
        (lambda p: np.clip(p.astype(int) * 9, 0, 255).astype(np.uint8), "blown_out"),
        (lambda p: p[::-1, ::-1].copy(), "moved"),
        (lambda p: cv2.resize(p, (640, 480)), "other_size"),
        (lambda p: cv2.cvtColor(p, cv2.COLOR_BGR2GRAY), "not_colour"),
    ],
)
def test_a_picture_that_would_mislead_is_refused(change, code: str) -> None:
    empty, palette = both(HOMES[1])
    assert refusal(empty, change(palette)).code == code


@pytest.mark.parametrize("home", HOMES, ids=IDS)
def test_pictures_in_the_wrong_order_are_refused(home: Path) -> None:
    empty, palette = both(home)
    assert refusal(palette, empty).code == "not_empty"


@pytest.mark.parametrize("home", HOMES, ids=IDS)
def test_a_missing_gem_is_said_and_the_others_are_shown(home: Path) -> None:
    empty, palette = both(home)
    x, y = (round(v) for v in row(home)[3])
    palette[y - 40 : y + 40, x - 40 : x + 40] = empty[y - 40 : y + 40, x - 40 : x + 40]
    error = refusal(empty, palette)
    assert error.code == "not_6"
    assert error.values["seen"] == 5
    assert len(error.values["outlines"]) == 5


def test_nothing_on_the_table_is_no_row() -> None:
    empty, _ = both(HOMES[0])
    error = refusal(empty, empty)
    assert error.code == "not_6"
    assert error.values["seen"] == 0


def test_gems_too_small_to_tell_apart_are_refused() -> None:
    empty, palette = (cv2.resize(p, (288, 216), interpolation=cv2.INTER_AREA) for p in both(HOMES[0]))
    error = refusal(empty, palette)
    assert error.code == "pieces_small"
    assert error.values["across_px"] < error.values["least_px"]


def painted(home: Path, ours: int, theirs: int) -> np.ndarray:
    """The palette with one gem replaced by a copy of another."""
    _, palette = both(home)
    (x, y), (u, v) = (np.rint(row(home)[i]).astype(int) for i in (ours, theirs))
    half = 22
    palette[y - half : y + half, x - half : x + half] = palette[v - half : v + half, u - half : u + half].copy()
    return palette


def test_two_gems_of_one_colour_are_refused_by_name() -> None:
    empty, _ = both(HOMES[0])
    error = refusal(empty, painted(HOMES[0], 0, 3))
    assert error.code == "colours_alike"
    assert (error.values["first"], error.values["second"]) == ("gold", "yellow")
    assert error.values["apart"] < error.values["least"]


def test_a_row_in_no_order_is_refused() -> None:
    empty, _ = both(HOMES[0])
    assert refusal(empty, painted(HOMES[0], 1, 4)).code == "row_unclear"


def test_a_stored_calibration_reads_the_same(tmp_path: Path) -> None:
    found = calibrate(*both(HOMES[0]))
    found.save(tmp_path / "gems.npz")
    again = GemCalibration.load(tmp_path / "gems.npz")
    frame = pictures.load(HOMES[0] / "gems02.jpg")
    assert gems.read(frame, again) == gems.read(frame, found)


def test_a_broken_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "gems.npz"
    path.write_bytes(b"no calibration")
    with pytest.raises(CalibrationRefused) as refused:
        GemCalibration.load(path)
    assert refused.value.code == "broken_file"
