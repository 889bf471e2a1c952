"""A gnome table as a camera would see it: the same table empty, with 15 pawns apart, and after any shake.

`draw_table(seed)` gives a `Table`; `apart` and `shake` put gnomes on it; `render` takes the picture, with its truth.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from companion.simulated.clutter import any_place, scatter
from companion.simulated.ground import MARGIN_PX, Ground, ground_of, lamp_of, to_tray, to_world, tray_height
from companion.simulated.lens import Picture, develop
from companion.simulated.light import FINE, cast, paint_faces
from companion.simulated.painting import Bump, cropped, knock, light_up
from companion.simulated.solids import Floats, Ints, Paint, Solid, aim, f32, joined, lathe, moved, outline, yaw
from companion.simulated.style import Table, draw_table
from companion.simulated.tumble import tumble

__all__ = ["Bump", "Gnome", "Shot", "Table", "Truth", "apart", "draw_table", "render", "shake"]

_FREE = -2  # owner of a pixel that shows no gnome


@dataclass(frozen=True, slots=True)
class Gnome:
    """A pawn at rest: its colour's name, the middle of its foot in mm on the table, its unit axis from foot to head."""

    colour: str
    foot_mm: tuple[float, float, float]
    axis: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Truth:
    """What a picture shows: pixel places (n, 2) of body centres, heads and feet, colour names, visible pixels (n,).

    `owners` (rows, columns) int16 is the gnome that each pixel shows, or -1.
    """

    centres_px: Floats
    heads_px: Floats
    feet_px: Floats
    colours: tuple[str, ...]
    visible_px: Ints
    owners: npt.NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture (rows, columns, 3) uint8 BGR, its truth, and the homography (3, 3) that a bump moved it by."""

    picture: Picture
    truth: Truth
    bumped: npt.NDArray[np.float64]


def apart(table: Table, rng: np.random.Generator, each: int = 5) -> list[Gnome]:
    """The calibration scene: `each` gnomes of each colour apart in the tray, some standing, some lying."""
    names = [name for name, _ in table.palette for _ in range(each)]
    rng.shuffle(names)
    rows = max(1, math.ceil(len(names) / 5))
    step = max(table.tray.half_mm * 0.32, 26.0)
    grid = [((i % 5 - 2) * step, (i // 5 - (rows - 1) / 2) * step * 1.15, 0.0) for i in range(len(names))]
    starts = f32(grid) + f32(rng.uniform(-1, 1, (len(names), 3)) * [1.5, 1.5, 0.0])
    upright = np.arange(len(names)) % 2 == rng.integers(2)
    return [
        _put(table, n, s, bool(u), rng.uniform(0, 2 * math.pi)) for n, s, u in zip(names, starts, upright, strict=True)
    ]


def _put(table: Table, colour: str, at_mm: Floats, upright: bool, angle_rad: float) -> Gnome:
    """A gnome put down by hand at a point (3,) of the tray, its middle there if it lies."""
    pawn, tray = table.pawn, table.tray
    span = 0.0 if upright else pawn.length_mm - pawn.head_mm
    way = f32([math.cos(angle_rad), math.sin(angle_rad), 0.0])
    foot, head = at_mm - way * (span / 2), at_mm + way * (span / 2)
    low = 0.0 if upright else pawn.base_mm
    foot[2] = tray_height(tray, foot[:1], foot[1:2])[0] + low
    head[2] = tray_height(tray, head[:1], head[1:2])[0] + (pawn.length_mm if upright else pawn.head_mm)
    axis = (head - foot) / np.linalg.norm(head - foot)
    return Gnome(colour, _triple(to_world(tray, foot)), _triple(axis @ yaw(tray.angle_rad).T))


def shake(
    table: Table, colours: Sequence[str], rng: np.random.Generator, spread_mm: float | None = None, spill: float = 0.05
) -> list[Gnome]:
    """Shake gnomes of the named colours into a pile `spread_mm` wide; `spill` is each one's chance to miss the tray."""
    n = len(colours)
    if not n:
        return []
    wide = float(rng.choice([rng.uniform(4, 12), rng.uniform(10, 34)])) if spread_mm is None else spread_mm
    middle = rng.uniform(-0.35, 0.35, 2) * table.tray.flat_mm
    flat = np.clip(middle + rng.normal(0, wide, (n, 2)), -table.tray.half_mm * 0.8, table.tray.half_mm * 0.8)
    starts = np.concatenate([flat, (6 + 70 / (8 + wide) * np.arange(n))[:, None] * rng.uniform(0.5, 1.0)], axis=1)
    for i in np.flatnonzero(rng.random(n) < spill):
        starts[i] = to_tray(table.tray, any_place(table, rng, False)) + f32([0, 0, 8])
    speeds = f32(rng.normal(0, 60, (n, 3)))
    upright = rng.random(n) < rng.choice([0.0, 0.05, 0.3])
    return _settle(table, list(colours), starts.astype(np.float32), upright, speeds, rng)


