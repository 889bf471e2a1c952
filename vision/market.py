"""Reading a market board: on which cell each marker stands, which side is up, and which SOLD spaces are taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import market_face, market_net, market_view
from vision.market_calibration import MarketCalibration
from vision.market_layout import Cell, Layout, Resource
from vision.market_net import Fitted
from vision.market_view import View
from vision.pictures import Picture
from vision.readings import Box, MarkerReading, MarketReading, Outline, ResourceReading, normalised

ODD_LADDERS = 0.02
"""How often a ladder bears no marker or two: somebody holds one, or has not finished."""
OUTLINE_POINTS = 24
CUBE_MM = 9.0
MOST_LOG_ODDS = 30.0
LEAST_CHANCE = 1e-9

Odds = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Ladder:
    """What was seen of a ladder: each cell's likelihood, how likely the best is `right`, and that a cross is up."""

    likelihood: Odds
    right: float
    crossed: float


def read(picture: Picture, calibration: MarketCalibration) -> MarketReading:
    """Read a BGR picture of the calibrated board.

    Raises PictureRefused if it cannot be read: as `pictures`, `other_size`, or `board_lost` if the board is not found.
    """
    view, nets = market_view.look(picture, calibration), market_net.fitted()
    seen, log_odds = resources(view, nets)
    return MarketReading(seen, confidence(log_odds, nets), _outlines(view, seen), _box(view))


def as_labels(reading: MarketReading, layout: Layout) -> dict[str, dict[str, int | bool]]:
    """Write a reading's best guess by resource: prices as the layout has them, cross sides, whether SOLD is taken."""
    return as_labels_of(reading.resources, layout)


def as_labels_of(seen: Mapping[str, ResourceReading], layout: Layout) -> dict[str, dict[str, int | bool]]:
    """Write resources as `as_labels`."""
    return {one.name: _labels(one, seen[one.name]) for one in layout.resources}


def resources(view: View, nets: Fitted) -> tuple[dict[str, ResourceReading], float]:
    """Read each resource; return with them the log odds that all is right, if each answer errs by itself."""
    found, chances = {}, []
    for one in view.stage.calibration.layout.resources:
        sell, buy, sold = _ladder(view, one.sell, nets), _ladder(view, one.buy, nets), _sold(view, one, nets)
        found[one.name] = ResourceReading(_marker(sell), _marker(buy), sold)
        chances += [*_chances(sell), *_chances(buy), max(sold, 1 - sold)]
    right = float(np.clip(np.prod(chances), LEAST_CHANCE, 1 - LEAST_CHANCE))
    return found, float(np.log(right / (1 - right)))


def _ladder(view: View, cells: tuple[Cell, ...], nets: Fitted) -> _Ladder:
    """Look for the one marker of a ladder, and at its upper side."""
    places = np.array([(cell.x_mm, cell.y_mm) for cell in cells])
    likelihood, right = _one_of(nets.log_odds("covered", market_view.marker_patches(view, places)))
    best = places[[int(np.argmax(likelihood))]]
    crossed = _logistic(float(nets.log_odds("crossed", market_view.faces(view, best))[0]))
    return _Ladder(likelihood, right, crossed)


def _one_of(covered: Odds) -> tuple[Odds, float]:
    """Weigh each cell's own log odds of being covered by that a ladder bears one marker, seldom none or two.

    Returns the likelihood of each cell for one marker, and the probability that it is one and on the best cell.
    """
    cells = len(covered)
    ratios = np.exp(np.clip(covered, -MOST_LOG_ODDS, MOST_LOG_ODDS)) * (cells - 1)  # nets know of one covered in many
    alone = (1 - ODD_LADDERS) / cells * ratios
    pairs = (ratios.sum() ** 2 - np.square(ratios).sum()) / (cells * (cells - 1))
    every = alone.sum() + ODD_LADDERS / 2 * (1 + pairs)
    return ratios / ratios.sum(), float(alone.max() / every)


def _sold(view: View, resource: Resource, nets: Fitted) -> float:
    """Return the probability that something lies on a resource's SOLD space."""
    patches = market_view.cube_patches(view, np.array([resource.sold_mm]))
    return _logistic(float(nets.log_odds("sold", patches)[0]))


def confidence(log_odds: float, nets: Fitted) -> float:
    """Return the probability that holds for the log odds of `resources`."""
    return _logistic(nets.whole[0] + nets.whole[1] * log_odds)


def _chances(ladder: _Ladder) -> tuple[float, float]:
    return ladder.right, max(ladder.crossed, 1 - ladder.crossed)


def _logistic(log_odds: float) -> float:
    return float(1 / (1 + np.exp(-np.clip(log_odds, -MOST_LOG_ODDS, MOST_LOG_ODDS))))


def _labels(one: Resource, seen: ResourceReading) -> dict[str, int | bool]:
    return {
        "sell": one.sell[seen.sell.cell].price,
        "sell_crossed": seen.sell.crossed > 0.5,
        "buy": one.buy[seen.buy.cell].price,
        "buy_crossed": seen.buy.crossed > 0.5,
        "sold": seen.sold > 0.5,
    }


def _marker(ladder: _Ladder) -> MarkerReading:
    return MarkerReading(normalised(ladder.likelihood.tolist()), ladder.crossed)


def _outlines(view: View, resources: Mapping[str, ResourceReading]) -> tuple[Outline, ...]:
    layout, found = view.stage.calibration.layout, []
    for one in layout.resources:
        seen = resources[one.name]
        for cells, marker in ((one.sell, seen.sell), (one.buy, seen.buy)):
            cell = cells[marker.cell]
            edge = _circle(view, (cell.x_mm, cell.y_mm), layout.marker_mm / 2)
            found.append(Outline(one.name, edge, max(marker.likelihood)))
        if seen.sold > 0.5:
            found.append(Outline(one.name, _circle(view, one.sold_mm, CUBE_MM), seen.sold))
    return tuple(found)


def _circle(view: View, middle_mm: tuple[float, float], radius_mm: float) -> tuple[tuple[int, int], ...]:
    angles = np.linspace(0, 2 * np.pi, OUTLINE_POINTS, endpoint=False)
    edge = np.array(middle_mm) + radius_mm * np.column_stack([np.cos(angles), np.sin(angles)])
    seen = cv2.perspectiveTransform(view.eye.lifted(edge, market_face.HEIGHT_MM)[None], view.board)[0]
    return tuple((round(float(x)), round(float(y))) for x, y in seen)


def _box(view: View) -> Box:
    """The board and no more of the room."""
    height, width = view.picture.shape[:2]
    corners = cv2.perspectiveTransform(view.stage.calibration.layout.corners_mm[None], view.board)[0]
    low = np.clip(np.floor(corners.min(axis=0)), 0, (width - 1, height - 1)).astype(int)
    high = np.clip(np.ceil(corners.max(axis=0)), 1, (width, height)).astype(int)
    return Box(int(low[0]), int(low[1]), int(max(high[0] - low[0], 1)), int(max(high[1] - low[1], 1)))
