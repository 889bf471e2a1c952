"""A table with painted gems as a camera would see it: empty, with one of each colour in a row, and in play.

`draw_gem_table(seed)` gives a `GemTable`; `palette_row` and `strew` put gems on it; `render` takes the picture, with
its truth.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import cv2
import numpy as np
import numpy.typing as npt

from companion.simulated.gem_cut import balls, corners, faceted, facets
from companion.simulated.gem_style import COLOURS, GemTable, draw_gem_table
from companion.simulated.ground import MARGIN_PX, Ground, bare_ground, lamp_from
from companion.simulated.lens import Picture, develop
from companion.simulated.light import FINE, Lamp, View, cast, look_down, paint_faces
from companion.simulated.painting import Bump, cropped, knock, light_up
from companion.simulated.solids import Floats, Ints, Paint, Solid, aim, f32, joined, moved, yaw
from companion.simulated.tumble import fallen

__all__ = ["COLOURS", "Bump", "Gem", "GemTable", "Kind", "Shot", "Truth", "draw_gem_table", "palette_row", "render",
           "strew"]  # fmt: skip

Kind = Literal["pile", "row", "spread"]
Turn = tuple[tuple[float, float, float], ...]

_LAMP_REACH_MM = 330.0
_BEAMS = 4
_STEPS = 70
_LIES_ON = (0.4, 0.12, 0.48)  # how often on its top, a crown's and a pavilion's facet
_WITHIN = 0.9  # of the half picture: where gems are put down
_TRIES = 60


@dataclass(frozen=True, slots=True)
class Gem:
    """A gem at rest: its colour's name, its girdle's middle in mm on the table, and its rotation matrix."""

    colour: str
    middle_mm: tuple[float, float, float]
    turn: Turn


@dataclass(frozen=True, slots=True)
class Truth:
    """What a picture shows: pixel places (n, 2) of the gems' middles, colour names, visible pixels (n,).

    `owners` (rows, columns) int16 is the gem that each pixel shows, or -1.
    """

    centres_px: Floats
    colours: tuple[str, ...]
    visible_px: Ints
    owners: npt.NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture (rows, columns, 3) uint8 BGR, its truth, and the homography (3, 3) that a bump moved it by."""

    picture: Picture
    truth: Truth
    bumped: npt.NDArray[np.float64]


def palette_row(table: GemTable, rng: np.random.Generator) -> list[Gem]:
    """One gem of each colour in a row, in the order of COLOURS from one end to the other."""
    step = 2 * table.cut.radius_mm * float(rng.uniform(1.7, 2.4))
    way = yaw(table.turn_rad)[:, 0]
    start = f32([*rng.uniform(-12, 12, 2), 0.0]) - way * f32(2.5 * step)
    places = [start + way * f32(i * step) + f32([*rng.normal(0, 0.4, 2), 0.0]) for i in range(len(COLOURS))]
    return [_standing(table, name, place, rng) for name, place in zip(COLOURS, places, strict=True)]


def strew(
    table: GemTable, counts_by_colour: Mapping[str, int], rng: np.random.Generator, kind: Kind = "pile"
) -> list[Gem]:
    """Lay gems down: thrown together, in a row for each colour, or spread over the picture."""
    names = [name for name, count in counts_by_colour.items() for _ in range(count)]
    if not names:
        return []
    if kind == "row":
        return _rows(table, counts_by_colour, rng)
    names = [names[i] for i in rng.permutation(len(names))]
    return _spread(table, names, rng) if kind == "spread" else _pile(table, names, rng)


def render(
    table: GemTable,
    gems: Sequence[Gem],
    rng: np.random.Generator,
    *,
    flicker: float = 0.0,
    drift: float = 0.0,
    bump: Bump | None = None,
) -> Shot:
    """Take one picture of a table with these gems; the same arguments and generator state give the same picture.

    The lamp's brightness varies by the share `flicker`, the camera's three channels by the share `drift` each (one
    standard deviation).
    """
    ground = _ground_of(table)
    lamp = lamp_from(table.light, float(np.clip(rng.normal(0, 1), -2, 2)) * flicker)
    solid = joined([ground.solid, *_bodies(table, gems, lamp, ground.view)])
    faces = paint_faces(ground.view, solid, FINE)
    maps = cast(solid, lamp, rng, _BEAMS, _LAMP_REACH_MM)
    light = light_up(ground, lamp, solid, faces, maps, table.surface.paint, table.camera.px_per_mm)
    warp = knock(ground, bump, rng)
    lens = replace(table.lens, cast=_drifted(table.lens.cast, drift, rng))
    picture = develop(f32(cropped(light, warp, cv2.INTER_LINEAR)), lens, rng)
    owners = np.append(solid.owner, -1)[faces[::FINE, ::FINE]].astype(np.int16)  # a face numbered -1 is the last
    home = np.array([[1.0, 0, MARGIN_PX], [0, 1.0, MARGIN_PX], [0, 0, 1.0]])
    return Shot(
        picture, _truth(gems, ground, warp, np.asarray(cropped(owners, warp, cv2.INTER_NEAREST), np.int16)), warp @ home
    )


