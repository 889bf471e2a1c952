"""Draw simulated tables for `train_gnomes.py`: crops to train on, whole pictures to check by.

    python -m tests.bench.draw_gnomes DATA --tables 662 --seed 1000 --hard 0.7        about 5 s of one core a table
    python -m tests.bench.draw_gnomes CHECK --tables 24 --seed 900101 --check --hard 0

A table gives its calibration picture and eight shakes, each at the scale where a lying gnome at the middle of the tray
is about DRAWN_PX long; crops of 192 x 192 px go into one file a table. A share of the tables is made harder than
`draw_table` makes them: burnt-out or dim, noisy, under one hard lamp, gnomes in colours of felt or table, in tight
heaps, beside rods and cubes of their own colours. Check tables keep whole pictures and are never trained on.
"""

import argparse
import math
import os
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import cv2
import numpy as np

from companion.simulated.pawns import Bump, apart, draw_table, render, shake

DRAWN_PX = 40.0
CROP = 192
SHAKES = 8
PART_NAMES = "peot"  # picture, empty picture, owners, pieces


def harder(table, rng):
    """The same table under conditions that a reader should survive."""
    light, lens, room = table.light, table.lens, table.light.room
    gain = float(rng.choice([1.0, rng.uniform(1.2, 2.2), rng.uniform(0.45, 0.8)], p=[0.45, 0.4, 0.15]))
    if rng.random() < 0.5:
        room = float(rng.uniform(0.06, 0.25))
        light = replace(
            light, width_rad=float(rng.uniform(0.004, 0.03)), height_rad=float(rng.uniform(0.55, 1.1)), room=room
        )
    if rng.random() < 0.5:
        lens = replace(lens, noise=float(rng.uniform(4.0, 9.0)), jpeg=int(rng.integers(60, 90)))
    kelvin = float(rng.normal(0, 0.12))
    cast = (lens.cast[0] * (1 + kelvin), lens.cast[1], lens.cast[2] * (1 - kelvin))
    return replace(
        table, light=light, lens=replace(lens, cast=cast, exposure=lens.exposure * gain), **blended(table, rng)
    )


def blended(table, rng):
    """Now and then a gnome's colour is nearly the felt's or the table's."""
    if rng.random() < 0.6:
        return {}
    near = tuple(float(v * math.exp(rng.normal(0.1, 0.25))) for v in table.palette[int(rng.integers(3))][1])
    if rng.random() < 0.3:
        return {"tray": replace(table.tray, felt=near)}
    return {"surface": replace(table.surface, paint=near, dark=tuple(v * float(rng.uniform(0.55, 1.0)) for v in near))}


def draw_count(rng):
    return int(rng.integers(10, 16) if rng.random() < 0.7 else rng.integers(0, 11))


def draw_shake(table, rng, hard):
    names = [name for name, _ in table.palette for _ in range(5)]
    rng.shuffle(names)
    heap = float(rng.uniform(3, 16)) if hard and rng.random() < 0.5 else None
    gnomes = shake(table, names[: draw_count(rng)], rng, heap, 0.15 if hard and rng.random() < 0.3 else 0.05)
    bump = Bump(float(rng.uniform(0, 7)), 1.0) if rng.random() < 0.4 else None
    clutter = int(rng.choice([0, 1, 2, 3, 4], p=[0.15, 0.1, 0.3, 0.1, 0.35] if hard else [0.15, 0.15, 0.45, 0.25, 0]))
    return render(table, gnomes, rng, clutter=clutter, flicker=0.06, bump=bump)


def registered(empty, shot, rng):
    """The empty picture moved under the shake, with the small error that registration leaves."""
    spread = 2.0 if rng.random() < 0.1 else 0.45
    error = np.eye(3)
    error[:2, 2] = rng.normal(0, spread, 2)
    size = empty.shape[1], empty.shape[0]
    return cv2.warpPerspective(empty, error @ shot.bumped, size, borderMode=cv2.BORDER_REPLICATE)


def scaled(image, scale, how=None):
    if how is None:
        how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    return cv2.resize(image, None, fx=scale, fy=scale, interpolation=how)


def usual_px(truth):
    return float(np.median(truth.visible_px[truth.visible_px > 0])) if len(truth.visible_px) else 1.0


