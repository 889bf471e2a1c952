"""Where a market board lies in a picture, and how the camera looks at it."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import align
from vision.market_layout import Layout, Stickers
from vision.pictures import Picture

Matrix = NDArray[np.float64]
Points = NDArray[np.float64]
Plane = NDArray[np.float32]

FEATURES = 1500
RATIO = 0.75  # a feature's best match is that much nearer than its second best (Lowe 2004)
WITHIN_PX = 3.0  # half-size pixels
LEAST_MATCHES = 24
FOCAL_LENGTHS = np.geomspace(0.55, 3.0, 60)
"""Of the picture's width: from a wide angle to a portrait lens."""
USUAL_FOCAL = 1.1
USUAL_WEIGHT = 2e-3  # a board seen straight from above does not tell its lens


@dataclass(frozen=True, slots=True)
class Eye:
    """The camera over a board: the point of the board's plane below it and its height over that, in mm."""

    below_mm: tuple[float, float]
    height_mm: float

    def lifted(self, points_mm: Points, height_mm: float) -> Points:
        """Return which points of the board (n x 2) lie behind points that are `height_mm` above `points_mm`."""
        away = points_mm - np.array(self.below_mm)
        return np.asarray(points_mm + away * (height_mm / (self.height_mm - height_mm)))

    def turns(self, points_mm: Points) -> NDArray[np.float64]:
        """Return rotations (n x 2 x 2) of a patch's axes to the board's: its right is away from below the camera."""
        away = points_mm - np.array(self.below_mm)
        cos, sin = (away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-6)).T
        return np.stack([np.stack([cos, -sin], axis=1), np.stack([sin, cos], axis=1)], axis=1)


def by_stickers(picture: Picture, stickers: Stickers) -> Matrix | None:
    """Return the homography from board mm to a picture's pixels by the ArUco stickers seen in it; None if too few."""
    kind = int(getattr(cv2.aruco, stickers.dictionary))
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(kind))
    quads, ids, _ = detector.detectMarkers(picture)
    numbers = [] if ids is None else [int(number) for number in ids.ravel()]
    found = {number: _middle(np.asarray(quad, np.float64)) for number, quad in zip(numbers, quads, strict=False)}
    known = [number for number in stickers.middles_mm if number in found]
    if len(known) < 4:
        return None
    board = np.array([stickers.middles_mm[number] for number in known])
    matrix, _ = cv2.findHomography(board, np.array([found[number] for number in known]))
    return None if matrix is None else np.asarray(matrix, np.float64)


def by_corners(layout: Layout, corners_px: tuple[tuple[float, float], ...]) -> Matrix:
    """Return the homography from board mm to pixels by the print's corners."""
    found = cv2.getPerspectiveTransform(layout.corners_mm.astype(np.float32), np.array(corners_px, np.float32))
    return np.asarray(found, np.float64)


def carried(reference: Picture, picture: Picture, layout: Layout, board: Matrix) -> Matrix | None:
    """Find a board that was moved far: the homography from reference pixels to a picture's, by its SIFT features."""
    before, grey = align.half_size(reference), align.half_size(picture)
    outline = cv2.perspectiveTransform(layout.corners_mm[None], board) * align.HALF
    print_only = np.zeros(before.shape, np.uint8)
    cv2.fillConvexPoly(print_only, np.rint(outline).astype(np.int32), 255)
    (places, looks), (now, looks_now) = _features(before, print_only), _features(grey, np.full_like(grey, 255))
    if len(places) < LEAST_MATCHES or len(now) < LEAST_MATCHES:
        return None
    pairs = cv2.BFMatcher().knnMatch(looks, looks_now, k=2)
    good = [best for best, second in pairs if best.distance < RATIO * second.distance]
    if len(good) < LEAST_MATCHES:
        return None
    there = np.array([places[match.queryIdx] for match in good])
    here = np.array([now[match.trainIdx] for match in good])
    matrix, agrees = cv2.findHomography(there, here, cv2.RANSAC, WITHIN_PX)
    if matrix is None or int(np.asarray(agrees).sum()) < LEAST_MATCHES:
        return None
    return align.full_size(np.asarray(matrix, np.float64))


def eye(board: Matrix, size_px: tuple[int, int]) -> Eye:
    """Work out from where a camera of square pixels sees a board, by the homography from board mm to its pixels.

    The focal length is the one at which the board's axes come out square and of one scale (Zhang 2000); where the
    picture hardly tells, a usual one.
    """
    middle = np.array([[1, 0, -(size_px[0] - 1) / 2], [0, 1, -(size_px[1] - 1) / 2], [0, 0, 1.0]])
    centred = middle @ board
    lengths = FOCAL_LENGTHS * size_px[0]
    best = min(lengths, key=lambda focal: _skew(centred, focal) + USUAL_WEIGHT * _unusual(focal / size_px[0]))
    return _seen_from(np.diag([1 / best, 1 / best, 1.0]) @ centred)


def grid(side: int) -> Points:
    """Return the places (side * side x 2) of a square patch's samples around its middle, row by row."""
    line = np.arange(side) - (side - 1) / 2
    return np.stack(np.meshgrid(line, line), axis=2).reshape(-1, 2)


def sampled(picture: Picture | Plane, places_px: Points) -> Plane:
    """Return the three channels of a picture at each place (n x m x 2): n x m x 3."""
    x, y = np.moveaxis(places_px.astype(np.float32), 2, 0)
    found = cv2.remap(picture, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(found, np.float32)


def _middle(quad: Points) -> tuple[float, float]:
    """The crossing of a quadrilateral's diagonals: the middle of a square seen at a slant."""
    corners = np.column_stack([quad.reshape(4, 2), np.ones(4)])
    x, y, w = np.cross(np.cross(corners[0], corners[2]), np.cross(corners[1], corners[3]))
    return float(x / w), float(y / w)


def _features(grey: NDArray[np.uint8], mask: NDArray[np.uint8]) -> tuple[Points, NDArray[np.float32]]:
    places, looks = cv2.SIFT.create(FEATURES).detectAndCompute(grey, mask)
    at = np.array([place.pt for place in places], np.float64).reshape(-1, 2)
    return at, np.zeros((0, 128), np.float32) if looks is None else np.asarray(looks, np.float32)


def _skew(centred: Matrix, focal: float) -> float:
    across, down = (np.diag([1 / focal, 1 / focal, 1.0]) @ centred)[:, :2].T
    size = np.linalg.norm(across) * np.linalg.norm(down)
    return float((across @ down / size) ** 2 + np.log(np.linalg.norm(across) / np.linalg.norm(down)) ** 2)


def _unusual(focal: float) -> float:
    return float(np.log(focal / USUAL_FOCAL) ** 2)


def _seen_from(pose: Matrix) -> Eye:
    scale = 2 / (np.linalg.norm(pose[:, 0]) + np.linalg.norm(pose[:, 1]))
    across, down, away = (pose * scale * np.sign(pose[2, 2])).T
    left, _, right = np.linalg.svd(np.column_stack([across, down, np.cross(across, down)]))
    at = -(left @ right).T @ away
    return Eye((float(at[0]), float(at[1])), float(abs(at[2])))
