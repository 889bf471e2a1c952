"""A frame laid over the empty picture at the size in which the gem net knows gems, and what the net sees in it."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import align, net, regions
from vision.pictures import Picture

ACROSS_PX = 19.0
"""A disc of a gem's area is this wide in every view: the net was trained on gems 20 px wide, which are no discs."""
MARGIN_PX = 16  # of the frame's own pixels: a bumped camera sees a little beside the empty picture
STEP = 16
SPREAD = 64.0
UNIT_CELLS = 4.0  # of the net's offsets: 8 px, in cells of two
GROUND_PX = 20.0  # the light on the ground is the empty picture, evened over about a gem
LEAST_LEVEL = 9.0
NOISES = 4.0  # a change is more than so many times the noise
EDGE_PX = 1.0
SPECK_PX = 3
NOTHING = -12.0  # log odds where nothing changed
AROUND_PX = 24  # of a change is looked at too: the net judges by surroundings

Map = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """An empty picture in view pixels, made ready once: `ground` is its light without its grain.

    `to_reference` takes view pixels to the empty picture's; `levels` is by how much each pixel must differ to have
    changed.
    """

    anchor: align.Anchor
    shape: tuple[int, ...]
    scale: float
    to_reference: align.Matrix
    empty: Picture
    ground: NDArray[np.float32]
    levels: NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A registered frame in view pixels, and the net's maps in cells of two of them.

    `gain` is by how much each channel is brighter than in the empty picture. `centre` and `part` are log odds for a
    gem's middle and for any part of one; `to_x`, `to_y` lead from a cell to its gem's middle, in cells. `seen` is 1
    where the view shows the frame. `to_frame` takes view pixels to the frame's own, `from_reference` the empty
    picture's; `alike` is how well that was found, -1 to 1.
    """

    stage: Stage
    to_frame: align.Matrix
    from_reference: align.Matrix
    frame: Picture
    gain: NDArray[np.float32]
    centre: Map
    part: Map
    to_x: Map
    to_y: Map
    seen: NDArray[np.uint8]
    alike: float


def prepared(
    empty: Picture,
    across_px: float,
    slope: tuple[float, float],
    middle_px: tuple[float, float],
    noise: float,
    anchor: align.Anchor | None = None,
) -> Stage:
    """Prepare an empty picture on which gems are `across_px` wide at `middle_px` and grow by `slope` a pixel.

    Its `anchor` is made where none is given.
    """
    height, width = empty.shape[:2]
    scale = ACROSS_PX / across_px
    size = tuple(STEP * round((side + 2 * MARGIN_PX) * scale / STEP) for side in (width, height))
    flat = np.array([[1 / scale, 0, -MARGIN_PX], [0, 1 / scale, -MARGIN_PX], [0, 0, 1]])
    to_reference = align.evened(slope, middle_px) @ flat
    view = _laid_out(empty, to_reference, (size[0], size[1]), scale)
    ground = cv2.GaussianBlur(view, (0, 0), GROUND_PX).astype(np.float32)
    return Stage(anchor or align.anchor(empty), empty.shape, scale, to_reference, view, ground, _levels(view, noise))


def look(picture: Picture, stage: Stage) -> View:
    """Register a frame of the stage's size and show the net what changed."""
    return looked(picture, stage, align.register(stage.anchor, picture))


def looked(picture: Picture, stage: Stage, found: align.Alignment) -> View:
    """Show the net what changed in a registered frame."""
    moved = found.matrix if found.holds else np.eye(3)  # a plain cloth gives nothing to hold on to
    to_frame = moved @ stage.to_reference
    frame = _laid_out(picture, to_frame, (stage.empty.shape[1], stage.empty.shape[0]), stage.scale)
    gain = _gain(frame, stage.empty)
    base = np.asarray(cv2.multiply(stage.empty, np.append(gain, 0.0).astype(np.float64)), np.uint8)
    seen = _shown(picture.shape, to_frame, frame.shape)
    known = seen & _shown(picture.shape, stage.to_reference, frame.shape)
    centre, part, to_x, to_y = _seen(frame, base, _changed(frame, base, stage.levels) & known)
    return View(stage, to_frame, moved, frame, gain, centre, part, to_x, to_y, seen, found.alike)


