"""Finding like things in any picture: first how large they are, then a look at the size that the net reads best.

A candidate is a place where the net sees a middle; each cell that shows a piece votes for the candidate it leads to.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import palette, pieces_sight
from vision.pictures import Picture
from vision.pieces_sight import Sight

COARSE_PX, FINE_PX, MOST_PX, LEAST_PX = 192, 448, 704, 96
AIMS_PX = (30.0, 20.0)
"""Pieces are looked at in each of these sizes: what is seen in both is surer."""
TRUSTED_PX = 13.0  # a smaller thing is looked at again, larger
SMALL_SHARE = 0.6  # of the size aimed at: if the pieces turn out smaller than that, the first look was too coarse
LIKELY = 0.3
PART = 0.5
LIT_LEAST = 12  # pixels from which a lit part can be told
CLOSE_PX, CLOSE_REACH, CLOSE_LEAST_PX = 48.0, 1.5, 40
MARGIN = 2.0  # sizes of a piece that are looked at around all of them


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """Something that may be a piece, in pixels of the picture that was searched.

    `height` is the net's certainty of a middle, `strength` its votes in areas of the piece it claims to be, `rival` the
    height of the highest higher one that touches it (0: none), so that of each patch one has no rival; `colour` is its
    median BGR, `lit` that of its lit part, `outline` (n x 2) its edge, `size_px` the root of its area.
    """

    middle: tuple[float, float]
    size_px: float
    height: float
    strength: float
    rival: float
    colour: NDArray[np.float64]
    lit: NDArray[np.float64]
    outline: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The candidates of a picture; `ground` is the median BGR of what is no piece.

    `stray` is the share of what looks like a piece and leads to none.
    """

    candidates: tuple[Candidate, ...]
    ground: NDArray[np.float64]
    stray: float


@dataclass(frozen=True, slots=True, eq=False)
class _Look:
    """A part of the picture at a scale of its own: `left`, `top` in picture px, `scale` from there to the look's px."""

    picture: Picture
    sight: Sight
    scale: float
    left: float
    top: float


def find(picture: Picture, corner: tuple[int, int] = (0, 0)) -> tuple[Found, ...]:
    """Find the pieces in a BGR picture, a part of a larger one from `corner` (x, y in px) on, at each of AIMS_PX."""
    return tuple(_found(look, corner) for look in _looks(picture))


def _found(look: _Look, corner: tuple[int, int]) -> Found:
    labels, votes = _votes(look.sight)
    sight = look.sight
    rivals = _rivals(labels, sight.heights)
    candidates = [
        _candidate(look, labels == number, number, votes[number], rivals[number], corner)
        for number in range(len(sight.middles))
        if votes[number] > 0
    ]
    ground = look.picture[::2, ::2][sight.part < PART]
    stray = float(votes[-1]) / max(float(votes.sum()), 1.0)
    return Found(tuple(candidates), np.median(ground, axis=0) if len(ground) else np.full(3, 128.0), stray)


@dataclass(frozen=True, slots=True, eq=False)
class Closer:
    """One piece seen large: BGR picture, and 1 where it shows the piece."""

    picture: Picture
    mask: NDArray[np.uint8]


def closer(picture: Picture, candidate: Candidate, size_px: float = CLOSE_PX) -> Closer | None:
    """Look again at one candidate of a picture, `size_px` large; None where the net then sees nothing."""
    reach = CLOSE_REACH * candidate.size_px
    size = np.array([picture.shape[1], picture.shape[0]])
    left, top = np.clip(np.array(candidate.middle) - reach, 0, size - 2).astype(int)
    right, bottom = np.clip(np.array(candidate.middle) + reach, (left + 2, top + 2), size).astype(int)
    look = _look(picture, size_px / candidate.size_px, (left, top, right, bottom))
    labels, votes = _votes(look.sight)
    if not votes[:-1].any():
        return None
    away = np.linalg.norm(look.sight.middles / look.scale + (left, top) - candidate.middle, axis=1)
    away = np.where(votes[:-1] > 0, away, np.inf)
    mask = np.asarray(labels == int(away.argmin()), np.uint8)
    grown = cv2.resize(mask.astype(np.float32), look.picture.shape[1::-1], interpolation=cv2.INTER_LINEAR)
    whole = _largest(np.asarray(grown > 0.5, np.uint8))
    return Closer(look.picture, whole) if whole.sum() > CLOSE_LEAST_PX else None


def _largest(mask: NDArray[np.uint8]) -> NDArray[np.uint8]:
    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask)
    if len(stats) < 2:
        return mask
    return np.asarray(labels == 1 + int(stats[1:, cv2.CC_STAT_AREA].argmax()), np.uint8)


def _looks(picture: Picture) -> tuple[_Look, ...]:
    """Learn the size of the pieces from the whole picture, then look at them in each of AIMS_PX."""
    for side_px, trusted_px in ((COARSE_PX, TRUSTED_PX), (FINE_PX, 0.0)):
        first = _look(picture, side_px / max(picture.shape[:2]))
        size = _usual(first.sight)
        if size > trusted_px:
            last = _sized(picture, first, size, AIMS_PX[0])
            if _usual(last.sight) > SMALL_SHARE * AIMS_PX[0] or trusted_px == 0.0:
                return last, *(_sized(picture, first, size, aim_px) for aim_px in AIMS_PX[1:])
    return (first,)


