"""A frame laid over the empty picture, at the size at which pieces are looked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import align, background, palette, shapes, tray
from vision.calibration import GnomeCalibration
from vision.errors import PictureRefused
from vision.pictures import Picture

LENGTH_PX = 26.0
"""A lying gnome is this long in every view, whatever the camera."""
MARGIN_PX = 24  # of the frame's own pixels: a bumped camera sees a little beside the empty picture
NEWS_LEVEL = 16.0
NEWS_NOISE = 5.0
CLIP = 4.0
"""Evidence of one pixel, in units of log odds, is never more than this."""
EDGE_PX = 0.7
HALO = 0.5  # of the news beside it: a pixel that is half piece and half felt has the colour of neither
HALO_PX = 5
COLOUR_WEIGHT = 1.6
COLOUR_FLOOR = 0.04
TRAY_RIM_PX = 4


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """What stays the same for every frame of a calibration: pictures in view pixels."""

    anchor: align.Anchor
    scale: float
    to_reference: align.Matrix
    size: tuple[int, int]
    empty: NDArray[np.float32]
    edges: NDArray[np.float32]
    tray: NDArray[np.uint8]
    table: NDArray[np.float32]
    densities: NDArray[np.float32]
    bank: NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A frame in view pixels: `evidence` is log odds for a piece of each colour, 3 x height x width, within CLIP.

    `to_frame` takes view pixels to the frame's own; `seen` is 1 where the frame shows anything.
    """

    stage: Stage
    to_frame: align.Matrix
    frame: Picture
    away: NDArray[np.float32]
    evidence: NDArray[np.float32]
    seen: NDArray[np.uint8]
    alike: float


@lru_cache(maxsize=4)
def stage(calibration: GnomeCalibration) -> Stage:
    """Prepare a calibration once for all its frames."""
    height, width = calibration.empty.shape[:2]
    scale = LENGTH_PX / calibration.length_px
    size = (round((width + 2 * MARGIN_PX) * scale), round((height + 2 * MARGIN_PX) * scale))
    to_reference = np.array([[1 / scale, 0, -MARGIN_PX], [0, 1 / scale, -MARGIN_PX], [0, 0, 1]])
    empty = _warped(calibration.empty, to_reference, size, scale)
    outline = cv2.transform(calibration.tray_px[None].astype(np.float64), np.linalg.inv(to_reference)[:2])[0]
    mask = cv2.dilate(tray.filled(empty.shape, np.rint(outline).astype(np.int32)), _disc(TRAY_RIM_PX))
    return Stage(
        anchor=align.anchor(calibration.empty),
        scale=scale,
        to_reference=to_reference,
        size=size,
        empty=background.smoothed(empty),
        edges=_edges(empty),
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
    to_frame = found.matrix @ at.to_reference
    frame = _warped(picture, to_frame, at.size, at.scale)
    away, _ = background.news(background.smoothed(frame), at.empty)
    return View(
        stage=at,
        to_frame=to_frame,
        frame=frame,
        away=away,
        evidence=_evidence(frame, away, at, calibration.noise),
        seen=_seen(picture.shape, to_frame, at.size),
        alike=found.alike,
    )


def to_frame_px(view: View, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Take view points (n x 2) to the frame's pixels."""
    return np.asarray(cv2.perspectiveTransform(points[None].astype(np.float64), view.to_frame)[0], np.float64)


def _evidence(frame: Picture, away: NDArray[np.float32], at: Stage, noise: float) -> NDArray[np.float32]:
    level = max(NEWS_LEVEL, NEWS_NOISE * noise) + at.edges
    new = np.clip((away - level) * (CLIP / level), -CLIP, CLIP)
    colour = np.maximum(palette.shares(frame, at.table), COLOUR_FLOOR)
    doubt = COLOUR_WEIGHT * np.log(colour / colour.max(axis=0))
    evidence = np.clip(np.where(new > 0, new + doubt, new), -CLIP, CLIP)
    halo = away < HALO * cv2.dilate(away, np.ones((HALO_PX, HALO_PX), np.uint8))
    return np.asarray(np.where(halo, np.minimum(evidence, 0.0), evidence), np.float32)


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
