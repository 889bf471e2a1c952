"""A hand over the tray: something large, of the colour of skin, that comes in from the picture's edge."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import background
from vision.pictures import Picture
from vision.stage import Stage

Mask = NDArray[np.uint8]

LEAST_PIECES = 5.0
"""A hand hides more than that many lying pieces,"""
LEAST_WITHIN = 1.5
"""and at least so many of them well within the tray."""
LEAST_SKIN = 0.4
"""Of what comes in has the colour of skin: sleeves have any."""
EDGE_PX = 9
RED_TO_GREEN = (1.12, 2.6)
GREEN_TO_BLUE = (1.0, 2.4)
RED_LEAST = 24


def reaches_in(frame: Picture, changed: Mask, seen: Mask, at: Stage) -> bool:
    """Say whether a hand reaches into the tray.

    `changed` is 1 where the frame differs from the empty picture, shadows included, `seen` 1 where it shows anything;
    all in view pixels.
    """
    piece_px = float(at.bank[0].sum())
    count, labels, stats, _ = cv2.connectedComponentsWithStats(changed)
    large = [i for i in range(1, count) if stats[i, cv2.CC_STAT_AREA] > LEAST_PIECES * piece_px]
    edge = (seen > 0) & (cv2.erode(seen, np.ones((EDGE_PX, EDGE_PX), np.uint8), borderValue=0) == 0)
    at_edge = set(np.unique(labels[edge]).tolist()) if large else set()
    from_outside = [i for i in large if i in at_edge]
    if not from_outside:
        return False
    skin = _skin(frame) & _is_new(frame, at)
    return any(_is_hand(skin & (labels == i), int(stats[i, cv2.CC_STAT_AREA]), at, piece_px) for i in from_outside)


def _is_hand(skin: NDArray[np.bool_], area_px: int, at: Stage, piece_px: float) -> bool:
    enough = np.count_nonzero(skin) > max(LEAST_SKIN * area_px, LEAST_PIECES * piece_px)
    return bool(enough and np.count_nonzero(skin & (at.heart > 0)) > LEAST_WITHIN * piece_px)


def _is_new(frame: Picture, at: Stage) -> NDArray[np.bool_]:
    """The shadow of a cup on a wooden table has the colour of skin as well."""
    away, _ = background.news(background.smoothed(frame), at.empty.astype(np.float32))
    return np.asarray(away > at.levels, bool)


def _skin(frame: Picture) -> NDArray[np.bool_]:
    """Skin of any shade is redder than green and greener than blue, none of it by much."""
    blue, green, red = (np.maximum(one, 1).astype(np.float32) for one in cv2.split(cv2.blur(frame, (5, 5))))
    reddish = (red > RED_TO_GREEN[0] * green) & (red < RED_TO_GREEN[1] * green)
    yellowish = (green > GREEN_TO_BLUE[0] * blue) & (green < GREEN_TO_BLUE[1] * blue)
    return np.asarray(reddish & yellowish & (red > RED_LEAST), bool)
