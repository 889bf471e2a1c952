"""From a view to spots: each place where the net sees the middle of a gem, with the pixels that belong to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import net
from vision.gem_view import View, to_frame_px
from vision.pictures import Picture
from vision.readings import Outline

LEAST_CHANCE = 0.06  # at a peak: the odds judge what is above
WINDOW_CELLS = 5
PART_LEAST = 0.0  # log odds for a cell to be a gem's
REACH_CELLS = 7.0  # from where a cell's vote falls to the middle of its gem
LEAST_CELLS = 6  # a middle without a body is none
USUAL_CELLS = np.pi * (19.0 / net.CELL_PX / 2) ** 2
"""What a gem of the usual width covers."""


@dataclass(frozen=True, slots=True, eq=False)
class Spot:
    """Something that may be a gem: its middle in view pixels, the net's chance for a middle there.

    `cells` (n x 2) are the columns and rows of its cells in the view, `share` their number in usual gems, `firm` the
    mean chance that they are a gem's; `pixels` (m x 3, BGR) are its own surely, and `light` (3,) is that of the ground.
    `nearest` is how far off the next spot is, in view pixels.
    """

    x: float
    y: float
    chance: float
    cells: NDArray[np.intp]
    share: float
    firm: float
    pixels: NDArray[np.uint8]
    light: NDArray[np.float32]
    nearest: float


def find(view: View) -> list[Spot]:
    """Return the spots of a view, the surest first."""
    rows, columns, chances = _peaks(view)
    if not len(rows):
        return []
    own_rows, own_columns = np.nonzero(view.part > PART_LEAST)
    owner = _owners(view, own_rows, own_columns, rows, columns)
    inner = _inner(owner, own_rows, own_columns, view.part.shape)
    middles = np.stack([columns, rows], axis=1).astype(np.float64)
    gaps = np.linalg.norm(middles[:, None] - middles[None], axis=2) + np.diag(np.full(len(rows), 1e3))
    return [
        _spot(
            view,
            middles[i],
            float(chances[i]),
            (own_rows[owner == i], own_columns[owner == i]),
            inner[owner == i],
            float(gaps[i].min()),
        )
        for i in range(len(rows))
        if np.count_nonzero(owner == i) >= LEAST_CELLS
    ]


def _peaks(view: View) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float32]]:
    heat = 1 / (1 + np.exp(-np.clip(view.centre, -12, 12)))
    within = view.seen[:: net.CELL_PX, :: net.CELL_PX] > 0  # a gem cut by the border has its mirror image beside it
    top = cv2.dilate(heat, np.ones((WINDOW_CELLS, WINDOW_CELLS), np.uint8))
    rows, columns = np.nonzero((heat >= top) & (heat > LEAST_CHANCE) & within)
    order = np.argsort(-heat[rows, columns], kind="stable")
    return rows[order], columns[order], np.asarray(heat[rows, columns][order], np.float32)


def _owners(
    view: View, rows: NDArray[np.intp], columns: NDArray[np.intp], tops: NDArray[np.intp], lefts: NDArray[np.intp]
) -> NDArray[np.intp]:
    """The spot whose middle each cell's vote falls nearest to; -1 where none is near."""
    to_x, to_y = columns + view.to_x[rows, columns], rows + view.to_y[rows, columns]
    away = np.hypot(to_x[:, None] - lefts[None], to_y[:, None] - tops[None])
    nearest = away.argmin(axis=1)
    return np.where(away[np.arange(len(rows)), nearest] < REACH_CELLS, nearest, -1)


def _inner(
    owner: NDArray[np.intp], rows: NDArray[np.intp], columns: NDArray[np.intp], shape: tuple[int, ...]
) -> NDArray[np.bool_]:
    """Which cells have only cells of their own gem beside them: at an edge colours run into each other."""
    whole = np.full((shape[0] + 2, shape[1] + 2), -1, np.intp)
    whole[rows + 1, columns + 1] = owner
    beside = [
        whole[rows + 1 + down, columns + 1 + right] == owner for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0))
    ]
    return np.asarray(np.logical_and.reduce(beside) & (owner >= 0))


def _spot(
    view: View,
    middle: NDArray[np.float64],
    chance: float,
    cells: tuple[NDArray[np.intp], NDArray[np.intp]],
    inner: NDArray[np.bool_],
    gap_cells: float,
) -> Spot:
    rows, columns = cells
    at = middle * net.CELL_PX + 0.5
    odds = view.part[rows, columns]
    sure = inner if np.count_nonzero(inner) >= LEAST_CELLS else np.ones_like(inner)
    x, y = int(at[0]), int(at[1])
    return Spot(
        x=float(at[0]),
        y=float(at[1]),
        chance=chance,
        cells=np.stack([columns, rows], axis=1),
        share=len(rows) / USUAL_CELLS,
        firm=float((1 / (1 + np.exp(-odds))).mean()),
        pixels=_pixels(view.frame, rows[sure], columns[sure]),
        light=view.stage.ground[y, x] * view.gain,
        nearest=gap_cells * net.CELL_PX,
    )


def _pixels(frame: Picture, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.uint8]:
    """The pixels under cells."""
    cell = net.CELL_PX
    return np.concatenate([frame[cell * rows + i, cell * columns + k] for i in range(cell) for k in range(cell)])


def outlines(
    view: View, spots: Sequence[Spot], names: Sequence[str] = (), sure: Sequence[float] = ()
) -> tuple[Outline, ...]:
    """Return the edges of spots in the frame's pixels, with their colours' names and how sure they are."""
    names, sure = names or [""] * len(spots), sure or [spot.chance for spot in spots]
    return tuple(
        Outline(name, _edge(view, spot), float(chance)) for spot, name, chance in zip(spots, names, sure, strict=True)
    )


def _edge(view: View, spot: Spot) -> tuple[tuple[int, int], ...]:
    """The convex edge of a spot's cells; gems have no hollows."""
    corners = np.concatenate([spot.cells + np.array([i, k]) for i in (0, 1) for k in (0, 1)]) * net.CELL_PX - 0.5
    hull = cv2.convexHull(corners.astype(np.float32)).reshape(-1, 2)
    edge = np.rint(to_frame_px(view, hull.astype(np.float64))).astype(int)
    return tuple((int(x), int(y)) for x, y in edge)
