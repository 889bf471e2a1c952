"""What a person with other eyes would be told of a piece on a sheet of paper."""

import json
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vision import names, pictures, what
from vision.errors import PictureRefused

HERE = Path(__file__).parents[1] / "data" / "pieces"
MATS = json.loads((HERE / "mats.json").read_text())
ONE = [file for file in MATS if file != "three.jpg"]
PLAIN = "blue-6500.jpg"


def picture(file: str) -> np.ndarray:
    return pictures.load(HERE / file)


@pytest.fixture(scope="module")
def said() -> dict[str, what.What]:
    return {file: what.name(picture(file)) for file in MATS}


def test_a_piece_has_the_same_colour_by_gaslight_and_by_day(said) -> None:
    assert {file: said[file].colour for file in ONE} == {file: MATS[file]["colour"] for file in ONE}


def test_a_shape_is_named_rightly_or_not_surely(said) -> None:
    wrong = [file for file in ONE if said[file].shape not in (MATS[file]["shape"], what.PIECE)]
    assert len(wrong) <= len(ONE) // 8
    assert all(said[file].shape_confidence < what.SURE for file in wrong)


def test_the_next_best_colour_is_another_and_less_likely(said) -> None:
    for answer in said.values():
        assert answer.other_colour != answer.colour
        assert answer.other_confidence <= answer.colour_confidence


def test_of_several_pieces_the_one_in_the_middle_is_named(said) -> None:
    assert said["three.jpg"].colour == MATS["three.jpg"]["colour"]
    assert said["three.jpg"].pieces >= 2


def test_only_what_lies_in_the_polygon_is_named() -> None:
    around_the_cube = [(180, 125), (315, 125), (315, 270), (180, 270)]
    answer = what.name(picture("three.jpg"), around_the_cube)
    assert (answer.colour, answer.pieces) == (MATS["three.jpg"]["colour"], 1)


def test_a_piece_half_out_of_the_picture_is_said_to_be_cut() -> None:
    whole = picture(PLAIN)
    answer = what.name(whole)
    x = int(np.mean([x for x, _ in answer.outline.polygon_px]))
    assert not answer.cut
    assert what.name(np.ascontiguousarray(whole[:, x:])).cut


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda p: (p * 0.05).astype(np.uint8), "too_dark"),
        (lambda p: np.full_like(p, 255), "blown_out"),
        (lambda p: np.full_like(p, 170), "nothing_there"),
        (lambda p: cv2.merge([p[..., 0] // 4, p[..., 1], p[..., 2] // 4]), "no_plain_mat"),
        (lambda p: p[:100, :100], "too_small"),
    ],
)
def test_a_picture_that_cannot_be_named_from_is_refused(change, code: str) -> None:
    with pytest.raises(PictureRefused) as refused:
        what.name(change(picture(PLAIN)))
    assert refused.value.code == code


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["red", "yellow", "green", "blue", "white", "black"]), st.floats(0.45, 1.0), st.floats(0.55, 1.0)
)
def test_a_lamp_changes_no_name(colour: str, blue: float, level: float) -> None:
    lamp = np.array([blue, (1 + blue) / 2, 1.0]) * level
    painted = np.array(names.NAMES[colour][:3]) * 3 * names.NAMES[colour][3] * 255
    assert names.chances(np.minimum(painted, 250) * lamp, np.full(3, 255.0) * lamp)[0][0] == colour
