"""What a person sees who asks how many lie there; the pictures were drawn by tests/bench/draw_pieces.py."""

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from vision import pictures, pieces
from vision.errors import PictureRefused
from vision.readings import PieceReading

HERE = Path(__file__).parents[1] / "data" / "pieces"
CONFIDENT = 0.7
DRAUGHTS = "draught.jpg"
LABELS = json.loads((HERE / "labels.json").read_text())


def picture(file: str) -> np.ndarray:
    return pictures.load(HERE / file)


def holds(reading: PieceReading, point: tuple[int, int]) -> int:
    edges = [np.array(outline.polygon_px) for outline in reading.outlines]
    return sum(cv2.pointPolygonTest(edge, point, False) >= 0 for edge in edges)


@pytest.fixture(scope="module")
def draughts(readings) -> PieceReading:
    """Of a picture that is counted rightly."""
    assert readings[DRAUGHTS].count == len(LABELS[DRAUGHTS]["middles"])
    return readings[DRAUGHTS]


@pytest.fixture(scope="module")
def readings() -> dict[str, PieceReading]:
    return {file: pieces.read(picture(file)) for file in LABELS}


def test_most_are_counted_exactly_and_a_wrong_count_is_never_a_confident_one(readings) -> None:
    wrong = {file for file, reading in readings.items() if reading.count != len(LABELS[file]["middles"])}
    assert len(wrong) <= len(LABELS) // 3
    assert all(readings[file].confidence < CONFIDENT for file in wrong)


def test_each_outline_of_a_right_count_lies_on_one_piece(readings) -> None:
    for file, label in LABELS.items():
        if readings[file].count == len(label["middles"]):
            assert [holds(readings[file], tuple(middle)) for middle in label["middles"]] == [1] * readings[file].count


def test_groups_and_outlines_add_up(readings) -> None:
    for reading in readings.values():
        assert sum(reading.by_colour.values()) == reading.count == len(reading.outlines)
        assert {outline.colour for outline in reading.outlines} == set(reading.by_colour)


def test_nothing_is_found_where_nothing_lies(readings) -> None:
    assert readings["empty.jpg"].count == 0
    assert readings["empty.jpg"].by_colour == {}


def test_only_what_lies_in_the_polygon_counts(draughts) -> None:
    middles = sorted(x for x, _ in LABELS[DRAUGHTS]["middles"])
    half = len(middles) // 2
    cut, height = (middles[half - 1] + middles[half]) / 2, picture(DRAUGHTS).shape[0]
    assert pieces.read(picture(DRAUGHTS), [(0, 0), (cut, 0), (cut, height), (0, height)]).count == half


def test_a_piece_half_out_of_the_picture_is_counted_and_reported(draughts) -> None:
    right = max(x for x, _ in LABELS[DRAUGHTS]["middles"])
    reading = pieces.read(np.ascontiguousarray(picture(DRAUGHTS)[:, : right + 6]))
    assert (reading.count, reading.at_edge - draughts.at_edge) == (draughts.count, 1)


def test_a_large_photograph_counts_as_a_small_one(draughts) -> None:
    large = cv2.resize(picture(DRAUGHTS), None, fx=6, fy=6, interpolation=cv2.INTER_CUBIC)
    assert pieces.read(large).count == draughts.count


def test_a_reading_repeats_to_the_last_digit(draughts) -> None:
    assert pieces.read(picture(DRAUGHTS)) == draughts


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda p: (p * 0.05).astype(np.uint8), "too_dark"),
        (lambda p: np.full_like(p, 255), "blown_out"),
        (lambda p: p[:, :, 0], "not_colour"),
        (lambda p: p[:100, :100], "too_small"),
    ],
)
def test_a_picture_that_cannot_be_read_is_refused_not_counted(change, code: str) -> None:
    with pytest.raises(PictureRefused) as refused:
        pieces.read(change(picture(next(iter(LABELS)))))
    assert refused.value.code == code
