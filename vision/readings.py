"""What a sense says about the table: how likely each answer is, and where it saw it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MOST_GNOMES = 15
MOST_GEMS = 40
BOX_MARGIN_PX = 12
BORDER_PX = 1
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


@dataclass(frozen=True, slots=True)
class GemReading:
    """How many gems of each colour lie in a picture, or in one zone of it.

    `likelihood[colour][n]` is that of each count 0 to MOST_GEMS, colour by colour and without a prior; `confidence` the
    probability that all colours are right at once; `outlines` and `box` are in pixels of the picture that was read;
    `at_edge` counts gems cut by its border.
    """

    likelihood: Mapping[str, tuple[float, ...]]
    confidence: float
    outlines: tuple[Outline, ...]
    box: Box
    at_edge: int

    @property
    def by_colour(self) -> Mapping[str, int]:
        """The most likely count of each colour."""
        return {colour: int(np.argmax(odds)) for colour, odds in self.likelihood.items()}

    @property
    def sure(self) -> bool:
        """Whether this reading may be kept without a person."""
        return self.confidence >= SURE


@dataclass(frozen=True, slots=True)
class MarkerReading:
    """Where a marker stands: `likelihood[i]` of each cell of its ladder, `crossed` how likely the cross side is."""

    likelihood: tuple[float, ...]
    crossed: float

    @property
    def cell(self) -> int:
        """The index of the most likely cell, in the order of the layout."""
        return int(np.argmax(self.likelihood))


@dataclass(frozen=True, slots=True)
class ResourceReading:
    """One resource of a market: its two markers, and the probability that something lies on its SOLD space."""

    sell: MarkerReading
    buy: MarkerReading
    sold: float


@dataclass(frozen=True, slots=True)
class MarketReading:
    """Where all markers of a market stand.

    `confidence` is the probability that every cell, side and SOLD space is right at once; `box` holds the board, in
    pixels of the picture that was read.
    """

    resources: Mapping[str, ResourceReading]
    confidence: float
    outlines: tuple[Outline, ...]
    box: Box

    @property
    def sure(self) -> bool:
        """Whether this reading may be kept without a person."""
        return self.confidence >= SURE


@dataclass(frozen=True, slots=True)
class PieceReading:
    """How many like things lie in any picture, without a calibration, and in which groups of colour.

    `by_colour` names each group's colour in words; two groups of one name are told apart by a number behind it.
    """

    count: int
    by_colour: Mapping[str, int]
    confidence: float
    outlines: tuple[Outline, ...]
    at_edge: int

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


def box_around(points: NDArray[np.float64], shape: tuple[int, ...]) -> Box:
    """Return the upright box around points (n x 2, px) with a margin, within a picture of this shape."""
    low = np.clip(points.min(axis=0) - BOX_MARGIN_PX, 0, (shape[1] - 1, shape[0] - 1)).astype(int)
    high = np.clip(points.max(axis=0) + BOX_MARGIN_PX, 1, (shape[1], shape[0])).astype(int)
    return Box(int(low[0]), int(low[1]), int(max(high[0] - low[0], 1)), int(max(high[1] - low[1], 1)))


def is_cut(outline: Outline, shape: tuple[int, ...]) -> bool:
    """Return whether the border of a picture of this shape cuts what was outlined."""
    edge = np.array(outline.polygon_px)
    beyond = (edge <= BORDER_PX) | (edge >= np.array([shape[1], shape[0]]) - 1 - BORDER_PX)
    return bool(beyond.any())
