"""One picture of a simulated table: light on the ground and on the solids that stand there, and a knocked camera."""

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt

from companion.simulated.ground import MARGIN_PX, Ground
from companion.simulated.light import FINE, Lamp, ShadowMap, openness, shade, share_lit
from companion.simulated.solids import Floats, Ints, Paint, Solid, f32

_COARSE = 2  # shadows are soft: they are worked out at this fraction of the picture's resolution


@dataclass(frozen=True, slots=True)
class Bump:
    """How far a knocked camera moves at most: shift in px and turn in degrees."""

    shift_px: float = 0.0
    turn_deg: float = 0.0


def light_up(
    ground: Ground, lamp: Lamp, solid: Solid, faces: Ints, maps: list[ShadowMap], around: Paint, px_per_mm: float
) -> Floats:
    """Linear BGR light of the enlarged picture: the ground, and solids in the light that the paint `around` returns."""
    rows, columns = np.nonzero(faces >= 0)
    shown = faces[rows, columns]
    points = _surface_points(ground, solid, rows, columns, shown)
    low = ground.points_mm[::_COARSE, ::_COARSE]
    heights = low[..., 2].copy()
    cell = (rows // (FINE * _COARSE), columns // (FINE * _COARSE))
    heights[cell] = points[:, 2]
    opened = openness(np.asarray(heights, np.float32), px_per_mm / _COARSE, 1.0)
    light = _ground_light(ground, lamp, f32(cv2.GaussianBlur(share_lit(maps, low), (0, 0), 0.8)), opened)
    bounce = f32(around) * (lamp.key * lamp.towards[2] + lamp.room) * np.float32(0.7)
    fall = ground.fall[rows // FINE, columns // FINE]
    colour = shade(solid, shown, share_lit(maps, points) * fall, opened[cell], lamp, bounce, ground.view.eye_mm)
    return _lay_over(light, rows // FINE, columns // FINE, colour)


def _surface_points(
    ground: Ground, solid: Solid, rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp], shown: Ints
) -> Floats:
    """Where the line of sight through each painted pixel meets its quad's plane."""
    view = ground.view
    x = ((columns + 0.5) / FINE - 0.5 - (view.width_px - 1) / 2) / view.focal_px
    y = ((rows + 0.5) / FINE - 0.5 - (view.height_px - 1) / 2) / view.focal_px
    rays = np.stack([x, y, np.ones_like(x)], axis=1).astype(np.float32) @ view.turn
    middle = solid.quads_mm.mean(axis=1) - view.eye_mm
    slant = np.einsum("ij,ij->i", rays, solid.normals[shown])
    planes = (middle * solid.normals).sum(axis=1)[shown] / np.where(np.abs(slant) < 0.05, -0.05, slant)
    depth = (middle @ view.turn[2])[shown]
    out: Floats = view.eye_mm + rays * np.clip(planes, depth - 3, depth + 3)[:, None]
    return out


def _ground_light(ground: Ground, lamp: Lamp, lit: Floats, opened: Floats) -> Floats:
    size = (ground.view.width_px, ground.view.height_px)
    key = cv2.resize(lit, size, interpolation=cv2.INTER_LINEAR) * ground.fall
    room = cv2.resize(opened, size, interpolation=cv2.INTER_LINEAR)
    facing, glare = key * ground.facing, key * ground.glare
    out = np.empty_like(ground.paint)
    for k in range(3):
        out[..., k] = ground.paint[..., k] * (facing * lamp.key[k] + room * lamp.room[k]) + glare * lamp.key[k]
    return out


def _lay_over(light: Floats, rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp], colour: Floats) -> Floats:
    """Average painted fine pixels into the picture."""
    place = rows * light.shape[1] + columns
    area = light.shape[0] * light.shape[1]
    free = 1 - np.bincount(place, minlength=area).astype(np.float32) / FINE**2
    flat = light.reshape(area, 3)
    for k in range(3):
        flat[:, k] *= free
        flat[:, k] += np.bincount(place, colour[:, k], area).astype(np.float32) / FINE**2
    return light


def knock(ground: Ground, bump: Bump | None, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Homography (3, 3) from the enlarged picture to the camera's, knocked or not."""
    crop = np.array([[1.0, 0, -MARGIN_PX], [0, 1.0, -MARGIN_PX], [0, 0, 1.0]])
    if bump is None:
        return crop
    turn, shift_x, shift_y, size = np.clip(rng.normal(0, 0.6, 4), -1, 1)
    middle = ((ground.view.width_px - 1) / 2, (ground.view.height_px - 1) / 2)
    move = np.eye(3)
    move[:2] = cv2.getRotationMatrix2D(
        middle, float(turn * bump.turn_deg), float(1 + 0.004 * size * (bump.turn_deg > 0))
    )
    move[:2, 2] += np.array([shift_x, shift_y]) * bump.shift_px
    return crop @ move


def cropped(image: npt.NDArray[Any], warp: npt.NDArray[np.float64], how: int) -> npt.NDArray[Any]:
    """Take the camera's part of an enlarged image, moved by what `knock` returned."""
    rows, columns = image.shape[0] - 2 * MARGIN_PX, image.shape[1] - 2 * MARGIN_PX
    if warp[0, 0] == 1.0 and warp[0, 1] == 0.0 and warp[0, 2] == -MARGIN_PX:
        return image[MARGIN_PX:-MARGIN_PX, MARGIN_PX:-MARGIN_PX]
    return cv2.warpPerspective(image, warp, (columns, rows), flags=how, borderMode=cv2.BORDER_REPLICATE)
