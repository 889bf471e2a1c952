"""A frame laid over the empty picture, and what speaks for gnomes in it."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import align, background, moved, net, palette
from vision.calibration import GnomeCalibration
from vision.errors import PictureRefused
from vision.pictures import Picture
from vision.stage import LENGTH_PX, Stage, disc, halved, prepared, stage, warped

CLIP = 4.0
"""Evidence of one pixel, in units of log odds, is never more than this."""
DIFFERENCE_SHARE = 0.6
CHANGE_WEIGHT = 1.0
"""What it adds beside the tray that a pixel changed at all."""
HALO = 0.5  # of the news beside it: a pixel that is half piece and half felt has the colour of neither
HALO_PX = 5
MIDDLE_WEIGHT = 0.15
MIDDLE_USUAL = 1.0
"""The net's log odds at the middle of a plainly seen gnome are above minus this."""
MIDDLE_MOST = 3.0
MIDDLE_REACH_PX = 2
AROUND_PX = int(0.8 * LENGTH_PX)  # of a change is looked at too: the net judges by surroundings
SPECK = 3
RIM_PX = 5
RIM_CHANGED = 0.2


@dataclass(frozen=True, slots=True, eq=False)
class Laid:
    """A registered frame: `sharp` for the net, all else in view pixels.

    `to_frame` takes view pixels to the frame's own, `away` is how far each pixel is from any shading of its empty
    pixel, `changed` is 1 where something differs, shadows included, `seen` is 0 beyond the frame.
    """

    stage: Stage
    to_frame: align.Matrix
    sharp: Picture
    frame: Picture
    away: NDArray[np.float32]
    changed: NDArray[np.uint8]
    seen: NDArray[np.uint8]
    from_reference: align.Matrix
    alike: float


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The part of a frame in which something changed, in view pixels.

    `evidence` is log odds for a piece of each colour, 3 x height x width, within CLIP; `middles` what a piece with its
    middle there gains, in wholly seen pieces; `centre` the net's log odds for a middle; `tray` is 1 in the tray.
    `to_frame` takes view pixels to the frame's own, `from_reference` the empty picture's.
    """

    stage: Stage
    to_frame: align.Matrix
    evidence: NDArray[np.float32]
    middles: NDArray[np.float32]
    centre: NDArray[np.float32]
    tray: NDArray[np.uint8]
    from_reference: align.Matrix
    alike: float


def lay(picture: Picture, calibration: GnomeCalibration) -> Laid:
    """Register a frame, wherever the tray went; raise PictureRefused if it is of another size than the calibration."""
    if picture.shape != calibration.empty.shape:
        got, known = picture.shape[1::-1], calibration.empty.shape[1::-1]
        raise PictureRefused("other_size", {"got": tuple(got), "calibrated": tuple(known)})
    laid = _laid(picture, stage(calibration))
    if _rim_changed(laid) < RIM_CHANGED:
        return laid
    elsewhere = moved.followed(picture, calibration)
    return _laid(picture, prepared(elsewhere)) if elsewhere else laid


def _laid(picture: Picture, at: Stage) -> Laid:
    found = align.register(at.anchor, picture)
    sharp = warped(picture, found.matrix @ at.sharp_to_reference, at.sharp.shape[1::-1], at.scale)
    frame = halved(sharp)
    smooth = background.smoothed(frame)
    base = np.minimum(at.empty * np.float32(background.level(smooth, at.empty)), 255)
    away, _ = background.news(smooth, base)
    to_frame = found.matrix @ at.to_reference
    seen = _seen(picture.shape, to_frame, frame.shape)
    return Laid(
        stage=at,
        to_frame=to_frame,
        sharp=sharp,
        frame=frame,
        away=away,
        changed=_changed(smooth - base, away, at) & np.asarray(cv2.erode(seen, disc(1)), np.uint8),
        seen=seen,
        from_reference=found.matrix,
        alike=found.alike,
    )


def look(picture: Picture, calibration: GnomeCalibration) -> View:
    """Register a frame and weigh every pixel where it changed; raise PictureRefused as `lay` does."""
    laid = lay(picture, calibration)
    rows, columns = _part(laid.changed)
    cell = net.CELL_PX
    sharp = np.s_[rows.start * cell : rows.stop * cell, columns.start * cell : columns.stop * cell]
    sight = net.see(laid.sharp[sharp], laid.stage.sharp[sharp])
    tray = laid.stage.tray[rows, columns]
    difference = _difference(laid.away[rows, columns], laid.stage.levels[rows, columns])
    part = np.clip(sight.part, -CLIP, CLIP)
    beside = np.clip(part + CHANGE_WEIGHT * laid.changed[rows, columns], -CLIP, CLIP)
    new = np.where(tray > 0, (1 - DIFFERENCE_SHARE) * part + DIFFERENCE_SHARE * difference, beside)
    return View(
        stage=laid.stage,
        to_frame=laid.to_frame @ np.array([[1, 0, columns.start], [0, 1, rows.start], [0, 0, 1.0]]),
        evidence=_evidence(laid.frame[rows, columns], new, laid.stage.doubts) * laid.seen[rows, columns],
        middles=_middles(sight),
        centre=sight.centre,
        tray=tray,
        from_reference=laid.from_reference,
        alike=laid.alike,
    )


def to_frame_px(view: View, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Take view points (n x 2) to the frame's pixels."""
    return np.asarray(cv2.perspectiveTransform(points[None].astype(np.float64), view.to_frame)[0], np.float64)


