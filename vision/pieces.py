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
class Found:
    """The candidates of a view, and what they leave: the net's `lonely` peaks (log odds) that no candidate has."""

    candidates: tuple[Candidate, ...]
    lonely: tuple[float, ...]


def find(view: View) -> Found:
    """Explain what is seen by whole gnomes, and look at what is left."""
    worth = FULL_EVIDENCE * CLIP * float(view.stage.bank[0].sum())
    search = pile.Pile(view.evidence, view.middles, view.stage.bank, worth, shapes.RARITY)
    pieces = search.solve()
    peaks = _peaks(view.centre)
    middles = np.array([(piece.x, piece.y) for piece in pieces], np.float64).reshape(-1, 2)
    own = _own(middles, peaks)
    candidates = tuple(
        _candidate(view, piece, worth, float(peaks[mine, 2].max(initial=PEAK_LEAST)))
        for piece, mine in zip(pieces, own.T, strict=True)
    )
    return Found(candidates, tuple(float(peak) for peak in peaks[~own.any(axis=1), 2]))


def _candidate(view: View, piece: pile.Piece, worth: float, peak: float) -> Candidate:
    half = view.stage.bank.shape[1] // 2
    outline = shapes.outline_of(view.stage.bank[piece.pose]) + np.array([piece.x - half, piece.y - half], np.int32)
    inside = bool(view.tray[piece.y, piece.x])
    return Candidate(outline, piece.colour, piece.gain / worth, peak, inside)


def _peaks(centre: NDArray[np.float32]) -> NDArray[np.float64]:
    """The local maxima of the net's centre map: n x 3 of x, y, log odds."""
    smooth = cv2.GaussianBlur(centre, (0, 0), 0.6)
    top = cv2.dilate(smooth, np.ones((PEAK_PX, PEAK_PX), np.uint8))
    ys, xs = np.nonzero((smooth >= top) & (smooth > PEAK_LEAST))
    return np.column_stack([xs, ys, smooth[ys, xs]]).astype(np.float64)


def _own(middles: NDArray[np.float64], peaks: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which peak (row) is which piece's (column): the nearest piece's, if it is near; a piece may have several."""
    apart = np.linalg.norm(peaks[:, None, :2] - middles[None], axis=2)
    nearest = apart <= apart.min(axis=1, initial=np.inf, keepdims=True)
    return np.asarray(nearest & (apart < OWN_PEAK_PX))
