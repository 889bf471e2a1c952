"""A frame laid over the empty picture, at the size at which pieces are looked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import align, background, net, palette, shapes, tray
from vision.calibration import GnomeCalibration
from vision.errors import PictureRefused
from vision.pictures import Picture

LENGTH_PX = 26.0
"""A lying gnome is this long in every view, whatever the camera."""
MARGIN_PX = 24  # of the frame's own pixels: a bumped camera sees a little beside the empty picture
SHADOW_MARGIN = 1.2
LEAST_LEVEL = 12.0
DIFFERENCE_SHARE = 0.5
MIDDLE_WEIGHT = 0.1
MIDDLE_USUAL = 1.0
"""The net's log odds at the middle of a plainly seen gnome are above minus this."""
MIDDLE_MOST = 3.0
MIDDLE_REACH_PX = 2
NEWS_NOISE = 5.0
CLIP = 4.0
"""Evidence of one pixel, in units of log odds, is never more than this."""
EDGE_PX = 0.7
HALO = 0.5  # of the news beside it: a pixel that is half piece and half felt has the colour of neither
HALO_PX = 5
SHRINK = LENGTH_PX / net.LENGTH_PX
COLOUR_WEIGHT = 1.6
COLOUR_FLOOR = 0.04
TRAY_RIM_PX = 4


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """What stays the same for every frame of a calibration: pictures in view pixels."""

    anchor: align.Anchor
    scale: float
    to_reference: align.Matrix
    sharp_to_reference: align.Matrix
    size: tuple[int, int]
    sharp: Picture
    empty: NDArray[np.float32]
    levels: NDArray[np.float32]
    tray: NDArray[np.uint8]
    table: NDArray[np.float32]
    densities: NDArray[np.float32]
    bank: NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A frame in view pixels: `evidence` is log odds for a piece of each colour, 3 x height x width, within CLIP.

    `middles` is what a piece with its middle there gains, in wholly seen pieces, `seen` is 1 where the frame shows
    anything. `to_frame` takes view pixels to the frame's own.
    """

    stage: Stage
    to_frame: align.Matrix
    frame: Picture
    away: NDArray[np.float32]
    evidence: NDArray[np.float32]
    seen: NDArray[np.uint8]
    middles: NDArray[np.float32]
    alike: float


@lru_cache(maxsize=4)
def stage(calibration: GnomeCalibration) -> Stage:
    """Prepare a calibration once for all its frames."""
    height, width = calibration.empty.shape[:2]
    scale = net.LENGTH_PX / calibration.length_px
    full = [_even_side((side + 2 * MARGIN_PX) * scale) for side in (width, height)]
    to_reference = np.array([[1 / scale, 0, -MARGIN_PX], [0, 1 / scale, -MARGIN_PX], [0, 0, 1]])
    sharp = _warped(calibration.empty, to_reference, (full[0], full[1]), scale)
    size = (round(full[0] * SHRINK), round(full[1] * SHRINK))
    from_view = to_reference @ np.diag([full[0] / size[0], full[1] / size[1], 1.0])
    empty = _shrunk(sharp, size)
    outline = cv2.transform(calibration.tray_px[None].astype(np.float64), np.linalg.inv(from_view)[:2])[0]
    mask = cv2.dilate(tray.filled(empty.shape, np.rint(outline).astype(np.int32)), _disc(TRAY_RIM_PX))
    return Stage(
        anchor=align.anchor(calibration.empty),
        scale=scale,
        to_reference=from_view,
        sharp_to_reference=to_reference,
        size=size,
        sharp=sharp,
        empty=background.smoothed(empty),
        levels=np.float32(max(LEAST_LEVEL, SHADOW_MARGIN * calibration.level, NEWS_NOISE * calibration.noise))
        + _edges(empty),
        tray=np.asarray(mask, np.uint8),
        table=palette.posterior(calibration.densities),
        densities=calibration.densities,
        bank=shapes.bank(calibration.widths, LENGTH_PX),
    )


def look(picture: Picture, calibration: GnomeCalibration) -> View:
    """Register a frame and weigh every pixel; raise PictureRefused if it is of another size than the calibration."""
    if picture.shape != calibration.empty.shape:
        got, known = picture.shape[1::-1], calibration.empty.shape[1::-1]
        raise PictureRefused("other_size", {"got": tuple(got), "calibrated": tuple(known)})
    at = stage(calibration)
    found = align.register(at.anchor, picture)
    sharp = _warped(picture, found.matrix @ at.sharp_to_reference, at.sharp.shape[1::-1], at.scale)
    sight = net.see(sharp, at.sharp)
    frame = _shrunk(sharp, at.size)
    away, _ = background.news(background.smoothed(frame), at.empty)
    part = cv2.resize(sight.part, at.size, interpolation=cv2.INTER_LINEAR)
    to_frame = found.matrix @ at.to_reference
    return View(
        stage=at,
        to_frame=to_frame,
        frame=frame,
        away=away,
        evidence=_evidence(frame, away, np.asarray(part, np.float32), at),
        seen=_seen(picture.shape, to_frame, at.size),
        middles=_middles(sight, at.size),
        alike=found.alike,
    )


def _even_side(length: float) -> int:
    return 2 * round(length / 2)


def _shrunk(picture: Picture, size: tuple[int, int]) -> Picture:
    return np.asarray(cv2.resize(picture, size, interpolation=cv2.INTER_AREA), np.uint8)


def to_frame_px(view: View, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Take view points (n x 2) to the frame's pixels."""
    return np.asarray(cv2.perspectiveTransform(points[None].astype(np.float64), view.to_frame)[0], np.float64)


