"""Where the camera stands now against where it stood when the empty picture was taken.

The empty picture's steepest pixels are moved until they fit the frame, from coarse to fine (inverse compositional
alignment, Baker and Matthews 2004), with a gain and an offset for the lamps. What lies on the table now, and shadows,
fit nowhere: pixels that stray further than their own slope can explain count for nothing (Tukey's weights).
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.pictures import Picture

Matrix = NDArray[np.float64]
Grey = NDArray[np.uint8]
Even = NDArray[np.float32]

HALF = 0.5
SHRINKS = (HALF**3, HALF**2, HALF)
"""Of the picture's size, at which it is fitted in turn."""
ROUNDS = (8, 6, 6)
MOST_PIXELS = (1500, 2500, 3000)
CELLS_PER_PIXEL = 4  # steep pixels are spread: this many cells for each that is wanted, and of a cell at most
OF_A_CELL = 6
BORDER_PX = 3
SLOPE_LEAST = 1.0  # grey levels a pixel
SLOPE_SHARE = 0.08  # of the picture's steepest edges
NOISE_WEIGHT = 4.0
SLACK_PX = 1.5  # an edge may be off by so much at first,
TIGHTER = 0.7  # after each round by this share of it
OFF_PX = 0.05
STIFF = np.array([1e3 / 0.003**2, 1e3 / 0.006**2])
"""A bumped camera shifts, turns and comes nearer; it hardly stretches or slants the picture."""
DONE_PX = 0.02
STILL_PX = 0.5  # of the frame: nearer than that nobody touched the camera, and a fit would only follow the noise
EVEN_OVER_PX = 15  # quarter-size pixels: well over a gnome, well under the tray
ALIKE_LEAST = 0.35
ALIKE_SURELY = 0.5
STRETCH_MOST = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class _Steep:
    """The steep pixels of a reference at one size.

    `values` (n) are their grey levels, `slopes` (n) how steep they are, `places` (3 x n) where they lie, in half
    picture widths from the middle, `answers` (n x 10) how the level changes with each parameter of a homography, the
    gain and the offset; `to_px` takes places to pixels.
    """

    values: NDArray[np.float32]
    slopes: NDArray[np.float32]
    places: NDArray[np.float64]
    answers: NDArray[np.float32]
    to_px: Matrix


@dataclass(frozen=True, slots=True, eq=False)
class Anchor:
    """A reference picture made ready once, against which many frames are registered."""

    steep: tuple[_Steep, ...]
    even: Even
    quarter: Even


@dataclass(frozen=True, slots=True)
class Alignment:
    """`matrix` takes reference pixels to frame pixels; `alike` is the correlation of the two after it, -1 to 1."""

    matrix: Matrix
    alike: float

    @property
    def holds(self) -> bool:
        """Whether the two pictures show the same scene where the matrix says so."""
        return self.alike >= ALIKE_LEAST


def anchor(picture: Picture) -> Anchor:
    """Prepare a reference picture: BGR, any size."""
    sizes = _sizes(picture)
    steep = tuple(_steep(grey, most) for grey, most in zip(sizes, MOST_PIXELS, strict=True))
    return Anchor(steep, even(sizes[1]), sizes[1].astype(np.float32))


def register(reference: Anchor, picture: Picture) -> Alignment:
    """Find the homography from the reference to a picture of the same size."""
    sizes = _sizes(picture)
    found = _fitted(reference, sizes, np.eye(3))
    if found.alike < ALIKE_SURELY:
        shift, _ = cv2.phaseCorrelate(reference.quarter, sizes[1].astype(np.float32))
        half_width = sizes[1].shape[1] / 2
        moved = np.array([[1, 0, shift[0] / half_width], [0, 1, shift[1] / half_width], [0, 0, 1]])
        found = max(found, _fitted(reference, sizes, moved), key=lambda one: one.alike)
    return found


def half_size(picture: Picture) -> Grey:
    """Return a BGR picture in grey at half size."""
    small = cv2.resize(picture, None, fx=HALF, fy=HALF, interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.cvtColor(small, cv2.COLOR_BGR2GRAY), np.uint8)


def even(grey: Grey, over_px: int = EVEN_OVER_PX) -> Even:
    """Even out brightness and contrast, so that lamps and shadows count little."""
    smooth = grey.astype(np.float32)
    mean = cv2.blur(smooth, (over_px, over_px))
    spread = cv2.blur(smooth * smooth, (over_px, over_px)) - mean * mean
    return np.asarray((smooth - mean) / (np.sqrt(np.maximum(spread, 0.0)) + 4.0), np.float32)


