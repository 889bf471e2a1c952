"""What crops whose right answer is known teach about a table: how its empty tray and its colours look today.

A crop is put back into the empty picture, under the crop's own lamp, and read there. A third of the crops is held back:
what was learned from the others is kept only if those held back do not read worse.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import align, gnomes, palette
from vision.calibration import GnomeCalibration
from vision.errors import CalibrationRefused, PictureRefused
from vision.pictures import Picture
from vision.readings import Box, GnomeReading

LEAST_CROPS = 12
HELD_BACK = 3  # one of so many
TRUSTED = 0.5  # of those held back have to read as people said, else it is what they said that nobody understands
MOST_CROPS = 120
ENOUGH_PIECES = 6  # of a colour, else its old look is only brought under today's lamp
AROUND_PIECE_PX = 7
DARK_LEVEL = 24.0
MOST_GAIN = 1.6
FAINT = 0.05  # of one view: what the lamp is elsewhere counts where no crop shows the tray
SEED = 1

Gain = NDArray[np.float32]
"""By how much the lamp is brighter than in the empty picture, in B, G and R."""


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A crop (BGR, 8 bit) of a picture of the table, its place there, and how many pieces it shows."""

    crop: Picture
    box: Box
    right: int


@dataclass(frozen=True, slots=True)
class Score:
    """How crops read: how many to the piece, and the mean log likelihood of the right answer."""

    exact: int
    likelihood: float


@dataclass(frozen=True, slots=True, eq=False)
class Refit:
    """A calibration that was learned from crops, and how those `n` that were held back read before it and with it."""

    calibration: GnomeCalibration
    before: Score
    after: Score
    n: int


@dataclass(frozen=True, slots=True, eq=False)
class _Restored:
    """A crop put back: the whole picture, where the crop lies in it (0 or 1), the lamp, and the right answer."""

    picture: Picture
    inside: NDArray[np.uint8]
    gain: Gain
    right: int


def identity(calibration: GnomeCalibration) -> str:
    """Return an id of the table a calibration was made at: where tray and pieces lay, which no refit changes."""
    places = (calibration.tray_px, calibration.widths, np.array(calibration.middle_px))
    return hashlib.sha256(b"".join(np.ascontiguousarray(one).tobytes() for one in places)).hexdigest()[:16]


def refit(calibration: GnomeCalibration, examples: Sequence[Example]) -> Refit:
    """Learn from the newest examples (the first ones), and judge by those held back.

    Raises CalibrationRefused: `too_few` (have, need), `refit_worse` (before, after, n: how many of those held back read
    right); it is worse, too, where most answers fit nothing that can be seen.
    """
    found = [_restored(calibration, one) for one in examples[:MOST_CROPS]]
    shown = [one for one in found if one is not None]
    if len(shown) < LEAST_CROPS:
        raise CalibrationRefused("too_few", {"have": len(shown), "need": LEAST_CROPS})
    order = np.random.default_rng(SEED).permutation(len(shown))
    held, used = (
        [shown[at] for at in order[::HELD_BACK]],
        [shown[at] for i, at in enumerate(order) if i % HELD_BACK],
    )
    learned = _refitted(calibration, used)
    before, after = _score(calibration, held), _score(learned, held)
    is_worse = (after.exact, after.likelihood) < (before.exact, before.likelihood)
    if is_worse or after.exact < TRUSTED * len(held):
        values = {"before": before.exact, "after": after.exact, "n": len(held)}
        raise CalibrationRefused("refit_worse", values)
    return Refit(learned, before, after, len(held))


def _restored(calibration: GnomeCalibration, example: Example) -> _Restored | None:
    """Put a crop back to where it was seen; None for one that does not fit this calibration."""
    box, crop, empty = example.box, example.crop, calibration.empty
    there = np.s_[box.y : box.y + box.height, box.x : box.x + box.width]
    if crop.shape != empty[there].shape or min(box.x, box.y) < 0:
        return None
    before = np.ascontiguousarray(empty[there])
    found = align.register(align.anchor(before), crop)
    if not found.holds:
        return None
    flags, size = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, (box.width, box.height)
    laid = np.asarray(cv2.warpPerspective(crop, found.matrix, size, flags=flags), np.uint8)
    covers = np.full(crop.shape[:2], 255, np.uint8)
    covered = cv2.warpPerspective(covers, found.matrix, size, flags=flags) == 255
    gain = _gain(laid[covered], before[covered])
    picture = _lit(empty, gain)
    picture[there][covered] = laid[covered]
    inside = np.zeros(empty.shape[:2], np.uint8)
    inside[there][covered] = 1
    return _Restored(picture, inside, gain, example.right)


def _gain(now: NDArray[np.uint8], then: NDArray[np.uint8]) -> Gain:
    """Most of a crop is the tray itself, so the lamp is what most of its pixels say; black felt says little."""
    shares = (now + DARK_LEVEL) / (then + DARK_LEVEL)
    return np.asarray(np.clip(np.median(shares, axis=0), 1 / MOST_GAIN, MOST_GAIN), np.float32)


