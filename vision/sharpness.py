"""How soft a picture's edges are: what tells a shaken or unfocused picture from one that merely shows little."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.pictures import Picture

FINE_PX, COARSE_PX = 1.5, 3.0
EDGE_SHARE = 98.0  # percent of pixels are less steep than an edge
DIRECTIONS = 4
LEAST_EDGE = 15  # pixels of one direction: of fewer nothing can be said
SOFTEST_PX = 20.0


def softness_px(picture: Picture) -> float:
    """Return the standard deviation, in px, of the blur that a BGR picture's edges have, in their softest direction.

    A shaken camera blurs along one direction only. An edge of blur s that is blurred by t more is less steep by
    sqrt(s * s + t * t) / s: two such steps give s. 0.0 without any edge.
    """
    grey = np.asarray(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), np.uint8)
    across, down = _slopes(grey, FINE_PX)
    steep = np.hypot(across, down)
    tops = cv2.dilate(steep, np.ones((5, 5), np.uint8))
    rows, columns = np.nonzero((steep >= tops) & (steep > np.percentile(steep, EDGE_SHARE)))
    coarse = np.hypot(*(slope[rows, columns] for slope in _slopes(grey, COARSE_PX)))
    ratio = np.square(steep[rows, columns] / np.maximum(coarse, 1e-3))
    blur = (COARSE_PX**2 - FINE_PX**2 * ratio) / np.maximum(ratio - 1.0, 1e-3)
    turn = np.mod(np.arctan2(down[rows, columns], across[rows, columns]), np.pi)
    return _softest(np.sqrt(np.clip(blur, 0.0, SOFTEST_PX**2)), turn)


def _slopes(grey: NDArray[np.uint8], sigma_px: float) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    smooth = np.asarray(cv2.GaussianBlur(grey, (0, 0), sigma_px), np.float32)
    across, down = (np.asarray(cv2.Sobel(smooth, cv2.CV_32F, dx, 1 - dx, scale=0.125)) for dx in (1, 0))
    return np.asarray(across, np.float32), np.asarray(down, np.float32)


def _softest(blur: NDArray[np.float32], turn: NDArray[np.float32]) -> float:
    direction = np.minimum((turn / np.pi * DIRECTIONS).astype(int), DIRECTIONS - 1)
    parts = [blur[direction == one] for one in range(DIRECTIONS)]
    return max((float(np.median(part)) for part in parts if len(part) >= LEAST_EDGE), default=0.0)
