"""What a sense says about the table: how likely each answer is, and where it saw it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

MOST_GNOMES = 15
FLOOR = 1e-4
"""No answer is ever impossible: a camera can be wrong in ways that it does not know."""
SURE = 0.97
"""Readings with at least this probability of being right may be kept without a person; one threshold for all senses."""


@dataclass(frozen=True, slots=True)
class Outline:
    """One thing that was seen: its colour's name, its edge in the picture's pixels, how sure it is one."""

    colour: str
    polygon_px: tuple[tuple[int, int], ...]
    confidence: float


@dataclass(frozen=True, slots=True)
class Box:
    """An upright rectangle of the picture, in pixels from its top left corner."""

    x: int
    y: int
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class GnomeReading:
    """How many gnomes were seen: `likelihood[n]` for each count 0 to 15, without a prior.

    `outlines` and `box` are in pixels of the picture that was read; `at_edge` counts pieces cut by its border.
    """

    likelihood: tuple[float, ...]
    by_colour: Mapping[str, int]
    outlines: tuple[Outline, ...]
    box: Box
    at_edge: int

    @property
    def count(self) -> int:
        """The most likely count."""
        return int(np.argmax(self.likelihood))

    @property
    def confidence(self) -> float:
        """The probability that `count` is right if every count was equally likely before."""
        return float(max(self.likelihood))

    @property
    def sure(self) -> bool:
        """Whether this reading may be kept without a person."""
        return self.confidence >= SURE


def normalised(weights: Sequence[float]) -> tuple[float, ...]:
    """Scale weights to a likelihood: sums to 1, nothing under FLOOR."""
    weights_up = np.clip(np.nan_to_num(np.asarray(weights, np.float64)), 0.0, None)
    total = weights_up.sum()
    share = weights_up / total if total > 0 else np.full(len(weights_up), 1.0 / len(weights_up))
    raised = FLOOR + share * (1.0 - FLOOR * len(share))
    return tuple(float(p) for p in raised)