def evened(slope: tuple[float, float], middle_px: tuple[float, float]) -> Matrix:
    """Return the perspective under which near pieces are as large as far ones.

    They grow by `slope` of their length a pixel to the right and down, seen from `middle_px`.

    Where a homography divides by w, areas shrink by its third power, lengths by w to the power 1.5.
    """
    across, down = (-part / 1.5 for part in slope)
    x, y = middle_px
    there = np.array([[1, 0, x], [0, 1, y], [0, 0, 1.0]])
    return np.asarray(there @ np.array([[1, 0, 0], [0, 1, 0], [across, down, 1.0]]) @ np.linalg.inv(there), np.float64)


def full_size(matrix: Matrix, shrunk: float = HALF) -> Matrix:
    """Take a matrix between shrunk pictures to full size.

    Pixel centres lie at half pixels, so shrinking a picture is a scale about the corner of the first pixel.
    """
    down = np.array([[shrunk, 0, shrunk / 2 - 0.5], [0, shrunk, shrunk / 2 - 0.5], [0, 0, 1]])
    full: Matrix = np.linalg.inv(down) @ matrix.astype(np.float64) @ down
    return np.asarray(full / full[2, 2], np.float64)


def _sizes(picture: Picture) -> tuple[Grey, ...]:
    """The picture at each of SHRINKS, grey, without its noise."""
    half = half_size(picture)
    quarter = cv2.resize(half, None, fx=HALF, fy=HALF, interpolation=cv2.INTER_AREA)
    eighth = cv2.resize(quarter, None, fx=HALF, fy=HALF, interpolation=cv2.INTER_AREA)
    smooth = (cv2.GaussianBlur(g, (n, n), 0) for g, n in ((eighth, 3), (quarter, 3), (half, 5)))
    return tuple(np.asarray(grey, np.uint8) for grey in smooth)


def _steep(grey: Grey, most: int) -> _Steep:
    across, down = (cv2.Sobel(grey, cv2.CV_32F, dx, 1 - dx, scale=0.125) for dx in (1, 0))
    rows, columns = _steepest(np.hypot(across, down).astype(np.float32), most)
    height, width = grey.shape
    scale = width / 2
    x, y = (columns - (width - 1) / 2) / scale, (rows - (height - 1) / 2) / scale
    gx, gy = across[rows, columns] * scale, down[rows, columns] * scale
    values, one = grey[rows, columns].astype(np.float32), np.ones_like(x)
    along = gx * x + gy * y
    answers = np.stack([gx * x, gx * y, gx, gy * x, gy * y, gy, -x * along, -y * along, values, one], axis=1)
    return _Steep(
        values=values,
        slopes=np.hypot(gx, gy).astype(np.float32) / np.float32(scale),
        places=np.stack([x, y, one]),
        answers=np.asarray(answers, np.float32),
        to_px=np.array([[scale, 0, (width - 1) / 2], [0, scale, (height - 1) / 2], [0, 0, 1]]),
    )


