"""The simulated gem table: the same again, true to its word, one table in many pictures."""

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from companion.simulated.gem_cut import corners
from companion.simulated.gems import COLOURS, Bump, Gem, GemTable, Shot, draw_gem_table, palette_row, render, strew
from companion.simulated.lens import Lens

SIZE_PX = (400, 300)
CLEAN = Lens(blur_px=0.0, noise=0.0, jpeg=100, vignette=0.0)
COUNTS = {"gold": 2, "red": 1, "orange": 2, "yellow": 0, "green": 1, "blue": 3}


@lru_cache(maxsize=1)
def table() -> GemTable:
    drawn = draw_gem_table(12, SIZE_PX)
    return replace(drawn, lens=replace(CLEAN, exposure=drawn.lens.exposure, cast=drawn.lens.cast))


def shot(gems: list[Gem], seed: int = 5, bump: Bump | None = None) -> Shot:
    return render(table(), gems, np.random.default_rng(seed), bump=bump)


def laid(kind: str, seed: int = 1) -> list[Gem]:
    return strew(table(), COUNTS, np.random.default_rng(seed), kind)


def test_equal_seeds_give_equal_tables_piles_and_pictures():
    assert draw_gem_table(4) == draw_gem_table(4)
    assert draw_gem_table(4) != draw_gem_table(5)
    assert laid("pile") == laid("pile")
    first, second = (shot(laid("pile"), seed=9, bump=Bump(4.0, 1.0)) for _ in range(2))
    assert np.array_equal(first.picture, second.picture)
    assert np.array_equal(first.truth.owners, second.truth.owners)


def test_a_picture_has_the_size_that_the_table_was_drawn_for():
    assert shot([]).picture.shape == (300, 400, 3)
    assert shot([]).picture.dtype == np.uint8


def test_the_palette_is_a_straight_row_of_one_gem_each_in_their_order():
    truth = shot(palette_row(table(), np.random.default_rng(2))).truth
    assert truth.colours == COLOURS
    centred = truth.centres_px - truth.centres_px.mean(axis=0)
    along, beside = np.linalg.svd(centred, full_matrices=False)[2] @ centred.T
    assert np.abs(beside).max() < 3
    steps = np.diff(along) * np.sign(along[-1] - along[0])
    assert steps.min() > 0.6 * steps.max()
    assert truth.visible_px.min() > 0.6 * truth.visible_px.max()


@pytest.mark.parametrize("kind", ["pile", "row", "spread"])
def test_as_many_gems_lie_there_as_were_asked_for(kind: str):
    truth = shot(laid(kind)).truth
    assert {name: truth.colours.count(name) for name in COLOURS} == COUNTS
    assert (truth.visible_px > 0).sum() >= sum(COUNTS.values()) - 1


@pytest.mark.parametrize("kind", ["pile", "row", "spread"])
def test_the_truth_is_where_the_picture_changed(kind: str):
    empty, full = shot([]), shot(laid(kind))
    changed = np.abs(full.picture.astype(int) - empty.picture).max(axis=2)
    assert np.median(changed[full.truth.owners >= 0]) > 15
    assert np.median(changed[full.truth.owners < 0]) < 3
    for i, (x, y) in enumerate(full.truth.centres_px):
        rows, columns = np.nonzero(full.truth.owners == i)
        assert len(rows) == full.truth.visible_px[i]
        if len(rows):
            assert np.hypot(rows.mean() - y, columns.mean() - x) < 8


@pytest.mark.parametrize("kind", ["pile", "row", "spread"])
def test_gems_lie_on_the_table_and_not_in_it(kind: str):
    gems = laid(kind, seed=3)
    low = [float((corners(table().cut) @ np.array(g.turn).T + g.middle_mm)[:, 2].min()) for g in gems]
    assert min(low) > -1.5
    middles = np.array([g.middle_mm for g in gems])
    gaps = np.linalg.norm(middles[:, None] - middles[None], axis=2)
    assert gaps[~np.eye(len(gems), dtype=bool)].min() > 0.8 * table().cut.radius_mm


def test_one_table_looks_the_same_around_different_piles():
    pictures = [shot(laid("pile", seed)) for seed in (1, 2)]
    free = np.logical_and(*(s.truth.owners < 0 for s in pictures))
    away = np.abs(pictures[0].picture.astype(int) - pictures[1].picture).max(axis=2)
    assert np.mean(away[free] < 6) > 0.85


def test_a_bump_moves_picture_and_truth_together():
    gems = laid("spread")
    still, bumped = shot(gems), shot(gems, bump=Bump(6.0, 1.0))
    points = np.concatenate([still.truth.centres_px, np.ones((len(gems), 1))], axis=1) @ bumped.bumped.T
    assert np.abs(points[:, :2] / points[:, 2:] - bumped.truth.centres_px).max() < 0.01
    assert np.abs(still.truth.centres_px - bumped.truth.centres_px).max() > 0.5
