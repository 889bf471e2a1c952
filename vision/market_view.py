"""A picture of a board laid over its reference: what is new at each place, whatever the slant, the lamp or the bump.

Both are drawn as seen from straight above. What stands on the board is seen displaced, away from the point below the
camera: patches are taken there, and turned so that this is always to their right.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import align, market_face, market_place, pictures
from vision.errors import PictureRefused
from vision.market_calibration import MarketCalibration
from vision.market_place import Eye, Matrix, Points
from vision.pictures import Picture

Plane = NDArray[np.float32]

PX_PER_MM = 2.0
MARGIN_MM = 12.0
SMOOTH_PX = 0.8
BLOCK = 1 / 16  # of a canvas: 8 mm, over which lamps are compared
DARK_LEVEL = 6.0
FINE_PX = 5.0  # figures and lines are finer than that
FINE_LEVELS = 20.0
POOL_PX = 1.3
SIDE = 13  # of a patch, in samples
MARKER_STEP = 1 / 8  # of a marker's width
MARKER_MIDDLE_MM = 2.5
CUBE_STEP_MM = 2.0
CUBE_MIDDLE_MM = 4.0
ALIKE_LEAST = 0.45


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """What stays the same for all frames of a calibration; `canvas_to_mm` takes pixels of its canvases to the board."""

    calibration: MarketCalibration
    anchor: align.Anchor
    canvas_to_mm: Matrix
    size_px: tuple[int, int]
    canvas: Plane
    grey: Plane
    fine: Plane
    blocks: Plane


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A frame over its reference: `news` has three planes of a canvas, `board` takes board mm to frame pixels."""

    stage: Stage
    picture: Picture
    board: Matrix
    eye: Eye
    news: Plane


@lru_cache(maxsize=4)
def stage(calibration: MarketCalibration) -> Stage:
    """Prepare a calibration once for all its frames."""
    layout = calibration.layout
    to_mm = np.array([[1 / PX_PER_MM, 0, -MARGIN_MM], [0, 1 / PX_PER_MM, -MARGIN_MM], [0, 0, 1.0]])
    size = tuple(round((side + 2 * MARGIN_MM) * PX_PER_MM) for side in (layout.width_mm, layout.height_mm))
    canvas = _drawn(calibration.reference, calibration.board @ to_mm, (size[0], size[1]))
    grey = _grey(canvas)
    return Stage(
        calibration=calibration,
        anchor=align.anchor(calibration.reference),
        canvas_to_mm=to_mm,
        size_px=(size[0], size[1]),
        canvas=canvas,
        grey=grey,
        fine=_fine(grey),
        blocks=_blocks(canvas),
    )


def look(picture: Picture, calibration: MarketCalibration) -> View:
    """Lay a BGR picture over its reference; raise PictureRefused: `other_size`, `board_lost`, or as `pictures`."""
    pictures.refuse_light(pictures.checked(picture))
    made = stage(calibration)
    _refuse_size(picture, calibration.reference)
    best = -1.0
    for board in _places(picture, made):
        seen = _relit(_drawn(picture, board @ made.canvas_to_mm, made.size_px), made)
        best = max(best, alike := _alike(seen, made))
        if alike >= ALIKE_LEAST:
            eye = market_place.eye(board, (picture.shape[1], picture.shape[0]))
            return View(made, picture, board, eye, _news(seen, made))
    raise PictureRefused("board_lost", {"alike": round(best, 2), "least": ALIKE_LEAST})


def marker_patches(view: View, places_mm: Points) -> Plane:
    """Return the news around each place (n x 2, board mm) where a marker would stand: n x (SIDE x SIDE x 3)."""
    step = view.stage.calibration.layout.marker_mm * MARKER_STEP
    return _patches(view, places_mm, step, MARKER_MIDDLE_MM)


def cube_patches(view: View, places_mm: Points) -> Plane:
    """Return the news around each place (n x 2, board mm) where a cube might lie: n x (SIDE x SIDE x 3)."""
    return _patches(view, places_mm, CUBE_STEP_MM, CUBE_MIDDLE_MM)


def faces(view: View, places_mm: Points) -> Plane:
    """Return what tells which side of a marker is up at each place (n x 2, board mm): n x market_face.NUMBERS."""
    width = view.stage.calibration.layout.marker_mm
    return market_face.looks(view.picture, view.board, view.eye, places_mm, width)


