"""The part of a picture in which pieces are looked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from vision.pictures import Picture

Polygon = Sequence[tuple[float, float]]
"""Corners in pixels of the picture."""
AROUND = 0.1  # of the polygon's size is looked at beside it: the net judges by surroundings


@dataclass(frozen=True, slots=True, eq=False)
class Area:
    """A part of a picture, its top left `corner` (x, y in px of the whole), and the polygon in it that counts."""

    picture: Picture
    corner: tuple[int, int]
    polygon: Polygon | None

    @classmethod
    def around(cls, picture: Picture, polygon: Polygon | None, share: float = AROUND) -> Area:
        """Cut out the polygon and `share` of its size beside it; all of the picture without one."""
        if polygon is None:
            return cls(picture, (0, 0), None)
        corners = np.array(polygon, np.float64)
        margin = share * (corners.max(axis=0) - corners.min(axis=0))
        size = np.array([picture.shape[1], picture.shape[0]])
        left, top = np.clip(corners.min(axis=0) - margin, 0, size - 2).astype(int)
        right, bottom = np.clip(corners.max(axis=0) + margin, (left + 2, top + 2), size).astype(int)
        return cls(picture[top:bottom, left:right], (int(left), int(top)), polygon)

    def holds(self, point: tuple[float, float]) -> bool:
        """Say whether a point of the whole picture (px) counts."""
        return self.polygon is None or cv2.pointPolygonTest(np.array(self.polygon, np.float32), point, False) >= 0

    @property
    def middle(self) -> tuple[float, float]:
        """The middle of what counts, in px of the whole picture."""
        if self.polygon is None:
            return self.picture.shape[1] / 2, self.picture.shape[0] / 2
        corners = np.array(self.polygon, np.float64)
        x, y = (corners.min(axis=0) + corners.max(axis=0)) / 2
        return float(x), float(y)