def _evidence(frame: Picture, away: NDArray[np.float32], part: NDArray[np.float32], at: Stage) -> NDArray[np.float32]:
    """Log odds for a piece of each colour: in the tray net and difference count half each, beside it only the net."""
    both = (1 - DIFFERENCE_SHARE) * part + DIFFERENCE_SHARE * _difference(away, at)
    new = np.clip(np.where(at.tray > 0, both, part), -CLIP, CLIP)
    colour = np.maximum(palette.shares(frame, at.table), COLOUR_FLOOR)
    doubt = COLOUR_WEIGHT * np.log(colour / colour.max(axis=0))
    return np.asarray(np.clip(np.where(new > 0, new + doubt, new), -CLIP, CLIP), np.float32)


def _difference(away: NDArray[np.float32], at: Stage) -> NDArray[np.float32]:
    new = np.clip((away - at.levels) * (CLIP / at.levels), -CLIP, CLIP)
    halo = away < HALO * cv2.dilate(away, np.ones((HALO_PX, HALO_PX), np.uint8))
    return np.asarray(np.where(halo, np.minimum(new, 0.0), new), np.float32)


def _middles(sight: net.Sight, size: tuple[int, int]) -> NDArray[np.float32]:
    """What a piece costs whose middle the net does not see, as a share of its worth."""
    centre = cv2.resize(sight.centre, size, interpolation=cv2.INTER_LINEAR)
    near = cv2.dilate(centre, _disc(MIDDLE_REACH_PX))
    return np.asarray(MIDDLE_WEIGHT * np.clip(near + MIDDLE_USUAL, -MIDDLE_MOST, 0.0), np.float32)


def _edges(empty: Picture) -> NDArray[np.float32]:
    """Levels by which a pixel of the empty picture may differ because registration is off by EDGE_PX."""
    smooth = background.smoothed(empty)
    across, down = cv2.Sobel(smooth, cv2.CV_32F, 1, 0, scale=0.125), cv2.Sobel(smooth, cv2.CV_32F, 0, 1, scale=0.125)
    slope = np.sqrt((across * across + down * down).sum(axis=2))
    return np.asarray(EDGE_PX * cv2.dilate(slope, np.ones((3, 3), np.uint8)), np.float32)


def _warped(picture: Picture, matrix: align.Matrix, size: tuple[int, int], scale: float) -> Picture:
    """`matrix` takes view pixels to the picture's; shrinking averages first, lest noise be picked out of it."""
    shrink = min(1.0, scale * 1.25)
    if shrink < 1.0:
        picture = np.asarray(cv2.resize(picture, None, fx=shrink, fy=shrink, interpolation=cv2.INTER_AREA), np.uint8)
        matrix = np.diag([shrink, shrink, 1.0]) @ matrix
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return np.asarray(
        cv2.warpPerspective(picture, matrix, size, flags=flags, borderMode=cv2.BORDER_REPLICATE), np.uint8
    )


def _seen(shape: tuple[int, ...], matrix: align.Matrix, size: tuple[int, int]) -> NDArray[np.uint8]:
    height, width = shape[:2]
    corners = np.array([[[0, 0], [width, 0], [width, height], [0, height]]], np.float64)
    inside = cv2.perspectiveTransform(corners, np.linalg.inv(matrix))[0]
    return tray.filled((size[1], size[0]), np.rint(inside).astype(np.int32))


def _disc(radius: int) -> NDArray[np.uint8]:
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * radius + 1, 2 * radius + 1)), np.uint8)