def _sized(picture: Picture, first: _Look, size: float, aim_px: float) -> _Look:
    """Look at what the first look found, so large that the pieces are `aim_px`."""
    box = _box(first, size)
    reach = max(box[2] - box[0], box[3] - box[1])
    return _look(picture, float(np.clip(first.scale * aim_px / size, LEAST_PX / reach, MOST_PX / reach)), box)


def _usual(sight: Sight) -> float:
    return usual(sight.sizes[sight.heights >= LIKELY])


def usual(sizes: NDArray[np.float64]) -> float:
    """Return the size that half of the area has: pips, letters and crumbs may be many, but are small. 0 for none."""
    if not len(sizes):
        return 0.0
    ordered = np.sort(sizes)
    share = np.cumsum(ordered**2)
    return float(ordered[int(np.searchsorted(share, share[-1] / 2))])


def _rivals(labels: NDArray[np.int32], heights: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each candidate the height of the highest higher one in the same patch of parts."""
    _, patches = cv2.connectedComponents(np.asarray(labels >= 0, np.uint8))
    shown = labels >= 0
    pairs = np.unique(np.stack([patches[shown], labels[shown]], axis=1), axis=0)
    rivals = np.zeros(len(heights))
    for patch, number in pairs:
        others = heights[pairs[pairs[:, 0] == patch, 1]]
        higher = others[others > heights[number]]
        rivals[number] = max(rivals[number], float(higher.max(initial=0.0)))
    return rivals


def _look(picture: Picture, scale: float, box: tuple[int, int, int, int] | None = None) -> _Look:
    left, top, right, bottom = box or (0, 0, picture.shape[1], picture.shape[0])
    part = picture[top:bottom, left:right]
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    small = np.asarray(cv2.resize(part, None, fx=scale, fy=scale, interpolation=how), np.uint8)
    return _Look(small, pieces_sight.see(small), scale, float(left), float(top))


def _box(look: _Look, size: float) -> tuple[int, int, int, int]:
    """Left, top, right and bottom, in picture px, of all that may be a piece, with a margin."""
    rows, columns = np.nonzero(look.sight.part > PART)
    at = np.concatenate([np.stack([columns, rows], axis=1) * 2.0, look.sight.middles[look.sight.heights >= LIKELY]])
    height, width = look.picture.shape[:2]
    low = np.clip(at.min(axis=0) - MARGIN * size, 0, (width - 1, height - 1)) / look.scale
    high = np.clip(at.max(axis=0) + MARGIN * size, 1, (width, height)) / look.scale
    return int(low[0] + look.left), int(low[1] + look.top), int(high[0] + look.left), int(high[1] + look.top)


def _votes(sight: Sight) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Which candidate each cell shows (-1: none), and how many cells each has; the last number counts strays.

    A candidate whose own cell leads to another is that other's.
    """
    count = len(sight.middles)
    labels = np.full(sight.part.shape, -1, np.int32)
    rows, columns = np.nonzero(sight.part > PART)
    if not count or not len(rows):
        return labels, np.zeros(count + 1, np.int64)
    lead = _leads(sight, rows, columns)
    own = _leads(sight, *(np.rint((sight.middles - 0.5) / 2).astype(int).T[::-1]))
    kept = _nearest(own, sight)[0] == np.arange(count)
    nearest, far = _nearest(lead, sight, kept)
    stray = far > 0.6 * sight.sizes[nearest]
    labels[rows, columns] = np.where(stray, -1, nearest)
    votes = np.bincount(nearest[~stray], minlength=count)
    return labels, np.append(votes, int(stray.sum()))


def _leads(sight: Sight, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> NDArray[np.float64]:
    x = columns * 2.0 + 0.5 + sight.to_x[rows, columns]
    y = rows * 2.0 + 0.5 + sight.to_y[rows, columns]
    return np.stack([x, y], axis=1)


def _nearest(
    points: NDArray[np.float64], sight: Sight, kept: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The nearest candidate of each point, weak ones counting as farther away, and its distance."""
    far = np.linalg.norm(points[:, None] - sight.middles[None], axis=2)
    weighed = far + 0.25 * sight.sizes * (1 - sight.heights)
    if kept is not None:
        weighed = np.where(kept, weighed, np.inf)
    nearest = weighed.argmin(axis=1)
    return nearest, far[np.arange(len(points)), nearest]


def _candidate(
    look: _Look, mask: NDArray[np.bool_], number: int, votes: int, rival: float, corner: tuple[int, int]
) -> Candidate:
    sight = look.sight
    rows, columns = np.nonzero(mask)
    pixels = look.picture[::2, ::2][rows, columns].astype(np.float64)
    offset = np.array([look.left + corner[0], look.top + corner[1]])
    x, y = sight.middles[number] / look.scale + offset
    return Candidate(
        middle=(float(x), float(y)),
        size_px=float(sight.sizes[number] / look.scale),
        height=float(sight.heights[number]),
        strength=float(votes * 4 / sight.sizes[number] ** 2),
        rival=float(rival),
        colour=np.median(pixels, axis=0),
        lit=palette.lit(pixels) if len(pixels) >= LIT_LEAST else np.median(pixels, axis=0),
        outline=_outline(mask) * 2.0 / look.scale + offset,
    )


def _outline(mask: NDArray[np.bool_]) -> NDArray[np.float64]:
    edges, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    return max(edges, key=cv2.contourArea).reshape(-1, 2).astype(np.float64)
