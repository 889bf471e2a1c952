"""From spots to how likely each count of each colour is.

Each spot is a gem with a probability of its own, and has each colour with another; a heap may hide gems that left no
trace. The few numbers in vision/data/gems.json were fitted by `tests/bench/fit_gems.py` on rendered tables, never on
the pictures that the reader is judged by.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from vision.gem_colours import COLOURS
from vision.gem_find import Spot
from vision.gem_view import ACROSS_PX
from vision.readings import MOST_GEMS, normalised

NEAR = 0.75  # of a gem's width: two middles so near are rather one gem
MOST_LOGIT = 9.0


@dataclass(frozen=True, slots=True)
class Odds:
    """Weights of three logistic models: for a spot, for one gem more hidden by each, and for a whole reading."""

    spot: tuple[float, ...]
    hidden: tuple[float, ...]
    whole: tuple[float, ...]

    def dumps(self) -> str:
        """Write as JSON."""
        return json.dumps(asdict(self), indent=1) + "\n"


def about_spot(spot: Spot) -> tuple[float, ...]:
    """Return what the model for a spot looks at."""
    return (
        1.0,
        logit(spot.chance),
        min(spot.share, 1.2),
        max(0.5 - spot.share, 0.0),
        spot.firm,
        max(NEAR - spot.nearest / ACROSS_PX, 0.0),
    )


def about_hidden(spots: Sequence[Spot]) -> tuple[float, ...]:
    """Return what the model for hidden gems looks at: the closer gems lie, the more they hide."""
    near = sum(spot.nearest < ACROSS_PX for spot in spots)
    partly = sum(spot.share < 0.7 for spot in spots)
    return (1.0, float(np.log1p(near)), float(np.log1p(partly)))


def about_whole(likely: float, weakest: float) -> tuple[float, ...]:
    """Return what the model for a whole reading looks at: the product of all chances, and the least of them."""
    return (1.0, logit(likely), logit(weakest))


def chance_of_gem(spot: Spot) -> float:
    """Return the probability that a spot is a gem."""
    return _logistic(_fitted().spot, about_spot(spot))


def chance_of_hidden(spots: Sequence[Spot]) -> float:
    """Return the probability that a gem hides another, for each gem of a picture."""
    return _logistic(_fitted().hidden, about_hidden(spots))


def confidence(likely: float, weakest: float) -> float:
    """Return the probability that a whole reading is right, from what its parts say."""
    return _logistic(_fitted().whole, about_whole(likely, weakest))


def likelihood(chances: NDArray[np.float64]) -> tuple[float, ...]:
    """Return how likely each count from 0 to MOST_GEMS is if each thing counts with a chance of its own."""
    counts = np.zeros(MOST_GEMS + 1)
    counts[0] = 1.0
    for chance in chances:
        more = counts * (1 - chance)
        more[1:] += counts[:-1] * chance
        more[-1] += counts[-1] * chance
        counts = more
    return normalised(counts.tolist())


def all_right(gems: NDArray[np.float64], colours: NDArray[np.float64], hidden: float) -> tuple[float, float]:
    """Return the chance of the likeliest account of n spots, and its weakest part.

    `gems` (n,) are the chances that a spot is a gem, `colours` (n x 6) those of its colours, `hidden` that each hides
    another. The likeliest account counts each spot that is rather a gem, in its likeliest colour.
    """
    counted = gems > 0.5
    right = np.where(counted, gems * colours.max(axis=1, initial=0.0), 1 - gems)
    nothing_hidden = (1 - hidden) ** int(counted.sum())
    return float(right.prod() * nothing_hidden), float(min(right.min(initial=1.0), nothing_hidden))


def logit(chance: float) -> float:
    """Return the logarithm of odds, within bounds."""
    return float(np.clip(np.log(max(chance, 1e-9)) - np.log(max(1 - chance, 1e-9)), -MOST_LOGIT, MOST_LOGIT))


def by_name(chances: NDArray[np.float64]) -> dict[str, tuple[float, ...]]:
    """Return the likelihood of each colour's count from the chances (n x 6) of things to have it."""
    return {name: likelihood(chances[:, i]) for i, name in enumerate(COLOURS)}


def _logistic(weights: Sequence[float], values: Sequence[float]) -> float:
    return float(1.0 / (1.0 + np.exp(-np.clip(np.dot(weights, values), -12.0, 12.0))))


@lru_cache(maxsize=1)
def _fitted() -> Odds:
    stored = json.loads(files("vision").joinpath("data", "gems.json").read_text())
    return Odds(**{name: tuple(stored[name]) for name in ("spot", "hidden", "whole")})
