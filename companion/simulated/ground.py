"""Table top and felt tray under a camera: what stays in place while gnomes come and go."""

import math
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from companion.simulated.light import Lamp, View, beam_to, look_down, paint_faces
from companion.simulated.solids import Floats, Solid, f32, flat, joined, lathe, moved, yaw
from companion.simulated.style import Light, Surface, Table, Tray

MARGIN_PX = 24  # drawn around the picture, so that a bumped camera still sees table at its edges
_TILE = 512

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Ground:
    """What each pixel of the enlarged picture shows of the table itself.

    `points_mm` in the world, `paint` in linear BGR, `facing` and `glare` the lamp's share by slope and by mirroring.
    """

    view: View
    lamp: Lamp
    points_mm: Floats
    paint: Floats
    facing: Floats
    glare: Floats
    fall: Floats
    solid: Solid
    caster: Solid


def tray_height(tray: Tray, x_mm: Floats, y_mm: Floats) -> Floats:
    """Height in mm over the table, in the tray's own axes; 0 outside the tray."""
    away = np.maximum(np.abs(x_mm), np.abs(y_mm))
    corner = np.hypot(
        np.maximum(np.abs(x_mm) - tray.flat_mm * 0.6, 0), np.maximum(np.abs(y_mm) - tray.flat_mm * 0.6, 0)
    )
    t = np.clip((corner - tray.flat_mm * 0.4) / (tray.half_mm * 0.92 - tray.flat_mm), 0.0, 1.0)
    rise = 1.5 + tray.rim_mm * t * t * (3 - 2 * t)
    out: Floats = np.where(away <= tray.half_mm, rise, 0.0).astype(np.float32)
    return out


def to_world(tray: Tray, points_mm: Floats) -> Floats:
    """Points (..., 3) from the tray's axes to the table's."""
    return f32(points_mm @ yaw(tray.angle_rad).T + f32([*tray.centre_mm, 0.0]))


def to_tray(tray: Tray, points_mm: Floats) -> Floats:
    """Points (..., 3) from the table's axes to the tray's."""
    return f32((points_mm - f32([*tray.centre_mm, 0.0])) @ yaw(tray.angle_rad))


def view_of(table: Table) -> View:
    """The table's camera, enlarged by MARGIN_PX on each side."""
    camera = table.camera
    size = (camera.size_px[0] + 2 * MARGIN_PX, camera.size_px[1] + 2 * MARGIN_PX)
    at = np.array([table.tray.centre_mm[0] + camera.aside_mm[0], table.tray.centre_mm[1] + camera.aside_mm[1], 5.0])
    return look_down(camera.tilt_rad, camera.heading_rad, camera.roll_rad, camera.distance_mm, at, size,
                     camera.px_per_mm * camera.distance_mm)  # fmt: skip


def lamp_of(table: Table, flicker: float = 0.0) -> Lamp:
    """The table's lamp, brighter or darker by the share `flicker`."""
    return lamp_from(table.light, flicker)


def lamp_from(light: Light, flicker: float = 0.0) -> Lamp:
    """The lamp of some light, brighter or darker by the share `flicker`."""
    key = f32(light.key_colour) * f32(light.key * (1 + flicker))
    room = f32(light.room_colour) * f32(light.room * (1 + flicker * 0.4))
    return Lamp(beam_to(light.azimuth_rad, light.height_rad), light.width_rad, key, room)


@lru_cache(maxsize=2)
def ground_of(table: Table) -> Ground:
    """Everything about a table's ground that does not change from shake to shake."""
    view, lamp = view_of(table), lamp_of(table)
    rng = np.random.default_rng([table.seed, 72])
    rays = view.rays()
    points = _meet(view, rays, np.zeros(rays.shape[:2], np.float32))
    on_tray, points = _lay_tray(table.tray, view, rays, points)
    paint = _table_paint(table.surface, points, rng)
    felt = _felt_paint(table.tray, to_tray(table.tray, points), rng)
    soft = cv2.GaussianBlur(on_tray.astype(np.float32), (0, 0), 0.6)[..., None]
    normal = _tray_normals(table.tray, points, on_tray)
    facing = np.maximum(normal @ lamp.towards, 0.0)
    glare = _glare(table.surface, table.light, points, view, lamp) * (1 - soft[..., 0])
    return Ground(view, lamp, points, paint * (1 - soft) + felt * soft, facing, glare, _fall(table.light, points),
                  _trimmings(table.tray), _caster(table.tray))  # fmt: skip


