import json
from collections import Counter
from functools import cache
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vision import gem_odds, gems, pictures
from vision.errors import PictureRefused
from vision.gem_calibration import GemCalibration, calibrate
from vision.gem_colours import COLOURS, chances
from vision.readings import FLOOR, MOST_GEMS

HERE = Path(__file__).parents[1] / "data" / "gems"
LAMINATE, PINE = HERE / "session02", HERE / "session04"
"""Matt gold on grey laminate in daylight; and on pine in warm light, under a camera that was bumped."""

FEW = 1  # of twelve pictures: a gold gem on pine in the shade


@cache
def calibration(home: Path) -> GemCalibration:
    return calibrate(picture(home, "empty.jpg"), picture(home, "palette.jpg"))


def picture(home: Path, name: str) -> np.ndarray:
    return pictures.load(home / name)


def frames(home: Path) -> list[dict]:
    return [f for f in json.loads((home / "labels.json").read_text())["frames"] if not f["hidden"]]


def frame(home: Path, name: str) -> dict:
    return next(f for f in frames(home) if f["file"] == name)


def bumped(seen: np.ndarray, across: float, down: float, turn_deg: float) -> np.ndarray:
    move = cv2.getRotationMatrix2D((seen.shape[1] / 2, seen.shape[0] / 2), turn_deg, 1.0)
    move[:, 2] += across, down
    return cv2.warpAffine(seen, move, seen.shape[1::-1], borderMode=cv2.BORDER_REFLECT_101)


def test_piles_rows_and_spreads_are_counted_and_a_wrong_count_is_never_sure() -> None:
    wrong = []
    for home in (LAMINATE, PINE):
        for label in frames(home):
            reading = gems.read(picture(home, label["file"]), calibration(home))
            if dict(reading.by_colour) != label["by_colour"]:
                wrong.append(label["file"])
                assert not reading.sure, label["file"]
            assert sum(reading.by_colour.values()) == label["total"]
    assert len(wrong) <= FEW


def test_each_gem_is_shown_where_it_lies_in_its_colour() -> None:
    label = frame(LAMINATE, "gems04.jpg")
    reading = gems.read(picture(LAMINATE, "gems04.jpg"), calibration(LAMINATE))
    assert Counter(o.colour for o in reading.outlines) == Counter(c for _, _, c in label["centres"])
    for x, y, colour in label["centres"]:
        around = [o for o in reading.outlines if cv2.pointPolygonTest(np.array(o.polygon_px), (x, y), False) > 0]
        assert colour in {o.colour for o in around}


def test_an_empty_table_has_no_gems_and_knows_it() -> None:
    for home in (LAMINATE, PINE):
        reading = gems.read(picture(home, "empty.jpg"), calibration(home))
        assert set(reading.by_colour.values()) == {0}
        assert reading.sure
        assert reading.outlines == ()


def test_each_colours_likelihood_is_a_distribution() -> None:
    reading = gems.read(picture(PINE, "gems03.jpg"), calibration(PINE))
    assert tuple(reading.likelihood) == COLOURS
    for likelihood in reading.likelihood.values():
        assert len(likelihood) == MOST_GEMS + 1
        assert sum(likelihood) == pytest.approx(1)
        assert min(likelihood) >= FLOOR * 0.999


def test_a_bumped_camera_sees_the_same_gems() -> None:
    label = frame(PINE, "gems05.jpg")
    seen = bumped(picture(PINE, "gems05.jpg"), 5.0, -4.0, 0.8)
    assert dict(gems.read(seen, calibration(PINE)).by_colour) == label["by_colour"]


@pytest.mark.parametrize(
    "share", [(0.85, 0.85, 0.85), (1.1, 1.1, 1.1), (0.93, 1.0, 1.06)], ids=["dark", "bright", "warm"]
)
def test_lamps_and_white_balance_may_drift(share: tuple[float, float, float]) -> None:
    label = frame(LAMINATE, "gems03.jpg")
    seen = np.clip(picture(LAMINATE, "gems03.jpg") * np.array(share), 0, 255).astype(np.uint8)
    assert dict(gems.read(seen, calibration(LAMINATE)).by_colour) == label["by_colour"]


# ---- zones ----------------------------------------------------------------------------------------------------------


def halves(at_px: float, height: float = 720, width: float = 960) -> dict[str, list[tuple[float, float]]]:
    return {
        "left": [(-40, -40), (at_px, -40), (at_px, height + 40), (-40, height + 40)],
        "right": [(at_px, -40), (width + 40, -40), (width + 40, height + 40), (at_px, height + 40)],
    }


