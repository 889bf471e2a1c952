"""What stays the same for every frame of a calibration, made ready once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import align, background, net, palette, shapes, tray
from vision.calibration import GnomeCalibration
from vision.pictures import Picture

LENGTH_PX = net.LENGTH_PX / net.CELL_PX
"""A lying gnome is this long in every view, whatever the camera; a view's pixel is a cell of the net."""
MARGIN_PX = 24  # of the frame's own pixels: a bumped camera sees a little beside the empty picture
SHADOW_MARGIN = 1.2
LEAST_LEVEL = 12.0
NEWS_NOISE = 5.0
EDGE_PX = 0.7
COLOUR_WEIGHT = 1.6
COLOUR_FLOOR = 0.04
TRAY_RIM_PX = 3
RIM_PX = 5
HEART_PX = 10


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """Pictures of a calibration: `sharp` for the net, all else in view pixels, half as large.

    `to_reference` takes view pixels to the empty picture's, `sharp_to_reference` the net's. `levels` is what a pixel
    must differ to be news, `doubts` the log odds that each cell of colours takes from each colour of gnomes. `rim` is 1
    along the tray's edge, `heart` well inside; where no channel differs by more than `quiet`, nothing does.
    """

    calibration: GnomeCalibration
    anchor: align.Anchor
    scale: float
    to_reference: align.Matrix
    sharp_to_reference: align.Matrix
    sharp: Picture
    empty: Picture
    levels: NDArray[np.float32]
    quiet: NDArray[np.uint8]
    tray: NDArray[np.uint8]
    rim: NDArray[np.uint8]
    heart: NDArray[np.uint8]
    doubts: NDArray[np.float32]
    bank: NDArray[np.float32]


@lru_cache(maxsize=4)
def stage(calibration: GnomeCalibration) -> Stage:
    """Prepare a calibration once for all its frames."""
    return prepared(calibration)


def prepared(calibration: GnomeCalibration) -> Stage:
    """Prepare a calibration that will not be used again."""
    height, width = calibration.empty.shape[:2]
    scale = net.LENGTH_PX / calibration.length_px
    size = tuple(net.STEP * round((side + 2 * MARGIN_PX) * scale / net.STEP) for side in (width, height))
    flat = np.array([[1 / scale, 0, -MARGIN_PX], [0, 1 / scale, -MARGIN_PX], [0, 0, 1]])
    to_reference = align.evened(calibration.slope, calibration.middle_px) @ flat
    from_view = to_reference @ view_to_sharp()
    empty = calmed(viewed(calibration.empty, from_view, (size[0] // net.CELL_PX, size[1] // net.CELL_PX)))
    levels = _levels(calibration, empty)
    mask = _tray(calibration, np.asarray(np.linalg.inv(from_view), np.float64), empty.shape)
    return Stage(
        calibration=calibration,
        anchor=align.anchor(calibration.empty),
        scale=scale,
        to_reference=from_view,
        sharp_to_reference=to_reference,
        sharp=Shrunk(calibration.empty, scale).warped(to_reference, (size[0], size[1])),
        empty=empty,
        levels=levels,
        quiet=np.floor(levels / np.sqrt(3.0)).clip(0, 255).astype(np.uint8),
        tray=mask,
        rim=np.asarray(mask - cv2.erode(mask, disc(RIM_PX)), np.uint8),
        heart=np.asarray(cv2.erode(mask, disc(HEART_PX)), np.uint8),
        doubts=_doubts(calibration),
        bank=shapes.bank(calibration.widths, LENGTH_PX),
    )


def view_to_sharp() -> align.Matrix:
    """Take view pixels to the net's: a cell's middle lies between two pixels."""
    return np.array([[net.CELL_PX, 0, 0.5], [0, net.CELL_PX, 0.5], [0, 0, 1]])


def viewed(picture: Picture, matrix: align.Matrix, size: tuple[int, int]) -> Picture:
    """Lay a picture out in view pixels, by a matrix that takes them to its own: from half of it, for speed."""
    half = np.asarray(cv2.resize(picture, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA), np.uint8)
    to_half = np.array([[0.5, 0, -0.25], [0, 0.5, -0.25], [0, 0, 1]])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    out = cv2.warpPerspective(half, to_half @ matrix, size, flags=flags, borderMode=cv2.BORDER_REFLECT_101)
    return np.asarray(out, np.uint8)


def calmed(view: Picture) -> Picture:
    """Take off what noise a view has."""
    return np.asarray(cv2.GaussianBlur(view, (0, 0), background.SMOOTH_PX), np.uint8)


class Shrunk:
    """A picture ready to be laid out at a scale: shrinking averages first, lest noise stay."""

    def __init__(self, picture: Picture, scale: float) -> None:
        self.share = min(1.0, scale * 1.25)
        self.picture = picture
        if self.share < 1.0:
            small = cv2.resize(picture, None, fx=self.share, fy=self.share, interpolation=cv2.INTER_AREA)
            self.picture = np.asarray(small, np.uint8)

    def warped(self, matrix: align.Matrix, size: tuple[int, int]) -> Picture:
        """Lay it out by a matrix that takes the new pixels to the whole picture's: BGR, `size` is width and height."""
        there = np.diag([self.share, self.share, 1.0]) @ matrix
        flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
        out = cv2.warpPerspective(self.picture, there, size, flags=flags, borderMode=cv2.BORDER_REFLECT_101)
        return np.asarray(out, np.uint8)


def disc(radius: int) -> NDArray[np.uint8]:
    """Return a round kernel."""
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * radius + 1, 2 * radius + 1)), np.uint8)


def _doubts(calibration: GnomeCalibration) -> NDArray[np.float32]:
    colour = np.maximum(palette.posterior(calibration.densities), COLOUR_FLOOR)
    return np.asarray(COLOUR_WEIGHT * np.log(colour / colour.max(axis=0)), np.float32)


def _levels(calibration: GnomeCalibration, empty: Picture) -> NDArray[np.float32]:
    """What noise, shadows, and a registration that is off by EDGE_PX may change without meaning anything."""
    across, down = (cv2.Sobel(empty, cv2.CV_32F, dx, 1 - dx, scale=0.125) for dx in (1, 0))
    slope = cv2.dilate(np.sqrt((across * across + down * down).sum(axis=2)), np.ones((3, 3), np.uint8))
    least = max(LEAST_LEVEL, SHADOW_MARGIN * calibration.level, NEWS_NOISE * calibration.noise)
    return np.asarray(least + EDGE_PX * slope, np.float32)


def _tray(calibration: GnomeCalibration, to_view: align.Matrix, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """The tray with its rim, as far as the empty picture shows it: what lies beyond its edge nobody has seen empty."""
    outline = cv2.perspectiveTransform(calibration.tray_px[None].astype(np.float64), to_view)[0]
    mask = np.asarray(cv2.dilate(tray.filled(shape, np.rint(outline).astype(np.int32)), disc(TRAY_RIM_PX)), np.uint8)
    known = cv2.warpPerspective(
        np.ones(calibration.empty.shape[:2], np.uint8), to_view, (shape[1], shape[0]), flags=cv2.INTER_NEAREST
    )
    return mask & np.asarray(cv2.erode(known, disc(1)), np.uint8)
