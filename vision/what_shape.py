"""What shape one piece has: its outline and how the light lies on it, weighed by numbers fitted on rendered pieces.

The numbers in vision/data/shapes.npz were fitted by `tests/bench/fit_what.py`.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import as_file, files

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.pictures import Picture
from vision.stored import load_npz

SHAPES = ("disc", "cube", "block", "pawn", "gem", "ring", "ball")
FORMAT = 1
CORNER_SHARE = 0.035  # of the outline's length: flatter bends are no corners
SLICES = 16
OTHERWISE = 0.03  # of the chances are spread over all shapes: pieces come in others too
INNER_SHARE = 0.1

Mask = NDArray[np.uint8]
Numbers = NDArray[np.float64]


def chances(mask: Mask, picture: Picture) -> tuple[tuple[str, float], ...]:
    """Return each of SHAPES with its probability for a mask (0 or 1) and the BGR picture under it; likeliest first."""
    mean, spread, first, second = _fitted()
    seen = np.append((features(mask, picture) - mean) / spread, 1.0)
    hidden = np.append(np.tanh(seen @ first), 1.0)
    scores = hidden @ second
    weights = np.exp(scores - scores.max())
    order = np.argsort(-weights, kind="stable")
    shares = (1 - OTHERWISE) * weights / weights.sum() + OTHERWISE / len(SHAPES)
    return tuple((SHAPES[i], float(shares[i])) for i in order)


def features(mask: Mask, picture: Picture) -> Numbers:
    """Measure a mask and the picture under it: of any size, but alike in shape."""
    edges, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    edge = np.asarray(max(edges, key=cv2.contourArea), np.int32)
    return np.concatenate([_outline(mask, edge), _along(mask), _light(mask, picture)])


def _outline(mask: Mask, edge: NDArray[np.int32]) -> Numbers:
    area, filled = float(mask.sum()), max(cv2.contourArea(edge), 1.0)
    (_, _), sides, _ = cv2.minAreaRect(edge)
    long, short = max(sides) + 1, min(sides) + 1
    hull = max(cv2.contourArea(cv2.convexHull(edge)), 1.0)
    _, radius = cv2.minEnclosingCircle(edge)
    length = cv2.arcLength(edge, True)
    corners = len(cv2.approxPolyDP(edge, CORNER_SHARE * length, True))
    hole = max(0.0, 1 - area / max(filled + 0.5 * length, 1.0))
    return np.array(
        [
            short / long,
            filled / (long * short),
            filled / hull,
            filled / (np.pi * (radius + 0.5) ** 2),
            4 * np.pi * filled / max(length, 1.0) ** 2,
            hole,
            min(corners, 10) / 10,
        ]
    )


def _along(mask: Mask) -> Numbers:
    """How the width changes along the longer axis: skew, waist, ends."""
    points = np.argwhere(mask > 0)[:, ::-1].astype(np.float64)
    centred = points - points.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred / len(points))
    along = centred @ vectors[:, 1]
    skew = abs(float(np.mean(along**3))) / max(float(values[1]), 1e-6) ** 1.5
    place = np.clip((along - along.min()) / max(np.ptp(along), 1e-6) * SLICES, 0, SLICES - 1).astype(int)
    widths = np.bincount(place, minlength=SLICES) / max(np.bincount(place).max(), 1)
    waist = float(widths[4:12].min() / max(min(widths[:5].max(), widths[11:].max()), 1e-6))
    ends = float(min(widths[1], widths[-2]))
    return np.array([skew, waist, ends, float(np.sqrt(values[0] / max(values[1], 1e-6)))])


def _light(mask: Mask, picture: Picture) -> Numbers:
    """How the light lies: its spread, whether it falls off from the middle or along a slope, edges, plain faces."""
    reach = max(1, round(INNER_SHARE * np.sqrt(float(mask.sum()))))
    inner = cv2.erode(mask, np.ones((2 * reach + 1, 2 * reach + 1), np.uint8))
    inner = inner if inner.sum() > 12 else mask
    level = cv2.GaussianBlur(picture, (0, 0), 0.8).astype(np.float32).mean(axis=2)
    rows, columns = np.nonzero(inner)
    light = np.log(level[rows, columns].astype(np.float64) + 8)
    x, y = columns - columns.mean(), rows - rows.mean()
    size = np.sqrt(float(mask.sum()))
    grade = np.column_stack([np.ones_like(x), x / size, y / size, (x**2 + y**2) / size**2])
    slope, *_ = np.linalg.lstsq(grade, light, rcond=None)
    left = light - grade @ slope
    spread = float(light.std())
    steep = np.hypot(cv2.Sobel(level, cv2.CV_32F, 1, 0), cv2.Sobel(level, cv2.CV_32F, 0, 1))[rows, columns]
    edges = steep / (8 * np.maximum(level[rows, columns], 12)) * size / 20
    return np.array(
        [
            spread,
            float(left.std()),
            float(left.std() / (spread + 0.02)),
            float(np.hypot(slope[1], slope[2])),
            float(np.clip(slope[3], -3, 3)),
            float(edges.mean()),
            float(np.quantile(edges, 0.95)),
            float((edges > 0.12).mean()),
            float(np.quantile(light, 0.9) - np.quantile(light, 0.5)),
            float(np.quantile(light, 0.5) - np.quantile(light, 0.1)),
        ]
    )


@lru_cache(maxsize=1)
def _fitted() -> tuple[Numbers, Numbers, Numbers, Numbers]:
    with as_file(files("vision").joinpath("data", "shapes.npz")) as path:
        stored = load_npz(path, FORMAT)
    mean, spread, first, second = (stored[key].astype(np.float64) for key in ("mean", "spread", "first", "second"))
    return mean, spread, first, second
