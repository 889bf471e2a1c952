"""Counting gems by colour: one picture in, one reading out, of all of it or of each of its zones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import gem_colours, gem_find, gem_odds, gem_view, pictures
from vision.errors import PictureRefused
from vision.gem_calibration import GemCalibration, stage
from vision.gem_colours import COLOURS
from vision.gem_find import Spot
from vision.gem_view import ACROSS_PX, View
from vision.pictures import Picture
from vision.readings import Box, GemReading, box_around, is_cut

Polygon = Sequence[tuple[float, float]]
"""A zone's corners in pixels of the empty picture."""

RATHER = 0.5
BARELY = 0.6  # how surely a gem lies in a zone if its middle just does
BORDER_SHARE = 0.35  # of a gem's width: nearer to a zone's border nobody knows which zone was meant


def read(picture: Picture, calibration: GemCalibration) -> GemReading:
    """Count the gems in a BGR picture of the calibrated table; raise PictureRefused if it cannot be read."""
    sight = _looked(picture, calibration)
    return _reading(sight, np.ones(len(sight.spots)), _whole(picture))


def read_zones(picture: Picture, calibration: GemCalibration, zones: Mapping[str, Polygon]) -> Mapping[str, GemReading]:
    """Count the gems in each zone; a gem belongs to the zone that its middle lies in. Raises as `read` does."""
    sight = _looked(picture, calibration)
    found = {}
    for name, polygon in zones.items():
        corners = np.asarray(polygon, np.float64).reshape(1, -1, 2)
        in_frame = cv2.perspectiveTransform(corners, sight.view.from_reference)[0]
        found[name] = _reading(sight, _inside(sight, in_frame), box_around(in_frame, picture.shape))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Sight:
    """A picture's spots: `gems` (n,) how likely each is one, `colours` (n x 6) of which colour, `middles_px` where."""

    view: View
    shape: tuple[int, ...]
    spots: Sequence[Spot]
    gems: NDArray[np.float64]
    colours: NDArray[np.float64]
    middles_px: NDArray[np.float64]


def _looked(picture: Picture, calibration: GemCalibration) -> _Sight:
    pictures.refuse_light(pictures.checked(picture))
    if picture.shape != calibration.empty.shape:
        got, known = picture.shape[1::-1], calibration.empty.shape[1::-1]
        raise PictureRefused("other_size", {"got": tuple(got), "calibrated": tuple(known)})
    view = gem_view.look(picture, stage(calibration))
    spots = gem_find.find(view)
    gems = np.array([gem_odds.chance_of_gem(spot) for spot in spots], np.float64)
    looks = np.array([gem_colours.look_of(s.pixels, s.light) for s in spots], np.float32).reshape(-1, gem_colours.LOOK)
    middles = np.array([(spot.x, spot.y) for spot in spots], np.float64).reshape(-1, 2)
    placed = gem_view.to_frame_px(view, middles) if len(spots) else middles
    return _Sight(view, picture.shape, spots, gems, gem_colours.chances(looks, calibration.looks), placed)


def _reading(sight: _Sight, inside: NDArray[np.float64], box: Box) -> GemReading:
    """What a zone shows; `inside` (n,) is how surely each spot lies in it, 0 to 1."""
    here = np.flatnonzero(inside > 0)
    spots = [sight.spots[int(i)] for i in here]
    gems, colours = sight.gems[here] * inside[here], sight.colours[here]
    likely, weakest = gem_odds.all_right(gems, colours, gem_odds.chance_of_hidden(spots))
    shown = np.flatnonzero(gems > RATHER)
    names = [COLOURS[int(colours[i].argmax())] for i in shown]
    sure = [float(gems[i] * colours[i].max()) for i in shown]
    outlines = gem_find.outlines(sight.view, [spots[int(i)] for i in shown], names, sure)
    return GemReading(
        likelihood=gem_odds.by_name(gems[:, None] * colours),
        confidence=gem_odds.confidence(likely, weakest),
        outlines=outlines,
        box=box,
        at_edge=sum(is_cut(outline, sight.shape) for outline in outlines),
    )


def _inside(sight: _Sight, polygon: NDArray[np.float64]) -> NDArray[np.float64]:
    """How surely each gem lies in a zone: hardly more than not on its border, all or nothing some way off."""
    edge = polygon.astype(np.float32)[:, None]
    soft = BORDER_SHARE * ACROSS_PX / sight.view.stage.scale
    depths = [cv2.pointPolygonTest(edge, (float(x), float(y)), True) for x, y in sight.middles_px]
    share = np.clip(np.abs(depths) / soft, 0.0, 1.0)
    surely = BARELY + (1 - BARELY) * share
    return np.where(np.array(depths) >= 0, surely, 1 - surely).reshape(-1)


def _whole(picture: Picture) -> Box:
    return Box(0, 0, picture.shape[1], picture.shape[0])
