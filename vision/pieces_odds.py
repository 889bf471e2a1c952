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

from vision.pieces_find import Candidate, Found

MOST = 400
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Odds:
    """Weights of two logistic models: for a candidate to be a piece, and for the whole count to be right."""

    candidate: tuple[float, ...]
    count: tuple[float, ...]

    def dumps(self) -> str:
        """Write as JSON."""
        return json.dumps(asdict(self), indent=1) + "\n"


def about_candidate(candidate: Candidate, usual_px: float) -> tuple[float, ...]:
    """Return what the model for a candidate looks at; `usual_px` is the median size of the likely ones beside it."""
    height = float(np.clip(candidate.height, 0.01, 0.99))
    ratio = float(np.log(max(candidate.size_px, 1.0) / usual_px)) if usual_px else 0.0
    return (1.0, float(np.log(height / (1 - height))), min(candidate.strength, 1.2), min(abs(ratio), 1.5))


def about_count(chances: Sequence[float], found: Found) -> tuple[float, ...]:
    """Return what the model for the whole count looks at: how clear the candidates are, what was left unexplained."""
    spread = _counts(chances)
    best = float(np.clip(spread.max(initial=0.0), 0.02, 0.98))
    return (1.0, float(np.log(best / (1 - best))), float(np.log1p(len(chances))), min(found.stray, 0.5))


def chances(found: Found) -> tuple[float, ...]:
    """Return the probability of each candidate to be a piece."""
    sizes = [c.size_px for c in found.candidates if c.height > 0.5]
    usual = float(np.median(sizes)) if sizes else 0.0
    return tuple(_logistic(_fitted().candidate, about_candidate(c, usual)) for c in found.candidates)


def confidence(chances: Sequence[float], found: Found) -> float:
    """Return the probability that the likeliest count is right."""
    return _logistic(_fitted().count, about_count(chances, found))


def likeliest(chances: Sequence[float]) -> int:
    """Return the most likely number of pieces."""
    return int(_counts(chances).argmax())


def _counts(chances: Sequence[float]) -> Numbers:
    counts = np.ones(1)
    for chance in chances[:MOST]:
        counts = np.convolve(counts, (1 - chance, chance))
    return counts


def _logistic(weights: Sequence[float], values: Sequence[float]) -> float:
    return float(1.0 / (1.0 + np.exp(-np.clip(np.dot(weights, values), -12.0, 12.0))))


@lru_cache(maxsize=1)
def _fitted() -> Odds:
    stored = json.loads(files("vision").joinpath("data", "pieces.json").read_text())
    return Odds(**{name: tuple(stored[name]) for name in ("candidate", "count")})
