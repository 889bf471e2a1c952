"""Render one piece, or a few, on white, grey or black paper under any lamp: what "what is this?" is fitted on.

Forty of them side by side: python -m tests.bench.draw_mats sheet.jpg --seed 1
"""

import argparse
import math
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np

from companion.simulated.gem_cut import faceted
from companion.simulated.gem_style import draw_gem_table
from companion.simulated.ground import MARGIN_PX, bare_ground, lamp_from
from companion.simulated.lens import Lens, develop
from companion.simulated.light import FINE, cast, look_down, paint_faces
from companion.simulated.painting import cropped, light_up
from companion.simulated.solids import Profile, aim, block, f32, joined, lathe, moved, outline, yaw
from companion.simulated.style import PAINTS, Surface

SHAPES = ("disc", "cube", "block", "pawn", "gem", "ring", "ball")
COLOURS = tuple(name for name in PAINTS if name != "turquoise")
SHEETS = {"white": 0.80, "grey": 0.22, "black": 0.035}
SIZE_PX = (480, 360)


@dataclass(frozen=True)
class Mat:
    """A picture, what the piece in its middle is, and how many lie there."""

    picture: np.ndarray
    shape: str
    colour: str
    sheet: str
    kelvin: float
    pieces: int


def draw_mat(seed, *, shape=None, colour=None, kelvin=None, sheet=None, pieces=None, aside_mm=None):
    """A picture of 480 x 360 px; what is not said is drawn by chance."""
    rng = np.random.default_rng([seed, 91])
    shape = shape or str(rng.choice(SHAPES))
    colour = colour or str(rng.choice(COLOURS))
    kelvin = float(kelvin or rng.uniform(2700, 6500))
    sheet = sheet or str(rng.choice(list(SHEETS), p=[0.5, 0.3, 0.2]))
    pieces = pieces or int(rng.choice([1, 2, 3], p=[0.8, 0.1, 0.1]))
    table = draw_gem_table(seed, SIZE_PX)
    light = replace(table.light, key_colour=warm(kelvin), room_colour=warm(kelvin + rng.normal(0, 300)),
                    fall=min(table.light.fall, 0.4))  # fmt: skip
    surface = paper(rng, sheet)
    scale = rng.uniform(3.2, 8.0)
    camera = replace(table.camera, px_per_mm=float(scale))
    view = look_down(camera.tilt_rad, camera.heading_rad, camera.roll_rad, camera.distance_mm, np.zeros(3),
                     (SIZE_PX[0] + 2 * MARGIN_PX, SIZE_PX[1] + 2 * MARGIN_PX), scale * camera.distance_mm)  # fmt: skip
    ground, lamp = bare_ground(surface, light, view, rng), lamp_from(light)
    things = solids(rng, shape, colour, pieces, aside_mm, camera.px_per_mm)
    solid = joined([ground.solid, *things])
    faces = paint_faces(view, solid, FINE)
    lit = light_up(ground, lamp, solid, faces, cast(solid, lamp, rng, 4, 120.0), surface.paint, scale)
    home = np.array([[1.0, 0, -MARGIN_PX], [0, 1.0, -MARGIN_PX], [0, 0, 1.0]])
    picture = develop(f32(cropped(lit, home, cv2.INTER_LINEAR)), lens_for(rng, sheet, lamp, kelvin), rng)
    return Mat(picture, shape, colour, sheet, kelvin, pieces)


def warm(kelvin):
    """Linear BGR of a lamp; 1 each at daylight."""
    share = kelvin / 6500.0
    return share**1.25, share**0.42, share**-0.1


def paper(rng, sheet):
    level = SHEETS[sheet] * math.exp(rng.normal(0, 0.1))
    paint = tuple(float(min(level * math.exp(rng.normal(0, 0.015)), 0.92)) for _ in range(3))
    return Surface("plain", paint, tuple(0.96 * v for v in paint), float(rng.uniform(20, 80)), 0.0, 0.01)


