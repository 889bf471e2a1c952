"""Pawns falling into a tray: small rigid bodies of spheres, moved by positions (no forces), until they rest."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from companion.simulated.solids import Floats, Profile, f32

Floor = Callable[[Floats, Floats], Floats]

_STEP_S = 1.0 / 200.0
_STEPS = 100
_PASSES = 3
_GRAVITY_MM = 9810.0
_RIM_SPHERES = 6
_RUB = 0.2


@dataclass(frozen=True, slots=True)
class Pose:
    """Where a pawn rests: the middle of its foot (3,) in mm and its unit axis (3,) from foot to head."""

    foot_mm: tuple[float, float, float]
    axis: tuple[float, float, float]


def balls(profile: Profile) -> tuple[Floats, Floats]:
    """A pawn as spheres: centres (k, 3) and radii (k,) in mm, foot at the origin, axis along z."""
    ring = np.arange(_RIM_SPHERES) * (2 * np.pi / _RIM_SPHERES)
    small = 1.1
    reach = profile.base_mm - small
    rim = np.stack([reach * np.cos(ring), reach * np.sin(ring), np.full(_RIM_SPHERES, small)], axis=1)
    head = profile.length_mm - profile.head_mm
    part = np.array([0.22, 0.45, 0.66])
    widths = profile.neck_mm + (profile.base_mm - profile.neck_mm) * (1 - part) ** profile.hollow
    spine = np.stack([np.zeros(3), np.zeros(3), part * head], axis=1)
    centres = np.concatenate([rim, spine, [[0.0, 0.0, head]]])
    radii = np.concatenate([np.full(_RIM_SPHERES, small), np.minimum(widths, part * head * 1.2), [profile.head_mm]])
    return centres.astype(np.float32), radii.astype(np.float32)


def tumble(profile: Profile, starts: Floats, turns: Floats, speeds: Floats, floor: Floor) -> list[Pose]:
    """Let pawns fall: middles (n, 3) in mm, rotations (n, 3, 3), speeds (n, 3) in mm/s, the floor's height."""
    shape, radii = balls(profile)
    return [_pose(points, shape) for points in fallen(shape, radii, starts, turns, speeds, floor)]


def fallen(
    shape: Floats, radii: Floats, starts: Floats, turns: Floats, speeds: Floats, floor: Floor, steps: int = _STEPS
) -> Floats:
    """Let n like bodies of k spheres (k, 3) fall; return where their spheres (n, k, 3) come to rest."""
    centre = shape.mean(axis=0)
    reach = _reach(radii, len(starts))
    at = f32((shape - centre) @ turns.transpose(0, 2, 1) + starts[:, None])
    velocity = np.broadcast_to(speeds[:, None], at.shape).astype(np.float32)
    for step in range(steps):
        at, velocity = _advance(at, velocity, shape - centre, radii, reach, floor, 0.995 if step < steps - 30 else 0.8)
    return at


def _reach(radii: Floats, n: int) -> Floats:
    """How near two spheres (n k, n k) of different pawns may come; -1 where a pair is not to be looked at."""
    wide = np.tile(radii, n)
    body = np.arange(len(wide)) // len(radii)
    out: Floats = np.where(body[:, None] < body[None], wide[:, None] + wide[None], np.float32(-1.0))
    return out


def _advance(
    at: Floats, velocity: Floats, shape: Floats, radii: Floats, reach: Floats, floor: Floor, keep: float
) -> tuple[Floats, Floats]:
    fall = np.array([0.0, 0.0, -_GRAVITY_MM * _STEP_S], np.float32)
    target = at + (velocity + fall) * np.float32(_STEP_S)
    limit = np.where(reach > 0, reach * reach, np.float32(-1e9))
    for _ in range(_PASSES):
        _part(target, at, reach, limit)
        _hold(target, at, radii, floor)
        target = _rigid(target, shape)
    return target, (target - at) * np.float32(keep / _STEP_S)


def _part(target: Floats, before: Floats, reach: Floats, limit: Floats) -> None:
    """Push spheres of different pawns apart, half each, averaged over a sphere's contacts; wood rubs on wood."""
    flat = target.reshape(-1, 3)
    square = (flat * flat).sum(axis=1)
    gap = flat @ (-2.0 * flat.T)
    gap += square[:, None]
    gap += square
    one, two = np.divmod(np.flatnonzero(gap < limit), len(flat))
    if not len(one):
        return
    between = flat[one] - flat[two]
    far = np.maximum(np.linalg.norm(between, axis=1, keepdims=True), 1e-3)
    normal = between / far
    slide = target.reshape(-1, 3) - before.reshape(-1, 3)
    slide = slide[one] - slide[two]
    slide -= (slide * normal).sum(axis=1, keepdims=True) * normal
    push = normal * np.maximum(reach[one, two] - far[:, 0], 0.0)[:, None] * 0.5 - slide * _RUB
    total, times = np.zeros_like(flat), np.zeros(len(flat), np.float32)
    np.add.at(total, one, push)
    np.add.at(total, two, -push)
    np.add.at(times, np.concatenate([one, two]), 1.0)
    flat += total / np.maximum(times, 1.0)[:, None] * 1.2


def _hold(target: Floats, before: Floats, radii: Floats, floor: Floor) -> None:
    """Lift spheres out of the floor and let the felt hold them back."""
    x, y, z = target[..., 0], target[..., 1], target[..., 2]
    height = floor(x, y)
    slope_x = floor(x + 1.0, y) - height
    slope_y = floor(x, y + 1.0) - height
    steep = 1.0 / np.sqrt(1.0 + slope_x**2 + slope_y**2)
    deep = np.maximum((height - z) * steep + radii[None], 0.0)
    normal = np.stack([-slope_x * steep, -slope_y * steep, steep], axis=2)
    slide = target - before
    slide -= (slide * normal).sum(axis=2, keepdims=True) * normal
    target += normal * deep[..., None] - slide * np.where(deep > 0, 0.35, 0.0)[..., None].astype(np.float32)


def _rigid(target: Floats, shape: Floats) -> Floats:
    """The nearest unbent pawns (n, k, 3) to the pushed spheres."""
    middle = target.mean(axis=1, keepdims=True)
    u, _, vt = np.linalg.svd((target - middle).transpose(0, 2, 1) @ shape)
    flip = np.sign(np.linalg.det(u @ vt)).astype(np.float32)
    u[:, :, 2] *= flip[:, None]
    out: Floats = shape @ (u @ vt).transpose(0, 2, 1) + middle
    return out


def _pose(points: Floats, shape: Floats) -> Pose:
    rim = points[:_RIM_SPHERES].mean(axis=0)
    axis = points[-1] - rim
    axis = axis / np.linalg.norm(axis)
    foot = rim - axis * shape[0, 2] + axis * shape[:, 2].min()
    return Pose(_triple(foot), _triple(axis))


def _triple(values: npt.NDArray[np.floating]) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])
