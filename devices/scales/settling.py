"""When a weight counts as at rest, and a load cell's samples without their spikes; pure, the time is passed in."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from statistics import median

from devices.scales.weighing import Weighing


class Settling:
    """Judges rest: two frames have to agree, for a single one may be damaged; without a flag, over a while.

    `still_g` is how far apart agreeing weights may lie. Of frames that carry a check, one is enough.
    """

    quiet_ms, quiet_count = 600, 3

    def __init__(self, still_g: float, frames: int = 2) -> None:
        self._still_g, self._frames = still_g, frames
        self._seen: deque[tuple[int, float]] = deque(maxlen=64)

    def see(self, weighing: Weighing, now_ms: int) -> bool:
        """Take the next answer about the load; True when its weight is at rest."""
        if weighing.error == "no_change":
            return len(self._seen) > 0
        if weighing.grams is None or weighing.stable is False:
            self._seen.clear()
            return False
        self._forget_others(weighing.grams)
        self._seen.append((now_ms, weighing.grams))
        if weighing.stable:
            return len(self._seen) >= self._frames
        return len(self._seen) >= self.quiet_count and now_ms - self._seen[0][0] >= self.quiet_ms

    def _forget_others(self, grams: float) -> None:
        """Forget all up to the last weight that does not lie together with this one."""
        low = high = grams
        kept = deque[tuple[int, float]](maxlen=self._seen.maxlen)
        for seen in reversed(self._seen):
            low, high = min(low, seen[1]), max(high, seen[1])
            if high - low > self._still_g:
                break
            kept.appendleft(seen)
        self._seen = kept


class SpikeFilter:
    """Gives the median of the last three samples; a load cell's board sends single wild ones.

    `rejected` counts samples that lay further than `window_g` from their median.
    """

    def __init__(self, window_g: float) -> None:
        self._window_g = window_g
        self._last: deque[float] = deque(maxlen=3)
        self.rejected = 0

    def see(self, weighing: Weighing) -> Weighing | None:
        """Take an answer; return it with the median for its weight, None while there are not three."""
        if weighing.grams is None:
            return weighing
        self._last.append(weighing.grams)
        if len(self._last) < 3:
            return None
        middle = median(self._last)
        self.rejected += abs(weighing.grams - middle) > self._window_g
        return replace(weighing, grams=middle)
