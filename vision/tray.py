"""Where the felt tray lies in a picture: what has the felt's hue, hangs together and ends at an edge."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.pictures import Picture

Polygon = NDArray[np.int32]

HUE_LEVELS = 6.0
EDGE_LEVELS = 2.0
SHADING = (0.3, 1.7)
LARGEST_SHARE = 0.85
BAR_PX = 5


def outline(empty: Picture, within: Polygon) -> tuple[Polygon, bool]:
    """Return the tray's convex outline (n x 2, px) around a patch of it that is known to be felt, and whether it ends.

    Where no edge is seen it is the patch, widened.
    """
    seed = filled(empty.shape[:2], within)
    hull = _grown(empty, seed)
    if hull is None or cv2.contourArea(hull) > LARGEST_SHARE * seed.size:
        return widened(within, 1.7), False
    return hull, True


def filled(shape: tuple[int, ...], polygon: Polygon) -> NDArray[np.uint8]:
    """Return a mask (height x width, 0 or 1) of what a convex polygon covers."""
    mask = np.zeros(shape[:2], np.uint8)
    cv2.fillConvexPoly(mask, polygon.reshape(-1, 1, 2), 1)
    return mask


def widened(polygon: Polygon, factor: float) -> Polygon:
    """Scale a polygon about its middle."""
    middle = polygon.mean(axis=0)
    return np.asarray(np.round(middle + (polygon - middle) * factor), np.int32)


def felt(picture: Picture, colour: NDArray[np.float32], levels: float = HUE_LEVELS) -> NDArray[np.uint8]:
    """Return a mask of the pixels that are some shading of the felt's colour (BGR)."""
    smooth = np.asarray(cv2.GaussianBlur(picture, (0, 0), 2.5), np.float32)
    shade = np.clip(smooth @ colour / float(colour @ colour), *SHADING)
    away = smooth - shade[..., None] * colour
    return np.asarray(np.einsum("ijk,ijk->ij", away, away) < levels * levels, np.uint8)


def _grown(empty: Picture, seed: NDArray[np.uint8]) -> Polygon | None:
    inside = seed > 0
    colour = np.asarray(empty[inside].mean(axis=0), np.float32)
    same = felt(empty, colour) & _smooth(empty, inside)
    same = np.asarray(cv2.erode(same, np.ones((BAR_PX, BAR_PX), np.uint8)), np.uint8)
    _, labels = cv2.connectedComponents(same)
    under = labels[inside & (same > 0)]
    if not len(under):
        return None
    whole = np.asarray(labels == np.bincount(under).argmax(), np.uint8)
    whole = np.asarray(cv2.dilate(whole, np.ones((BAR_PX + 2, BAR_PX + 2), np.uint8)), np.uint8)
    contours, _ = cv2.findContours(whole, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    return np.asarray(cv2.convexHull(max(contours, key=cv2.contourArea)).reshape(-1, 2), np.int32)


def _smooth(empty: Picture, inside: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """No edge passes here: what keeps a grey felt from running out over a grey table."""
    grey = cv2.GaussianBlur(cv2.cvtColor(empty, cv2.COLOR_BGR2GRAY), (0, 0), 2.0)
    slope = np.hypot(cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1)) / 8
    most = max(EDGE_LEVELS, 1.5 * float(np.percentile(slope[inside], 99)))
    return np.asarray(slope < most, np.uint8)
