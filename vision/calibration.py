"""What must be known of a table before gnomes can be counted on it: two pictures in, one small file out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import align, background, net, palette, pictures, shapes, sharpness, stored, tray
from vision.errors import CalibrationRefused, PictureRefused
from vision.pictures import Picture
from vision.readings import MOST_GNOMES, Outline

FORMAT = 1
LEVELS = (7, 9, 12, 16, 20, 24, 28, 34, 40)
"""Grey levels above any shading of the empty picture: the lowest that shows fifteen alike pieces wins."""
LEAST_LENGTH_PX = 24.0  # the net sees gnomes of 40 px; enlarged from less than this they are soup
LEAST_APART = 1.2
RING_PX = 9
MOST_SOFT_PX = 2.4
MOST_SOFT_EMPTY_PX = 4.0  # an empty table may have no sharp edge in some direction
MOST_RATIO = 3.2  # of the largest to the smallest piece: lying ones show more than standing ones
HALF_SEEN = 0.5
ALIKE_ENOUGH = 1.1
NOTICED_SHARE = 0.3  # of the median piece: smaller things are crumbs
LONG = 2.6  # times the median length: no piece is so long
ENOUGH_TO_MEASURE = 8
SLOPE_TRUST = 0.05
MOST_SLOPE = 6e-4  # of the length a pixel: a camera tilted by 30 degrees


@dataclass(frozen=True, slots=True, eq=False)
class GnomeCalibration:
    """One table: the empty picture, the tray in it, how large the gnomes are and which three colours they have.

    `length_px` is the length of a lying gnome at `middle_px`, `slope` by how much of it a gnome grows for each pixel to
    the right and down. `densities` has the share of each colour in 32 x 32 x 32 cells of BGR. `noise` and
    `level` are in grey levels: what camera noise does to a pixel, and what the gnomes' own shadows do at most. Without
    `tray_found` no edge of the tray was seen, and `tray_px` is but the pieces' surroundings.
    """

    empty: Picture
    tray_px: NDArray[np.int32]
    colours: tuple[str, ...]
    densities: NDArray[np.float32]
    length_px: float
    area_px: float
    slope: tuple[float, float]
    middle_px: tuple[float, float]
    widths: shapes.Profile
    noise: float
    level: float
    tray_found: bool = True

    def save(self, path: Path | str) -> None:
        """Write to an NPZ file, whole or not at all."""
        stored.save_npz(path, self._arrays(), FORMAT)

    @staticmethod
    def load(path: Path | str) -> GnomeCalibration:
        """Read what `save` wrote; raise CalibrationRefused if the file is missing, broken or of another format."""
        arrays = stored.load_npz(path, FORMAT)
        try:
            return _restored(arrays)
        except (KeyError, ValueError, TypeError) as error:
            raise stored.broken(path) from error

    def _arrays(self) -> dict[str, NDArray[np.generic]]:
        return {
            "empty": self.empty,
            "tray_px": self.tray_px,
            "colours": np.array(self.colours),
            "densities": self.densities.astype(np.float16),
            "sizes": np.array([self.length_px, self.area_px, *self.slope, *self.middle_px, self.noise, self.level]),
            "widths": self.widths,
            "tray_found": np.array(self.tray_found),
        }


def calibrate(empty: Picture, calibration_picture: Picture) -> GnomeCalibration:
    """Learn a table from its empty picture and one with all fifteen gnomes lying and standing apart in the tray.

    Both are BGR and of one size. Raises CalibrationRefused: `too_dark`, `blown_out`, `other_size`, `moved`, `not_15`
    (values: seen, outlines), `not_empty` (the pieces lie in the first picture), `pieces_small`, `shaken` (values:
    softness_px, most_px), `colours_alike` (values: first, second, apart, least).
    """
    _refuse_unusable(empty, MOST_SOFT_EMPTY_PX)
    _refuse_unusable(calibration_picture, MOST_SOFT_PX)
    frame = _registered(empty, calibration_picture)
    level, pieces = _fifteen(frame, empty)
    _refuse_swapped(empty, frame, pieces)
    widths, length_px = shapes.profile(pieces)
    _refuse_small(length_px)
    names, densities = _colours(frame, pieces)
    outline, found = tray.outline(empty, _hull(pieces))
    return GnomeCalibration(
        empty=empty.copy(),
        tray_px=outline,
        colours=names,
        densities=densities,
        length_px=length_px,
        area_px=float(np.median([int(mask.sum()) for mask in pieces])),
        slope=_slope(pieces, empty.shape),
        middle_px=_middle(pieces),
        widths=widths,
        noise=_noise(frame, empty),
        level=level,
        tray_found=found,
    )


def _refuse_swapped(empty: Picture, frame: Picture, pieces: Sequence[NDArray[np.uint8]]) -> None:
    """What stands out from its surroundings is a piece: it must do so in the second picture."""
    stands_out = [[_contrast(picture, mask) for mask in pieces] for picture in (empty, frame)]
    if float(np.median(stands_out[0])) > float(np.median(stands_out[1])):
        raise CalibrationRefused("not_empty")


def _contrast(picture: Picture, mask: NDArray[np.uint8]) -> float:
    ring = cv2.dilate(mask, np.ones((RING_PX, RING_PX), np.uint8)) - mask
    return float(np.linalg.norm(np.subtract(cv2.mean(picture, mask)[:3], cv2.mean(picture, ring)[:3])))


def _refuse_unusable(picture: Picture, most_soft_px: float) -> None:
    try:
        pictures.refuse_light(pictures.checked(picture))
        pictures.refuse_grey_rest(picture)
    except PictureRefused as error:
        raise CalibrationRefused(error.code, error.values) from error
    soft_px = sharpness.softness_px(picture)
    if soft_px > most_soft_px:
        raise CalibrationRefused("shaken", {"softness_px": round(soft_px, 1), "most_px": most_soft_px})


def _registered(empty: Picture, picture: Picture) -> Picture:
    """The calibration picture as the camera would have seen it from where the empty picture was taken."""
    height, width = empty.shape[:2]
    if picture.shape != empty.shape:
        raise CalibrationRefused("other_size", {"empty": (width, height), "pieces": picture.shape[1::-1]})
    found = align.register(align.anchor(empty), picture)
    if not found.holds:
        raise CalibrationRefused("moved", {"alike": round(found.alike, 2), "least": align.ALIKE_LEAST})
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    warped = cv2.warpPerspective(picture, found.matrix, (width, height), flags=flags, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(warped, np.uint8)


def _fifteen(frame: Picture, empty: Picture) -> tuple[float, list[NDArray[np.uint8]]]:
    """The masks of the fifteen pieces, and the lowest level at which they come apart well."""
    away, _ = background.news(background.smoothed(frame), background.smoothed(empty))
    tried = [(float(level), _blobs(away > level)) for level in LEVELS]
    good = [(level, blobs) for level, blobs in tried if len(blobs) == MOST_GNOMES and _ratio(blobs) < MOST_RATIO]
    if good:
        best = ALIKE_ENOUGH * min(_ratio(blobs) for _, blobs in good)
        level, blobs = next((level, blobs) for level, blobs in good if _ratio(blobs) <= best)
        return level, [_tight(mask, away) for mask in blobs]
    seen = _steadiest([_sized(blobs) for _, blobs in tried])
    if len(seen) >= ENOUGH_TO_MEASURE:
        _refuse_small(length_px := shapes.profile(seen)[1])
        more = _by_net(frame, empty, length_px)
        if len(more) == MOST_GNOMES and _ratio(more) < MOST_RATIO:
            return float(LEVELS[0]), more
    raise CalibrationRefused("not_15", {"seen": len(seen), "outlines": outlines(seen)})


def _steadiest(tried: list[list[NDArray[np.uint8]]]) -> list[NDArray[np.uint8]]:
    """Of what was seen at several levels the most that was seen twice, other than the number that is wanted."""
    numbers = Counter(len(blobs) for blobs in tried if len(blobs) != MOST_GNOMES)
    most = max(numbers, key=lambda number: (numbers[number] > 1, number), default=MOST_GNOMES)
    return next(blobs for blobs in tried if len(blobs) == most)


def _sized(blobs: list[NDArray[np.uint8]]) -> list[NDArray[np.uint8]]:
    """Those that have a piece's size: two that touch are not one that was seen."""
    areas = np.array([int(blob.sum()) for blob in blobs], np.float64)
    typical, most = (float(np.median(areas)) if blobs else 0.0), MOST_RATIO**0.5
    return [blob for blob, area in zip(blobs, areas, strict=True) if typical / most < area < typical * most]