def _lit(picture: Picture, gain: Gain) -> Picture:
    return np.asarray(np.clip(picture * gain, 0, 255), np.uint8)


def _score(calibration: GnomeCalibration, shown: Sequence[_Restored]) -> Score:
    """A picture that is refused is read wrong, and says nothing of the right answer."""
    readings = [(_read(one, calibration), one.right) for one in shown]
    exact = sum(reading is not None and reading.count == right for reading, right in readings)
    logs = [np.log(reading.likelihood[right] if reading else 1 / 16) for reading, right in readings]
    return Score(exact, round(float(np.mean(logs)), 6))


def _read(one: _Restored, calibration: GnomeCalibration) -> GnomeReading | None:
    try:
        return gnomes.read(one.picture, calibration)
    except PictureRefused:
        return None


def _refitted(calibration: GnomeCalibration, shown: Sequence[_Restored]) -> GnomeCalibration:
    """Learn the empty tray and the colours from pictures of which the count is known."""
    readings = [_read(one, calibration) for one in shown]
    masks = [[] if reading is None else _pieces(reading, one) for reading, one in zip(readings, shown, strict=True)]
    gain = np.median([one.gain for one in shown], axis=0).astype(np.float32)
    return replace(
        calibration,
        empty=_emptied(calibration, shown, masks, gain),
        densities=_colours(calibration, shown, masks, gain),
    )


Mask = NDArray[np.uint8]


def _pieces(reading: GnomeReading, one: _Restored) -> list[Mask]:
    """The masks of the surest pieces, as many as there are."""
    surest = sorted(reading.outlines, key=lambda found: -found.confidence)[: one.right]
    return [_filled(np.array(found.polygon_px, np.int32), one.inside.shape) for found in surest]


def _filled(polygon: NDArray[np.int32], shape: tuple[int, ...]) -> Mask:
    mask = np.zeros(shape[:2], np.uint8)
    cv2.fillPoly(mask, [polygon.reshape(-1, 1, 2)], 1)
    return mask


def _emptied(
    calibration: GnomeCalibration, shown: Sequence[_Restored], masks: Sequence[Sequence[Mask]], gain: Gain
) -> Picture:
    """The empty picture under the lamp that crops show where no piece lies: brightness changes, texture does not."""
    empty = calibration.empty.astype(np.float32)
    now, then = FAINT * empty * gain, FAINT * empty
    for one, found in zip(shown, masks, strict=True):
        free = _free(one, found)[..., None]
        now, then = now + free * one.picture, then + free * empty
    lamp = _spread(now, calibration.length_px) / np.maximum(_spread(then, calibration.length_px), 1.0)
    return np.clip(np.rint(empty * lamp), 0, 255).astype(np.uint8)


def _free(one: _Restored, found: Sequence[Mask]) -> NDArray[np.uint8]:
    """Where a crop shows the tray itself, well away from every piece."""
    around = np.ones((AROUND_PIECE_PX, AROUND_PIECE_PX), np.uint8)
    covered = cv2.dilate(np.maximum.reduce([np.zeros_like(one.inside), *found]), around)
    return np.asarray(one.inside & (covered == 0), np.uint8)


def _spread(values: NDArray[np.float32], length_px: float) -> NDArray[np.float32]:
    """A lamp changes slowly from place to place: what lies within a piece's length is lit alike."""
    return np.asarray(cv2.GaussianBlur(values, (0, 0), length_px), np.float32)


def _colours(
    calibration: GnomeCalibration, shown: Sequence[_Restored], masks: Sequence[Sequence[Mask]], gain: Gain
) -> NDArray[np.float32]:
    """Each colour's share of colour cells, from the pieces that have it once the lamp is taken off."""
    old = np.log(calibration.densities + palette.FLOOR)
    pixels: list[list[NDArray[np.uint8]]] = [[] for _ in calibration.colours]
    for one, found in zip(shown, masks, strict=True):
        for mask in found:
            piece = one.picture[cv2.erode(mask, np.ones((3, 3), np.uint8)) > 0]
            if len(piece):
                lamp_off = _lit(piece[None], np.asarray(1 / one.gain, np.float32))
                pixels[int(palette.looked_up(lamp_off, old).mean(axis=(1, 2)).argmax())].append(piece)
    return np.stack(
        [
            palette.densities([np.concatenate(its)])[0] if len(its) >= ENOUGH_PIECES else _relit(density, gain)
            for its, density in zip(pixels, calibration.densities, strict=True)
        ]
    )


def _relit(density: NDArray[np.float32], gain: Gain) -> NDArray[np.float32]:
    """A colour's shares as they would be under another lamp."""
    filled = np.argwhere(density > 0)
    size = 256 // palette.BINS
    cells = np.clip((filled * size + size / 2) * gain, 0, 255).astype(int) // size
    out = np.zeros_like(density)
    np.add.at(out, tuple(cells.T), density[density > 0])
    return out
