"""From a view to candidates: every pawn that the evidence suggests, with how much speaks for it."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import pile, shapes
from vision.view import CLIP, View

FULL_EVIDENCE = 0.5  # of CLIP: what an average pixel of a wholly seen piece brings
PEAK_LEAST = -3.0
PEAK_PX = 5
AROUND_PX = 7
OWN_PEAK_PX = 4.0  # from a piece's middle, the net's peak is its own


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that may be a gnome.

    `outline` is in view pixels (n x 2), `strength` what would be lost without it in units of a wholly seen piece,
    `peak` the net's log odds for a middle near its own, `inside` whether it lies in the tray.
    """

    outline: NDArray[np.int32]
    colour: int
    strength: float
    peak: float
    inside: bool


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


def find(view: View) -> Found:
    """Explain what is seen by whole gnomes, and look at what is left."""
    worth = FULL_EVIDENCE * CLIP * float(view.stage.bank[0].sum())
    search = pile.Pile(view.evidence, view.middles, view.stage.bank, worth, shapes.RARITY)
    pieces = search.solve()
    peaks = _peaks(view)
    middles = np.array([(piece.x, piece.y) for piece in pieces], np.float64).reshape(-1, 2)
    own = _own(middles, np.array([(peak.x, peak.y) for peak in peaks], np.float64).reshape(-1, 2))
    heights = np.array([peak.peak for peak in peaks])
    candidates = tuple(
        _candidate(view, piece, worth, float(heights[mine].max(initial=PEAK_LEAST)))
        for piece, mine in zip(pieces, own.T, strict=True)
    )
    return Found(
        candidates, tuple(peak for peak, taken in zip(peaks, np.atleast_1d(own.any(axis=1)), strict=True) if not taken)
    )


def _candidate(view: View, piece: pile.Piece, worth: float, peak: float) -> Candidate:
    half = view.stage.bank.shape[1] // 2
    outline = shapes.outline_of(view.stage.bank[piece.pose]) + np.array([piece.x - half, piece.y - half], np.int32)
    inside = bool(view.tray[piece.y, piece.x])
    return Candidate(outline, piece.colour, piece.gain / worth, peak, inside)


def _peaks(view: View) -> list[Peak]:
    """The local maxima of the net's centre map."""
    smooth = cv2.GaussianBlur(view.centre, (0, 0), 0.6)
    top = cv2.dilate(smooth, np.ones((PEAK_PX, PEAK_PX), np.uint8))
    around = cv2.blur(view.evidence.max(axis=0), (AROUND_PX, AROUND_PX))
    return [
        Peak(int(x), int(y), float(smooth[y, x]), float(around[y, x]), bool(view.tray[y, x]))
        for y, x in np.argwhere((smooth >= top) & (smooth > PEAK_LEAST))
    ]


def _own(middles: NDArray[np.float64], peaks: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which peak (row) is which piece's (column): the nearest piece's, if it is near; a piece may have several."""
    apart = np.linalg.norm(peaks[:, None] - middles[None], axis=2)
    nearest = apart <= apart.min(axis=1, initial=np.inf, keepdims=True)
    return np.asarray(nearest & (apart < OWN_PEAK_PX))