def lens_for(rng, sheet, lamp, kelvin):
    """A camera that takes back more or less of the lamp's colour, and meters the sheet neither black nor burnt out."""
    power = float(np.mean(lamp.key * lamp.towards[2] + lamp.room))
    aim_at = {"white": rng.uniform(0.35, 0.75), "grey": rng.uniform(0.12, 0.3), "black": rng.uniform(0.02, 0.06)}[sheet]
    taken = rng.uniform(0.4, 1.0)
    cast_bgr = tuple(float(v**-taken) for v in warm(kelvin))
    return Lens(blur_px=float(rng.uniform(0, 1)), noise=float(rng.uniform(0.5, 4)), jpeg=int(rng.integers(75, 97)),
                cast=cast_bgr, exposure=aim_at / (SHEETS[sheet] * power), gamma=float(rng.uniform(2.0, 2.4)),
                vignette=float(rng.uniform(0, 0.25)), saturation=float(rng.uniform(0.85, 1.15)))  # fmt: skip


def solids(rng, shape, colour, pieces, aside_mm, px_per_mm):
    placed, room = [], min(SIZE_PX) / px_per_mm / 2
    for number in range(pieces):
        if number == 0:
            at = np.array([*(aside_mm or rng.normal(0, 0.06 * room, 2)), 0.0])
            placed.append(moved(thing(rng, shape, colour), yaw(rng.uniform(0, 6.3)), at))
        else:
            turn = rng.uniform(0, 6.3)
            at = np.array([math.cos(turn), math.sin(turn), 0]) * min(room * 0.8, 30) * rng.uniform(0.9, 1.1)
            other = thing(rng, str(rng.choice(SHAPES)), str(rng.choice(COLOURS)))
            placed.append(moved(other, yaw(rng.uniform(0, 6.3)), at))
    return placed


def thing(rng, shape, colour):
    """A solid on z = 0 around the z axis."""
    paint = tuple(float(np.clip(v * math.exp(rng.normal(0, 0.09)), 0.006, 0.92)) for v in PAINTS[colour])
    gloss, size = float(rng.uniform(0, 0.3) ** 1.5), rng.uniform(12, 22)
    if shape == "disc":
        high, wide = size * rng.uniform(0.12, 0.4), size / 2
        return lathe(f32([(0, 0), (0, wide), (high, wide), (high, 0)]), 40, paint, gloss)
    if shape == "cube":
        return block((size * 0.8,) * 3, paint, gloss)
    if shape == "block":
        return block((size * rng.uniform(1.2, 1.8), size * 0.6, size * rng.uniform(0.35, 0.6)), paint, gloss)
    if shape == "pawn":
        return pawn(rng, size, paint, gloss)
    if shape == "gem":
        cut = replace(draw_gem_table(int(rng.integers(1 << 30))).cut, radius_mm=float(size / 2))
        up = rng.random() < 0.5
        body = moved(faceted(cut, paint, gloss), np.diag([1.0, -1.0, -1.0]) if up else np.eye(3), np.zeros(3))
        return moved(body, np.eye(3), np.array([0, 0, -float(body.quads_mm[..., 2].min())]))
    if shape == "ring":
        wide, high = size / 2, size * rng.uniform(0.1, 0.3)
        inner = wide * rng.uniform(0.45, 0.7)
        return lathe(f32([(0, inner), (0, wide), (high, wide), (high, inner), (0, inner)]), 40, paint, gloss)
    turn = np.linspace(0, math.pi, 16)
    return lathe(f32(np.stack([size / 2 * (1 - np.cos(turn)), size / 2 * np.sin(turn)], axis=1)), 40, paint, gloss)


def pawn(rng, size, paint, gloss):
    """Mostly lying, for so it is told from a ball and a disc."""
    long = size * 1.3
    profile = Profile(long, long * rng.uniform(0.24, 0.31), long * 0.12, long * rng.uniform(0.17, 0.22), 1.3, 0.7)
    body = lathe(outline(profile, 20), 32, paint, gloss)
    if rng.random() < 0.25:
        return body
    lean = math.atan2(profile.base_mm - profile.head_mm, long - profile.head_mm)
    lying = moved(body, aim(np.array([math.cos(lean), 0, -math.sin(lean)])), np.array([-long / 2, 0, 0]))
    return moved(lying, np.eye(3), np.array([0, 0, -float(lying.quads_mm[..., 2].min())]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sheet", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    shots = [cv2.resize(draw_mat(args.seed + i).picture, (240, 180)) for i in range(40)]
    cv2.imwrite(str(args.sheet), np.vstack([np.hstack(shots[i : i + 8]) for i in range(0, 40, 8)]))


if __name__ == "__main__":
    main()
