"""Things on the table that are not gnomes: cubes (in the gnomes' colours too), bills, a cup, discs, balls, rods."""

import math

import numpy as np

from companion.simulated.ground import to_tray, to_world, tray_height, view_of
from companion.simulated.solids import Floats, Paint, Solid, aim, block, cup, f32, flat, joined, lathe, moved, yaw
from companion.simulated.style import PAINTS, Table


def scatter(table: Table, level: int, feet_mm: Floats, rng: np.random.Generator) -> list[Solid]:
    """Clutter for one shake: level 0 nothing, 1 a cup, 2 also cubes and bills, 3 also odd things, in the tray as well.

    At level 4 the odd things are mostly in the gnomes' colours and beside gnomes. `feet_mm` (n, 3) are the places of
    the gnomes, so that some clutter can touch them.
    """
    things: list[Solid] = []
    if level >= 1 and rng.random() < 0.85:
        things.append(_cup(table, rng))
    if level >= 2:
        things += [_bill(table, rng) for _ in range(int(rng.integers(0, 4)))]
        things += [_loose(table, _cube(table, rng), feet_mm, rng, 0.06) for _ in range(int(rng.integers(1, 7)))]
    if level == 3:
        things += [_loose(table, _odd(table, rng), feet_mm, rng, 0.4) for _ in range(int(rng.integers(1, 6)))]
    if level >= 4:
        things += [_lookalike(table, feet_mm, rng) for _ in range(int(rng.integers(2, 8)))]
    return things


def _lookalike(table: Table, feet_mm: Floats, rng: np.random.Generator) -> Solid:
    """A cube, rod or ball in a gnome's colour, beside the tray or right beside a gnome."""
    paint = table.palette[int(rng.integers(len(table.palette)))][1]
    thing = _cube(table, rng, paint) if rng.random() < 0.4 else _odd(table, rng, paint)
    return _loose(table, thing, feet_mm, rng, 0.2, 0.45)


def any_place(table: Table, rng: np.random.Generator, inside: bool) -> Floats:
    """A point (3,) in mm on the visible ground, in the tray or beside it."""
    if inside:
        own = f32([*rng.uniform(-0.9, 0.9, 2) * table.tray.half_mm, 0.0])
        own[2] = tray_height(table.tray, own[:1], own[1:2])[0]
        return to_world(table.tray, own)
    view = view_of(table)
    for _ in range(40):
        x, y = rng.uniform(-0.53, 0.53) * view.width_px, rng.uniform(-0.53, 0.53) * view.height_px
        ray = f32([x / view.focal_px, y / view.focal_px, 1.0]) @ view.turn
        point = view.eye_mm + ray * (-view.eye_mm[2] / min(float(ray[2]), -0.05))
        if np.abs(to_tray(table.tray, point)[:2]).max() > table.tray.half_mm + 4:
            break
    return f32([point[0], point[1], 0.0])


def _paint(table: Table, rng: np.random.Generator) -> Paint:
    if rng.random() < 0.45:
        return table.palette[int(rng.integers(len(table.palette)))][1]
    if rng.random() < 0.1:
        return table.tray.snap
    return PAINTS[str(rng.choice(list(PAINTS)))]


def _cube(table: Table, rng: np.random.Generator, paint: Paint | None = None) -> Solid:
    side = float(rng.uniform(7, 11))
    return block((side, side, side), paint or _paint(table, rng), float(rng.uniform(0, 0.15)))


