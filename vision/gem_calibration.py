"""What must be known of a table before gems can be counted on it: two pictures in, one small file out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import align, background, gem_find, gem_view, pictures, stored
from vision.errors import CalibrationRefused, PictureRefused
from vision.gem_colours import COLOURS, apart, look_of
from vision.gem_find import Spot
from vision.gem_view import Stage, View
from vision.pictures import Picture
from vision.readings import Outline

FORMAT = 1
LEAST_ACROSS_PX = 12.0
LEAST_APART = 0.08
ROUGH_LEVELS = (12, 20, 32, 48)
ROUGH_WIDTHS = (28.0, 38.0, 20.0)  # of 720 rows: tried where differences show no row
ROUGH_LEAST_PX = 8.0
ROUGH_MOST = 0.15  # of the picture's height
ALIKE_SIZES = 2.2  # the largest blob's area over the smallest's
ROUGH_ENOUGH = 4
PLAIN_SPOT = 0.3  # the net's chance for a middle
HALF_GEM = 0.35  # of a gem's area: less than that is a crumb
MOST_SPOTS = 12
ROUNDS = 3
NEAR_ENOUGH = 0.1
SWAPPED_TRIES = 2
STRAIGHT = 0.6  # of a gem's width: how far a gem may lie beside the row
EVEN = 1.9  # the widest gap over the narrowest
SLOPE_TRUST = 0.05
MOST_SLOPE = 9e-4  # of the width a pixel
TEXTURE = 0.25  # spread of the evened picture: wood and patterns have more, plain cloth has noise alone
CLEARLY = 0.35
"""What the two ways to read the row must differ by, in logarithms of ratios of channels."""


@dataclass(frozen=True, slots=True, eq=False)
class GemCalibration:
    """One table: the empty picture, how large gems are, and how each of the six colours looks there.

    `across_px` is the width of a disc of a gem's area at `middle_px`, `slope` by how much of it a gem grows for each
    pixel to the right and down, `looks` (6 x 30) what `gem_colours.look_of` says of each palette gem, `row_px` (6 x 2)
    where they lay, `noise` what camera noise does to a pixel, in levels.
    """

    empty: Picture
    across_px: float
    slope: tuple[float, float]
    middle_px: tuple[float, float]
    looks: NDArray[np.float32]
    row_px: NDArray[np.float64]
    noise: float

    def save(self, path: Path | str) -> None:
        """Write to an NPZ file, whole or not at all."""
        sizes = np.array([self.across_px, *self.slope, *self.middle_px, self.noise])
        stored.save_npz(path, {"empty": self.empty, "looks": self.looks, "row_px": self.row_px, "sizes": sizes}, FORMAT)

    @staticmethod
    def load(path: Path | str) -> GemCalibration:
        """Read what `save` wrote; raise CalibrationRefused if the file is missing, broken or of another format."""
        arrays = stored.load_npz(path, FORMAT)
        try:
            across_px, right, down, x, y, noise = (float(v) for v in arrays["sizes"].astype(np.float64))
            empty = pictures.checked(arrays["empty"])
            looks, row_px = arrays["looks"].astype(np.float32), arrays["row_px"].astype(np.float64)
        except (KeyError, ValueError, TypeError) as error:
            raise stored.broken(path) from error
        return GemCalibration(empty, across_px, (right, down), (x, y), looks, row_px, noise)


@lru_cache(maxsize=4)
def stage(calibration: GemCalibration) -> Stage:
    """Prepare a calibration once for all its frames."""
    return gem_view.prepared(
        calibration.empty, calibration.across_px, calibration.slope, calibration.middle_px, calibration.noise
    )


def calibrate(empty: Picture, palette_picture: Picture) -> GemCalibration:
    """Learn a table from its empty picture and one with a gem of each colour in a row, in the order of COLOURS.

    Which end is gold is found out by colour. Both are BGR and of one size. Raises CalibrationRefused: `too_dark`,
    `blown_out`, `other_size`, `moved`, `not_6` (values: seen, outlines), `not_empty` (the gems lie in the first
    picture), `pieces_small`, `row_unclear`, `colours_alike` (values: first, second, apart, least).
    """
    _refuse_light(empty)
    _refuse_light(palette_picture)
    if palette_picture.shape != empty.shape:
        raise CalibrationRefused("other_size", {"empty": empty.shape[1::-1], "pieces": palette_picture.shape[1::-1]})
    row = _searched(_Pair.of(empty, palette_picture))
    _refuse_swapped(row)
    if row.across_px < LEAST_ACROSS_PX:
        raise CalibrationRefused("pieces_small", {"across_px": round(row.across_px, 1), "least_px": LEAST_ACROSS_PX})
    slope, middle = _slope(row), _reference_px(row).mean(axis=0)
    across = row.across_px * float(np.sqrt(np.mean([spot.share for spot in row.spots])))
    return _learnt(row.pair, across, slope, (float(middle[0]), float(middle[1])))


@dataclass(frozen=True, slots=True, eq=False)
class _Pair:
    """The two pictures, how the second lies over the first, and what noise does to a pixel of them, in levels."""

    empty: Picture
    picture: Picture
    anchor: align.Anchor
    found: align.Alignment
    noise: float

    @staticmethod
    def of(empty: Picture, picture: Picture) -> _Pair:
        """Register the second picture."""
        anchor = align.anchor(empty)
        return _Pair(empty, picture, anchor, align.register(anchor, picture), _noise(empty, picture))

    def view(
        self, across_px: float, slope: tuple[float, float] = (0.0, 0.0), middle_px: tuple[float, float] | None = None
    ) -> View:
        """Look at gems of a supposed width, which grow by a supposed slope from a point."""
        middle = middle_px or (self.empty.shape[1] / 2, self.empty.shape[0] / 2)
        stage = gem_view.prepared(self.empty, across_px, slope, middle, self.noise, self.anchor)
        return gem_view.looked(self.picture, stage, self.found)


@dataclass(frozen=True, slots=True, eq=False)
class _Row:
    """Six spots from one end to the other, at the width that was supposed."""

    pair: _Pair
    across_px: float
    view: View
    spots: tuple[Spot, ...]


def _learnt(
    pair: _Pair, across_px: float, slope: tuple[float, float], middle_px: tuple[float, float]
) -> GemCalibration:
    """Look once more, now that the sizes are known, and take down the colours."""
    view = pair.view(across_px, slope, middle_px)
    plain = _plain(view)
    spots = _six(plain)
    if spots is None:
        raise CalibrationRefused("not_6", {"seen": len(plain), "outlines": gem_find.outlines(view, plain)})
    looks = np.stack([look_of(spot.pixels, spot.light) for spot in spots])
    row_px = _in_reference(view, spots)
    if _backwards(looks):
        looks, row_px = looks[::-1].copy(), row_px[::-1].copy()
    _refuse_alike(looks)
    return GemCalibration(pair.empty.copy(), across_px, slope, middle_px, looks, row_px, pair.noise)


def _refuse_light(picture: Picture) -> None:
    try:
        pictures.refuse_light(pictures.checked(picture))
    except PictureRefused as error:
        raise CalibrationRefused(error.code, error.values) from error


def _searched(pair: _Pair) -> _Row:
    """The row at the first supposed width that shows one."""
    _refuse_moved(pair)
    best: tuple[View, list[Spot]] | None = None
    for width in _widths(pair.empty, pair.picture):
        row, view, spots = _tried(pair, width)
        if row:
            return row
        if best is None or abs(len(spots) - len(COLOURS)) < abs(len(best[1]) - len(COLOURS)):
            best = view, spots
        if len(spots) == len(COLOURS) - 1:  # one is missing; at other widths it will be too
            break
    swapped = _Pair.of(pair.picture, pair.empty)
    if any(_tried(swapped, width)[0] for width in _widths(pair.picture, pair.empty)[:SWAPPED_TRIES]):
        raise CalibrationRefused("not_empty")
    view, spots = best if best else (pair.view(ROUGH_WIDTHS[0]), [])
    raise CalibrationRefused("not_6", {"seen": len(spots), "outlines": gem_find.outlines(view, spots)})


def _refuse_moved(pair: _Pair) -> None:
    """There is much to hold on to, and nothing of it is found: the camera stands elsewhere."""
    if not pair.found.holds and float(np.std(pair.anchor.even)) > TEXTURE:
        raise CalibrationRefused("moved", {"alike": round(pair.found.alike, 2), "least": align.ALIKE_LEAST})


def _tried(pair: _Pair, across_px: float) -> tuple[_Row | None, View, list[Spot]]:
    """Look at a supposed width, and at that which the gems then seem to have."""
    for _ in range(ROUNDS):
        view = pair.view(across_px)
        spots = _plain(view)
        six = _six(spots)
        shares = [spot.share for spot in six or spots]
        off = float(np.sqrt(np.median(shares))) if shares else 1.0
        if six and abs(off - 1) < NEAR_ENOUGH:
            return _Row(pair, across_px, view, six), view, spots
        if abs(off - 1) < NEAR_ENOUGH:
            break
        across_px = float(np.clip(across_px * off, ROUGH_LEAST_PX, ROUGH_MOST * pair.empty.shape[0]))
    return None, view, spots


def _widths(empty: Picture, picture: Picture) -> list[float]:
    """Widths that gems may have: of like blobs that differ from the ground, then some usual ones."""
    away, _ = background.news(background.smoothed(picture, 1.5), background.smoothed(empty, 1.5))
    rough = [_like_blobs(away > level) for level in ROUGH_LEVELS]
    found = sorted((blobs for blobs in rough if len(blobs) >= ROUGH_ENOUGH), key=lambda b: abs(len(b) - len(COLOURS)))
    most = ROUGH_MOST * empty.shape[0]
    widths = [float(np.clip(np.median(blobs), ROUGH_LEAST_PX, most)) for blobs in found[:2]]
    return widths + [width * empty.shape[0] / 720 for width in ROUGH_WIDTHS]


def _like_blobs(mask: NDArray[np.bool_]) -> list[float]:
    """The widths of the largest blobs of about one size."""
    whole = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, np.ones((5, 5), np.uint8))
    _, _, stats, _ = cv2.connectedComponentsWithStats(whole)
    areas = np.sort(stats[1:, cv2.CC_STAT_AREA])[::-1][: 2 * len(COLOURS)]
    runs = [areas[i:][areas[i:] > areas[i] / ALIKE_SIZES] for i in range(len(areas))]
    best = max(runs, key=len, default=areas[:0])
    return [float(np.sqrt(4 * area / np.pi)) for area in best]


def _noise(empty: Picture, picture: Picture) -> float:
    """Levels by which a pixel strays although nothing happened to it."""
    apart_levels = cv2.absdiff(cv2.GaussianBlur(picture, (0, 0), 1.0), cv2.GaussianBlur(empty, (0, 0), 1.0))
    return float(np.clip(np.median(apart_levels), 0.5, 8.0))


def _plain(view: View) -> list[Spot]:
    return [spot for spot in gem_find.find(view) if spot.chance > PLAIN_SPOT and spot.share > HALF_GEM]


def _six(spots: Sequence[Spot]) -> tuple[Spot, ...] | None:
    """Six spots in a straight row at even distances, from one end to the other."""
    some = sorted(spots, key=lambda spot: -spot.chance)[:MOST_SPOTS]
    rows = [(_unevenness(one), one) for one in map(_in_order, combinations(some, len(COLOURS)))]
    good = [row for row in rows if row[0] < EVEN]
    return min(good, key=lambda row: row[0])[1] if good else None


def _in_order(spots: Sequence[Spot]) -> tuple[Spot, ...]:
    places = np.array([(spot.x, spot.y) for spot in spots])
    centred = places - places.mean(axis=0)
    way = np.linalg.svd(centred, full_matrices=False)[2][0]
    return tuple(spots[i] for i in np.argsort(centred @ way, kind="stable"))


def _unevenness(row: Sequence[Spot]) -> float:
    """The widest gap over the narrowest; without end where the row is not straight."""
    places = np.array([(spot.x, spot.y) for spot in row])
    centred = places - places.mean(axis=0)
    vectors = np.linalg.svd(centred, full_matrices=False)[2]
    if np.abs(centred @ vectors[1]).max() > STRAIGHT * gem_view.ACROSS_PX:
        return np.inf
    gaps = np.diff(centred @ vectors[0])
    return float(np.abs(gaps).max() / max(np.abs(gaps).min(), 1e-6))


def _refuse_swapped(row: _Row) -> None:
    """What stands out from its surroundings is a gem: it must do so in the second picture."""
    if _stands_out(row.view.stage.empty, row) > _stands_out(row.view.frame, row):
        raise CalibrationRefused("not_empty")


def _stands_out(picture: Picture, row: _Row) -> float:
    """How much the row's places differ from what is around them, in levels."""
    around = cv2.GaussianBlur(picture, (0, 0), gem_view.ACROSS_PX)
    here = cv2.GaussianBlur(picture, (0, 0), gem_view.ACROSS_PX / 5)
    apart_levels = cv2.absdiff(here, around).max(axis=2)
    return float(np.median([apart_levels[int(spot.y), int(spot.x)] for spot in row.spots]))