def _steepest(slope: NDArray[np.float32], most: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of the steepest pixels, no more than OF_A_CELL from any one place."""
    least = max(SLOPE_LEAST, SLOPE_SHARE * float(np.percentile(slope, 98)))
    inner = np.zeros_like(slope)
    within = np.s_[BORDER_PX:-BORDER_PX, BORDER_PX:-BORDER_PX]
    inner[within] = slope[within]
    side = max(2, round(float(np.sqrt(slope.size * CELLS_PER_PIXEL / most))))
    rows, columns = np.nonzero(inner > least)
    order = np.argsort(-inner[rows, columns], kind="stable")
    rows, columns = rows[order], columns[order]
    cells = rows // side * slope.shape[1] + columns // side
    by_cell = np.argsort(cells, kind="stable")
    _, first, counts = np.unique(cells[by_cell], return_index=True, return_counts=True)
    rank = np.empty(len(cells), np.intp)
    rank[by_cell] = np.arange(len(cells)) - np.repeat(first, counts)
    kept = np.flatnonzero(rank < OF_A_CELL)[:most]
    return rows[kept], columns[kept]


def _fitted(reference: Anchor, sizes: tuple[Grey, ...], start: Matrix) -> Alignment:
    """Refine a start, given in half picture widths from the middle."""
    move, lamps = start, np.array([1.0, 0.0])
    for steep, grey, rounds in zip(reference.steep, sizes, ROUNDS, strict=True):
        for number in range(rounds):
            move, lamps, step = _round(steep, grey, move, lamps, SLACK_PX * TIGHTER**number)
            if step < DONE_PX:
                break
    if not _plausible(move):
        return Alignment(np.eye(3), -1.0)
    px = [steep.to_px @ move @ np.linalg.inv(steep.to_px) for steep in reference.steep]
    matrix = full_size(px[2], SHRINKS[2])
    if _shift(matrix, sizes[2].shape[1] / SHRINKS[2], sizes[2].shape[0] / SHRINKS[2]) < STILL_PX:
        return Alignment(np.eye(3), _alike(reference.even, sizes[1]))
    size = (sizes[1].shape[1], sizes[1].shape[0])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    there = cv2.warpPerspective(sizes[1], px[1], size, flags=flags, borderMode=cv2.BORDER_REPLICATE)
    return Alignment(matrix, _alike(reference.even, np.asarray(there, np.uint8)))


def _round(
    steep: _Steep, grey: Grey, move: Matrix, lamps: NDArray[np.float64], slack_px: float
) -> tuple[Matrix, NDArray[np.float64], float]:
    """One step of Gauss and Newton; return the better move and lamps, and how far it went in pixels."""
    if not len(steep.values):  # a plain cloth gives nothing to hold on to
        return move, lamps, 0.0
    there = steep.to_px @ move @ steep.places
    x, y = (there[:2] / there[2]).astype(np.float32)
    now = cv2.remap(grey, x[None], y[None], cv2.INTER_LINEAR)[0]
    off = np.asarray(now - (lamps[0] * steep.values + lamps[1]), np.float32)
    within = (x > 0) & (x < grey.shape[1] - 1) & (y > 0) & (y < grey.shape[0] - 1)
    if np.count_nonzero(within) <= steep.answers.shape[1]:
        return move, lamps, 0.0
    weights = _weights(off, steep.slopes, slack_px, within)
    weighted = steep.answers * weights[:, None]
    curve = (weighted.T @ steep.answers).astype(np.float64) + _STIFFNESS
    step = np.linalg.solve(curve, weighted.T @ off)
    change = np.append(step[:8], 1.0).reshape(3, 3) + np.diag([1.0, 1.0, 0.0])
    better = move @ np.linalg.inv(change)
    return better / better[2, 2], lamps + step[8:], float(np.abs(step[:6]).max() * steep.to_px[0, 0])


def _weights(
    off: NDArray[np.float32], slopes: NDArray[np.float32], slack_px: float, within: NDArray[np.bool_]
) -> NDArray[np.float32]:
    noise = 1.4826 * np.median(np.abs(off[within])) + 0.5
    most = (NOISE_WEIGHT * noise) ** 2 + np.square(slopes * slack_px)
    expected = noise**2 + np.square(slopes * OFF_PX)
    fits = np.maximum(1 - np.square(off) / most, 0.0)
    return np.asarray(np.where(within, fits * fits / expected, 0.0), np.float32)


def _stiffness() -> NDArray[np.float64]:
    """What holds back stretching, shearing and slanting; a little for all, lest bare pictures have no answer."""
    stretch, shear = np.zeros(10), np.zeros(10)
    stretch[[0, 4]], shear[[1, 3]] = (1, -1), (1, 1)
    slant = np.diag(np.isin(np.arange(10), (6, 7)).astype(np.float64))
    return np.asarray(
        STIFF[0] * (np.outer(stretch, stretch) + np.outer(shear, shear)) + STIFF[1] * slant + 1e-3 * np.eye(10)
    )


_STIFFNESS = _stiffness()


def _plausible(move: Matrix) -> bool:
    """A bumped camera neither mirrors, nor folds, nor doubles what it sees."""
    return bool(np.isfinite(move).all() and np.abs(move[:2, :2] - np.eye(2)).max() < STRETCH_MOST)


def _shift(matrix: Matrix, width_px: float, height_px: float) -> float:
    """How far the picture's corners move on average, in pixels."""
    corners = np.array([[[0, 0], [width_px, 0], [0, height_px], [width_px, height_px]]], np.float64)
    return float(np.linalg.norm(cv2.perspectiveTransform(corners, matrix) - corners, axis=2).mean())


def _alike(reference: Even, quarter: Grey) -> float:
    return float(cv2.matchTemplate(reference, even(quarter), cv2.TM_CCOEFF_NORMED)[0, 0])
