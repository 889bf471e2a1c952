"""The simulated gnome table: the same again, true to its word, one table in many shakes."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from companion.simulated.lens import Lens
from companion.simulated.pawns import Bump, Gnome, Shot, Table, apart, draw_table, render, shake

SIZE_PX = (400, 300)
CLEAN = Lens(blur_px=0.0, noise=0.0, jpeg=100, vignette=0.0)
COLOURS = ("white", "grey", "natural", "white", "grey", "natural", "white", "grey")


@lru_cache(maxsize=1)
def table() -> Table:
    return replace(draw_table(11, SIZE_PX, box=True), lens=CLEAN)


def shot(gnomes: list[Gnome], seed: int = 5, clutter: int = 0, bump: Bump | None = None) -> Shot:
    return render(table(), gnomes, np.random.default_rng(seed), clutter=clutter, bump=bump)


def shaken(seed: int) -> list[Gnome]:
    return shake(table(), COLOURS, np.random.default_rng(seed), spill=0.0)


def test_equal_seeds_give_equal_tables_shakes_and_pictures():
    assert draw_table(4, SIZE_PX) == draw_table(4, SIZE_PX)
    assert draw_table(4, SIZE_PX) != draw_table(5, SIZE_PX)
    assert shaken(1) == shaken(1)
    first, second = (shot(shaken(1), seed=9, clutter=3, bump=Bump(4.0, 1.0)) for _ in range(2))
    assert np.array_equal(first.picture, second.picture)
    assert np.array_equal(first.truth.owners, second.truth.owners)


def test_a_picture_has_the_size_that_the_table_was_drawn_for():
    assert shot([]).picture.shape == (300, 400, 3)
    assert shot([]).picture.dtype == np.uint8


def test_the_calibration_shows_fifteen_gnomes_apart_five_of_each_colour():
    truth = shot(apart(table(), np.random.default_rng(2))).truth
    assert sorted(truth.colours) == sorted(["white", "natural", "grey"] * 5)
    assert truth.visible_px.min() > 0.4 * np.median(truth.visible_px)
    gaps = np.linalg.norm(truth.centres_px[:, None] - truth.centres_px[None], axis=2)
    assert gaps[~np.eye(15, dtype=bool)].min() > 12


def test_the_truth_is_where_the_picture_changed():
    gnomes = shaken(3)
    empty, full = shot([]), shot(gnomes)
    changed = np.abs(full.picture.astype(int) - empty.picture).max(axis=2)
    assert np.median(changed[full.truth.owners >= 0]) > 20
    assert np.median(changed[full.truth.owners < 0]) < 3
    for i, (x, y) in enumerate(full.truth.centres_px):
        rows, columns = np.nonzero(full.truth.owners == i)
        assert len(rows) == full.truth.visible_px[i]
        assert np.hypot(rows.mean() - y, columns.mean() - x) < 8


def test_gnomes_fall_on_the_felt_not_through_it_and_not_into_each_other():
    gnomes = shaken(7)
    middles = np.array([np.array(g.foot_mm) + 11 * np.array(g.axis) for g in gnomes])
    assert middles[:, 2].min() > 2.0
    gaps = np.linalg.norm(middles[:, None] - middles[None], axis=2)
    assert gaps[~np.eye(len(gnomes), dtype=bool)].min() > 4.0


def test_one_table_looks_the_same_around_different_shakes():
    pictures = [shot(shaken(k)) for k in (1, 2)]
    free = np.logical_and(*(s.truth.owners < 0 for s in pictures))
    away = np.abs(pictures[0].picture.astype(int) - pictures[1].picture).max(axis=2)
    assert np.mean(away[free] < 6) > 0.85


def test_a_bump_moves_picture_and_truth_together():
    gnomes = shaken(1)
    still, bumped = shot(gnomes), shot(gnomes, bump=Bump(6.0, 1.0))
    points = np.concatenate([still.truth.centres_px, np.ones((len(gnomes), 1))], axis=1) @ bumped.bumped.T
    assert np.abs(points[:, :2] / points[:, 2:] - bumped.truth.centres_px).max() < 0.01
    assert np.abs(still.truth.centres_px - bumped.truth.centres_px).max() > 0.5


@pytest.mark.parametrize("level", [1, 2, 3, 4])
def test_clutter_changes_no_count(level):
    truth = shot(shaken(2), clutter=level).truth
    assert len(truth.colours) == len(truth.centres_px) == len(COLOURS)
    assert truth.owners.max() < len(COLOURS)
