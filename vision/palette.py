"""Three colours of gnomes: how fifteen pieces fall into three fives, what they are called, which pixel has which."""

from __future__ import annotations

from itertools import permutations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.names import NAMES

GROUPS = 3
BINS = 32
SHADES = (1.0, 0.85, 0.7, 0.55)  # a piece under another lies in its shadow, which calibration does not show
SHADE_WEIGHTS = (1.0, 0.5, 0.25, 0.1)
BIN_BLUR = 1.2
FLOOR = 2e-6

TOLD = {name: look for name, look in NAMES.items() if name != "pink"}  # without a white sheet: purple in more light
LIGHTNESS_WEIGHT = 0.35
BRIGHTEST = 0.7


def grouped(colours: NDArray[np.float64]) -> NDArray[np.int64]:
    """Sort fifteen mean colours (15 x 3, BGR) into three fives; return the group of each, 0 to 2."""
    points = _features(colours)
    best, labels = np.inf, np.zeros(len(points), np.int64)
    for seed in range(24):
        found = _balanced(points, np.random.default_rng(seed))
        spread = _spread(points, found)
        if spread < best:
            best, labels = spread, found
    return labels


def lit(pixels: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a piece's colour (BGR) from its lighter half without the glint: alike for standing and lying pieces."""
    light = pixels.sum(axis=1)
    low, high = np.quantile(light, (0.5, 0.9))
    return np.asarray(pixels[(light >= low) & (light <= high)].mean(axis=0))


def apart(colours: NDArray[np.float64], labels: NDArray[np.int64]) -> tuple[float, tuple[int, int]]:
    """Return the distance of the two nearest groups in units of their own spread, and which two they are.

    Under 1.5 nobody tells them apart.
    """
    points = _features(colours)
    centres = np.stack([points[labels == g].mean(axis=0) for g in range(GROUPS)])
    within = np.sqrt(_spread(points, labels) / len(points)) + 1e-6
    pairs = ((0, 1), (0, 2), (1, 2))
    distances = [float(np.linalg.norm(centres[a] - centres[b]) / within) for a, b in pairs]
    return min(zip(distances, pairs, strict=True))


def named(means: NDArray[np.float64]) -> tuple[str, ...]:
    """Name the groups' mean colours (3 x 3, BGR), each differently."""
    table = np.array([_look(np.array(v[:3]) * 3 * v[3] * 255.0, v[3]) for v in TOLD.values()])
    lift = max(1.0, BRIGHTEST * 255.0 / float(means.mean(axis=1).max()))  # the lamp may be weak, or the camera short
    looks = np.array([_look(m, lift * float(m.mean()) / 255.0) for m in means])
    costs = np.square(looks[:, None] - table[None]).sum(axis=2)
    choices = permutations(range(len(TOLD)), len(means))
    best = min(choices, key=lambda names: sum(costs[i, n] for i, n in enumerate(names)))
    return tuple(list(TOLD)[n] for n in best)


def densities(samples: list[NDArray[np.uint8]]) -> NDArray[np.float32]:
    """Return, for each group's pixels (n x 3, BGR), its share in each of 32 x 32 x 32 colour cells."""
    return np.stack([_density(pixels.astype(np.float32)) for pixels in samples])


def looked_up(picture: NDArray[np.uint8], table: NDArray[np.float32]) -> NDArray[np.float32]:
    """Look up each pixel's cell in a table of each group (3 x 32 x 32 x 32): 3 x height x width."""
    cells = (picture >> 3).astype(np.int32)
    index = (cells[..., 0] * BINS + cells[..., 1]) * BINS + cells[..., 2]
    return table.reshape(GROUPS, -1)[:, index]


def posterior(table: NDArray[np.float32]) -> NDArray[np.float32]:
    """Turn densities into the share of each group in each colour cell."""
    raised = table + FLOOR
    return np.asarray(raised / raised.sum(axis=0), np.float32)


def _features(colours: NDArray[np.float64]) -> NDArray[np.float64]:
    lightness = colours.mean(axis=1)
    chroma = colours / np.maximum(colours.sum(axis=1, keepdims=True), 1.0)
    return np.column_stack([chroma * 6.0, np.log(np.maximum(lightness, 4.0)) * 0.7])


def _balanced(points: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Lloyd's rounds, with five places in each group, filled by the clearest choices first."""
    size = len(points) // GROUPS
    centres = points[rng.choice(len(points), GROUPS, replace=False)]
    labels = np.zeros(len(points), np.int64)
    for _ in range(12):
        distances = np.square(points[:, None] - centres[None]).sum(axis=2)
        labels = _fill(distances, size)
        centres = np.stack([points[labels == g].mean(axis=0) for g in range(GROUPS)])
    return labels


def _fill(distances: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    labels = np.full(len(distances), -1, np.int64)
    room = [size] * GROUPS
    for flat in np.argsort(distances - distances.min(axis=1, keepdims=True) + 1e-3 * distances, axis=None):
        point, group = divmod(int(flat), GROUPS)
        if labels[point] < 0 and room[group]:
            labels[point] = group
            room[group] -= 1
    return labels


def _spread(points: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    return float(sum(np.square(points[labels == g] - points[labels == g].mean(axis=0)).sum() for g in range(GROUPS)))


def _look(colour: NDArray[np.float64], lightness: float) -> NDArray[np.float64]:
    return np.append(colour / max(float(colour.sum()), 1.0), LIGHTNESS_WEIGHT * lightness)


def _density(pixels: NDArray[np.float32]) -> NDArray[np.float32]:
    total = np.zeros((BINS, BINS, BINS), np.float32)
    edges = [np.arange(0, 257, 8)] * 3
    for shade, weight in zip(SHADES, SHADE_WEIGHTS, strict=True):
        counts = np.histogramdd(pixels * shade, bins=edges)[0].astype(np.float32)
        total += np.float32(weight / max(len(pixels), 1)) * counts
    return _blurred(total / total.sum())


def _blurred(cube: NDArray[np.float32]) -> NDArray[np.float32]:
    kernel = cv2.getGaussianKernel(7, BIN_BLUR).ravel()
    for axis in range(3):
        cube = np.apply_along_axis(np.convolve, axis, cube, kernel, "same")
    return np.asarray(cube, np.float32)