def _settle(
    table: Table,
    names: list[str],
    starts: Floats,
    upright: npt.NDArray[np.bool_],
    speeds: Floats,
    rng: np.random.Generator,
) -> list[Gnome]:
    tray, length = table.tray, f32(table.pawn.length_mm)
    lying = rng.normal(0, 1, (len(names), 3)) * [1.0, 1.0, 0.35]
    axes = np.where(upright[:, None], [0.0, 0.0, 1.0], lying)
    turns = np.stack([aim(a) @ yaw(rng.uniform(0, 6.3)) for a in axes])
    low = np.where(upright, length * 0.35, table.pawn.base_mm + 1.0)
    lifted = starts + np.stack([0 * low, 0 * low, low + tray_height(tray, starts[:, 0], starts[:, 1])], axis=1)
    speeds = np.where(upright[:, None], 0, speeds).astype(np.float32)
    poses = tumble(table.pawn, lifted.astype(np.float32), turns, speeds, lambda x, y: tray_height(tray, x, y))
    feet = to_world(tray, f32([p.foot_mm for p in poses]))
    ways = f32([p.axis for p in poses]) @ yaw(tray.angle_rad).T
    return [Gnome(n, _triple(f), _triple(w)) for n, f, w in zip(names, feet, ways, strict=True)]


def _triple(values: Floats) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])


def render(
    table: Table,
    gnomes: Sequence[Gnome],
    rng: np.random.Generator,
    *,
    clutter: int = 0,
    flicker: float = 0.0,
    bump: Bump | None = None,
    scene: np.random.Generator | None = None,
) -> Shot:
    """Take one picture of a table with these gnomes; the same arguments and generator state give the same picture.

    `clutter` as `clutter.scatter`; the lamp's brightness varies by the share `flicker` (one standard deviation).
    `scene` draws the clutter if it is given: the same one gives a second look at the same things.
    """
    ground = ground_of(table)
    lamp = lamp_of(table, float(np.clip(rng.normal(0, 1), -2, 2)) * flicker)
    feet = f32([g.foot_mm for g in gnomes]).reshape(-1, 3)
    things = scatter(table, clutter, feet, scene or rng)
    fine, coarse = (_bodies(table, gnomes, sectors, rings) for sectors, rings in ((32, 20), (12, 10)))
    solid = joined([ground.solid, *things, *fine])
    faces = paint_faces(ground.view, solid, FINE)
    maps = cast(joined([ground.caster, *things, *coarse]), lamp, rng, 5, 330.0)
    light = light_up(ground, lamp, solid, faces, maps, table.tray.felt, table.camera.px_per_mm)
    warp = knock(ground, bump, rng)
    owners = _owners(solid, faces)
    picture = develop(f32(cropped(light, warp, cv2.INTER_LINEAR)), table.lens, rng)
    home = np.array([[1.0, 0, MARGIN_PX], [0, 1.0, MARGIN_PX], [0, 0, 1.0]])
    return Shot(
        picture,
        _truth(table, gnomes, ground, warp, np.asarray(cropped(owners, warp, cv2.INTER_NEAREST), np.int16)),
        warp @ home,
    )


def _bodies(table: Table, gnomes: Sequence[Gnome], sectors: int, rings: int) -> list[Solid]:
    paints = dict(table.palette)
    line = outline(table.pawn, rings)
    return [
        moved(lathe(line, sectors, _aged(paints[g.colour], i), table.pawn_gloss, i), aim(f32(g.axis)), f32(g.foot_mm))
        for i, g in enumerate(gnomes)
    ]


def _aged(paint: Paint, number: int) -> Paint:
    """No two pieces of wood take paint quite alike."""
    factor = 1 + 0.05 * math.sin(number * 12.9898)
    return paint[0] * factor, paint[1] * factor, paint[2] * factor


def _owners(solid: Solid, faces: Ints) -> npt.NDArray[np.int16]:
    shown = faces[::FINE, ::FINE]
    return np.where(shown >= 0, solid.owner[shown], -1).astype(np.int16)


def _truth(
    table: Table, gnomes: Sequence[Gnome], ground: Ground, warp: npt.NDArray[np.float64], owners: npt.NDArray[np.int16]
) -> Truth:
    feet = f32([g.foot_mm for g in gnomes]).reshape(-1, 3)
    axes = f32([g.axis for g in gnomes]).reshape(-1, 3)
    along = f32([0.48 * table.pawn.length_mm, table.pawn.length_mm - table.pawn.head_mm, 0.0])
    seen = ground.view.project(feet[None] + along[:, None, None] * axes[None])[0].astype(np.float64)
    moved_px = cv2.perspectiveTransform(seen.reshape(1, -1, 2), warp).reshape(3, -1, 2) if len(gnomes) else seen
    centres, heads, lows = moved_px.astype(np.float32)
    visible = np.bincount(owners[owners >= 0], minlength=len(gnomes)).astype(np.int32)
    return Truth(centres, heads, lows, tuple(g.colour for g in gnomes), visible, owners)
