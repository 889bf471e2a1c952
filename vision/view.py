"""A frame laid over the empty picture, and what speaks for gnomes in it."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import align, background, hand, moved, net, palette, regions
from vision.calibration import GnomeCalibration
from vision.errors import PictureRefused
from vision.pictures import Picture
from vision.regions import Region
from vision.stage import LENGTH_PX, Shrunk, Stage, calmed, disc, prepared, stage, viewed

CLIP = 4.0
"""Evidence of one pixel, in units of log odds, is never more than this."""
DIFFERENCE_SHARE = 0.6
CHANGE_WEIGHT = 1.0
"""What it adds beside the tray that a pixel changed at all."""
HALO = 0.5  # of the news beside it: a pixel that is half piece and half felt has the colour of neither
HALO_PX = 5
MIDDLE_WEIGHT = 0.15
MIDDLE_USUAL = 1.0
"""The net's log odds at the middle of a plainly seen gnome are above minus this."""
MIDDLE_MOST = 3.0
MIDDLE_REACH_PX = 2
NO_MIDDLE = -12.0
AROUND_PX = int(0.8 * LENGTH_PX)  # of a change is looked at too: the net judges by surroundings
SPECK = 3
RIM_CHANGED = 0.2
ALIKE_DOUBTED = 0.6  # pictures of the same table are more alike, of a turned one less
TURNED_BETTER = 0.15


@dataclass(frozen=True, slots=True, eq=False)
class Laid:
    """A registered frame in view pixels.

    `to_frame` takes view pixels to the frame's own, `away` is how far each pixel of the tray that changed at all is
    from any shading of its empty pixel. `changed` is 1 where something differs: in the tray a shadow is no change,
    beside it a gnome may look like a shadow of the table; `touched` is 1 in all shadows. `seen` is 0 beyond the frame.
    """

    stage: Stage
    to_frame: align.Matrix
    frame: Picture
    away: NDArray[np.float32]
    changed: NDArray[np.uint8]
    touched: NDArray[np.uint8]
    seen: NDArray[np.uint8]
    from_reference: align.Matrix
    alike: float


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """What a frame shows where something changed, in view pixels.

    `evidence` is log odds for a piece of each colour, 3 x height x width, within CLIP; `middles` what a piece with its
    middle there gains, in wholly seen pieces; `centre` the net's log odds for a middle; `tray` is 1 in the tray;
    `changed` is 1 where something differs. `to_frame` takes view pixels to the frame's own, `from_reference` the empty
    picture's. `looked` are the rectangles that the net was shown: elsewhere nothing speaks for a piece.
    """

    stage: Stage
    to_frame: align.Matrix
    evidence: NDArray[np.float32]
    middles: NDArray[np.float32]
    centre: NDArray[np.float32]
    tray: NDArray[np.uint8]
    changed: NDArray[np.uint8]
    looked: tuple[Region, ...]
    from_reference: align.Matrix
    alike: float


def lay(picture: Picture, calibration: GnomeCalibration) -> Laid:
    """Register a frame, wherever the tray went.

    Raises PictureRefused: `other_size` than the calibration, `turned`, or `moved`, which is anything but that table.
    """
    _refuse_shape(picture, calibration)
    laid = _laid(picture, stage(calibration))
    if laid.alike < ALIKE_DOUBTED:
        _refuse_elsewhere(picture, laid)
    if _rim_changed(laid) < RIM_CHANGED:
        return laid
    elsewhere = moved.followed(picture, calibration)
    return _laid(picture, prepared(elsewhere)) if elsewhere else laid


def _laid(picture: Picture, at: Stage) -> Laid:
    found = align.register(at.anchor, picture)
    to_frame = found.matrix @ at.to_reference
    frame = viewed(picture, to_frame, (at.empty.shape[1], at.empty.shape[0]))
    smooth = calmed(frame)
    base = np.asarray(cv2.convertScaleAbs(at.empty, alpha=background.level(smooth, at.empty)), np.uint8)
    plain = background.most(np.asarray(cv2.absdiff(smooth, base), np.uint8))
    away = _away(smooth, base, plain, at)
    seen = _seen(picture.shape, to_frame, frame.shape)
    whole = np.asarray(cv2.erode(seen, disc(1)), np.uint8)
    changed, touched = _changed(np.where(at.tray > 0, away, plain), at) & whole, _changed(plain, at) & whole
    return Laid(at, to_frame, frame, away, changed, touched, seen, found.matrix, found.alike)


def _refuse_shape(picture: Picture, calibration: GnomeCalibration) -> None:
    got, known = picture.shape[1::-1], calibration.empty.shape[1::-1]
    if got != known and got == known[::-1]:
        raise PictureRefused("turned", {"degrees": 90})
    if got != known:
        raise PictureRefused("other_size", {"got": tuple(got), "calibrated": tuple(known)})


def _refuse_elsewhere(picture: Picture, laid: Laid) -> None:
    upside_down = align.register(laid.stage.anchor, np.ascontiguousarray(picture[::-1, ::-1]))
    if upside_down.holds and upside_down.alike > laid.alike + TURNED_BETTER:
        raise PictureRefused("turned", {"degrees": 180})
    if laid.alike < align.ALIKE_LEAST:
        raise PictureRefused("moved", {"alike": round(laid.alike, 2), "least": align.ALIKE_LEAST})