def bare_ground(surface: Surface, light: Light, view: View, rng: np.random.Generator) -> Ground:
    """A table top with nothing on it, at z = 0."""
    lamp = lamp_from(light)
    rays = view.rays()
    points = _meet(view, rays, np.zeros(rays.shape[:2], np.float32))
    facing = np.full(points.shape[:2], lamp.towards[2], np.float32)
    glare = _glare(surface, light, points, view, lamp)
    nothing = flat(np.zeros((0, 4, 3)), surface.paint, 0.0)
    paint = _table_paint(surface, points, rng)
    return Ground(view, lamp, points, paint, facing, glare, _fall(light, points), nothing, nothing)


def _meet(view: View, rays: Floats, height_mm: Floats) -> Floats:
    """Where rays meet the given heights."""
    reach = (height_mm - view.eye_mm[2]) / np.minimum(rays[..., 2], -0.05)
    out: Floats = view.eye_mm + rays * reach[..., None]
    return out


def _lay_tray(tray: Tray, view: View, rays: Floats, points: Floats) -> tuple[Mask, Floats]:
    """Which pixels show the tray's felt, and all points with those lifted onto it."""
    faces = paint_faces(view, _top(tray, 40), 1)
    on_tray = faces >= 0
    height = np.full(on_tray.shape, tray.rim_mm, np.float32)
    for _ in range(4):
        own = to_tray(tray, _meet(view, rays, height))
        inside = np.clip(own[..., :2], -tray.half_mm, tray.half_mm)
        height = tray_height(tray, inside[..., 0], inside[..., 1])
    return on_tray, f32(np.where(on_tray[..., None], _meet(view, rays, height), points))


def _top(tray: Tray, cuts: int) -> Solid:
    edge = np.linspace(-tray.half_mm, tray.half_mm, cuts + 1, dtype=np.float32)
    x, y = np.meshgrid(edge, edge, indexing="ij")
    grid = to_world(tray, np.stack([x, y, tray_height(tray, x, y)], axis=2))
    quads = np.stack([grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]], axis=2).reshape(-1, 4, 3)
    return flat(quads, tray.felt, 0.0)


def _skirt(tray: Tray, cuts: int = 16) -> Solid:
    edge = np.linspace(-tray.half_mm, tray.half_mm, cuts + 1, dtype=np.float32)
    side = np.full_like(edge, tray.half_mm)
    top = tray_height(tray, edge, side)
    low, high = np.stack([edge, -side, 0 * edge], axis=1), np.stack([edge, -side, top], axis=1)
    quads = np.stack([low[:-1], low[1:], high[1:], high[:-1]], axis=1)
    sides = [flat(quads @ yaw(k * math.pi / 2).T, tray.felt, 0.0) for k in range(4)]
    return moved(joined(sides), yaw(tray.angle_rad), f32([*tray.centre_mm, 0.0]))


def _trimmings(tray: Tray) -> Solid:
    line = f32([(0.0, tray.snap_mm), (1.2, tray.snap_mm), (1.7, tray.snap_mm * 0.8), (1.7, 0.0)])
    snap = lathe(line, 20, tray.snap, 0.1)
    at = tray.half_mm * 0.88
    places = f32([(sx * at, sy * at, 0.0) for sx in (-1, 1) for sy in (-1, 1)])
    places[:, 2] = tray_height(tray, places[:, 0], places[:, 1])
    return joined([_skirt(tray), *(moved(snap, np.eye(3), p) for p in to_world(tray, places))])


def _caster(tray: Tray) -> Solid:
    return joined([_top(tray, 24), _skirt(tray)])


def _tray_normals(tray: Tray, points: Floats, on_tray: Mask) -> Floats:
    own = to_tray(tray, points)
    x, y = (np.clip(own[..., i], -tray.half_mm + 2, tray.half_mm - 2) for i in (0, 1))
    here = tray_height(tray, x, y)
    normal = np.stack(
        [here - tray_height(tray, x + 1, y), here - tray_height(tray, x, y + 1), np.ones_like(here)], axis=2
    )
    normal[~on_tray, :2] = 0.0
    normal /= np.linalg.norm(normal, axis=2, keepdims=True)
    out: Floats = normal @ yaw(tray.angle_rad).T
    return out


