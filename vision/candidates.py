"""From a view to candidates: every pawn that the net or the evidence suggests, with what speaks for it."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import pile, shapes
from vision.view import CLIP, View

FULL_EVIDENCE = 0.5  # of CLIP: what an average pixel of a wholly seen piece brings
PEAK_LEAST = -3.0
START_LEAST = -1.0
"""A place with such log odds for a middle is looked at as a gnome, whatever else speaks for it."""
PEAK_PX = 5
AROUND_PX = 7
OWN_PEAK_PX = 4.0  # from a piece's middle, the net's peak is its own
FAR_PX = 30.0


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that may be a gnome.

    `outline` is in view pixels (n x 2), `strength` what would be lost without it in units of a wholly seen piece,
    `peak` the net's log odds for a middle near its own, `started` whether the net suggested it, `inside` whether it
    lies in the tray, `fit` the mean evidence of its pixels over CLIP, `clear_px` the way to the next middle.
    """

    outline: NDArray[np.int32]
    colour: int
    strength: float
    peak: float
    started: bool
    inside: bool
    fit: float
    clear_px: float


@dataclass(frozen=True, slots=True)
class Peak:
    """A place where the net sees a middle: its log odds, and the mean evidence for a piece around it."""

    x: int
    y: int
    peak: float
    support: float
    inside: bool


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates of a view, and what they leave: the net's `lonely` peaks that no candidate has."""

    candidates: tuple[Candidate, ...]
    lonely: tuple[Peak, ...]
    alike: float


def find(view: View) -> Found:
    """Explain what is seen by whole gnomes, and look at what is left."""
    worth = FULL_EVIDENCE * CLIP * float(view.stage.bank[0].sum())
    peaks = _peaks(view)
    starts = [peak for peak in peaks if peak.peak > START_LEAST]
    search = pile.Pile(view.evidence, view.middles, view.stage.bank, worth, shapes.RARITY)
    pieces = search.solve([(peak.x, peak.y) for peak in starts])
    middles = np.array([(piece.x, piece.y) for piece in pieces], np.float64).reshape(-1, 2)
    others = peaks[len(starts) :]
    own = _own(middles, np.array([(peak.x, peak.y) for peak in others], np.float64).reshape(-1, 2))
    heights = np.array([peak.peak for peak in others])
    clear = np.linalg.norm(middles[:, None] - middles[None], axis=2) + FAR_PX * np.eye(len(pieces))
    candidates = tuple(
        _candidate(
            view,
            piece,
            piece.gain / worth,
            starts[piece.start].peak if piece.start >= 0 else float(heights[mine].max(initial=PEAK_LEAST)),
            float(far.min(initial=FAR_PX)),
        )
        for piece, mine, far in zip(pieces, own.T, clear, strict=True)
    )
    lonely = tuple(peak for peak, taken in zip(others, np.atleast_1d(own.any(axis=1)), strict=True) if not taken)
    return Found(candidates, lonely, view.alike)


def _candidate(view: View, piece: pile.Piece, strength: float, peak: float, clear_px: float) -> Candidate:
    template = view.stage.bank[piece.pose]
    half = template.shape[0] // 2
    return Candidate(
        outline=shapes.outline_of(template) + np.array([piece.x - half, piece.y - half], np.int32),
        colour=piece.colour,
        strength=strength,
        peak=peak,
        started=piece.start >= 0,
        inside=bool(view.tray[piece.y, piece.x]),
        fit=_fit(view, piece, template > 0.5),
        clear_px=clear_px,
    )


def _fit(view: View, piece: pile.Piece, mask: NDArray[np.bool_]) -> float:
    half = mask.shape[0] // 2
    rows, columns = np.nonzero(mask)
    y, x = rows + piece.y - half, columns + piece.x - half
    seen = (y >= 0) & (x >= 0) & (y < view.evidence.shape[1]) & (x < view.evidence.shape[2])
    return float(view.evidence[piece.colour, y[seen], x[seen]].mean()) / CLIP


def _peaks(view: View) -> list[Peak]:
    """The local maxima of the net's centre map, highest first."""
    smooth = cv2.GaussianBlur(view.centre, (0, 0), 0.6)
    top = cv2.dilate(smooth, np.ones((PEAK_PX, PEAK_PX), np.uint8))
    around = cv2.blur(view.evidence.max(axis=0), (AROUND_PX, AROUND_PX))
    found = [
        Peak(int(x), int(y), float(smooth[y, x]), float(around[y, x]), bool(view.tray[y, x]))
        for y, x in np.argwhere((smooth >= top) & (smooth > PEAK_LEAST))
    ]
    return sorted(found, key=lambda peak: -peak.peak)


def _own(middles: NDArray[np.float64], peaks: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which peak (row) is which piece's (column): the nearest piece's, if it is near; a piece may have several."""
    apart = np.linalg.norm(peaks[:, None] - middles[None], axis=2)
    nearest = apart <= apart.min(axis=1, initial=np.inf, keepdims=True)
    return np.asarray(nearest & (apart < OWN_PEAK_PX))
