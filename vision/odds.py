"""From candidates to how likely each count is.

Each candidate is a gnome with a probability of its own, and a pile may hide gnomes that left no candidate. The numbers
were fitted by tests/bench/fit_gnomes.py on rendered scenes, never on the scenes that the reader is judged by.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vision.pieces import Candidate
from vision.readings import MOST_GNOMES, normalised

INSIDE = (-2.0, 14.0)
"""Log odds of a candidate in the tray: constant, per unit of strength."""
HIDDEN = 0.004
"""Chance that a pile of two hides one more; it grows with each further piece."""


def probability(candidate: Candidate) -> float:
    """Return the probability that a candidate is a gnome."""
    return _logistic(INSIDE[0] + INSIDE[1] * candidate.strength)


def likelihood(found: Sequence[Candidate]) -> tuple[float, ...]:
    """Return how likely each count from 0 to 15 is, given the candidates."""
    counts = np.zeros(MOST_GNOMES + 1)
    counts[0] = 1.0
    for candidate in found:
        counts = _one_more(counts, probability(candidate))
    for _ in range(sum(candidate.inside for candidate in found)):
        counts = _one_more(counts, HIDDEN)
    return normalised(counts.tolist())


def _one_more(counts: NDArray[np.float64], chance: float) -> NDArray[np.float64]:
    more = counts * (1 - chance)
    more[1:] += counts[:-1] * chance
    more[-1] += counts[-1] * chance  # there are no more than fifteen
    return more


def _logistic(value: float) -> float:
    return float(1.0 / (1.0 + np.exp(-np.clip(value, -9.0, 9.0))))