def _noise(rng: np.random.Generator, cell: tuple[int, int]) -> Floats:
    """A tile of smooth noise that wraps around, about -1 to 1, with features of `cell` (x, y) pixels."""
    small = rng.standard_normal((max(_TILE // cell[1], 2), max(_TILE // cell[0], 2))).astype(np.float32)
    wrapped = np.pad(small, 2, mode="wrap")
    step_y, step_x = _TILE / small.shape[0], _TILE / small.shape[1]
    big = cv2.resize(
        wrapped, (round(wrapped.shape[1] * step_x), round(wrapped.shape[0] * step_y)), interpolation=cv2.INTER_CUBIC
    )
    y, x = round(2 * step_y), round(2 * step_x)
    return f32(big[y : y + _TILE, x : x + _TILE])


def _tile(surface: Surface, rng: np.random.Generator) -> Floats:
    """A wrapping tile that mixes the two paints of a table, 0 to 1."""
    fine = 0.12 * _noise(rng, (2, 2))
    if surface.grain == "wood":
        y = np.arange(_TILE, dtype=np.float32)[:, None]
        waves = 2 * math.pi * 12 * y / _TILE + 2.5 * _noise(rng, (128, 64)) + 0.8 * _noise(rng, (32, 16))
        mix = 0.5 + 0.35 * np.sin(waves) + 0.2 * _noise(rng, (64, 4)) + fine
    elif surface.grain == "plain":
        mix = 0.5 + 0.25 * _noise(rng, (64, 64)) + 0.15 * _noise(rng, (16, 16)) + fine
    else:
        wave = np.sin(2 * math.pi * 8 * np.arange(_TILE, dtype=np.float32) / _TILE)[:, None] * np.ones(
            (1, _TILE), np.float32
        )
        stripes = np.clip(wave * 4 + 0.5, 0, 1)
        mix = (stripes + stripes.T) / 2 if surface.grain == "checks" else stripes
        mix = mix + fine
    out: Floats = np.clip(mix, 0, 1).astype(np.float32)
    return out


def _look_up(tile: Floats, x: Floats, y: Floats) -> Floats:
    across, down = f32(np.mod(x, _TILE - 1)), f32(np.mod(y, _TILE - 1))
    return f32(cv2.remap(tile, across, down, cv2.INTER_LINEAR))


def _table_paint(surface: Surface, points: Floats, rng: np.random.Generator) -> Floats:
    turned = points @ yaw(surface.angle_rad)
    scale = np.float32(_TILE / 10 / surface.pattern_mm)
    mix = _look_up(_tile(surface, rng), turned[..., 0] * scale, turned[..., 1] * scale)[..., None]
    out: Floats = f32(surface.paint) * (1 - mix) + f32(surface.dark) * mix
    return out


def _felt_paint(tray: Tray, own: Floats, rng: np.random.Generator) -> Floats:
    tile = 0.5 * _noise(rng, (2, 2)) + 0.5 * _noise(rng, (5, 5)) + 0.8 * _noise(rng, (90, 90))
    fuzz = 1 + f32(tray.fuzz) * _look_up(tile, own[..., 0] * 2.2, own[..., 1] * 2.2)
    out: Floats = f32(tray.felt) * np.maximum(fuzz, 0.3)[..., None]
    return out


def _glare(surface: Surface, light: Light, points: Floats, view: View, lamp: Lamp) -> Floats:
    """The lamp mirrored in the table's top."""
    look = view.eye_mm - points
    look /= np.linalg.norm(look, axis=2, keepdims=True)
    # A near lamp stands over one place, so its mirror image moves over the table.
    at = lamp.towards * np.float32(500.0 / light.closeness)
    half = look + (at - points) / np.linalg.norm(at - points, axis=2, keepdims=True)
    half /= np.linalg.norm(half, axis=2, keepdims=True)
    out: Floats = np.maximum(half[..., 2], 0.0) ** 60 * f32(surface.gloss)
    return out


def _fall(light: Light, points: Floats) -> Floats:
    """How the lamp's light falls off over the table; 1 at the middle."""
    side = points[..., :2] @ f32([math.cos(light.azimuth_rad), math.sin(light.azimuth_rad)])
    out: Floats = np.clip(1 + f32(light.fall / 200.0) * side, 0.35, 1.8)
    return out