def _changed(frame: Picture, base: Picture, levels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """1 where a frame differs by more than `levels` from the ground under it, specks aside."""
    apart = cv2.GaussianBlur(cv2.absdiff(frame, base), (0, 0), 1.0)
    blue, green, red = cv2.split(apart)
    most = cv2.max(cv2.max(blue, green), red)
    mask = (np.asarray(most) > levels).astype(np.uint8)
    return np.asarray(cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((SPECK_PX, SPECK_PX), np.uint8)), np.uint8)


def to_frame_px(view: View, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Take view points (n x 2) to the frame's pixels."""
    return np.asarray(cv2.perspectiveTransform(points[None].astype(np.float64), view.to_frame)[0], np.float64)


def _levels(empty: Picture, noise: float) -> NDArray[np.uint8]:
    """What noise and a registration that is off by EDGE_PX may change without meaning anything."""
    calm = cv2.GaussianBlur(empty, (0, 0), 1.0)
    across, down = (cv2.Sobel(calm, cv2.CV_32F, dx, 1 - dx, scale=0.125) for dx in (1, 0))
    slope = cv2.dilate(np.maximum(np.abs(across), np.abs(down)).max(axis=2), np.ones((3, 3), np.uint8))
    return np.asarray(np.clip(max(LEAST_LEVEL, NOISES * noise) + EDGE_PX * slope, 0, 255), np.uint8)


def _laid_out(picture: Picture, matrix: align.Matrix, size: tuple[int, int], scale: float) -> Picture:
    """Lay a picture out by a matrix that takes view pixels to its own; shrinking averages first, lest noise stay."""
    shrink = min(1.0, scale * 1.25)
    if shrink < 1.0:
        picture = np.asarray(cv2.resize(picture, None, fx=shrink, fy=shrink, interpolation=cv2.INTER_AREA), np.uint8)
        matrix = np.array([[shrink, 0, shrink / 2 - 0.5], [0, shrink, shrink / 2 - 0.5], [0, 0, 1]]) @ matrix
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    view = cv2.warpPerspective(picture, matrix, size, flags=flags, borderMode=cv2.BORDER_REFLECT_101)
    return np.asarray(view, np.uint8)


def _gain(frame: Picture, empty: Picture) -> NDArray[np.float32]:
    """By how much each channel is brighter, by what most pixels say: lamps drift, and so does white balance."""
    now, then = frame[::8, ::8].reshape(-1, 3), empty[::8, ::8].reshape(-1, 3)
    ratio = np.median((now + np.float32(1)) / (then + np.float32(1)), axis=0)
    return np.asarray(np.clip(ratio, 0.5, 2.0), np.float32)


def _shown(shape: tuple[int, ...], to_picture: align.Matrix, view: tuple[int, ...]) -> NDArray[np.uint8]:
    """Return 1 where a view shows a picture, 0 where only what is mirrored at its border."""
    height, width = shape[:2]
    border = np.array([[[-0.5, -0.5], [width - 0.5, -0.5], [width - 0.5, height - 0.5], [-0.5, height - 0.5]]])
    corners = cv2.perspectiveTransform(border, np.linalg.inv(to_picture))[0]
    return np.asarray(cv2.fillConvexPoly(np.zeros(view[:2], np.uint8), np.rint(corners).astype(np.int32), 1), np.uint8)


def _seen(frame: Picture, base: Picture, mask: NDArray[np.uint8]) -> NDArray[np.float32]:
    """The net's four maps of a view, looked at around changes alone."""
    cell = net.CELL_PX
    maps = np.zeros((4, frame.shape[0] // cell, frame.shape[1] // cell), np.float32)
    maps[:2] = NOTHING
    for rows, columns in regions.around(mask, AROUND_PX, STEP):
        now = frame[rows, columns].astype(np.float32)
        planes = np.concatenate([(now - 128) / SPREAD, (now - base[rows, columns]) / SPREAD], axis=2)
        part = net.ask("gems.onnx", planes.transpose(2, 0, 1))
        part[2:] *= UNIT_CELLS
        maps[:, rows.start // cell : rows.stop // cell, columns.start // cell : columns.stop // cell] = part
    return maps
