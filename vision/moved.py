"""A tray that was nudged, turned or put down elsewhere: where it stands now, and how the table would look empty."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import align, tray
from vision.calibration import GnomeCalibration
from vision.pictures import Picture

HALF = align.HALF
LIKE_BEFORE = 0.93  # of the two outlines' union is shared: it stands where it stood
SAME_AREA = (0.8, 1.25)
BRIDGE_PX = 15  # half-size pixels: snaps and gnomes leave holes in the felt
ALIKE_LEAST = 0.5
HEAL_PX = 7
EVEN_OVER_PX = 31  # half-size pixels

Polygon = NDArray[np.int32]


def followed(picture: Picture, calibration: GnomeCalibration) -> GnomeCalibration | None:
    """Return the calibration as it would be with the tray where a frame shows it; None if it has not moved or is lost.

    The frame is taken to come from a camera that did not move.
    """
    there = _felt_outline(picture, calibration)
    if there is None or _shared(calibration.tray_px, there, picture.shape) > LIKE_BEFORE:
        return None
    moves = [_refined(picture, calibration, start) for start in _guesses(calibration.tray_px, there)]
    matrix, alike = max(moves, key=lambda found: found[1])
    if alike < ALIKE_LEAST:
        return None
    return replace(
        calibration, empty=_redrawn(picture, calibration, matrix), tray_px=_carried(calibration.tray_px, matrix)
    )


def _felt_outline(picture: Picture, calibration: GnomeCalibration) -> Polygon | None:
    inside = tray.filled(picture.shape, calibration.tray_px) > 0
    colour = np.median(calibration.empty[inside], axis=0).astype(np.float32)
    small = np.asarray(cv2.resize(picture, None, fx=HALF, fy=HALF, interpolation=cv2.INTER_AREA), np.uint8)
    mask = cv2.morphologyEx(tray.felt(small, colour), cv2.MORPH_OPEN, np.ones((5, 5), np.uint8))
    mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((BRIDGE_PX, BRIDGE_PX), np.uint8))
    contours, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    if not contours:
        return None
    hull = cv2.convexHull(max(contours, key=cv2.contourArea))
    ratio = cv2.contourArea(hull) / HALF**2 / cv2.contourArea(calibration.tray_px)
    fits = SAME_AREA[0] < ratio < SAME_AREA[1]
    return np.rint(hull.reshape(-1, 2) / HALF).astype(np.int32) if fits else None


def _shared(before: Polygon, now: Polygon, shape: tuple[int, ...]) -> float:
    first, second = tray.filled(shape, before) > 0, tray.filled(shape, now) > 0
    return float((first & second).sum() / max((first | second).sum(), 1))


def _guesses(before: Polygon, now: Polygon) -> list[NDArray[np.float32]]:
    """Half-size rigid moves from one outline to the other; a square looks the same after each quarter turn."""
    (x, y), _, then_deg = cv2.minAreaRect(before)
    (to_x, to_y), _, now_deg = cv2.minAreaRect(now)
    turn = (now_deg - then_deg + 45) % 90 - 45
    moves = []
    for quarter in (0, 90, 180, 270):
        move = cv2.getRotationMatrix2D((x * HALF, y * HALF), -(turn + quarter), 1.0)
        move[:, 2] += np.array([(to_x - x) * HALF, (to_y - y) * HALF])
        moves.append(move.astype(np.float32))
    return moves


def _refined(picture: Picture, calibration: GnomeCalibration, start: NDArray[np.float32]) -> tuple[align.Matrix, float]:
    """Fit the tray alone, without the table; return the move in full pixels and how alike it makes the two."""
    reference, frame = (_even(p) for p in (calibration.empty, picture))
    outline = np.rint(calibration.tray_px * HALF).astype(np.int32)
    mask = cv2.dilate(tray.filled(reference.shape, outline), np.ones((5, 5), np.uint8))
    until = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 40, 1e-4)
    try:
        alike, found = cv2.findTransformECC(reference, frame, start.copy(), cv2.MOTION_AFFINE, until, mask, 5)
    except cv2.error:  # this quarter turn does not fit
        return np.eye(3), -1.0
    square = np.vstack([found, [0, 0, 1]]).astype(np.float64)
    return align.full_size(square), float(alike)


def _even(picture: Picture) -> align.Even:
    smooth = cv2.GaussianBlur(align.half_size(picture), (0, 0), 1.0)
    return align.even(np.asarray(smooth, np.uint8), EVEN_OVER_PX)


def _carried(outline: Polygon, matrix: align.Matrix) -> Polygon:
    moved = cv2.perspectiveTransform(outline[None].astype(np.float64), matrix)[0]
    return np.asarray(np.rint(moved), np.int32)


def _redrawn(picture: Picture, calibration: GnomeCalibration, matrix: align.Matrix) -> Picture:
    """The empty picture with the tray carried over; where it stood the frame itself must do for the table."""
    size = (picture.shape[1], picture.shape[0])
    then = cv2.dilate(tray.filled(picture.shape, calibration.tray_px), np.ones((HEAL_PX, HEAL_PX), np.uint8))
    now = tray.filled(picture.shape, _carried(calibration.tray_px, matrix))
    carried = cv2.warpPerspective(calibration.empty, matrix, size, borderMode=cv2.BORDER_REPLICATE)
    table = np.where(then[..., None] > 0, picture, calibration.empty)
    return np.asarray(np.where(now[..., None] > 0, carried, table), np.uint8)
