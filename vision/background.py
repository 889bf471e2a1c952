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
CHANNELS = np.ones((1, 3), np.float32)


def smoothed(picture: Picture, sigma_px: float = SMOOTH_PX) -> Map:
    """Take off camera noise: BGR in, BGR float32 out, same size."""
    return np.asarray(cv2.GaussianBlur(picture, (0, 0), sigma_px), np.float32)


def news(frame: Map, empty: Map) -> tuple[Map, Map]:
    """Return how far each pixel is from any shading of its empty pixel (levels), and that shading (1 = unchanged)."""
    base = empty + np.float32(DARK_OFFSET)
    strength, common = _product(base, base), _product(frame, base)
    shade = common / strength
    nearest = np.clip(shade, DARKEST_SHADOW, BRIGHTEST_GAIN)
    away = _product(frame, frame) - nearest * (2 * common - nearest * strength)
    return np.sqrt(np.maximum(away, 0.0)), shade


def level(frame: NDArray[np.uint8], empty: NDArray[np.uint8]) -> float:
    """Return by how much the lamps are brighter than in the empty picture (1 = alike), by what most pixels say."""
    now = frame[::8, ::8].sum(axis=2, dtype=np.float32)
    then = empty[::8, ::8].sum(axis=2, dtype=np.float32) + 3 * DARK_OFFSET
    return float(np.clip(np.median(now / then), 0.5, 2.0))


def most(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the largest of a picture's three channels."""
    blue, green, red = cv2.split(picture)
    return np.asarray(cv2.max(cv2.max(blue, green), red), np.uint8)


def _product(first: Map, second: Map) -> Map:
    """The scalar product of two pictures' pixels."""
    return np.asarray(cv2.transform(cv2.multiply(first, second), CHANNELS), np.float32)
