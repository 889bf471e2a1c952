"""Projection, painting and shading of solids: a small deferred renderer on top of cv2.fillConvexPoly."""

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from companion.simulated.solids import Floats, Ints, Solid, f32

FINE = 2  # solids are painted at this multiple of the picture's resolution, then averaged down
_SUBPIXEL = 3


@dataclass(frozen=True, slots=True)
class View:
    """A pinhole camera: picture size and focal length in px, eye (3,) in mm, rotation (3, 3) from world to camera."""

    width_px: int
    height_px: int
    focal_px: float
    eye_mm: Floats
    turn: Floats

    def project(self, points_mm: Floats) -> tuple[Floats, Floats]:
        """World points (..., 3) in mm to picture points (..., 2) in px, and their depths (...) in mm."""
        seen = (points_mm - self.eye_mm) @ self.turn.T
        depth = f32(np.maximum(seen[..., 2], 1.0))
        middle = f32([(self.width_px - 1) / 2, (self.height_px - 1) / 2])
        return f32(seen[..., :2] / depth[..., None] * np.float32(self.focal_px) + middle), depth

    def rays(self) -> Floats:
        """World direction (height, width, 3) of each pixel, unit depth."""
        x = (np.arange(self.width_px, dtype=np.float32) - (self.width_px - 1) / 2) / f32(self.focal_px)
        y = (np.arange(self.height_px, dtype=np.float32) - (self.height_px - 1) / 2) / f32(self.focal_px)
        flat = np.stack([*np.meshgrid(x, y), np.ones((self.height_px, self.width_px), np.float32)], axis=2)
        out: Floats = flat.astype(np.float32) @ self.turn
        return out


def paint_faces(view: View, solid: Solid, fine: int) -> Ints:
    """Number of the nearest quad at each pixel of a picture `fine` times enlarged; -1 where there is none."""
    points, depth = view.project(solid.quads_mm)
    towards = ((view.eye_mm - solid.quads_mm.mean(axis=1)) * solid.normals).sum(axis=1)
    order = np.argsort(-depth.mean(axis=1))
    order = order[towards[order] > 0]
    image = np.full((view.height_px * fine, view.width_px * fine), -1, np.int32)
    scaled = (points + 0.5) * fine - 0.5
    corners = np.round(np.clip(scaled, -4000, 8000) * (1 << _SUBPIXEL)).astype(np.int32)
    for i in order:
        cv2.fillConvexPoly(image, corners[i], int(i), cv2.LINE_8, _SUBPIXEL)
    return image


@dataclass(frozen=True, slots=True)
class Lamp:
    """A far lamp: unit direction (3,) towards it, its angular half width in rad, linear BGR of lamp and of the room."""

    towards: Floats
    width_rad: float
    key: Floats
    room: Floats


@dataclass(frozen=True, slots=True)
class ShadowMap:
    """Heights of the highest thing met by each sun beam, over the beam's foot on the plane z = 0."""

    beam: Floats
    heights_mm: Floats
    corner_mm: Floats
    step_mm: float

    def lit(self, points_mm: Floats) -> Floats:
        """1 where points (rows, columns, 3) see the lamp, 0 in shadow, a little smoothed."""
        z = points_mm[..., 2]
        size, step = len(self.heights_mm), np.float32(1 / self.step_mm)
        x = (points_mm[..., 0] - z * self.beam[0] - self.corner_mm[0]) * step
        y = (points_mm[..., 1] - z * self.beam[1] - self.corner_mm[1]) * step
        cell = np.clip(y, 0, size - 1).astype(np.int32) * size + np.clip(x, 0, size - 1).astype(np.int32)
        top = np.take(self.heights_mm, cell)
        out: Floats = np.clip((z + 2.2 - top) / 0.8, 0.0, 1.0).astype(np.float32)
        return out


def cast(solid: Solid, lamp: Lamp, rng: np.random.Generator, beams: int, reach_mm: float) -> list[ShadowMap]:
    """Shadow maps for some points of the lamp, covering `reach_mm` around the origin."""
    return [_cast_one(solid, lamp.towards + f32(rng.normal(0, lamp.width_rad, 3)), reach_mm) for _ in range(beams)]


