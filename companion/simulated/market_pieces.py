"""What stands on a market board: flat round markers with a plain and a crossed side, and wooden cubes."""

import itertools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from companion.simulated.solids import Floats, Paint, Solid, block, f32, flat, joined, lathe, moved, yaw

_SECTORS = 32
_INSIDE = 0.86  # of the radius: where the rim begins
_LIGHT_INK: Paint = (0.72, 0.75, 0.76)
_DARK_INK: Paint = (0.025, 0.025, 0.03)
_WORN: Paint = (0.45, 0.46, 0.48)
_WOOD: Paint = (0.16, 0.2, 0.24)
_DYED = 0.55  # of a marker's side: paint runs down


@dataclass(frozen=True, slots=True)
class Marker:
    """A marker on a cell of a column's ladder; its middle on the board in mm, its paint, and how its cross is turned.

    Its plain side is up where there is no `ink`.
    """

    column: int
    ladder: str
    cell: int
    at_mm: tuple[float, float]
    turn_rad: float
    paint: Paint
    ink: Paint | None = None


@dataclass(frozen=True, slots=True)
class Cube:
    """A cube on the SOLD space of a column, or on a ladder's cell; its middle on the board in mm, how it is turned."""

    column: int
    at_mm: tuple[float, float]
    turn_rad: float
    paint: Paint
    ladder: str = "sold"
    cell: int = 0


@dataclass(frozen=True, slots=True)
class Make:
    """How markers and cubes are made and put down: lengths in mm, an arm of a cross as shares of a marker's width.

    A cross is dark on paints over `pale`, an edge worn to the share `rim`; markers stand `astray_mm` off (one standard
    deviation).
    """

    height_mm: float = 4.0
    cube_mm: float = 9.0
    gloss: float = 0.05
    rim: float = 0.5
    arm: float = 0.12
    reach: float = 0.34
    pale: float = 0.2
    astray_mm: float = 0.8


def draw_make(rng: np.random.Generator) -> Make:
    """Markers and cubes of any make."""
    return Make(
        height_mm=float(rng.uniform(2.0, 6.0)),
        cube_mm=float(rng.uniform(7.5, 10.0)),
        gloss=float(rng.uniform(0.0, 0.2)),
        rim=float(rng.uniform(0.0, 0.8)),
        arm=float(rng.uniform(0.08, 0.18)),
        reach=float(rng.uniform(0.26, 0.42)),
        pale=float(rng.uniform(0.1, 0.4)),
        astray_mm=float(rng.uniform(0.3, 1.2)),
    )


def ink_on(paint: Paint, pale: float) -> Paint:
    """The ink of a cross: dark on paints whose mean is over `pale`, else light."""
    return _DARK_INK if np.mean(paint) > pale else _LIGHT_INK


def body(marker: Marker, at_mm: Floats, width_mm: float, make: Make) -> Solid:
    """A marker standing at a world point (3,)."""
    height, gloss, paint = make.height_mm, make.gloss, marker.paint
    radius, inner = width_mm / 2, width_mm / 2 * _INSIDE
    edge = _mixed(paint, _WORN, make.rim)
    side = lathe(f32([(0.0, radius), (height - 0.4, radius)]), _SECTORS, _mixed(_WOOD, paint, _DYED), gloss)
    ring = lathe(f32([(height - 0.4, radius), (height, radius - 0.4), (height, inner)]), _SECTORS, edge, gloss)
    cross = (make.arm * width_mm / 2, make.reach * width_mm)
    cross_quads, rest = _face(inner, height, *cross)
    ink = paint if marker.ink is None else marker.ink
    top = [flat(cross_quads, ink, gloss), flat(rest, paint, gloss)]
    return moved(joined([side, ring, *top]), yaw(marker.turn_rad), at_mm)


def cube_body(cube: Cube, at_mm: Floats, make: Make) -> Solid:
    """A cube standing at a world point (3,)."""
    return moved(block((make.cube_mm,) * 3, cube.paint, make.gloss), yaw(cube.turn_rad), at_mm)


def _face(
    radius: float, height: float, half: float, reach: float
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """A round face in pieces that do not overlap: a cross with four arms, and what lies between and beyond them."""
    cross, rest = [_rectangle(-half, -half, half, half, height)], []
    for k in range(4):
        turn = yaw(k * math.pi / 2).T
        cross.append(_rectangle(half, -half, reach, half, height) @ turn)
        rest.append(_quarter(radius, half, reach, height) @ turn)
        rest.append(_cap(radius, half, reach, height) @ turn)
    return np.concatenate(cross), np.concatenate(rest)


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
