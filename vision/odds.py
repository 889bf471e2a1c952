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

FLOOR = 1e-9  # of a likelihood before it is tempered
ALIKE_DOUBTED, ALIKE_TRUSTED = 0.35, 0.55
"""A frame that fits the empty picture less well than this leaves doubts of its own."""


@dataclass(frozen=True, slots=True)
class Odds:
    """Weights of three logistic models, and two tempers.

    The models are for a candidate, for a lonely peak, and for one gnome more hidden by each; `temper` is the power to
    which likelihoods are raised so that they hold, `repeats` how little a second look at the same scene tells: of `n`
    looks each counts for `n` to the power of minus that.
    """

    candidate: tuple[float, ...]
    lonely: tuple[float, ...]
    hidden: tuple[float, ...]
    temper: float = 1.0
    repeats: float = 1.0

    def dumps(self) -> str:
        """Write as JSON."""
        return json.dumps(asdict(self), indent=1) + "\n"


def about_candidate(candidate: Candidate, found: Found) -> tuple[float, ...]:
    """Return what the model for a candidate looks at, in parts of about one."""
    started, inside = float(candidate.started), float(candidate.inside)
    strength, peak = min(max(candidate.strength, -0.3), 1.0), candidate.peak
    return (
        1.0,
        started,
        peak,
        min(peak, 0.0) * started,
        min(peak, -0.5) * started,
        strength,
        min(strength, 0.3),
        strength * started,
        candidate.fit,
        min(candidate.fit, 0.2),
        min(candidate.clear_px, 12.0) / 12.0,
        min(candidate.clear_px, 5.0) / 5.0,
        inside,
        inside * started,
        candidate.told,
        min(candidate.told, 0.7),
        candidate.bare * inside,
        candidate.bare * (1.0 - inside),
        candidate.fit * (1.0 - inside),
        strength * (1.0 - inside),
        min(candidate.edge_px, 10.0) / 10.0,
        min(found.unsaid, 1.0),
    )


def about_lonely(peak: Peak, found: Found) -> tuple[float, ...]:
    """Return what the model for a lonely peak looks at."""
    return (
        1.0,
        peak.peak,
        max(peak.peak, -2.0),
        peak.support / 4.0,
        float(peak.inside),
        peak.left / 4.0,
        min(peak.clear_px, 12.0) / 12.0,
        min(peak.clear_px, 6.0) / 6.0,
        min(found.unsaid, 1.0),
    )


def about_hidden(found: Found) -> tuple[float, ...]:
    """Return what the model for hidden gnomes looks at: the larger the heap, the more it hides."""
    weak = sum(candidate.strength < 0.5 for candidate in found.candidates)
    return (1.0, float(np.log1p(len(found.candidates))), float(np.log1p(weak)), min(found.unsaid, 1.0))


def probability(candidate: Candidate, found: Found) -> float:
    """Return the probability that a candidate is a gnome."""
    return _logistic(_fitted().candidate, about_candidate(candidate, found))


def likelihood(found: Found) -> tuple[float, ...]:
    """Return how likely each count from 0 to 15 is."""
    odds = _fitted()
    return tempered(untempered(found, odds), odds.temper * _trust(found.alike))


def untempered(found: Found, odds: Odds) -> NDArray[np.float64]:
    """Return how likely each count would be if the candidates knew nothing of each other."""
    chances = [_logistic(odds.candidate, about_candidate(candidate, found)) for candidate in found.candidates]
    chances += [_logistic(odds.lonely, about_lonely(peak, found)) for peak in found.lonely]
    chances += [_logistic(odds.hidden, about_hidden(found))] * (len(found.candidates) + 1)
    return _counts(chances)


def tempered(likelihood: NDArray[np.float64], power: float) -> tuple[float, ...]:
    """Raise a likelihood to a power: under 1 makes it less sure of itself."""
    return normalised((np.maximum(likelihood, FLOOR) ** power).tolist())


def combined(likelihoods: Sequence[Sequence[float]], repeats: float | None = None) -> tuple[float, ...]:
    """Return the likelihood that several looks at one still scene make together: they share what misled them."""
    power = len(likelihoods) ** -(_fitted().repeats if repeats is None else repeats)
    logs = np.log(np.maximum(np.array(likelihoods, np.float64), FLOOR)).sum(axis=0)
    return normalised(np.exp(power * (logs - logs.max())).tolist())


def _trust(alike: float) -> float:
    return float(np.clip((alike - ALIKE_DOUBTED) / (ALIKE_TRUSTED - ALIKE_DOUBTED), 0.05, 1.0))


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
    models = {name: tuple(stored[name]) for name in ("candidate", "lonely", "hidden")}
    return Odds(**models, temper=float(stored["temper"]), repeats=float(stored["repeats"]))
