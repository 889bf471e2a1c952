"""Counting the gnomes that fell: one picture in, one reading out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np

from vision import candidates, odds, pictures
from vision.calibration import GnomeCalibration
from vision.candidates import Candidate
from vision.pictures import Picture
from vision.readings import Box, GnomeReading, Outline, box_around, is_cut
from vision.view import View, lay, look, to_frame_px

EMPTY_SHARE = 0.3  # of a piece: less than that is a crumb, a hair, or the compression


def read(picture: Picture, calibration: GnomeCalibration) -> GnomeReading:
    """Count the gnomes in a BGR picture of the calibrated table.

    Raises PictureRefused if it cannot be read: `too_dark`, `blown_out`, `half_picture`, `other_size`, `turned` (by 90
    or 180 `degrees`), `moved` (another room), `hand` (one reaches into the tray).
    """
    _refuse_unreadable(picture)
    view = look(picture, calibration)
    found = candidates.find(view)
    likelihood = odds.likelihood(found)
    chances = {id(one): odds.probability(one, found) for one in found.candidates}
    shown = sorted(found.candidates, key=lambda one: -chances[id(one)])[: int(np.argmax(likelihood))]
    outlines = tuple(_outline(view, one, chances[id(one)], calibration) for one in shown)
    return GnomeReading(
        likelihood=likelihood,
        by_colour=_by_colour(shown, calibration),
        outlines=outlines,
        box=_box(outlines, view),
        at_edge=sum(is_cut(outline, picture.shape) for outline in outlines),
    )


def together(readings: Sequence[GnomeReading]) -> GnomeReading:
    """Combine several looks at one still scene, of which none is surer than the others: what they share misled all.

    Outlines and box are those of the look that saw its count most surely; ValueError without any reading.
    """
    likelihood = odds.combined([reading.likelihood for reading in readings])
    count = int(np.argmax(likelihood))
    best = max(readings, key=lambda one: (one.count == count, one.confidence))
    return replace(best, likelihood=likelihood)


def is_empty(picture: Picture, calibration: GnomeCalibration) -> bool:
    """Say whether nothing lies in the tray; raise PictureRefused if the picture cannot be read."""
    _refuse_unreadable(picture)
    laid = lay(picture, calibration)
    in_tray = laid.changed & laid.stage.tray
    _, _, stats, _ = cv2.connectedComponentsWithStats(in_tray)
    least = EMPTY_SHARE * float(laid.stage.bank[0].sum())
    return not bool((stats[1:, cv2.CC_STAT_AREA] >= least).any())


def _refuse_unreadable(picture: Picture) -> None:
    pictures.refuse_light(pictures.checked(picture))
    pictures.refuse_grey_rest(picture)


def _outline(view: View, found: Candidate, chance: float, calibration: GnomeCalibration) -> Outline:
    edge = np.rint(to_frame_px(view, found.outline.astype(np.float64))).astype(int)
    polygon = tuple((int(x), int(y)) for x, y in edge)
    return Outline(calibration.colours[found.colour], polygon, chance)


def _by_colour(shown: Sequence[Candidate], calibration: GnomeCalibration) -> dict[str, int]:
    counted = Counter(calibration.colours[found.colour] for found in shown)
    return {name: counted[name] for name in calibration.colours}


def _box(outlines: Sequence[Outline], view: View) -> Box:
    """The tray and what lies outside it: what may be kept as evidence, and no more of the room."""
    tray = cv2.perspectiveTransform(view.stage.calibration.tray_px[None].astype(np.float64), view.from_reference)[0]
    points = np.concatenate([tray, *(np.array(outline.polygon_px, np.float64) for outline in outlines)])
    return box_around(points, view.stage.calibration.empty.shape)
