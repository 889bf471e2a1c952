"""What stands on a market board: flat round markers with a plain and a crossed side, and wooden cubes."""

import itertools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from companion.simulated.solids import Floats, Paint, Solid, block, f32, flat, joined, lathe, moved, yaw

_SECTORS = 32
_INSIDE = 0.86  # of the radius: where the rim begins
_ARM_LENGTH = 0.7  # of the radius
_PALE = 0.16  # mean linear paint above which a cross is dark
_LIGHT_INK: Paint = (0.72, 0.75, 0.76)
_DARK_INK: Paint = (0.025, 0.025, 0.03)
_WORN: Paint = (0.45, 0.46, 0.48)
_WOOD: Paint = (0.16, 0.2, 0.24)
_DYED = 0.55  # of a marker's side: paint runs down


@dataclass(frozen=True, slots=True)
class Marker:
    """A marker on a cell of a column's ladder; its middle on the board in mm, and how its cross is turned."""

    column: int
    ladder: str
    cell: int
    at_mm: tuple[float, float]
    crossed: bool
    turn_rad: float


@dataclass(frozen=True, slots=True)
class Cube:
    """A cube on the SOLD space of a column; its middle on the board in mm, and how it is turned."""

    column: int
    at_mm: tuple[float, float]
    turn_rad: float


def body(
    marker: Marker, paint: Paint, at_mm: Floats, size_mm: tuple[float, float, float], rim: float, gloss: float
) -> Solid:
    """A marker standing at a world point (3,); `size_mm` is its width, height and the width of a cross's arm.

    Its edge is worn to the share `rim`.
    """
    width, height, arm = size_mm
    radius, inner = width / 2, width / 2 * _INSIDE
    edge = _mixed(paint, _WORN, rim)
    side = lathe(f32([(0.0, radius), (height - 0.4, radius)]), _SECTORS, _mixed(_WOOD, paint, _DYED), gloss)
    ring = lathe(f32([(height - 0.4, radius), (height, radius - 0.4), (height, inner)]), _SECTORS, edge, gloss)
    ink = (_DARK_INK if np.mean(paint) > _PALE else _LIGHT_INK) if marker.crossed else paint
    top = [flat(quads, colour, gloss) for quads, colour in _face(inner, height, arm / 2, paint, ink)]
    return moved(joined([side, ring, *top]), yaw(marker.turn_rad), at_mm)


def cube_body(cube: Cube, paint: Paint, at_mm: Floats, side_mm: float, gloss: float) -> Solid:
    """A cube standing at a world point (3,)."""
    return moved(block((side_mm, side_mm, side_mm), paint, gloss), yaw(cube.turn_rad), at_mm)


def _face(
    radius: float, height: float, half: float, paint: Paint, ink: Paint
) -> list[tuple[npt.NDArray[np.float64], Paint]]:
    """A round face in pieces that do not overlap: a cross with four arms, and the quarters between them."""
    reach = radius * _ARM_LENGTH
    cross = [_rectangle(-half, -half, half, half, height)]
    quarters = []
    for k in range(4):
        turn = yaw(k * math.pi / 2).T
        cross.append(_rectangle(half, -half, reach, half, height) @ turn)
        quarters.append(_quarter(radius, half, reach, height) @ turn)
        quarters.append(_cap(radius, half, reach, height) @ turn)
    return [(np.concatenate(cross), ink), (np.concatenate(quarters), paint)]


def _rectangle(left: float, low: float, right: float, high: float, height: float) -> npt.NDArray[np.float64]:
    return np.array([[(left, low, height), (right, low, height), (right, high, height), (left, high, height)]])


def _quarter(radius: float, half: float, reach: float, height: float) -> npt.NDArray[np.float64]:
    """The face between two arms, as triangles around the corner where they meet."""
    start = math.asin(half / radius)
    angles = np.linspace(start, math.pi / 2 - start, _SECTORS // 4 + 1)
    rim = [(radius * math.cos(a), radius * math.sin(a)) for a in angles]
    line = [(reach, half), *rim, (half, reach)]
    return _fan((half, half), line, height)


def _cap(radius: float, half: float, reach: float, height: float) -> npt.NDArray[np.float64]:
    """The face between an arm's end and the rim."""
    start = math.asin(half / radius)
    angles = np.linspace(-start, start, 4)
    line = [(reach, -half), *((radius * math.cos(a), radius * math.sin(a)) for a in angles), (reach, half)]
    return _fan((reach, 0.0), line, height)


def _fan(middle: tuple[float, float], line: list[tuple[float, float]], height: float) -> npt.NDArray[np.float64]:
    quads = []
    for (x, y), (to_x, to_y) in itertools.pairwise(line):
        half_way = ((x + to_x) / 2, (y + to_y) / 2)
        quads.append([(*middle, height), (x, y, height), (*half_way, height), (to_x, to_y, height)])
    return np.array(quads)


def _mixed(paint: Paint, other: Paint, share: float) -> Paint:
    b, g, r = (p * (1 - share) + o * share for p, o in zip(paint, other, strict=True))
    return b, g, r