def _cast_one(solid: Solid, towards: Floats, reach_mm: float) -> ShadowMap:
    step = np.float32(0.6)
    beam = (towards[:2] / max(float(towards[2]), 0.2)).astype(np.float32)
    size = int(2 * reach_mm / step)
    heights = np.full((size, size), -100.0, np.float32)
    tops = solid.quads_mm[..., 2]
    feet = (solid.quads_mm[..., :2] - tops[..., None] * beam + f32(reach_mm)) / step
    corners = np.round(np.clip(feet, -2000, 6000) * (1 << _SUBPIXEL)).astype(np.int32)
    level = tops.min(axis=1)  # the lowest corner: a slanting quad must not shade itself
    for i in np.argsort(level):
        cv2.fillConvexPoly(heights, corners[i], float(level[i]), cv2.LINE_8, _SUBPIXEL)
    return ShadowMap(beam, heights, f32([-reach_mm, -reach_mm]), float(step))


def share_lit(maps: list[ShadowMap], points_mm: Floats) -> Floats:
    """Share of the lamp that each point sees, as `ShadowMap.lit`."""
    out = np.zeros(points_mm.shape[:-1], np.float32)
    for one in maps:
        out += one.lit(points_mm)
    return out / f32(len(maps))


def openness(heights_mm: Floats, px_per_mm: float, strength: float) -> Floats:
    """How much of the room's light reaches each pixel of a height map: less beside higher things."""
    dark = np.zeros_like(heights_mm)
    for reach_mm, weight in ((2.5, 0.10), (7.0, 0.09), (20.0, 0.04)):
        wide = cv2.GaussianBlur(heights_mm, (0, 0), max(reach_mm * px_per_mm, 0.6))
        dark += weight * np.maximum(wide - heights_mm, 0.0)
    out: Floats = np.exp(-strength * dark)
    return out


def shade(solid: Solid, faces: Ints, lit: Floats, opened: Floats, lamp: Lamp, bounce: Floats, eye_mm: Floats) -> Floats:
    """Linear BGR (n, 3) of points on the quads `faces`, given the shares of lamp and room that reach them."""
    facing = np.maximum(solid.normals @ lamp.towards, 0.0)[:, None] * lamp.key
    up = (0.5 + 0.5 * solid.normals[:, 2])[:, None]
    look = eye_mm - solid.quads_mm[:, 0]
    half = look / np.linalg.norm(look, axis=1, keepdims=True) + lamp.towards
    half /= np.linalg.norm(half, axis=1, keepdims=True)
    mirror = np.maximum((solid.normals * half).sum(axis=1), 0.0) ** 24 * solid.gloss
    by_lamp = f32(solid.paint * facing + mirror[:, None] * lamp.key)
    by_room = f32(solid.paint * (up * lamp.room + (1 - up) * bounce))
    return by_lamp[faces] * lit[:, None] + by_room[faces] * opened[:, None]


def beam_to(azimuth_rad: float, height_rad: float) -> Floats:
    """Unit vector towards a lamp at an azimuth and a height over the horizon."""
    flat = np.cos(height_rad)
    return f32([flat * np.cos(azimuth_rad), flat * np.sin(azimuth_rad), np.sin(height_rad)])


def look_down(
    tilt_rad: float,
    heading_rad: float,
    roll_rad: float,
    distance_mm: float,
    at_mm: npt.NDArray[np.floating],
    size_px: tuple[int, int],
    focal_px: float,
) -> View:
    """A camera `distance_mm` from a point, tilted from straight down, turned about its own axis."""
    back = np.array([np.sin(tilt_rad) * np.cos(heading_rad), np.sin(tilt_rad) * np.sin(heading_rad), np.cos(tilt_rad)])
    ahead = -back
    right = np.array([np.cos(roll_rad), np.sin(roll_rad), 0.0])
    right -= ahead * (right @ ahead)
    right /= np.linalg.norm(right)
    turn = np.stack([right, np.cross(ahead, right), ahead]).astype(np.float32)
    eye = (np.asarray(at_mm, np.float64) + back * distance_mm).astype(np.float32)
    return View(size_px[0], size_px[1], focal_px, eye, turn)