def look(picture: Picture, calibration: GnomeCalibration) -> View:
    """Register a frame and weigh every pixel where it changed; raise PictureRefused as `lay` does, or for a `hand`."""
    laid = lay(picture, calibration)
    if hand.reaches_in(laid.frame, laid.touched, laid.seen, laid.stage):
        raise PictureRefused("hand")
    looked = regions.around(laid.changed, AROUND_PX, net.STEP // net.CELL_PX)
    shape = laid.changed.shape
    evidence = np.full((palette.GROUPS, *shape), -CLIP, np.float32)
    centre = np.full(shape, NO_MIDDLE, np.float32)
    shrunk = Shrunk(picture, laid.stage.scale)
    for region in looked:
        sight = _sight(shrunk, laid, region)
        centre[region] = np.maximum(centre[region], sight.centre)
        evidence[:, *region] = np.maximum(evidence[:, *region], _evidence(laid, region, sight.part))
    return View(
        stage=laid.stage,
        to_frame=laid.to_frame,
        evidence=evidence,
        middles=_middles(centre),
        centre=centre,
        tray=laid.stage.tray,
        changed=laid.changed,
        looked=tuple(looked),
        from_reference=laid.from_reference,
        alike=laid.alike,
    )


def to_frame_px(view: View, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Take view points (n x 2) to the frame's pixels."""
    return np.asarray(cv2.perspectiveTransform(points[None].astype(np.float64), view.to_frame)[0], np.float64)


def _rim_changed(laid: Laid) -> float:
    """The share of the tray's rim that looks different: gnomes lie in the hollow, a moved tray bares the table."""
    rim = cv2.countNonZero(laid.stage.rim & laid.seen)
    return cv2.countNonZero(laid.stage.rim & laid.changed) / rim if rim else 0.0


def _away(smooth: Picture, base: Picture, plain: NDArray[np.uint8], at: Stage) -> NDArray[np.float32]:
    """How far pixels are from any shading, worked out only around those of the tray that changed at all."""
    away = np.zeros(plain.shape, np.float32)
    may = np.asarray(cv2.compare(plain, at.quiet, cv2.CMP_GT), np.uint8) & at.tray
    left, top, width, height = cv2.boundingRect(cv2.dilate(may, disc(HALO_PX)))
    part = np.s_[top : top + height, left : left + width]
    if width:
        away[part] = background.news(smooth[part].astype(np.float32), base[part].astype(np.float32))[0]
    return away


def _changed(difference: NDArray[np.uint8] | NDArray[np.float32], at: Stage) -> NDArray[np.uint8]:
    differs = difference > at.levels
    return np.asarray(cv2.morphologyEx(differs.astype(np.uint8), cv2.MORPH_OPEN, np.ones((SPECK, SPECK))), np.uint8)


def _seen(shape: tuple[int, ...], to_frame: align.Matrix, view: tuple[int, ...]) -> NDArray[np.uint8]:
    """Where the view shows the frame; a gnome that lies half beyond its edge must not count as half wrong."""
    whole = np.ones(shape[:2], np.uint8)
    flags = cv2.INTER_NEAREST | cv2.WARP_INVERSE_MAP
    return np.asarray(cv2.warpPerspective(whole, to_frame, (view[1], view[0]), flags=flags), np.uint8)


def _sight(shrunk: Shrunk, laid: Laid, region: Region) -> net.Sight:
    """Show the net one rectangle, at its own scale."""
    (top, bottom), (left, right) = ((side.start * net.CELL_PX, side.stop * net.CELL_PX) for side in region)
    here = np.array([[1, 0, left], [0, 1, top], [0, 0, 1.0]])
    to_frame = laid.from_reference @ laid.stage.sharp_to_reference @ here
    sharp = shrunk.warped(to_frame, (right - left, bottom - top))
    return net.see(sharp, laid.stage.sharp[top:bottom, left:right])


def _evidence(laid: Laid, region: Region, part: NDArray[np.float32]) -> NDArray[np.float32]:
    """Log odds for a piece of each colour: that it is one, and that it has that colour."""
    part = np.clip(part, -CLIP, CLIP)
    difference = _difference(laid.away[region], laid.stage.levels[region])
    beside = np.minimum(part + CHANGE_WEIGHT * laid.changed[region], CLIP)
    inside = (1 - DIFFERENCE_SHARE) * part + DIFFERENCE_SHARE * difference
    new = np.where(laid.stage.tray[region] > 0, inside, beside) * laid.seen[region]
    doubt = palette.looked_up(laid.frame[region], laid.stage.doubts) * (new > 0)
    return np.asarray(np.maximum(new + doubt, -CLIP), np.float32)


def _difference(away: NDArray[np.float32], levels: NDArray[np.float32]) -> NDArray[np.float32]:
    new = np.clip((away - levels) * (CLIP / levels), -CLIP, CLIP)
    halo = away < HALO * cv2.dilate(away, np.ones((HALO_PX, HALO_PX), np.uint8))
    return np.asarray(np.where(halo, np.minimum(new, 0.0), new), np.float32)


def _middles(centre: NDArray[np.float32]) -> NDArray[np.float32]:
    """What a piece costs whose middle the net does not see."""
    near = cv2.dilate(centre, disc(MIDDLE_REACH_PX))
    return np.asarray(MIDDLE_WEIGHT * np.clip(near + MIDDLE_USUAL, -MIDDLE_MOST, 0.0), np.float32)