def _odd(table: Table, rng: np.random.Generator, paint: Paint | None = None) -> Solid:
    paint, gloss = paint or _paint(table, rng), float(rng.uniform(0, 0.3))
    kind = int(rng.integers(5))
    if kind == 0:
        return block((float(rng.uniform(5, 22)), float(rng.uniform(5, 12)), float(rng.uniform(3, 12))), paint, gloss)
    if kind == 1:
        radius, high = float(rng.uniform(4, 13)), float(rng.uniform(1.5, 6))
        return lathe(f32([(0, radius), (high, radius), (high, 0)]), 24, paint, gloss)
    if kind == 2:
        radius = float(rng.uniform(3, 7))
        turn = np.linspace(np.pi, 0, 10)
        return lathe(
            np.stack([radius + radius * np.cos(turn), radius * np.sin(turn)], axis=1).astype(np.float32),
            20,
            paint,
            gloss,
        )
    if kind == 3:
        return _cube(table, rng, paint)
    return _rod(float(rng.uniform(2, 5)), float(rng.uniform(14, 60)), paint, gloss)


def _rod(radius: float, length: float, paint: Paint, gloss: float) -> Solid:
    steps = [(float(h), radius) for h in np.linspace(0, length, 8)]
    standing = lathe(f32([(0.0, 0.0), *steps, (length, 0.0)]), 16, paint, gloss)
    return moved(standing, aim(f32([1.0, 0.0, 0.0])), f32([-length / 2, 0.0, radius]))


def _loose(
    table: Table, thing: Solid, feet_mm: Floats, rng: np.random.Generator, inside: float, beside: float = 0.15
) -> Solid:
    """A thing put down anywhere, or with the chance `beside` right beside a gnome."""
    if len(feet_mm) and rng.random() < beside:
        angle = rng.uniform(0, 2 * math.pi)
        place = feet_mm[int(rng.integers(len(feet_mm)))] + f32([13 * math.cos(angle), 13 * math.sin(angle), 0])
        own = to_tray(table.tray, place)
        place[2] = tray_height(table.tray, own[:1], own[1:2])[0]
    else:
        place = any_place(table, rng, bool(rng.random() < inside))
    return moved(thing, yaw(rng.uniform(0, 6.3)), place)


def _bill(table: Table, rng: np.random.Generator) -> Solid:
    long, wide = rng.uniform(22, 42), rng.uniform(12, 24)
    x, y = np.linspace(-long, long, 8), np.linspace(-wide, wide, 5)
    grid = np.stack([*np.meshgrid(x, y, indexing="ij"), np.full((8, 5), 0.4)], axis=2)
    grid[..., 2] += np.abs(rng.normal(0, 0.5)) * np.sin(np.linspace(0, np.pi, 8))[:, None]
    quads = np.stack([grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]], axis=2).reshape(-1, 4, 3)
    paper = np.clip(np.array(_paint(table, rng)) * 0.5 + 0.3 * rng.random(), 0.02, 0.85)
    sheet = flat(quads, (float(paper[0]), float(paper[1]), float(paper[2])), 0.0)
    sheet.paint[:] *= np.float32(1 + 0.06 * rng.standard_normal((len(quads), 1)))
    return moved(sheet, yaw(rng.uniform(0, 6.3)), any_place(table, rng, False))


def _cup(table: Table, rng: np.random.Generator) -> Solid:
    radius, height = float(rng.uniform(26, 36)), float(rng.uniform(70, 95))
    dark = (0.05, 0.05, 0.055) if rng.random() < 0.6 else _paint(table, rng)
    body = cup(radius, height, dark, float(rng.uniform(0, 0.2)))
    away = rng.uniform(0, 2 * math.pi)
    reach = table.tray.half_mm + radius + rng.uniform(2, 45)
    place = f32([*table.tray.centre_mm, 0.0]) + f32([math.cos(away), math.sin(away), 0.0]) * f32(reach * 1.15)
    if rng.random() < 0.4:
        return moved(body, np.eye(3, dtype=np.float32), place)
    lying = moved(body, aim(f32([1.0, 0.0, 0.0])), f32([-height / 2, 0.0, radius]))
    return moved(lying, yaw(rng.uniform(0, 6.3)), place)


def together(things: list[Solid]) -> Solid | None:
    """All clutter as one solid, or None without any."""
    return joined(things) if things else None
