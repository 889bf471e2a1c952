"""A cut stone of painted wood: a crown with a flat top, a girdle and a pointed pavilion; its facets and its balls."""

import math
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from companion.simulated.gem_style import Cut
from companion.simulated.solids import Floats, Paint, Solid, f32, flat

_GIRDLE_BALLS = 6
_SMALL_MM = 0.9
_CORE = 0.66

Quads = npt.NDArray[np.float64]


def faceted(cut: Cut, paint: Paint, gloss: float) -> Solid:
    """A gem around its girdle's middle, the flat top towards z."""
    quads = np.concatenate([_belt(cut, *pair) for pair in _belts(cut)])
    return flat(quads, paint, gloss)


def facets(cut: Cut) -> tuple[Floats, Floats]:
    """What a gem can lie on: outward unit normals (m, 3), and the kind of each: 0 top, 1 crown, 2 pavilion."""
    solid = faceted(cut, (1.0, 1.0, 1.0), 0.0)
    kinds = np.repeat([0, 1, 3, 2], cut.sides)
    useful = kinds != 3
    return solid.normals[useful], f32(kinds[useful])


def corners(cut: Cut) -> Floats:
    """All corners (m, 3) of a gem, in mm from its girdle's middle."""
    return np.concatenate([_ring(cut, *ring) for ring in _rings(cut)]).astype(np.float32)


def balls(cut: Cut) -> tuple[Floats, Floats]:
    """A gem as spheres, for falling: centres (k, 3) and radii (k,) in mm."""
    angle = np.arange(_GIRDLE_BALLS) * (2 * math.pi / _GIRDLE_BALLS)
    reach = cut.radius_mm - _SMALL_MM
    ring = np.stack([reach * np.cos(angle), reach * np.sin(angle), 0 * angle], axis=1)
    top = cut.girdle_mm / 2 + cut.crown_mm - _SMALL_MM
    angle = np.arange(4) * (math.pi / 2)
    wide = max(cut.radius_mm * cut.table - _SMALL_MM, 0.5)
    table = np.stack([wide * np.cos(angle), wide * np.sin(angle), np.full(4, top)], axis=1)
    tip = [[0.0, 0.0, _SMALL_MM * 1.3 - cut.girdle_mm / 2 - cut.pavilion_mm]]
    core = _CORE * min(cut.radius_mm, cut.pavilion_mm)
    radii = np.concatenate([np.full(_GIRDLE_BALLS + 5, _SMALL_MM), [core]])
    return f32(np.concatenate([ring, table, tip, [[0.0, 0.0, -0.1 * core]]])), f32(radii)


def _rings(cut: Cut) -> list[tuple[float, float]]:
    """Radius and height of each ring of corners, from the top down."""
    half = cut.girdle_mm / 2
    return [
        (0.0, half + cut.crown_mm),
        (cut.radius_mm * cut.table, half + cut.crown_mm),
        (cut.radius_mm, half),
        (cut.radius_mm, -half),
        (0.0, -half - cut.pavilion_mm),
    ]


def _belts(cut: Cut) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    return list(pairwise(_rings(cut)))


def _ring(cut: Cut, radius: float, height: float) -> Quads:
    angle = np.arange(cut.sides) * (2 * math.pi / cut.sides)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(cut.sides, height)], axis=1)


def _belt(cut: Cut, upper: tuple[float, float], lower: tuple[float, float]) -> Quads:
    """The facets between two rings, anticlockwise seen from outside; a ring without a radius is a point."""
    high, low = _ring(cut, *upper), _ring(cut, *lower)
    return np.stack([low, np.roll(low, -1, axis=0), np.roll(high, -1, axis=0), high], axis=1)
