"""When to look: the hands are gone and nothing has moved for a while."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.pictures import Picture

QUIET_MS = 300
SMALL_WIDTH_PX = 160
MOVED_LEVELS = 14.0
"""Grey levels by which a cell must change beyond what all cells do; camera noise on so small a copy stays under 4."""
MOVED_CELLS = 3
LONGEST_GAP_MS = 1000


class Settle:
    """Tells moving from still, fed with pictures and the time at which each was taken.

    >>> settle = Settle()
    >>> settle.feed(picture, at_ms=0)          # doctest: +SKIP
    False
    >>> settle.feed(picture, at_ms=400)        # doctest: +SKIP
    True
    """

    def __init__(self, quiet_ms: int = QUIET_MS) -> None:
        self._quiet_ms = quiet_ms
        self._resting: NDArray[np.float32] | None = None
        self._since_ms = 0
        self._last_ms = 0

    @property
    def still(self) -> bool:
        """Whether nothing had moved for long enough at the last picture."""
        return self._resting is not None and self._last_ms - self._since_ms >= self._quiet_ms

    @property
    def moving(self) -> bool:
        """The opposite of `still`: something moves, or did a moment ago, or nothing was fed yet."""
        return not self.still

    def feed(self, picture: Picture, at_ms: int) -> bool:
        """Take one BGR picture and its time (ms, any clock that does not go back); return whether all is still.

        After a gap of over a second, or when the clock goes back, waiting starts anew: nobody knows what happened.
        """
        small = _small(picture)
        gap = at_ms - self._last_ms
        if self._resting is None or self._moved(small) or not 0 <= gap <= LONGEST_GAP_MS:
            self._resting, self._since_ms = small, at_ms
        self._last_ms = at_ms
        return self.still

    def _moved(self, small: NDArray[np.float32]) -> bool:
        """Compared with where it came to rest, not with the last frame: a slow hand moves little in between."""
        before = self._resting
        if before is None or before.shape != small.shape:
            return True
        lamp = float(np.median(small)) / max(float(np.median(before)), 1.0)
        return int((np.abs(small - before * lamp) > MOVED_LEVELS).sum()) >= MOVED_CELLS


def _small(picture: Picture) -> NDArray[np.float32]:
    height, width = picture.shape[:2]
    size = (SMALL_WIDTH_PX, max(1, round(height * SMALL_WIDTH_PX / width)))
    shrunk = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.cvtColor(shrunk, cv2.COLOR_BGR2GRAY), np.float32)
