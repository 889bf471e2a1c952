"""A few upright rectangles around everything that changed, as small together as may be."""

from __future__ import annotations

from itertools import combinations

import cv2
import numpy as np
from numpy.typing import NDArray

Region = tuple[slice, slice]
"""Rows and columns."""
Sides = tuple[int, int, int, int]
"""Left, top, right and bottom; the last two are the first pixels beyond."""

OVERHEAD_PX = 120  # what one more rectangle costs, in the pixels for which the same time would do


def around(changed: NDArray[np.uint8], margin_px: int, step_px: int) -> list[Region]:
    """Return rectangles that hold each changed pixel (height x width, 0 or not) with `margin_px` around it.

    Their sides lie on multiples of `step_px`, and so must the picture's.
    """
    coarse = cv2.dilate(changed, np.ones((step_px, step_px), np.uint8))
    count, _, stats, _ = cv2.connectedComponentsWithStats(coarse)
    grown = [_grown(stats[i], margin_px, step_px, changed.shape) for i in range(1, count)]
    return [np.s_[top:bottom, left:right] for left, top, right, bottom in merged(grown)]


def merged(boxes: list[Sides]) -> list[Sides]:
    """Join boxes two at a time as long as the area of all becomes smaller by it."""
    boxes = list(boxes)
    while len(boxes) > 1:
        saved, first, second = max((_saved(a, b), i, j) for (i, a), (j, b) in combinations(enumerate(boxes), 2))
        if saved < 0:
            break
        joined = _union(boxes[first], boxes[second])
        boxes = [box for i, box in enumerate(boxes) if i not in (first, second)] + [joined]
    return boxes


def _grown(stats: NDArray[np.int32], margin_px: int, step_px: int, shape: tuple[int, ...]) -> Sides:
    left, top, width, height = (int(v) for v in stats[:4])
    margin_px -= step_px // 2  # by so much the change was widened already
    low = [max(side - margin_px, 0) // step_px * step_px for side in (left, top)]
    beyond = zip((left + width, top + height), (shape[1], shape[0]), strict=True)
    high = [min(-(-(side + margin_px) // step_px) * step_px, most) for side, most in beyond]
    return low[0], low[1], high[0], high[1]


def _saved(first: Sides, second: Sides) -> int:
    return _area(first) + _area(second) + OVERHEAD_PX - _area(_union(first, second))


def _union(first: Sides, second: Sides) -> Sides:
    (a, b, c, d), (e, f, g, h) = first, second
    return min(a, e), min(b, f), max(c, g), max(d, h)


def _area(box: Sides) -> int:
    return (box[2] - box[0]) * (box[3] - box[1])