def _refuse_size(picture: Picture, reference: Picture) -> None:
    if picture.shape != reference.shape:
        size, expected = picture.shape[1::-1], reference.shape[1::-1]
        raise PictureRefused("other_size", {"width": size[0], "height": size[1], "expected": expected})


def _places(picture: Picture, made: Stage) -> Iterator[Matrix]:
    """Where the board may lie: nearly where it was, else where its stickers or its print are found again."""
    calibration = made.calibration
    near = align.register(made.anchor, picture)
    if near.holds:
        yield np.asarray(near.matrix @ calibration.board)
    stickers = calibration.layout.stickers
    if stickers is not None and (found := market_place.by_stickers(picture, stickers)) is not None:
        yield found
    moved = market_place.carried(calibration.reference, picture, calibration.layout, calibration.board)
    if moved is not None:
        yield np.asarray(moved @ calibration.board)


def _drawn(picture: Picture, from_canvas: Matrix, size: tuple[int, int]) -> Plane:
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    drawn = cv2.warpPerspective(picture, from_canvas, size, flags=flags, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(cv2.GaussianBlur(drawn, (0, 0), SMOOTH_PX), np.float32)


def _blocks(canvas: Plane) -> Plane:
    return np.asarray(cv2.resize(canvas, None, fx=BLOCK, fy=BLOCK, interpolation=cv2.INTER_AREA), np.float32)


def _relit(canvas: Plane, made: Stage) -> Plane:
    """The frame's canvas in the reference's light: what most blocks around a place say; pieces cover few of them."""
    ratio = (_blocks(canvas) + DARK_LEVEL) / (made.blocks + DARK_LEVEL)
    smooth = cv2.GaussianBlur(cv2.medianBlur(ratio, 5), (0, 0), 1.0)
    return np.asarray(canvas / cv2.resize(smooth, made.size_px, interpolation=cv2.INTER_LINEAR), np.float32)


def _grey(canvas: Plane) -> Plane:
    return np.asarray(cv2.cvtColor(canvas, cv2.COLOR_BGR2GRAY), np.float32)


def _fine(grey: Plane) -> Plane:
    return np.asarray(grey - cv2.GaussianBlur(grey, (0, 0), FINE_PX), np.float32)


def _news(seen: Plane, made: Stage) -> Plane:
    """Three planes: lighter or darker, of another colour, of another fine print; noise taken off the last two."""
    grey = _grey(seen)
    shade = (grey + DARK_LEVEL) / (made.grey + DARK_LEVEL)
    away = seen - made.canvas * shade[..., None]
    hue = cv2.sqrt(np.einsum("ijk,ijk->ij", away, away)) / (grey + made.grey + 3 * DARK_LEVEL) * 2
    fine = np.abs(_fine(grey) - made.fine) / FINE_LEVELS
    planes = cv2.GaussianBlur(cv2.merge([np.clip(cv2.log(shade), -1, 1), hue, np.minimum(fine, 3)]), (0, 0), POOL_PX)
    usual = np.median(planes[::8, ::8, 1:].reshape(-1, 2), axis=0)
    planes[..., 1:] -= usual.astype(np.float32)
    return np.asarray(planes, np.float32)


def _alike(seen: Plane, made: Stage) -> float:
    """How much of the print's finer tones is there again, -1 to 1."""
    small = [_fine(_grey(_halved(one))) for one in (seen, made.canvas)]
    return float(cv2.matchTemplate(small[0], small[1], cv2.TM_CCOEFF_NORMED)[0, 0])


def _halved(canvas: Plane) -> Plane:
    return np.asarray(cv2.resize(canvas, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA), np.float32)


def _patches(view: View, places_mm: Points, step_mm: float, middle_mm: float) -> Plane:
    at = view.eye.lifted(places_mm, middle_mm)
    turned = np.einsum("nij,kj->nki", view.eye.turns(places_mm), market_place.grid(SIDE) * step_mm) + at[:, None]
    news = market_place.sampled(view.news, (turned + MARGIN_MM) * PX_PER_MM)
    return news.reshape(len(places_mm), -1)
