"""Which of six colours a gem has: its pixels beside those of each gem of the palette, both in the light of their place.

Gems turn their facets to the lamp and away from it, burn out where the camera metered a dark cloth, and stand in
shade; so a gem is compared by its darker, middle and lighter pixels. What counts how much was fitted by
`tests/bench/fit_gems.py` on rendered tables; the colours themselves come from the calibration alone.
"""

from __future__ import annotations

import io
from functools import lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

COLOURS = ("gold", "red", "orange", "yellow", "green", "blue")
"""In the order in which the palette's row has them."""
LEVELS = (0.1, 0.3, 0.5, 0.7, 0.9)
DARK = 6.0
SLICES = len(LEVELS)

Look = NDArray[np.float32]
"""What is compared of a gem: see `look_of`."""
Weights = tuple[tuple[NDArray[np.float32], NDArray[np.float32]], ...]
"""Layers of a small net, each a matrix (inputs x outputs) and what is added (outputs,); ReLU between them."""


def look_of(pixels: NDArray[np.uint8], light: NDArray[np.float32]) -> Look:
    """Describe a gem (n x 3 pixels, BGR) in the light (3,) of its place: 30 numbers.

    For each fifth of its pixels, dark to light, first the logarithm of B, G and R over the light's, then B, G and R
    over 255.
    """
    levels = pixels.astype(np.float32)
    order = np.argsort(levels.sum(axis=1), kind="stable")
    fifths = np.stack([part.mean(axis=0) for part in np.array_split(levels[order], SLICES)])
    relative = np.log((fifths + DARK) / (light + DARK))
    return np.concatenate([relative, fifths / 255], axis=1).astype(np.float32).ravel()


def compared(look: Look, palette: NDArray[np.float32]) -> NDArray[np.float32]:
    """Lay a gem beside each gem of the palette (6 x 30): what the net is shown for each colour, 6 x 81."""
    relative = np.repeat(look.reshape(SLICES, 6)[None, :, :3], len(palette), axis=0)
    away = (relative - palette.reshape(-1, SLICES, 6)[:, :, :3]).reshape(len(palette), -1)
    beside = np.broadcast_to(look, palette.shape)
    return np.concatenate([beside, palette, away, np.eye(len(palette), dtype=np.float32)], axis=1).astype(np.float32)


def scores(weights: Weights, shown: NDArray[np.float32]) -> NDArray[np.float32]:
    """Run the net on n x 81 comparisons: log odds (n,), comparable among the colours of one gem."""
    *hidden, (last, add) = weights
    for matrix, more in hidden:
        shown = np.maximum(shown @ matrix + more, 0.0)
    return np.asarray((shown @ last + add)[:, 0], np.float32)


def chances(look: Look, palette: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return how likely a gem has each colour of the palette (6 x 30): six numbers that sum to one."""
    odds = scores(_fitted(), compared(look, palette)).astype(np.float64)
    weight = np.exp(odds - odds.max())
    return np.asarray(weight / weight.sum(), np.float64)


def apart(first: Look, second: Look) -> float:
    """Return how far two looks are apart, in logarithms of channels: under a tenth nobody tells them apart."""
    away = (first - second).reshape(SLICES, 6)[:, :3]
    return float(np.sqrt(np.square(away).sum(axis=1).mean()))


@lru_cache(maxsize=1)
def _fitted() -> Weights:
    data = files("vision").joinpath("data", "gems_colours.npz").read_bytes()
    with np.load(io.BytesIO(data), allow_pickle=False) as stored:
        return tuple((stored[f"matrix{i}"], stored[f"more{i}"]) for i in range(len(stored.files) // 2))
