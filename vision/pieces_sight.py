"""What the net of the piece reader says about a picture at a given size; vision/data/pieces.md says how it was made."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import net
from vision.pictures import Picture

STEP = 32
SPREAD = 64.0
UNIT_PX = 16.0  # of the net's offsets
USUAL_PX = 32.0
"""The net says sizes (the root of a piece's area) as the logarithm of their ratio to this, and reads best near it."""
LEAST_PEAK = 0.08
WINDOW = 5
SMALLEST_PX, LARGEST_PX = 4.0, 160.0

Map = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Sight:
    """A picture as the net sees it, cells of two pixels: `part` is the probability that a cell shows a piece.

    `middles` (n x 2) are places in picture pixels where it sees the middle of one, `heights` (n,) its certainty,
    `sizes` (n,) the root of the piece's area in px; `to_x`, `to_y` lead from a cell to its piece's middle, in px.
    """

    part: Map
    to_x: Map
    to_y: Map
    middles: NDArray[np.float64]
    heights: NDArray[np.float64]
    sizes: NDArray[np.float64]


def see(picture: Picture) -> Sight:
    """Run the net on a BGR picture of any size."""
    height, width = picture.shape[:2]
    grown = cv2.copyMakeBorder(picture, 0, -height % STEP, 0, -width % STEP, cv2.BORDER_REPLICATE)
    planes = ((grown.astype(np.float32) - 128) / SPREAD).transpose(2, 0, 1)
    maps = net.ask("pieces.onnx", planes)[:, : (height + 1) // 2, : (width + 1) // 2]
    middle, part = (_chance(maps[i]) for i in (0, 1))
    sizes = USUAL_PX * np.exp(maps[4])
    rows, columns = _peaks(middle)
    order = np.argsort(-middle[rows, columns], kind="stable")
    rows, columns = rows[order], columns[order]
    at = np.stack([columns, rows], axis=1) * 2.0 + 0.5
    found = np.clip(cv2.blur(sizes, (3, 3))[rows, columns], SMALLEST_PX, LARGEST_PX).astype(np.float64)
    heights = middle[rows, columns].astype(np.float64)
    return Sight(part, maps[2] * UNIT_PX, maps[3] * UNIT_PX, np.asarray(at, np.float64), heights, found)


def _chance(logits: Map) -> Map:
    return np.asarray(1 / (1 + np.exp(-np.clip(logits, -12, 12))), np.float32)


def _peaks(middle: Map) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    top = cv2.dilate(middle, np.ones((WINDOW, WINDOW), np.uint8))
    rows, columns = np.nonzero((middle >= top) & (middle > LEAST_PEAK))
    return rows, columns