def _drifted(cast_bgr: Paint, drift: float, rng: np.random.Generator) -> Paint:
    b, g, r = (float(v * math.exp(drift * n)) for v, n in zip(cast_bgr, rng.normal(0, 1, 3), strict=True))
    return b, g, r


@lru_cache(maxsize=2)
def _ground_of(table: GemTable) -> Ground:
    camera = table.camera
    size = (camera.size_px[0] + 2 * MARGIN_PX, camera.size_px[1] + 2 * MARGIN_PX)
    view = look_down(camera.tilt_rad, camera.heading_rad, camera.roll_rad, camera.distance_mm, np.zeros(3), size,
                     camera.px_per_mm * camera.distance_mm)  # fmt: skip
    return bare_ground(table.surface, table.light, view, np.random.default_rng([table.seed, 82]))


def _bodies(table: GemTable, gems: Sequence[Gem], lamp: Lamp, view: View) -> list[Solid]:
    paints = dict(table.palette)
    bodies = []
    for i, gem in enumerate(gems):
        metal = table.sheen if gem.colour == "gold" else 0.0
        body = moved(faceted(table.cut, _aged(paints[gem.colour], i), table.gloss), f32(gem.turn), f32(gem.middle_mm))
        bright = body.paint * _polish(body, lamp, view, metal)[:, None]
        bodies.append(replace(body, paint=f32(bright), owner=np.full(len(body.owner), i, np.int32)))
    return bodies


def _aged(paint: Paint, number: int) -> Paint:
    """No two pieces of wood take paint quite alike."""
    factor = 1 + 0.05 * math.sin(number * 12.9898)
    return paint[0] * factor, paint[1] * factor, paint[2] * factor


def _polish(body: Solid, lamp: Lamp, view: View, metal: float) -> Floats:
    """How much brighter or darker a metal's facets are than matt ones: each mirrors another part of the room."""
    look = view.eye_mm - body.quads_mm[:, 0]
    half = look / np.linalg.norm(look, axis=1, keepdims=True) + lamp.towards
    half /= np.linalg.norm(half, axis=1, keepdims=True)
    lobe = np.maximum((body.normals * half).sum(axis=1), 0.0) ** 8
    return f32(1 - metal + metal * (0.55 + 1.1 * lobe))


def _standing(table: GemTable, colour: str, place: Floats, rng: np.random.Generator) -> Gem:
    """A gem put upright by hand."""
    up = f32([0.0, 0.0, -1.0 if table.point_up else 1.0])
    tilt = f32(up + f32([*rng.normal(0, 0.03, 2), 0.0]))
    return _laid(table, colour, place, f32(aim(tilt) @ yaw(rng.uniform(0, 6.3))))


def _lying(table: GemTable, colour: str, place: Floats, rng: np.random.Generator) -> Gem:
    """A gem that rests on one of its facets."""
    normals, kinds = facets(table.cut)
    kind = rng.choice(3, p=_LIES_ON)
    down = normals[rng.choice(np.flatnonzero(kinds == kind))]
    turn = yaw(rng.uniform(0, 6.3)) @ aim(f32([0.0, 0.0, -1.0])) @ aim(down).T
    return _laid(table, colour, place, f32(turn))


def _laid(table: GemTable, colour: str, place: Floats, turn: Floats) -> Gem:
    low = float((corners(table.cut) @ turn.T)[:, 2].min())
    return Gem(colour, (float(place[0]), float(place[1]), float(place[2]) - low), _triples(turn))


def _triples(turn: Floats) -> Turn:
    return tuple((float(row[0]), float(row[1]), float(row[2])) for row in turn)


def _rows(table: GemTable, counts: Mapping[str, int], rng: np.random.Generator) -> list[Gem]:
    """A row for each colour, as on the Trash Board; gems touch or nearly do."""
    across = 2 * table.cut.radius_mm
    step, apart = across * float(rng.uniform(1.0, 1.35)), across * float(rng.uniform(1.25, 2.4))
    turn = yaw(table.turn_rad + (math.pi / 2 if rng.random() < 0.5 else 0.0))
    corner = f32([-2.5 * step, -2.5 * apart, 0.0]) + f32([*rng.uniform(-25, 25, 2), 0.0])
    found = []
    for row, (name, count) in enumerate(counts.items()):
        at = corner + f32([rng.uniform(0, 0.6) * across, row * apart, 0.0])
        for _ in range(count):
            shaken = at + f32([0.0, rng.normal(0, 0.07) * across, 0.0])
            found.append(_standing(table, name, f32(turn @ shaken), rng))
            at = at + f32([step * rng.choice([1.0, 1.0, rng.uniform(1.0, 1.5)]), 0.0, 0.0])
    return found


