"""Counting like things in any picture, without a calibration."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vision import pictures, pieces_find, pieces_groups, pieces_odds
from vision.pictures import Picture
from vision.pieces_area import Area, Polygon
from vision.pieces_find import Candidate
from vision.readings import Outline, PieceReading

EDGE_SHARE = 0.08  # of a piece's size: nearer to the border it is cut


def read(picture: Picture, within: Polygon | None = None) -> PieceReading:
    """Count like things in a BGR picture, or in a polygon of it; raise PictureRefused if it cannot be read.

    Outlines are in pixels of the whole picture; a piece counts for the polygon that holds its middle; `at_edge` counts
    those cut by the picture's border.
    """
    pictures.refuse_light(pictures.checked(picture))
    area = Area.around(picture, within)
    found = pieces_find.find(area.picture, area.corner)
    inside = [i for i, c in enumerate(found.candidates) if area.holds(c.middle)]
    chances = dict(zip(range(len(found.candidates)), pieces_odds.chances(found), strict=True))
    inside.sort(key=lambda i: -chances[i])
    count = pieces_odds.counted([chances[i] for i in inside])
    shown = [found.candidates[i] for i in inside[:count]]
    groups = pieces_groups.grouped(np.array([c.colour for c in shown]).reshape(-1, 3), found.ground)
    return PieceReading(
        count=count,
        by_colour=pieces_groups.counted(groups),
        confidence=pieces_odds.confidence([chances[i] for i in inside], found),
        outlines=tuple(
            Outline(g, polygon(c), chances[i]) for g, c, i in zip(groups, shown, inside[:count], strict=True)
        ),
        at_edge=sum(cut(c, picture.shape) for c in shown),
    )


def cut(candidate: Candidate, shape: tuple[int, ...]) -> bool:
    """Say whether the border of a picture of this shape cuts a piece."""
    low, high = candidate.outline.min(axis=0), candidate.outline.max(axis=0)
    near = EDGE_SHARE * candidate.size_px + 1.0
    return bool((low < near).any() or (high > np.array([shape[1], shape[0]]) - 1 - near).any())


def polygon(candidate: Candidate) -> tuple[tuple[int, int], ...]:
    """Return the outline of a candidate in whole pixels."""
    edge: NDArray[np.int64] = np.rint(candidate.outline).astype(np.int64)
    return tuple((int(x), int(y)) for x, y in edge)
