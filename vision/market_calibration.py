"""What must be known of a market board before it can be read: its layout and one picture without markers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import market_face, market_place, pictures, stored
from vision.errors import CalibrationRefused, PictureRefused
from vision.market_layout import Layout
from vision.market_place import Matrix, Points
from vision.pictures import Picture

__all__ = ["Layout", "MarketCalibration", "calibrate"]

FORMAT = 1
LEAST_MARKER_PX = 14.0  # across, where the board is furthest: a cross has arms of two pixels then
BLUR_MOST_PX = 3.0  # sigma: figures on cells run together
STEEP_QUANTILE = 0.985
AROUND_PX = 15
CROSS_MOST = 0.66  # how like a cross a printed figure may be
LEAST_CROSSES = 2


@dataclass(frozen=True, slots=True, eq=False)
class MarketCalibration:
    """One board under one camera: `reference` shows it without markers, `board` takes its mm to reference pixels."""

    reference: Picture
    layout: Layout
    board: Matrix

    def save(self, path: Path | str) -> None:
        """Write to an NPZ file, whole or not at all."""
        arrays = {"reference": self.reference, "layout": np.array(self.layout.dumps()), "board": self.board}
        stored.save_npz(path, arrays, FORMAT)

    @staticmethod
    def load(path: Path | str) -> MarketCalibration:
        """Read what `save` wrote; raise CalibrationRefused if the file is missing, broken or of another format."""
        arrays = stored.load_npz(path, FORMAT)
        try:
            return _restored(arrays)
        except (KeyError, ValueError, TypeError) as error:
            raise stored.broken(path) from error


def calibrate(reference: Picture, layout: Layout) -> MarketCalibration:
    """Learn a board from its layout and a BGR picture of it without markers.

    Raises CalibrationRefused: `too_dark`, `blown_out`, `board_not_found` (stickers that were seen), `board_outside`
    (the cell that is not in the picture), `board_small` (values: marker_px, least_px), `shaken` (values: blur_px,
    most_px), `not_empty` (values: ladders on which a cross is seen).
    """
    try:
        pictures.refuse_light(pictures.checked(reference))
    except PictureRefused as error:
        raise CalibrationRefused(error.code, error.values) from error
    board = _found(reference, layout)
    _refuse_outside(reference, layout, board)
    _refuse_small(layout, board)
    _refuse_shaken(reference, layout, board)
    _refuse_pieces(reference, layout, board)
    return MarketCalibration(reference.copy(), layout, board)


def places_mm(layout: Layout) -> dict[str, Points]:
    """Return each cell's place on the board (n x 2) by the name of its ladder, and each SOLD space's."""
    found = {}
    for one in layout.resources:
        found[f"{one.name}.sell"] = np.array([(cell.x_mm, cell.y_mm) for cell in one.sell])
        found[f"{one.name}.buy"] = np.array([(cell.x_mm, cell.y_mm) for cell in one.buy])
        found[f"{one.name}.sold"] = np.array([one.sold_mm])
    return found


def _found(reference: Picture, layout: Layout) -> Matrix:
    if layout.stickers is not None:
        found = market_place.by_stickers(reference, layout.stickers)
        if found is not None:
            return found
    if layout.corners_px is None:
        raise CalibrationRefused("board_not_found")
    return market_place.by_corners(layout, layout.corners_px)


def _refuse_outside(reference: Picture, layout: Layout, board: Matrix) -> None:
    size = np.array(reference.shape[1::-1])
    for name, places in places_mm(layout).items():
        rims = places[:, None] + layout.marker_mm / 2 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1.0]])
        seen = cv2.perspectiveTransform(rims.reshape(1, -1, 2), board).reshape(-1, 4, 2)
        outside = ((seen < 0) | (seen > size - 1)).any(axis=(1, 2))
        if outside.any():
            raise CalibrationRefused("board_outside", {"place": name, "cell": int(np.argmax(outside))})


def _refuse_small(layout: Layout, board: Matrix) -> None:
    least = min(float(_scales(places, board).min()) for places in places_mm(layout).values()) * layout.marker_mm
    if least < LEAST_MARKER_PX:
        raise CalibrationRefused("board_small", {"marker_px": round(least, 1), "least_px": LEAST_MARKER_PX})


def _scales(places: Points, board: Matrix) -> NDArray[np.float64]:
    """Pixels a millimetre at each place, by the area that a square millimetre has there."""
    square = places[:, None] + np.array([[0, 0], [1, 0], [0, 1.0]])
    seen = cv2.perspectiveTransform(square.reshape(1, -1, 2), board).reshape(-1, 3, 2)
    across, down = seen[:, 1] - seen[:, 0], seen[:, 2] - seen[:, 0]
    return np.asarray(np.sqrt(np.abs(across[:, 0] * down[:, 1] - across[:, 1] * down[:, 0])))


def _refuse_shaken(reference: Picture, layout: Layout, board: Matrix) -> None:
    """A printed edge of some contrast, blurred by sigma, is contrast / (2.5 sigma) steep."""
    corners = cv2.perspectiveTransform(layout.corners_mm[None], board)
    inside = np.zeros(reference.shape[:2], np.uint8)
    cv2.fillConvexPoly(inside, np.rint(corners).astype(np.int32), 1)
    grey = cv2.GaussianBlur(cv2.cvtColor(reference, cv2.COLOR_BGR2GRAY), (0, 0), 1.0).astype(np.float32)
    around = np.ones((AROUND_PX, AROUND_PX), np.uint8)
    contrast = (cv2.dilate(grey, around) - cv2.erode(grey, around))[inside > 0]
    blur_px = max(_blur_px(cv2.Sobel(grey, cv2.CV_32F, dx, 1 - dx, scale=1 / 8)[inside > 0], contrast) for dx in (0, 1))
    if blur_px > BLUR_MOST_PX:
        raise CalibrationRefused("shaken", {"blur_px": round(blur_px, 1), "most_px": BLUR_MOST_PX})


def _blur_px(slopes: NDArray[np.generic], contrast: NDArray[np.generic]) -> float:
    steep = np.abs(slopes.astype(np.float64))
    edges = steep >= max(float(np.quantile(steep, STEEP_QUANTILE)), 1e-3)
    return float(np.median(contrast[edges] / steep[edges]) / 2.5) if edges.any() else np.inf


def _refuse_pieces(reference: Picture, layout: Layout, board: Matrix) -> None:
    """Of fourteen markers some show their cross, and a printed figure is none."""
    eye = market_place.eye(board, (reference.shape[1], reference.shape[0]))
    likeness = {
        name: float(market_face.looks(reference, board, eye, places, layout.marker_mm)[:, market_face.MORE].max())
        for name, places in places_mm(layout).items()
        if not name.endswith(".sold")
    }
    odd = [name for name, like in likeness.items() if like > CROSS_MOST]
    if len(odd) >= LEAST_CROSSES:
        raise CalibrationRefused("not_empty", {"ladders": odd})


def _restored(arrays: stored.Arrays) -> MarketCalibration:
    board = np.asarray(arrays["board"], np.float64)
    if board.shape != (3, 3) or not np.isfinite(board).all():
        raise ValueError("no homography")
    return MarketCalibration(pictures.checked(arrays["reference"]), _stored_layout(arrays), board)


def _stored_layout(arrays: stored.Arrays) -> Layout:
    return Layout.load(json.loads(str(arrays["layout"])))