def _spread(table: GemTable, names: Sequence[str], rng: np.random.Generator) -> list[Gem]:
    """Each alone or just touching another, over a part of the picture; now and then one is cut by its edge."""
    share = float(rng.choice([rng.uniform(0.25, 0.5), rng.uniform(0.5, 1.0)]))
    least = 2 * table.cut.radius_mm * float(rng.uniform(0.86, 1.05))
    middle = rng.uniform(-1, 1, 2) * (1 - share)
    places: list[Floats] = []
    for _ in names:
        reach = 1.12 if rng.random() < 0.03 else _WITHIN
        for _ in range(_TRIES):
            place = _on_table(table, np.clip(middle + rng.normal(0, 0.55 * share, 2), -1, 1) * reach)
            if not places or np.linalg.norm(f32(places) - place, axis=1).min() > least:
                places.append(place)
                break
    return [_lying(table, name, place, rng) for name, place in zip(names, places, strict=False)]


def _on_table(table: GemTable, at: npt.NDArray[np.float64]) -> Floats:
    """The point (3,) of the table that shows at a place of the picture, -1 to 1 across and down."""
    view = _ground_of(table).view
    half = (np.array(table.camera.size_px) / 2) * at
    ray = f32([half[0] / view.focal_px, half[1] / view.focal_px, 1.0]) @ view.turn
    return f32(view.eye_mm + ray * (-view.eye_mm[2] / min(float(ray[2]), -0.05)))


def _pile(table: GemTable, names: Sequence[str], rng: np.random.Generator) -> list[Gem]:
    """Gems that fall together and roll apart, touching and leaning on each other, some on others; some roll far."""
    n, across = len(names), 2 * table.cut.radius_mm
    wide = across * math.sqrt(n) * float(rng.uniform(0.25, 0.55))
    flat = rng.normal(0, wide, (n, 2)) * np.where(rng.random((n, 1)) < 0.1, 2.2, 1.0)
    room = float(rng.uniform(0.8, 1.05) if rng.random() < 0.85 else rng.uniform(0.4, 0.8))
    flat = _elbowed(flat, across * room)
    middle = _on_table(table, rng.uniform(-0.45, 0.45, 2))
    heights = across * rng.uniform(0.6, 0.9, n)
    starts = f32(np.concatenate([flat, heights[:, None]], axis=1))
    turns = f32(np.stack([aim(rng.normal(0, 1, 3)) @ yaw(rng.uniform(0, 6.3)) for _ in names]))
    shape, radii = balls(table.cut)
    rest = fallen(shape, radii, starts, turns, f32(rng.normal(0, 25, (n, 3))), lambda x, y: 0 * x, _STEPS)
    return [_at_rest(name, points, shape, middle) for name, points in zip(names, rest, strict=True)]


def _elbowed(flat: npt.NDArray[np.float64], room_mm: float) -> npt.NDArray[np.float64]:
    """Push places (n, 2) apart until most are `room_mm` from each other."""
    for _ in range(_TRIES):
        between = flat[:, None] - flat[None]
        far = np.linalg.norm(between, axis=2) + 1e-6
        short = np.where(far < room_mm, room_mm - far, 0.0)
        np.fill_diagonal(short, 0.0)
        flat = flat + 0.3 * (between / far[..., None] * short[..., None]).sum(axis=1)
    return flat


def _at_rest(colour: str, points: Floats, shape: Floats, middle: Floats) -> Gem:
    """The pose in which a gem's balls are where they are."""
    u, _, vt = np.linalg.svd((points - points.mean(axis=0)).T @ (shape - shape.mean(axis=0)))
    u[:, 2] *= np.sign(np.linalg.det(u @ vt))
    turn = f32(u @ vt)
    place = points.mean(axis=0) - shape.mean(axis=0) @ turn.T + middle
    return Gem(colour, (float(place[0]), float(place[1]), float(place[2])), _triples(turn))


def _truth(gems: Sequence[Gem], ground: Ground, warp: npt.NDArray[np.float64], owners: npt.NDArray[np.int16]) -> Truth:
    middles = ground.view.project(f32([gem.middle_mm for gem in gems]).reshape(-1, 3))[0].astype(np.float64)
    seen = cv2.perspectiveTransform(middles[None], warp)[0] if len(gems) else middles
    visible = np.bincount(owners[owners >= 0], minlength=len(gems)).astype(np.int32)
    return Truth(f32(seen), tuple(gem.colour for gem in gems), visible, owners)