def normalised(shot, empty, scale):
    """Picture, empty picture, owners and pieces (n, 6: centre, head, shown share, number) at the net's scale."""
    truth = shot.truth
    owners = scaled(truth.owners, scale, cv2.INTER_NEAREST)
    places = [((p + 0.5) * scale - 0.5).reshape(-1, 2) for p in (truth.centres_px, truth.heads_px)]
    share = truth.visible_px / max(usual_px(truth), 1.0)
    pieces = np.concatenate([*places, share[:, None], np.arange(len(share))[:, None]], axis=1).astype(np.float32)
    return scaled(shot.picture, scale), scaled(empty, scale), owners, pieces


def crop_at(parts, x, y):
    """A CROP px square around a point; outside the picture it is mirrored and marked 255 in the owners."""
    picture, empty, owners, pieces = parts
    left, top = int(x) - CROP // 2, int(y) - CROP // 2
    pad = CROP
    wide = [cv2.copyMakeBorder(i, pad, pad, pad, pad, cv2.BORDER_REFLECT_101) for i in (picture, empty)]
    marks = np.where(owners < 0, 0, owners + 1).astype(np.uint8)
    marks = cv2.copyMakeBorder(marks, pad, pad, pad, pad, cv2.BORDER_CONSTANT, value=255)
    cut = np.s_[top + pad : top + pad + CROP, left + pad : left + pad + CROP]
    table = np.full((15, 6), -1000.0, np.float32)
    table[: len(pieces)] = pieces
    table[: len(pieces), :4] -= np.float32([left, top, left, top])
    return wide[0][cut], wide[1][cut], marks[cut][::2, ::2], table


def crops_of(parts, rng, n):
    """The heap, the piece nearest to the picture's edge, any others, and a changed place."""
    rows, columns = parts[0].shape[:2]
    places = parts[3][:, :2]
    for k in range(n):
        if not len(places) or k == n - 1:
            x, y = changed_place(parts, rng)
        elif k == 0:
            x, y = np.median(places, axis=0) + rng.normal(0, 24, 2)
        elif k == 1:
            x, y = places[np.minimum(places, [columns, rows] - places).min(axis=1).argmin()] + rng.normal(0, 16, 2)
        else:
            x, y = places[rng.integers(len(places))]
        yield crop_at(parts, np.clip(x, 10, columns - 10), np.clip(y, 10, rows - 10))


def changed_place(parts, rng):
    """A place anywhere, rather where the shake changed the picture: clutter, shadows, pieces outside the tray."""
    rows, columns = parts[0].shape[:2]
    change = cv2.boxFilter(cv2.absdiff(parts[0], parts[1]).max(axis=2).astype(np.float32), -1, (64, 64))
    places = [(rng.uniform(10, columns - 10), rng.uniform(10, rows - 10)) for _ in range(5)]
    return max(places, key=lambda p: change[int(p[1]), int(p[0])])


def table_scenes(seed, hard, spread=0.08):
    """The calibration and eight shakes of one table as (picture, empty, owners, pieces)."""
    rng = np.random.default_rng([seed, 73])
    table = harder(draw_table(seed), rng) if hard else draw_table(seed)
    empty = render(table, [], rng).picture
    calibration = render(table, apart(table, rng), rng, flicker=0.03)
    exact = DRAWN_PX / (table.pawn.length_mm * table.camera.px_per_mm)
    for shot in [calibration, *(draw_shake(table, rng, hard) for _ in range(SHAKES))]:
        yield normalised(shot, registered(empty, shot, rng), exact * math.exp(rng.normal(0, spread)))


def flattened(scenes, seed, check):
    if check:
        return {f"{k}_{i}": part for i, scene in enumerate(scenes) for k, part in zip(PART_NAMES, scene, strict=True)}
    rng = np.random.default_rng([seed, 74])
    crops = [c for i, scene in enumerate(scenes) for c in crops_of(scene, rng, 4 if i else 1)]
    return dict(zip(PART_NAMES, (np.stack(part) for part in zip(*crops, strict=True)), strict=True))


def main():
    cv2.setNumThreads(1)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--tables", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--check", action="store_true", help="keep whole pictures")
    parser.add_argument("--hard", type=float, default=0.5, help="share of tables that are made harder")
    args = parser.parse_args()
    args.data.mkdir(parents=True, exist_ok=True)
    for seed in range(args.seed, args.seed + args.tables):
        path = args.data / f"{'check' if args.check else 'table'}{seed:07d}.npz"
        hard = bool(np.random.default_rng([seed, 75]).random() < args.hard)
        scenes = list(table_scenes(seed, hard, 0.03 if args.check else 0.08))
        with open(path.with_suffix(".part"), "wb") as file:
            np.savez(file, **flattened(scenes, seed, args.check))
        path.with_suffix(".part").rename(path)


if __name__ == "__main__":
    main()
