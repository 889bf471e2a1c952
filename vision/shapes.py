"""The outline of a pawn: a solid turned on a lathe, measured on the pieces that lie in the calibration picture."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

SAMPLES = 24
STEEP_DEG = 60.0
RARE = 0.09
POSES_DEG = tuple(
    (elevation, turn * 360.0 / turns)
    for elevation, turns in ((0.0, 24), (25.0, 24), (45.0, 24), (65.0, 12), (85.0, 1))
    for turn in range(turns)
)
"""Each pose of the bank: how far the axis rises towards the camera, and how it is turned in the picture."""
UPRIGHT_DEG = 80.0
RARITY: NDArray[np.float32] = np.array([RARE * (elevation > STEEP_DEG) for elevation, _ in POSES_DEG], np.float32)
"""What a pose costs, in wholly seen pieces: of a shaken handful few stand."""
LYING = 4

Profile = NDArray[np.float64]
"""Widths across the axis from head to foot at SAMPLES places, in lengths of the piece."""


def profile(masks: list[NDArray[np.uint8]]) -> tuple[Profile, float]:
    """Measure the longest of the masks (each height x width, 0 or 1); return the profile and their length in px."""
    measured = sorted((_measured(mask) for mask in masks), key=lambda found: -found[1])[:LYING]
    widths = np.median(np.stack([w for w, _ in measured]), axis=0)
    return widths, float(np.median([length for _, length in measured]))


def bank(widths: Profile, length_px: float) -> NDArray[np.float32]:
    """Draw the piece in each of POSES_DEG: poses x side x side, 0 to 1, centred on its middle."""
    side = window(length_px)
    return np.stack([_drawn(widths, length_px, elevation, turn, side) for elevation, turn in POSES_DEG])


def window(length_px: float) -> int:
    """Return the odd side of the square that holds a piece however it is turned."""
    return 2 * int(np.ceil(length_px * 0.56)) + 1


def outline_of(template: NDArray[np.float32]) -> NDArray[np.int32]:
    """Return the outline (n x 2, px) of a drawn template."""
    contours, _ = cv2.findContours(np.asarray(template > 0.5, np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    return np.asarray(max(contours, key=cv2.contourArea).reshape(-1, 2), np.int32)


def _measured(mask: NDArray[np.uint8]) -> tuple[Profile, float]:
    points = np.argwhere(mask > 0)[:, ::-1].astype(np.float64)
    centred = points - points.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    along, across = centred @ vectors[:, 1], centred @ vectors[:, 0]
    low, high = along.min() - 0.5, along.max() + 0.5
    place = np.minimum((along - low) / (high - low) * SAMPLES, SAMPLES - 1).astype(int)
    widths = np.array([_extent(across[place == i]) for i in range(SAMPLES)]) / (high - low)
    head_first = widths[: SAMPLES // 2].sum() < widths[SAMPLES // 2 :].sum()
    return (widths if head_first else widths[::-1]), high - low


def _extent(values: NDArray[np.float64]) -> float:
    return float(values.max() - values.min() + 1.0) if len(values) else 0.0


def _drawn(widths: Profile, length_px: float, elevation_deg: float, turn_deg: float, side: int) -> NDArray[np.float32]:
    """Discs along the axis, each seen as an ellipse; drawn four times too large for soft edges."""
    fine = 4
    up, turn = np.deg2rad(elevation_deg), np.deg2rad(turn_deg)
    canvas = np.zeros((side * fine, side * fine), np.uint8)
    heights = (np.arange(SAMPLES) + 0.5) / SAMPLES - 0.5
    reach = [h * np.cos(up) * length_px * fine for h in heights]
    lean = [w / 2 * np.sin(up) * length_px * fine for w in widths]
    ends = [r + sign * s for r, s in zip(reach, lean, strict=True) for sign in (-1, 1)]
    middle = (min(ends) + max(ends)) / 2
    step = length_px * fine / SAMPLES * np.cos(up) * 0.75  # neighbouring discs must touch
    for r, s, w in zip(reach, lean, widths, strict=True):
        at = (r - middle) * np.array([np.cos(turn), np.sin(turn)]) + side * fine / 2
        axes = (max(s, step), w / 2 * length_px * fine)
        _disc(canvas, (float(at[0]), float(at[1])), axes, turn_deg)
    small = cv2.resize(canvas.astype(np.float32), (side, side), interpolation=cv2.INTER_AREA)
    return np.asarray(small, np.float32)


def _disc(canvas: NDArray[np.uint8], at: tuple[float, float], axes: tuple[float, float], turn_deg: float) -> None:
    bits = 3
    centre = (round(at[0] * 2**bits), round(at[1] * 2**bits))
    size = (round(axes[0] * 2**bits), round(axes[1] * 2**bits))
    cv2.ellipse(canvas, centre, size, turn_deg, 0, 360, 1, -1, cv2.LINE_8, bits)