def _rim_changed(laid: Laid) -> float:
    """The share of the tray's rim that looks different: gnomes lie in the hollow, a moved tray bares the table."""
    tray = laid.stage.tray
    rim = (tray & laid.seen) > cv2.erode(tray, disc(RIM_PX))
    return float(laid.changed[rim].mean()) if rim.any() else 0.0


def _changed(plain: NDArray[np.float32], away: NDArray[np.float32], at: Stage) -> NDArray[np.uint8]:
    """In the tray a shadow is no change; beside it a gnome may look like a shadow of the table."""
    differs = np.where(at.tray > 0, away, np.abs(plain).max(axis=2)) > at.levels
    return np.asarray(cv2.morphologyEx(differs.astype(np.uint8), cv2.MORPH_OPEN, np.ones((SPECK, SPECK))), np.uint8)


def _seen(shape: tuple[int, ...], to_frame: align.Matrix, view: tuple[int, ...]) -> NDArray[np.uint8]:
    """Where the view shows the frame; a gnome that lies half beyond its edge must not count as half wrong."""
    whole = np.ones(shape[:2], np.uint8)
    flags = cv2.INTER_NEAREST | cv2.WARP_INVERSE_MAP
    return np.asarray(cv2.warpPerspective(whole, to_frame, (view[1], view[0]), flags=flags), np.uint8)


def _part(changed: NDArray[np.uint8]) -> tuple[slice, slice]:
    """The rows and columns around all changes, in whole steps of the net."""
    left, top, width, height = cv2.boundingRect(changed)
    return _whole(top, top + height, changed.shape[0]), _whole(left, left + width, changed.shape[1])


def _whole(low: int, high: int, most: int) -> slice:
    step = net.STEP // net.CELL_PX
    start = max(low - AROUND_PX, 0) // step * step
    stop = min(-(-(high + AROUND_PX) // step) * step, most)
    return slice(start, stop)


def _evidence(frame: Picture, new: NDArray[np.float32], doubts: NDArray[np.float32]) -> NDArray[np.float32]:
    doubt = palette.looked_up(frame, doubts)
    capped = np.clip(new, -CLIP, CLIP)
    return np.asarray(np.clip(np.where(capped > 0, capped + doubt, capped), -CLIP, CLIP), np.float32)


def _difference(away: NDArray[np.float32], levels: NDArray[np.float32]) -> NDArray[np.float32]:
    new = np.clip((away - levels) * (CLIP / levels), -CLIP, CLIP)
    halo = away < HALO * cv2.dilate(away, np.ones((HALO_PX, HALO_PX), np.uint8))
    return np.asarray(np.where(halo, np.minimum(new, 0.0), new), np.float32)


def _middles(sight: net.Sight) -> NDArray[np.float32]:
    """What a piece costs whose middle the net does not see."""
    near = cv2.dilate(sight.centre, disc(MIDDLE_REACH_PX))
    return np.asarray(MIDDLE_WEIGHT * np.clip(near + MIDDLE_USUAL, -MIDDLE_MOST, 0.0), np.float32)
