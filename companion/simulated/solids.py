"""Solid things as painted quads: turned pawns, cubes, cups, sheets."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
Paint = tuple[float, float, float]

NOBODY = -1


def f32(values: npt.ArrayLike) -> Floats:
    """Anything that numpy takes for numbers, as a float32 array."""
    return np.asarray(values, np.float32)


@dataclass(frozen=True, slots=True)
class Solid:
    """A surface of n quads.

    `quads_mm` (n, 4, 3), outward unit `normals` (n, 3), linear BGR `paint` (n, 3), mirror `gloss` (n,), `owner` (n,):
    the number of the gnome that a quad belongs to, or NOBODY.
    """

    quads_mm: Floats
    normals: Floats
    paint: Floats
    gloss: Floats
    owner: Ints


@dataclass(frozen=True, slots=True)
class Profile:
    """The outline of a turned pawn: a cone with a foot rim, a neck and a head that is nearly a sphere; all in mm."""

    length_mm: float = 22.0
    base_mm: float = 6.0
    neck_mm: float = 2.8
    head_mm: float = 4.4
    hollow: float = 1.3
    rim_mm: float = 0.7
    collar_mm: float = 0.0


def outline(profile: Profile, rings: int = 16) -> Floats:
    """Points (m, 2) of the profile as (height, radius) in mm, from the middle of the foot to the top of the head."""
    head_at = profile.length_mm - profile.head_mm
    meet = np.sqrt(max(profile.head_mm**2 - profile.neck_mm**2, 0.0))
    cone = _cone(profile, float(head_at - meet), rings // 2)
    start = np.arcsin(min(1.0, profile.neck_mm / profile.head_mm))
    turn = np.linspace(np.pi - start, 0.0, rings // 2 + 1)
    head = np.stack([head_at + profile.head_mm * np.cos(turn), profile.head_mm * np.sin(turn)], axis=1)
    foot = np.array(
        [[0.0, 0.0], [0.0, profile.base_mm - 0.3], [0.3, profile.base_mm], [profile.rim_mm, profile.base_mm]]
    )
    return np.concatenate([foot, cone, _collar(profile, float(head_at - meet)), head]).astype(np.float32)


def _cone(profile: Profile, top_mm: float, rings: int) -> npt.NDArray[np.float64]:
    t = np.linspace(0.0, 1.0, rings)[1:-1]
    radius = profile.neck_mm + (profile.base_mm - profile.neck_mm) * (1.0 - t) ** profile.hollow
    return np.stack([profile.rim_mm + t * (top_mm - profile.rim_mm), radius], axis=1)


def _collar(profile: Profile, at_mm: float) -> npt.NDArray[np.float64]:
    if not profile.collar_mm:
        return np.zeros((0, 2))
    wide = profile.neck_mm + profile.collar_mm
    return np.array(
        [[at_mm - 1.6, profile.neck_mm], [at_mm - 1.2, wide], [at_mm - 0.6, wide], [at_mm - 0.2, profile.neck_mm]]
    )


def lathe(line: Floats, sectors: int, paint: Paint, gloss: float, owner: int = NOBODY) -> Solid:
    """Turn an outline (m, 2) of (height, radius) in mm around the z axis."""
    angle = np.linspace(0.0, 2.0 * np.pi, sectors + 1).astype(np.float32)
    ring = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points = np.concatenate(
        [line[:, None, 1:] * ring[None], np.broadcast_to(line[:, None, :1], (len(line), sectors + 1, 1))], axis=2
    )
    quads = np.stack([points[:-1, :-1], points[:-1, 1:], points[1:, 1:], points[1:, :-1]], axis=2).reshape(-1, 4, 3)
    return painted(quads, _lathe_normals(line, angle), paint, gloss, owner)


def _lathe_normals(line: Floats, angle: Floats) -> Floats:
    rise, grow = np.diff(line[:, 0]), np.diff(line[:, 1])
    size = np.maximum(np.hypot(rise, grow), 1e-6)
    middle = (angle[:-1] + angle[1:]) / 2
    out = np.stack([np.cos(middle), np.sin(middle)], axis=1)[None] * (rise / size)[:, None, None]
    up = np.broadcast_to((-grow / size)[:, None, None], (len(rise), len(middle), 1))
    return np.concatenate([out, up], axis=2).reshape(-1, 3).astype(np.float32)


def painted(
    quads_mm: npt.NDArray[np.floating], normals: Floats, paint: Paint, gloss: float, owner: int = NOBODY
) -> Solid:
    """A solid of one paint from quads (n, 4, 3) in mm and their normals (n, 3)."""
    n = len(quads_mm)
    return Solid(
        quads_mm.astype(np.float32),
        normals.astype(np.float32),
        np.tile(f32(paint), (n, 1)),
        np.full(n, gloss, np.float32),
        np.full(n, owner, np.int32),
    )


def flat(quads_mm: npt.NDArray[np.floating], paint: Paint, gloss: float) -> Solid:
    """A solid of plane quads (n, 4, 3) in mm that run anticlockwise seen from outside."""
    across = np.cross(quads_mm[:, 2] - quads_mm[:, 0], quads_mm[:, 3] - quads_mm[:, 1])
    size = np.linalg.norm(across, axis=1, keepdims=True)
    return painted(quads_mm, (across / np.maximum(size, 1e-9)).astype(np.float32), paint, gloss)


def block(sides_mm: tuple[float, float, float], paint: Paint, gloss: float, cuts: int = 3) -> Solid:
    """A box standing on z = 0 around the z axis, each face cut into `cuts` x `cuts` quads so that depth sorts well."""
    half = np.array(sides_mm) / 2
    faces = [_face(axis, sign, cuts) for axis in range(3) for sign in (-1.0, 1.0)]
    quads = np.concatenate(faces) * half + np.array([0.0, 0.0, half[2]])
    return flat(quads, paint, gloss)


def _face(axis: int, sign: float, cuts: int) -> npt.NDArray[np.float64]:
    edge = np.linspace(-1.0, 1.0, cuts + 1)
    u, v = np.meshgrid(np.arange(cuts), np.arange(cuts), indexing="ij")
    corners = [(0, 0), (1, 0), (1, 1), (0, 1)] if sign > 0 else [(0, 0), (0, 1), (1, 1), (1, 0)]
    quads = np.empty((cuts * cuts, 4, 3))
    for i, (du, dv) in enumerate(corners):
        quads[:, i, axis] = sign
        quads[:, i, (axis + 1) % 3] = edge[(u + du).ravel()]
        quads[:, i, (axis + 2) % 3] = edge[(v + dv).ravel()]
    return quads


def cup(radius_mm: float, height_mm: float, paint: Paint, gloss: float) -> Solid:
    """An open beaker standing on z = 0, with an inside."""
    wide, thin = radius_mm, radius_mm - 2.5
    foot = 0.86
    heights = np.linspace(0.0, height_mm, 9)
    outside = [(h, wide * (foot + (1 - foot) * h / height_mm)) for h in heights]
    inside = [(h, thin * (foot + (1 - foot) * h / height_mm)) for h in heights[::-1]]
    inside[-1] = (3.0, thin * foot)
    return lathe(f32([(0.0, 0.0), *outside, *inside, (3.0, 0.0)]), 40, paint, gloss)


def moved(solid: Solid, turn: npt.NDArray[np.floating], to_mm: npt.NDArray[np.floating]) -> Solid:
    """The solid after a rotation (3, 3) about its origin and a shift (3,) in mm."""
    spin = turn.astype(np.float32)
    return Solid(
        solid.quads_mm @ spin.T + to_mm.astype(np.float32),
        solid.normals @ spin.T,
        solid.paint,
        solid.gloss,
        solid.owner,
    )


def joined(solids: list[Solid]) -> Solid:
    """All quads of several solids as one."""
    return Solid(
        np.concatenate([s.quads_mm for s in solids]),
        np.concatenate([s.normals for s in solids]),
        np.concatenate([s.paint for s in solids]),
        np.concatenate([s.gloss for s in solids]),
        np.concatenate([s.owner for s in solids]),
    )


def aim(axis: npt.NDArray[np.floating]) -> Floats:
    """A rotation (3, 3) that takes the z axis to the unit vector `axis` (3,)."""
    z = np.asarray(axis, np.float64) / np.linalg.norm(axis)
    helper = np.array([1.0, 0.0, 0.0]) if abs(z[0]) < 0.8 else np.array([0.0, 1.0, 0.0])
    x = np.cross(helper, z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1).astype(np.float32)


def yaw(angle_rad: float) -> Floats:
    """A rotation (3, 3) about the z axis."""
    c, s = np.cos(angle_rad), np.sin(angle_rad)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]], np.float32)
