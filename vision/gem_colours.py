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
DARK = 6.0
SLICES = 5
SHADES = np.linspace(-1.2, 0.6, 13, dtype=np.float32)
"""Logarithms of how much darker or lighter than the palette's gem another may stand."""
BURNT = 250.0
LOOK = 6 * SLICES
INPUTS = 101

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


def compared(looks: NDArray[np.float32], palette: NDArray[np.float32]) -> NDArray[np.float32]:
    """Lay gems (n x 30) beside each gem of their palettes (n x 6 x 30): what the net is shown, n x 6 x INPUTS.

    That is both looks, their difference, how far each fifth is from any shade of the palette's gem, and which colour.
    """
    n, colours = palette.shape[:2]
    ours, theirs = looks.reshape(n, 1, SLICES, 6), palette.reshape(n, colours, SLICES, 6)
    away = (ours - theirs)[..., :3].reshape(n, colours, 3 * SLICES)
    beside = np.broadcast_to(looks[:, None], palette.shape)
    which = np.broadcast_to(np.eye(colours, dtype=np.float32), (n, colours, colours))
    return np.concatenate([beside, palette, away, _unlike(ours, theirs), which], axis=2).astype(np.float32)


def _unlike(ours: NDArray[np.float32], theirs: NDArray[np.float32]) -> NDArray[np.float32]:
    """For each fifth of gems the way from the nearest shade of the palette's fifths, and its length: n x 6 x 20.

    `ours` is n x 1 x 5 x 6, `theirs` n x 6 x 5 x 6. A shade is darker or lighter by one factor in all
    channels, and no channel is lighter than burnt out.
    """
    most = ours[..., :3] + np.log((BURNT + DARK) / (255 * ours[..., 3:] + DARK))
    shades = theirs[:, :, :, None, :3] + SHADES[:, None]
    shades = np.minimum(shades.reshape(*theirs.shape[:2], SLICES * len(SHADES), 3), most[:, :, -1:])
    off = ours[:, :, :, None, :3] - shades[:, :, None]
    length = np.sqrt(np.einsum("ncijk,ncijk->ncij", off, off))
    nearest = length.argmin(axis=3)[..., None]
    way = np.take_along_axis(off, nearest[..., None], axis=3)[:, :, :, 0]
    found = np.concatenate([way, np.take_along_axis(length, nearest, axis=3)], axis=3)
    return found.reshape(*theirs.shape[:2], 4 * SLICES)


def scores(weights: Weights, shown: NDArray[np.float32]) -> NDArray[np.float32]:
    """Run the net on n x INPUTS comparisons: log odds (n,), comparable among the colours of one gem."""
    *hidden, (last, add) = weights
    for matrix, more in hidden:
        shown = np.maximum(shown @ matrix + more, 0.0)
    return np.asarray((shown @ last + add)[:, 0], np.float32)


def chances(looks: NDArray[np.float32], palette: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return how likely gems (n x 30) have each colour of a palette (6 x 30): n x 6, each row sums to one."""
    shown = compared(looks, np.broadcast_to(palette, (len(looks), *palette.shape)))
    odds = scores(_fitted(), shown.reshape(-1, INPUTS)).reshape(len(looks), len(palette)).astype(np.float64)
    weight = np.exp(odds - odds.max(axis=1, keepdims=True, initial=-np.inf))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True), np.float64)


def apart(first: Look, second: Look) -> float:
    """Return how far two looks are apart, in logarithms of channels: under a tenth nobody tells them apart."""
    away = (first - second).reshape(SLICES, 6)[:, :3]
    return float(np.sqrt(np.square(away).sum(axis=1).mean()))


@lru_cache(maxsize=1)
def _fitted() -> Weights:
    data = files("vision").joinpath("data", "gems_colours.npz").read_bytes()
    with np.load(io.BytesIO(data), allow_pickle=False) as stored:
        return tuple((stored[f"matrix{i}"], stored[f"more{i}"]) for i in range(len(stored.files) // 2))
