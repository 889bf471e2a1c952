"""How likely each candidate is a piece, and how likely the count is right.

The few numbers in vision/data/pieces.json were fitted by `tests/bench/fit_pieces.py` on drawn pictures, never on the
photographs that the reader is judged by.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from vision.pieces_find import Candidate, Found, usual

CLEAR = 0.5
TOP_SCORE, BOTTOM_SCORE = 6.0, -4.0  # log odds beyond which nothing lies
LEAST_KEPT, MOST_DROPPED = -0.5, 3.0  # log odds of what may still be a piece, and of what may be none
USUAL_CUT, FAR_COST = 0.7, 0.3


@dataclass(frozen=True, slots=True)
class Odds:
    """Weights of two logistic models: for a candidate to be a piece, and for the whole count to be right."""

    candidate: tuple[float, ...]
    count: tuple[float, ...]

    def chances(self, found: Found) -> tuple[float, ...]:
        """Return the probability of each candidate to be a piece."""
        size = usual_px(found)
        return tuple(_logistic(self.candidate, about_candidate(c, size, found.ground)) for c in found.candidates)

    def dumps(self) -> str:
        """Write as JSON."""
        return json.dumps(asdict(self), indent=1) + "\n"


@dataclass(frozen=True, slots=True)
class Parted:
    """How many candidates are pieces, how wide the gap to the rest is, and the lowest piece's score (log odds)."""

    count: int
    gap: float
    lowest: float


def about_candidate(candidate: Candidate, usual_px: float, ground: NDArray[np.float64]) -> tuple[float, ...]:
    """Return what the model for a candidate looks at; `usual_px` is the size of the likely ones beside it."""
    height = float(np.clip(candidate.height, 0.01, 0.99))
    ratio = float(np.log(max(candidate.size_px, 1.0) / usual_px)) if usual_px else 0.0
    shade = float(np.clip(candidate.colour @ ground / max(float(ground @ ground), 1.0), 0.0, 1.0))
    new = float(np.linalg.norm(candidate.colour - shade * ground)) / (float(np.linalg.norm(candidate.colour)) + 10)
    return (
        1.0,
        float(np.log(height / (1 - height))),
        min(candidate.strength, 1.2),
        min(max(-ratio, 0.0), 1.5),
        min(max(ratio, 0.0), 1.5),
        float(candidate.rival == 0.0),
        candidate.rival,
        min(new, 0.4),
    )


def about_count(parted: Parted, others: Sequence[Parted], found: Found) -> tuple[float, ...]:
    """Return what the model for the whole count looks at: gaps, what lies above them, what is left, if looks agree."""
    agree = float(all(other.count == parted.count for other in others))
    gap = min([parted.gap, *(other.gap for other in others)])
    return (
        1.0,
        min(parted.gap, 5.0),
        min(gap, 5.0),
        float(np.clip(parted.lowest, -1.0, 4.0)),
        float(np.log1p(parted.count)),
        min(found.stray, 0.3),
        agree,
        agree * min(gap, 5.0),
    )


def usual_px(found: Found) -> float:
    """Return the usual size of the candidates that are likely pieces, 0 without any."""
    return usual(np.array([c.size_px for c in found.candidates if c.height > CLEAR]))


def chances(found: Found) -> tuple[float, ...]:
    """Return the probability of each candidate to be a piece."""
    return _fitted().chances(found)


def confidence(parted: Parted, others: Sequence[Parted], found: Found) -> float:
    """Return the probability that a look's count is right, given what the other looks at the same picture say."""
    return _logistic(_fitted().count, about_count(parted, others, found))


def part(chances: Sequence[float]) -> Parted:
    """Part pieces from the rest: like things look alike, so the likeliest lie above a wide gap.

    Gaps far from even odds count less.
    """
    padded = np.concatenate([[TOP_SCORE], _scores(chances), [BOTTOM_SCORE]])
    middles, gaps = (padded[:-1] + padded[1:]) / 2, padded[:-1] - padded[1:]
    allowed = (padded[:-1] >= LEAST_KEPT) & (padded[1:] <= MOST_DROPPED)
    worth = np.where(allowed, gaps - FAR_COST * np.abs(middles - USUAL_CUT), -np.inf)
    best = int(worth.argmax())
    return Parted(best, float(gaps[best]), float(padded[best]))


def _scores(chances: Sequence[float]) -> NDArray[np.float64]:
    """Log odds, the highest first."""
    clipped = np.clip(np.array(chances, np.float64), 0.005, 0.995)
    return np.sort(np.log(clipped / (1 - clipped)))[::-1]


def _logistic(weights: Sequence[float], values: Sequence[float]) -> float:
    return float(1.0 / (1.0 + np.exp(-np.clip(np.dot(weights, values), -12.0, 12.0))))


@lru_cache(maxsize=1)
def _fitted() -> Odds:
    stored = json.loads(files("vision").joinpath("data", "pieces.json").read_text())
    return Odds(**{name: tuple(stored[name]) for name in ("candidate", "count")})
