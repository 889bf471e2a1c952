"""Counting like things in any picture, without a calibration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision import pictures, pieces_find, pieces_groups, pieces_odds
from vision.pictures import Picture
from vision.pieces_area import Area, Polygon
from vision.pieces_find import Candidate, Found
from vision.pieces_odds import Parted
from vision.readings import Outline, PieceReading

EDGE_SHARE = 0.08  # of a piece's size: nearer to the border it is cut


def read(picture: Picture, within: Polygon | None = None) -> PieceReading:
    """Count like things in a BGR picture, or in a polygon of it; raise PictureRefused if it cannot be read.

    Outlines are in pixels of the whole picture; a piece counts for the polygon that holds its middle; `at_edge` counts
    those cut by the picture's border.
    """
    pictures.refuse_light(pictures.checked(picture))
    area = Area.around(picture, within)
    looks = [_judged(found, area) for found in pieces_find.find(area.picture, area.corner)]
    best = max(looks, key=lambda look: look.parted.gap)
    shown = best.candidates[: best.parted.count]
    groups = pieces_groups.grouped(np.array([c.lit for c in shown]).reshape(-1, 3), best.found.ground)
    others = [look.parted for look in looks if look is not best]
    return PieceReading(
        count=best.parted.count,
        by_colour=pieces_groups.counted(groups),
        confidence=pieces_odds.confidence(best.parted, others, best.found),
        outlines=tuple(
            Outline(group, polygon(candidate), chance)
            for group, candidate, chance in zip(groups, shown, best.chances, strict=False)
        ),
        at_edge=sum(cut(candidate, picture.shape) for candidate in shown),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """What one look found in the area, the likeliest first."""

    found: Found
    candidates: tuple[Candidate, ...]
    chances: tuple[float, ...]
    parted: Parted


def _judged(found: Found, area: Area) -> _Judged:
    pairs = [
        (chance, candidate)
        for chance, candidate in zip(pieces_odds.chances(found), found.candidates, strict=True)
        if area.holds(candidate.middle)
    ]
    pairs.sort(key=lambda pair: -pair[0])
    chances = tuple(chance for chance, _ in pairs)
    return _Judged(found, tuple(candidate for _, candidate in pairs), chances, pieces_odds.part(chances))


def cut(candidate: Candidate, shape: tuple[int, ...]) -> bool:
    """Say whether the border of a picture of this shape cuts a piece."""
    low, high = candidate.outline.min(axis=0), candidate.outline.max(axis=0)
    near = EDGE_SHARE * candidate.size_px + 1.0
    return bool((low < near).any() or (high > np.array([shape[1], shape[0]]) - 1 - near).any())


def polygon(candidate: Candidate) -> tuple[tuple[int, int], ...]:
    """Return the outline of a candidate in whole pixels."""
    edge: NDArray[np.int64] = np.rint(candidate.outline).astype(np.int64)
    return tuple((int(x), int(y)) for x, y in edge)
