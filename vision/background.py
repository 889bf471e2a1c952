"""What is new against the empty picture, where a shadow is no news: a shadow darkens a pixel and keeps its hue."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.pictures import Picture

Map = NDArray[np.float32]

DARKEST_SHADOW = 0.2  # of the empty pixel's value
BRIGHTEST_GAIN = 1.08
SMOOTH_PX = 1.0
DARK_OFFSET = 1.0


def smoothed(picture: Picture, sigma_px: float = SMOOTH_PX) -> NDArray[np.float32]:
    """Take off camera noise: BGR in, BGR float32 out, same size."""
    return np.asarray(cv2.GaussianBlur(picture, (0, 0), sigma_px), np.float32)


def news(frame: NDArray[np.float32], empty: NDArray[np.float32]) -> tuple[Map, Map]:
    """Return how far each pixel is from any shading of its empty pixel (levels), and that shading (1 = unchanged)."""
    base = empty + DARK_OFFSET
    strength = np.einsum("ijk,ijk->ij", base, base)
    shade = np.einsum("ijk,ijk->ij", frame, base) / strength
    nearest = np.clip(shade, DARKEST_SHADOW, BRIGHTEST_GAIN)
    away = frame - nearest[..., None] * base
    return np.sqrt(np.einsum("ijk,ijk->ij", away, away)), shade


def level(frame: NDArray[np.float32], empty: NDArray[np.float32]) -> float:
    """Return by how much the lamps are brighter than in the empty picture (1 = alike), by what most pixels say."""
    now = frame[::8, ::8].sum(axis=2)
    then = empty[::8, ::8].sum(axis=2) + 3 * DARK_OFFSET
    return float(np.clip(np.median(now / then), 0.5, 2.0))