@pytest.mark.parametrize("at_px", [300.0, 430.0, 520.0])
def test_zones_share_a_picture_and_lose_no_gem(at_px: float) -> None:
    label = frame(LAMINATE, "gems03.jpg")
    seen = picture(LAMINATE, "gems03.jpg")
    zones = gems.read_zones(seen, calibration(LAMINATE), halves(at_px))
    for name, side in (("left", -1), ("right", 1)):
        wanted = Counter(c for x, _, c in label["centres"] if (x - at_px) * side > 0)
        assert {c: n for c, n in zones[name].by_colour.items() if n} == dict(wanted)


def test_a_gem_on_a_border_makes_both_zones_unsure() -> None:
    label = frame(LAMINATE, "gems05.jpg")
    x = label["centres"][0][0]
    seen = picture(LAMINATE, "gems05.jpg")
    across = gems.read_zones(seen, calibration(LAMINATE), halves(x + 1.0))
    beside = gems.read_zones(seen, calibration(LAMINATE), halves(x + 60.0))
    assert not across["left"].sure
    assert not across["right"].sure
    assert across["left"].confidence < beside["left"].confidence


def test_zones_go_with_a_bumped_camera() -> None:
    label = frame(PINE, "gems05.jpg")
    middles = np.array([c[:2] for c in label["centres"]], np.float32)
    (x, y), (wide, high), turn = cv2.minAreaRect(middles)
    zone = [(float(a), float(b)) for a, b in cv2.boxPoints(((x, y), (wide + 40, high + 40), turn))]
    seen = bumped(picture(PINE, "gems05.jpg"), 7.0, 3.0, 0.5)
    found = gems.read_zones(seen, calibration(PINE), {"prize": zone})["prize"]
    assert dict(found.by_colour) == label["by_colour"]
    assert found.box.x >= 0
    assert found.box.x + found.box.width <= seen.shape[1]


def test_a_gem_cut_by_the_pictures_edge_is_said() -> None:
    label = frame(LAMINATE, "gems05.jpg")
    x, _, colour = min(label["centres"], key=lambda c: c[0])
    home = calibration(LAMINATE)
    left = int(x) - 5
    cut = GemCalibration(
        home.empty[:, left:].copy(), home.across_px, home.slope, (home.middle_px[0] - left, home.middle_px[1]),
        home.looks, home.row_px, home.noise,
    )  # fmt: skip
    reading = gems.read(picture(LAMINATE, "gems05.jpg")[:, left:].copy(), cut)
    assert reading.at_edge == 1
    assert reading.by_colour[colour] == label["by_colour"][colour]


# ---- refusals -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda p: (p * 0.04).astype(np.uint8), "too_dark"),
        (lambda p: np.clip(p.astype(int) * 9, 0, 255).astype(np.uint8), "blown_out"),
        (lambda p: cv2.resize(p, (640, 480)), "other_size"),
        (lambda p: np.rot90(p).copy(), "other_size"),
        (lambda p: cv2.cvtColor(p, cv2.COLOR_BGR2GRAY), "not_colour"),
    ],
)
def test_a_picture_that_cannot_be_read_is_refused(change, code: str) -> None:
    with pytest.raises(PictureRefused) as refused:
        gems.read(change(picture(LAMINATE, "gems00.jpg")), calibration(LAMINATE))
    assert refused.value.code == code


# ---- odds -----------------------------------------------------------------------------------------------------------

SHARES = st.floats(0, 1)


@given(st.lists(SHARES, max_size=30))
def test_counts_of_uncertain_gems_are_a_distribution_around_their_sum(each: list[float]) -> None:
    likelihood = np.array(gem_odds.likelihood(np.array(each)))
    assert likelihood.sum() == pytest.approx(1)
    mean = float((likelihood * np.arange(len(likelihood))).sum())
    assert mean == pytest.approx(sum(each), abs=FLOOR * MOST_GEMS**2)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_each_gem_has_one_colour(seed: int) -> None:
    rng = np.random.default_rng(seed)
    palette, looks = (rng.uniform(0, 1, (n, 30)).astype(np.float32) for n in (6, 4))
    found = chances(looks, palette)
    assert found.shape == (4, 6)
    assert found.sum(axis=1) == pytest.approx(np.ones(4))
    assert found.min() >= 0


@given(st.lists(SHARES, min_size=1, max_size=12), SHARES)
def test_one_more_doubtful_gem_never_makes_a_reading_likelier(each: list[float], hidden: float) -> None:
    colours = np.eye(6)[np.zeros(len(each), int)]
    few, _ = gem_odds.all_right(np.array(each[:-1]), colours[:-1], hidden)
    more, _ = gem_odds.all_right(np.array(each), colours, hidden)
    assert more <= few + 1e-12
