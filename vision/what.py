"""What is this? One piece on a plain mat, named by its colour and shape, for eyes that differ."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import names, palette, pictures, pieces, pieces_find, pieces_odds, what_shape
from vision.errors import PictureRefused
from vision.names import Colour
from vision.pictures import Picture
from vision.pieces_area import Area, Polygon
from vision.pieces_find import Candidate, Closer
from vision.readings import SURE, Outline

PIECE = "piece"
SHAPE_LEAST = 0.5  # a shape less likely than this is not named
SEEN_LEAST = 0.5
MOTTLED = 12.0  # levels that a plain mat may vary by from place to place, its own shading apart
MAT_AROUND = 0.6  # of a polygon's size beside it, to see enough of the mat
MAT_LEVELS, OWN_SHARE = 22.0, 0.3
MAT_PX, MAT_ROUNDS = 96, 3
BESIDE = 0.12  # sizes of a piece around its edge are no mat
MAT_LEAST = 0.15  # of the picture must be mat


@dataclass(frozen=True, slots=True)
class What:
    """One piece: the names of its colour and shape with the probability of each, and of the next best colour.

    Colours are keys of `names.NAMES`; shapes are those of `what_shape.SHAPES`, or `piece` where none is likely enough.
    `pieces` is how many lie there, this being the one nearest the middle; `cut` says that the border cuts it.
    """

    colour: str
    colour_confidence: float
    other_colour: str
    other_confidence: float
    shape: str
    shape_confidence: float
    outline: Outline
    pieces: int
    cut: bool

    @property
    def confidence(self) -> float:
        """The probability that colour and shape are both right."""
        return self.colour_confidence * self.shape_confidence

    @property
    def sure(self) -> bool:
        """Whether both names may be said without a doubt."""
        return self.confidence >= SURE


def name(picture: Picture, within: Polygon | None = None) -> What:
    """Name the piece nearest the middle of a BGR picture, or of a polygon of it (px).

    Raise PictureRefused: as `pictures.refuse_light` and `pictures.checked` do, `nothing_there`, `no_plain_mat`.
    """
    pictures.refuse_light(pictures.checked(picture))
    area = Area.around(picture, within, MAT_AROUND)
    found = pieces_find.find(area.picture, area.corner)[0]
    every = [c for c, p in zip(found.candidates, pieces_odds.chances(found), strict=True) if p >= SEEN_LEAST]
    seen = [c for c in every if area.holds(c.middle)]
    if not seen:
        raise PictureRefused("nothing_there")
    middle = area.middle
    nearest = min(seen, key=lambda c: float(np.hypot(c.middle[0] - middle[0], c.middle[1] - middle[1])))
    return _named(picture, nearest, _mat(area, every), len(seen))


def _named(picture: Picture, candidate: Candidate, mat: Colour, count: int) -> What:
    seen = pieces_find.closer(picture, candidate)
    if seen is None:
        raise PictureRefused("nothing_there")
    (colour, sure), (other, less), *_ = names.chances(*lit(seen, mat))
    (shape, fits), *_ = what_shape.chances(seen.mask, seen.picture)
    return What(
        colour=colour,
        colour_confidence=sure,
        other_colour=other,
        other_confidence=less,
        shape=shape if fits >= SHAPE_LEAST else PIECE,
        shape_confidence=fits,
        outline=Outline(colour, pieces.polygon(candidate), sure),
        pieces=count,
        cut=pieces.cut(candidate, picture.shape),
    )


def lit(seen: Closer, mat: Colour) -> tuple[Colour, Colour]:
    """Return a piece's colour (BGR) in the light, and what full white would look like beside it on this mat."""
    inner = cv2.erode(seen.mask, np.ones((5, 5), np.uint8))
    pixels = seen.picture[(inner if inner.any() else seen.mask) > 0].astype(np.float64)
    other = np.abs(pixels - mat).max(axis=1) > MAT_LEVELS
    if other.mean() > OWN_SHARE:  # through a ring's hole the mat is seen
        pixels = pixels[other]
    return palette.lit(pixels), names.white_under(mat, float(np.quantile(pixels.max(axis=1), 0.9)))


def _mat(area: Area, seen: list[Candidate]) -> Colour:
    """The colour of the mat beside the pieces; raise PictureRefused if it is none that can be white, grey or black."""
    scale = MAT_PX / max(area.picture.shape[:2])
    small = cv2.resize(area.picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    bare = np.ones(small.shape[:2], np.uint8)
    for candidate in seen:
        edge = np.rint((candidate.outline - area.corner) * scale).astype(np.int32)
        cv2.fillPoly(bare, [edge], 0)
        cv2.polylines(bare, [edge], True, 0, 2 * max(1, round(BESIDE * candidate.size_px * scale)))
    rows, columns = np.nonzero(bare)
    if len(rows) < MAT_LEAST * bare.size:
        raise PictureRefused("no_plain_mat")
    levels = small[rows, columns].astype(np.float64)
    colour = np.asarray(np.median(levels, axis=0), np.float64)
    if not names.neutral(colour) or _mottled(levels, rows, columns) > MOTTLED:
        raise PictureRefused("no_plain_mat", {"colour": tuple(round(float(v)) for v in colour)})
    return colour


def _mottled(levels: Colour, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> float:
    """How much the mat varies, in levels, from a slope through its calmer half: no shadow and no fall of light."""
    x, y = columns / MAT_PX, rows / MAT_PX
    slopes = np.column_stack([np.ones_like(x), x, y, x * y, x * x, y * y])
    keep = np.full(len(levels), True)
    away = np.zeros(len(levels))
    for _ in range(MAT_ROUNDS):
        fit, *_ = np.linalg.lstsq(slopes[keep], levels[keep], rcond=None)
        away = np.abs(levels - slopes @ fit).max(axis=1)
        keep = away <= np.median(away)
    return float(np.median(away))
