"""The simulated market: the same again, true to its word, a marker where its label says."""

from dataclasses import replace
from functools import lru_cache

import cv2
import numpy as np

from companion.simulated.lens import Lens
from companion.simulated.market import (
    Bump,
    Market,
    crowded,
    draw_market,
    labels_of,
    layout,
    place_mm,
    render,
    set_up,
)

SIZE_PX = (640, 480)
CLEAN = Lens(blur_px=0.0, noise=0.0, jpeg=100, vignette=0.0)


@lru_cache(maxsize=1)
def table() -> Market:
    one = draw_market(11, SIZE_PX)
    return replace(one, lens=replace(CLEAN, exposure=one.lens.exposure))


def onto() -> np.ndarray:
    """From board mm to pixels, by the layout's corners."""
    told = layout(table())
    width, height = told["width"], told["height"]
    corners = np.float32([[0, 0], [width, 0], [width, height], [0, height]])
    return cv2.getPerspectiveTransform(corners, np.float32(told["corners_px_in_reference"]))


def test_equal_seeds_give_equal_markets_and_pictures() -> None:
    assert draw_market(4, SIZE_PX) == draw_market(4, SIZE_PX)
    assert draw_market(4, SIZE_PX) != draw_market(5, SIZE_PX)
    pieces = set_up(table(), np.random.default_rng(1))
    assert pieces == set_up(table(), np.random.default_rng(1))
    first, second = (render(table(), *pieces, np.random.default_rng(2), bump=Bump(4, 1)) for _ in range(2))
    assert np.array_equal(first, second)
    assert first.shape == (480, 640, 3)


def test_every_cell_is_in_the_picture_of_any_market() -> None:
    for seed in range(12):
        one = draw_market(seed, SIZE_PX)
        told = layout(one)
        corners = np.float32([[0, 0], [told["width"], 0], [told["width"], told["height"]], [0, told["height"]]])
        warp = cv2.getPerspectiveTransform(corners, np.float32(told["corners_px_in_reference"]))
        cells = [c for r in told["resources"].values() for c in (*r["sell"], *r["buy"], r["sold"])]
        seen = cv2.perspectiveTransform(np.float64([[[c["x"], c["y"]] for c in cells]]), warp)[0]
        assert seen.min() > 0
        assert (seen < SIZE_PX).all()
        assert all(0 < c["x"] < told["width"] and 0 < c["y"] < told["height"] for c in cells)


def test_labels_name_a_price_of_each_ladder_and_change_nothing_else() -> None:
    markers, cubes = set_up(table(), np.random.default_rng(3))
    labels = labels_of(table(), markers, cubes)
    resources = layout(table())["resources"]
    assert labels.keys() == resources.keys()
    assert len(markers) == 14
    for name, one in labels.items():
        for ladder in ("sell", "buy"):
            assert one[ladder] in {cell["price"] for cell in resources[name][ladder]}
    assert sum(one["sold"] for one in labels.values()) == len(cubes)
    assert 1 <= sum(m.ink is not None for m in markers) <= 12


def test_the_picture_changes_where_pieces_stand_and_hardly_elsewhere() -> None:
    markers, cubes = set_up(table(), np.random.default_rng(3))
    empty, full = (render(table(), *p, np.random.default_rng(1)) for p in (([], []), (markers, cubes)))
    changed = cv2.absdiff(empty, full).max(axis=2)
    places = np.float64([[place_mm(table(), m.column, m.ladder, m.cell) for m in markers]])
    seen = cv2.perspectiveTransform(places, onto())[0].astype(int)
    around = [changed[max(y - 12, 0) : y + 13, max(x - 12, 0) : x + 13].max() for x, y in seen]
    assert min(around) > 15
    assert np.quantile(changed, 0.75) < 6


def test_a_crowd_has_many_more_markers_than_a_game() -> None:
    markers, _ = crowded(table(), np.random.default_rng(4))
    assert len(markers) > 17
    assert len({m.paint for m in markers}) > 8