def _by_net(frame: Picture, empty: Picture, length_px: float) -> list[NDArray[np.uint8]]:
    """Some gnomes have the felt's own colour; the net sees them by their shape, once others have told the size."""
    height, width = frame.shape[:2]
    scale = net.LENGTH_PX / length_px
    sized = [
        np.asarray(cv2.resize(p, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8)
        for p in (frame, empty)
    ]
    part = net.see(sized[0], sized[1]).part
    return _blobs(np.asarray(cv2.resize(part, (width, height), interpolation=cv2.INTER_LINEAR) > 0))


def _refuse_small(length_px: float) -> None:
    if length_px < LEAST_LENGTH_PX:
        raise CalibrationRefused("pieces_small", {"length_px": round(length_px, 1), "least_px": LEAST_LENGTH_PX})


def _tight(mask: NDArray[np.uint8], away: NDArray[np.float32]) -> NDArray[np.uint8]:
    """The edge of a piece lies where half of it is seen; further out is blur."""
    return np.asarray((mask > 0) & (away > HALF_SEEN * np.median(away[mask > 0])), np.uint8)


def _blobs(mask: NDArray[np.bool_]) -> list[NDArray[np.uint8]]:
    """What may be pieces: neither crumbs nor the long edges of a shadow."""
    whole = cv2.morphologyEx(np.asarray(mask, np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(whole)
    if count < 2:
        return []
    areas = stats[1:, cv2.CC_STAT_AREA]
    typical = float(np.median(np.sort(areas)[::-1][:MOST_GNOMES]))
    noticed = np.flatnonzero(areas > NOTICED_SHARE * typical)[: 3 * MOST_GNOMES]
    blobs = [np.asarray(labels == i + 1, np.uint8) for i in noticed]
    lengths = [_length(blob) for blob in blobs]
    most = LONG * float(np.median(lengths))
    return [blob for blob, length in zip(blobs, lengths, strict=True) if length < most]


def _length(blob: NDArray[np.uint8]) -> float:
    """The longer side of the smallest rectangle around a blob, px."""
    points = cv2.findNonZero(blob)
    return max(cv2.minAreaRect(points)[1]) + 1.0


def _ratio(blobs: Sequence[NDArray[np.uint8]]) -> float:
    areas = [int(blob.sum()) for blob in blobs]
    return max(areas) / max(min(areas), 1)


def outlines(masks: Sequence[NDArray[np.uint8]]) -> tuple[Outline, ...]:
    """Return the masks' edges as outlines without a colour, to show what was taken for a piece."""
    found = []
    for mask in masks:
        contours, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
        edge = max(contours, key=cv2.contourArea).reshape(-1, 2)
        found.append(Outline("", tuple((int(x), int(y)) for x, y in edge), 0.5))
    return tuple(found)


def _colours(frame: Picture, pieces: Sequence[NDArray[np.uint8]]) -> tuple[tuple[str, ...], NDArray[np.float32]]:
    pixels = [frame[cv2.erode(mask, np.ones((3, 3), np.uint8)) > 0] for mask in pieces]
    means = np.stack([palette.lit(found.astype(np.float64)) for found in pixels])
    groups = palette.grouped(means)
    order = range(palette.GROUPS)
    names = palette.named(np.stack([np.median(means[groups == g], axis=0) for g in order]))
    apart, (one, other) = palette.apart(means, groups)
    if apart < LEAST_APART:
        how = {"apart": round(apart, 2), "least": LEAST_APART}
        raise CalibrationRefused("colours_alike", {"first": names[one], "second": names[other], **how})
    samples = [np.concatenate([pixels[i] for i in np.flatnonzero(groups == g)]) for g in order]
    return names, palette.densities(samples)


def _hull(pieces: Sequence[NDArray[np.uint8]]) -> NDArray[np.int32]:
    points = np.argwhere(np.maximum.reduce(list(pieces)))[:, ::-1]
    return np.asarray(cv2.convexHull(np.asarray(points, np.int32)).reshape(-1, 2), np.int32)


def _slope(pieces: Sequence[NDArray[np.uint8]], shape: tuple[int, ...]) -> tuple[float, float]:
    """Fit half the logarithm of the area by place, lying and standing pieces apart; few pieces are trusted little."""
    centres = np.array([np.argwhere(mask).mean(axis=0)[::-1] for mask in pieces])
    sizes = np.array([np.log(mask.sum()) / 2 for mask in pieces])
    lying = np.array([min(cv2.minAreaRect(np.asarray(np.argwhere(mask), np.int32))[1]) for mask in pieces])
    flat = lying < np.median(lying)
    places = (centres - centres.mean(axis=0)) / max(shape[:2])
    known = np.column_stack([places, flat, ~flat]).astype(np.float64)
    weight = np.diag([SLOPE_TRUST, SLOPE_TRUST, 0.0, 0.0])
    found = np.linalg.solve(known.T @ known + weight, known.T @ sizes)[:2] / max(shape[:2])
    bounded = np.clip(found, -MOST_SLOPE, MOST_SLOPE)
    return float(bounded[0]), float(bounded[1])


def _middle(pieces: Sequence[NDArray[np.uint8]]) -> tuple[float, float]:
    centres = np.array([np.argwhere(mask).mean(axis=0)[::-1] for mask in pieces])
    return float(centres[:, 0].mean()), float(centres[:, 1].mean())


def _noise(frame: Picture, empty: Picture) -> float:
    """Grey levels by which a smoothed pixel strays although nothing happened to it."""
    away, _ = background.news(background.smoothed(frame), background.smoothed(empty))
    return float(np.clip(np.median(away), 0.5, 12.0))


def _restored(arrays: stored.Arrays) -> GnomeCalibration:
    length_px, area_px, across, down, x, y, noise, level = (float(v) for v in arrays["sizes"].astype(np.float64))
    return GnomeCalibration(
        empty=pictures.checked(arrays["empty"]),
        tray_px=np.asarray(arrays["tray_px"], np.int32),
        colours=tuple(str(name) for name in arrays["colours"]),
        densities=np.asarray(arrays["densities"], np.float32),
        length_px=length_px,
        area_px=area_px,
        slope=(across, down),
        middle_px=(x, y),
        widths=arrays["widths"].astype(np.float64),
        noise=noise,
        level=level,
        tray_found=bool(arrays.get("tray_found", True)),
    )
