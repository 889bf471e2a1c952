"""Where the camera stands now against where it stood when the empty picture was taken.

Phase correlation gives the shift, ECC (Evangelidis and Psarakis 2008, OpenCV's `findTransformECC`) the homography, at
half size on grey whose brightness and contrast are evened out locally, so that lamps and shadows count little.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.pictures import Picture

Matrix = NDArray[np.float64]
Grey = NDArray[np.float32]

HALF = 0.5
EVEN_OVER_PX = 31  # half-size pixels: well over a gnome, well under the tray
ITERATIONS = 30
STEP = 1e-4
ECC_BLUR_PX = 5
EVERYWHERE: Any = None  # no mask; OpenCV takes it, its type stubs do not know
UNMOVED = np.eye(3, dtype=np.float32)
STILL_SHIFT_PX = 0.15  # half-size pixels: a camera that nobody touched; ECC would only fit the noise
ALIKE_STILL = 0.55
ALIKE_LEAST = 0.35
STRETCH_MOST = 0.25


@dataclass(frozen=True, slots=True)
class Anchor:
    """A reference picture made ready once, against which many frames are registered."""

    even: Grey
    plain: Grey


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
    plain = _half(picture)
    return Anchor(_even(plain), plain)


def register(reference: Anchor, picture: Picture) -> Alignment:
    """Find the homography from the reference to a picture of the same size."""
    plain = _half(picture)
    even = _even(plain)
    shift, _ = cv2.phaseCorrelate(reference.plain, plain)
    unmoved = _alike(reference.even, even)
    if np.hypot(shift[0], shift[1]) < STILL_SHIFT_PX and unmoved > ALIKE_STILL:
        return Alignment(np.eye(3), unmoved)
    moved = UNMOVED.copy()
    moved[:2, 2] = shift
    starts = sorted((moved, UNMOVED), key=lambda start: -_alike_after(reference.even, even, start))
    found = _refined(reference.even, even, starts[0])
    return found if found.holds else max(found, _refined(reference.even, even, starts[1]), key=lambda a: a.alike)


def _alike_after(reference: Grey, even: Grey, start: NDArray[np.float32]) -> float:
    size = (even.shape[1], even.shape[0])
    there = cv2.warpPerspective(even, start, size, flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP)
    return _alike(reference, np.asarray(there, np.float32))


def _refined(reference: Grey, even: Grey, start: NDArray[np.float32]) -> Alignment:
    until = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, ITERATIONS, STEP)
    try:
        alike, found = cv2.findTransformECC(
            reference, even, start.copy(), cv2.MOTION_HOMOGRAPHY, until, EVERYWHERE, ECC_BLUR_PX
        )
    except cv2.error:  # no overlap, or no structure to hold on to
        return Alignment(full_size(start), -1.0)
    matrix = np.asarray(found, np.float32)
    return Alignment(full_size(matrix), float(alike)) if _plausible(matrix) else Alignment(full_size(start), -1.0)


def _plausible(matrix: NDArray[np.float32]) -> bool:
    """A bumped camera neither mirrors, nor folds, nor doubles what it sees."""
    return bool(np.abs(matrix[:2, :2] - np.eye(2)).max() < STRETCH_MOST)


def full_size(matrix: NDArray[np.float32]) -> Matrix:
    """Take a matrix between half-size pictures to full size.

    Pixel centres lie at half pixels, so halving a picture is a scale about the corner of the first pixel.
    """
    down = np.array([[HALF, 0, HALF / 2 - 0.5], [0, HALF, HALF / 2 - 0.5], [0, 0, 1]])
    full: Matrix = np.linalg.inv(down) @ matrix.astype(np.float64) @ down
    return np.asarray(full / full[2, 2], np.float64)


def _alike(first: Grey, second: Grey) -> float:
    return float(cv2.matchTemplate(first, second, cv2.TM_CCOEFF_NORMED)[0, 0])


def _half(picture: Picture) -> Grey:
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)
    return np.asarray(cv2.resize(grey, None, fx=HALF, fy=HALF, interpolation=cv2.INTER_AREA), np.float32)


def _even(grey: Grey) -> Grey:
    smooth = cv2.GaussianBlur(grey, (0, 0), 1.0)
    mean = cv2.blur(smooth, (EVEN_OVER_PX, EVEN_OVER_PX))
    spread = cv2.blur(smooth * smooth, (EVEN_OVER_PX, EVEN_OVER_PX)) - mean * mean
    return np.asarray((smooth - mean) / (np.sqrt(np.maximum(spread, 0.0)) + 4.0), np.float32)
