"""From candidates to how likely each count is.

Each candidate is a gnome with a probability of its own; so is each place where the net sees a middle that no candidate
has; and a pile may hide gnomes that left no trace. The few numbers in vision/data/odds.json were fitted by
`tests/bench/fit_gnomes.py` on rendered tables, never on the pictures that the reader is judged by.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from vision.candidates import Candidate, Found, Peak
from vision.readings import MOST_GNOMES, normalised


@dataclass(frozen=True, slots=True)
class Odds:
    """Weights of three logistic models: for a candidate, for a lonely peak, and for one gnome more hidden by each."""

    candidate: tuple[float, ...]
    lonely: tuple[float, ...]
    hidden: tuple[float, ...]

    def dumps(self) -> str:
        """Write as JSON."""
        return json.dumps(asdict(self), indent=1) + "\n"


def about_candidate(candidate: Candidate) -> tuple[float, ...]:
    """Return what the model for a candidate looks at."""
    strength = min(max(candidate.strength, -0.3), 1.0)
    return (
        1.0,
        float(candidate.started),
        candidate.peak,
        min(candidate.peak, 0.0) * candidate.started,
        strength,
        min(strength, 0.3),
        strength * candidate.started,
        candidate.fit,
        min(candidate.clear_px, 12.0) / 12.0,
        float(candidate.inside),
        float(candidate.inside) * candidate.started,
    )


def about_lonely(peak: Peak) -> tuple[float, ...]:
    """Return what the model for a lonely peak looks at."""
    return (1.0, peak.peak, peak.support, float(peak.inside))


def about_hidden(found: Found) -> tuple[float, ...]:
    """Return what the model for hidden gnomes looks at: the larger the heap, the more it hides."""
    weak = sum(candidate.strength < 0.7 for candidate in found.candidates)
    return (1.0, np.log1p(len(found.candidates)), np.log1p(weak))


def probability(candidate: Candidate) -> float:
    """Return the probability that a candidate is a gnome."""
    return _logistic(_fitted().candidate, about_candidate(candidate))


def likelihood(found: Found) -> tuple[float, ...]:
    """Return how likely each count from 0 to 15 is."""
    odds = _fitted()
    chances = [probability(candidate) for candidate in found.candidates]
    chances += [_logistic(odds.lonely, about_lonely(peak)) for peak in found.lonely]
    chances += [_logistic(odds.hidden, about_hidden(found))] * len(found.candidates)
    return normalised(_counts(chances).tolist())


def _counts(chances: Sequence[float]) -> NDArray[np.float64]:
    """How many of independent things are so; what is over fifteen counts as fifteen, for there are no more gnomes."""
    counts = np.zeros(MOST_GNOMES + 1)
    counts[0] = 1.0
    for chance in chances:
        more = counts * (1 - chance)
        more[1:] += counts[:-1] * chance
        more[-1] += counts[-1] * chance
        counts = more
    return counts


def _logistic(weights: Sequence[float], values: Sequence[float]) -> float:
    return float(1.0 / (1.0 + np.exp(-np.clip(np.dot(weights, values), -12.0, 12.0))))


@lru_cache(maxsize=1)
def _fitted() -> Odds:
    stored = json.loads(files("vision").joinpath("data", "odds.json").read_text())
    return Odds(**{name: tuple(stored[name]) for name in ("candidate", "lonely", "hidden")})