def _reference_px(row: _Row) -> NDArray[np.float64]:
    return _in_reference(row.view, row.spots)


def _in_reference(view: View, spots: Sequence[Spot]) -> NDArray[np.float64]:
    places = np.array([[(spot.x, spot.y) for spot in spots]])
    return np.asarray(cv2.perspectiveTransform(places, view.stage.to_reference)[0], np.float64)


def _slope(row: _Row) -> tuple[float, float]:
    """Fit half the logarithm of the area by place; six gems in a row are trusted little, and across it not at all."""
    places = _reference_px(row)
    extent = float(max(row.view.stage.shape[:2]))
    known = (places - places.mean(axis=0)) / extent
    sizes = np.array([np.log(max(spot.share, 1e-3)) / 2 for spot in row.spots])
    found = np.linalg.solve(known.T @ known + SLOPE_TRUST * np.eye(2), known.T @ (sizes - sizes.mean())) / extent
    bounded = np.clip(found, -MOST_SLOPE, MOST_SLOPE)
    return float(bounded[0]), float(bounded[1])


def _backwards(looks: NDArray[np.float32]) -> bool:
    """Whether the row begins with blue; raise CalibrationRefused if it is in neither order."""
    blue, green, red = (looks.reshape(len(looks), -1, 6)[:, 1:-1, i].mean(axis=1) for i in range(3))
    warm = red - np.minimum(green, blue) - np.maximum(green - red, 0)
    cold = blue - red
    clear = float((warm[1] - warm[4]) + (cold[5] - cold[0]))
    if abs(clear) < CLEARLY:
        raise CalibrationRefused("row_unclear", {"clear": round(abs(clear), 2), "least": CLEARLY})
    ordered = range(len(looks)) if clear > 0 else range(len(looks) - 1, -1, -1)
    in_order = (red - green)[list(ordered)]
    if int(np.argmax(in_order)) != 1 or int(np.argmax(cold[list(ordered)])) != 5:
        raise CalibrationRefused("row_unclear", {"clear": round(abs(clear), 2), "least": CLEARLY})
    return clear < 0


def _refuse_alike(looks: NDArray[np.float32]) -> None:
    gaps = {(a, b): apart(looks[a], looks[b]) for a, b in combinations(range(len(looks)), 2)}
    first, second = min(gaps, key=lambda pair: gaps[pair])
    least = gaps[first, second]
    if least < LEAST_APART:
        values = {"first": COLOURS[first], "second": COLOURS[second], "apart": round(least, 2), "least": LEAST_APART}
        raise CalibrationRefused("colours_alike", values)


def outlines_of_row(calibration: GemCalibration) -> tuple[Outline, ...]:
    """Return where the palette's gems lie in the empty picture's pixels, for the wizard to show."""
    turn = np.arange(8) * (np.pi / 4)
    ring = np.stack([np.cos(turn), np.sin(turn)], axis=1) * (calibration.across_px / 2)
    edges = np.rint(calibration.row_px[:, None] + ring).astype(int)
    return tuple(
        Outline(name, tuple((int(x), int(y)) for x, y in edge), 1.0) for name, edge in zip(COLOURS, edges, strict=True)
    )
