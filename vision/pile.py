"""Explaining a pile by whole pieces: which pieces, laid where and how turned, would look like what is seen?

A piece gains the evidence of the pixels that it covers. Where pieces overlap a pixel counts once, for the piece
whose colour fits it, less a small price; each piece has a price too, so that leftovers make no pieces. Where pieces are
known to be likely they are laid down first, each then once more beside the others; what is left is explained greedily.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Evidence = NDArray[np.float32]
Numbers = NDArray[np.intp]

PIECE_PRICE = 0.07  # of what a wholly seen piece gains
OVERLAP_PRICE = 0.6  # log odds for a pixel covered once more
GRID_PX = 2
REACH_PX = 7  # from a pixel of its own colour to the middle of a piece that is partly covered
MOST_PIECES = 20
SEED_EVIDENCE = 1.0
BLOCK = 512
NOTHING = np.float32(-99.0)
FIRST_STEPS_PX = (-2, 0, 2)
NEXT_STEPS_PX = (-1, 0, 1)


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece of an explanation: its middle in view pixels, its pose in the bank, its colour, its own gain.

    `start` is which of the likely places it was laid down at, -1 for none.
    """

    x: int
    y: int
    pose: int
    colour: int
    gain: float
    start: int = -1


class Pile:
    """A search for the pieces that explain some evidence (colours x height x width), a piece being worth `worth`.

    `rarity` is what each pose costs, `middles` (height x width) what a piece with its middle there gains, in `worth`.
    """

    def __init__(
        self,
        evidence: Evidence,
        middles: NDArray[np.float32],
        bank: NDArray[np.float32],
        worth: float,
        rarity: NDArray[np.float32],
    ) -> None:
        self.rarity = rarity * worth
        self.side = bank.shape[1]
        self.half = self.side // 2
        self.masks = bank > 0.5
        self.flat = np.ascontiguousarray(bank.reshape(len(bank), -1).T)
        self.worth = worth
        self.price = PIECE_PRICE * worth
        self.whole = evidence, middles
        self.pieces: list[Piece] = []

    def solve(self, starts: Sequence[tuple[int, int]] = ()) -> list[Piece]:
        """Find the pieces, each with the gain that would be lost without it.

        `starts` are places (x, y) where pieces are taken for granted, surest first; the others must earn their price.
        """
        left, top = self._crop(starts)
        for number, (x, y) in enumerate(starts):
            self._put([*self.pieces, self._fitted(x - left, y - top, number, FIRST_STEPS_PX)])
        for piece in list(self.pieces) if len(starts) > 1 else []:
            self._put([one for one in self.pieces if one is not piece])
            self._put([*self.pieces, self._fitted(piece.x, piece.y, piece.start, NEXT_STEPS_PX)])
        self._rescore(np.arange(len(self.ys)))
        self._grow()
        return [replace(one, x=one.x + left, y=one.y + top, gain=self._loss(one)) for one in self.pieces]

    def _crop(self, starts: Sequence[tuple[int, int]]) -> tuple[int, int]:
        """Leave out what says nothing; return how much was cut off at the left and top."""
        evidence, middles = self.whole
        rows, columns = _part(evidence, starts, self.half + max(FIRST_STEPS_PX) + max(NEXT_STEPS_PX))
        cut = evidence[:, rows, columns]
        self.middles = middles[rows, columns] * np.float32(self.worth)
        self.evidence = np.pad(cut, ((0, 0), (self.half, self.half), (self.half, self.half)))
        self.rest = self.evidence.copy()
        self.windows = sliding_window_view(self.rest, (self.side, self.side), axis=(1, 2))
        self.colours, self.ys, self.xs = _places(cut)
        self.best = np.full(len(self.ys), -np.inf, np.float32)
        self.pose = np.zeros(len(self.ys), np.intp)
        return columns.start, rows.start

    def _fitted(self, x: int, y: int, start: int, steps_px: Sequence[int]) -> Piece:
        """The piece that gains most near a place, whether it earns its price or not."""
        ys, xs = np.meshgrid([y + step for step in steps_px], [x + step for step in steps_px], indexing="ij")
        ys, xs = (np.clip(v.ravel(), 0, size - 1) for v, size in zip((ys, xs), self.middles.shape, strict=True))
        colours = np.repeat(np.arange(len(self.rest)), len(ys))
        ys, xs = np.tile(ys, len(self.rest)), np.tile(xs, len(self.rest))
        scores = self._scores(colours, ys, xs)
        place, pose = (int(v) for v in np.unravel_index(scores.argmax(), scores.shape))
        return Piece(int(xs[place]), int(ys[place]), pose, int(colours[place]), float(scores.max()), start)

    def _scores(self, colours: Numbers, ys: Numbers, xs: Numbers) -> NDArray[np.float32]:
        """What a piece of each pose would gain now at each place: places x poses."""
        patches = self.windows[colours, ys, xs].reshape(len(ys), -1)
        return np.asarray(patches @ self.flat - self.rarity + self.middles[ys, xs, None], np.float32)

    def _loss(self, piece: Piece) -> float:
        """What would be lost without a piece."""
        kept = self.pieces
        self._put([one for one in kept if one is not piece])
        loss = self._gain(piece)
        self._put(kept)
        return loss

    def _gain(self, piece: Piece) -> float:
        """What a piece would gain now if it was laid down."""
        seen = self.windows[piece.colour, piece.y, piece.x].ravel() @ self.flat[:, piece.pose]
        return float(seen) - float(self.rarity[piece.pose]) + float(self.middles[piece.y, piece.x])

    def _grow(self) -> None:
        """Lay down pieces as long as one gains more than its price."""
        while len(self.pieces) < MOST_PIECES and (piece := self._next()):
            self._change([*self.pieces, piece])

    def _next(self) -> Piece | None:
        if not len(self.ys):
            return None
        index = int(self.best.argmax())
        gain = float(self.best[index])
        if gain <= self.price:
            return None
        return Piece(int(self.xs[index]), int(self.ys[index]), int(self.pose[index]), int(self.colours[index]), gain)

    def _change(self, pieces: list[Piece]) -> None:
        """Put another set of pieces in place of the present one and score again what lies near the difference."""
        near = np.zeros(len(self.ys), bool)
        for piece in self._put(pieces):
            near |= (self.ys - piece.y) ** 2 + (self.xs - piece.x) ** 2 < (self.side - 2) ** 2
        self._rescore(np.flatnonzero(near))

    def _put(self, pieces: list[Piece]) -> set[Piece]:
        """Put another set of pieces in place of the present one; return those in which they differ."""
        differ = set(self.pieces) ^ set(pieces)
        self.pieces = pieces
        for piece in differ:
            self._refresh(piece)
        return differ

    def _refresh(self, piece: Piece) -> None:
        """Work out again what is left to explain in the square of one piece."""
        rows, columns = slice(piece.y, piece.y + self.side), slice(piece.x, piece.x + self.side)
        cover = np.full((self.side, self.side), NOTHING, np.float32)
        for other in self.pieces:
            self._lay(cover, other, piece)
        evidence = self.evidence[:, rows, columns]
        more = np.maximum(evidence - cover, 0.0) - OVERLAP_PRICE
        self.rest[:, rows, columns] = np.where(cover == NOTHING, evidence, more)

    def _lay(self, cover: NDArray[np.float32], other: Piece, at: Piece) -> None:
        dx, dy = other.x - at.x, other.y - at.y
        if abs(dx) >= self.side or abs(dy) >= self.side:
            return
        rows, columns = _overlap(dy, self.side), _overlap(dx, self.side)
        mask = self.masks[other.pose][_overlap(-dy, self.side), _overlap(-dx, self.side)]
        values = self.evidence[other.colour, at.y : at.y + self.side, at.x : at.x + self.side][rows, columns]
        part = cover[rows, columns]
        np.maximum(part, values, out=part, where=mask)

    def _rescore(self, which: Numbers) -> None:
        """Find each place's best pose, where what is left there can pay for a piece at all."""
        self.best[which] = -np.inf
        positive = np.maximum(self.rest, 0.0)
        most = np.stack([cv2.boxFilter(own, -1, (self.side, self.side), normalize=False) for own in positive])
        paying = most[self.colours[which], self.ys[which] + self.half, self.xs[which] + self.half] > self.price
        which = which[paying]
        for start in range(0, len(which), BLOCK):
            some = which[start : start + BLOCK]
            scores = self._scores(self.colours[some], self.ys[some], self.xs[some])
            self.pose[some] = scores.argmax(axis=1)
            self.best[some] = scores.max(axis=1)


def _overlap(shift: int, side: int) -> slice:
    return slice(max(shift, 0), side + min(shift, 0))


def _part(evidence: Evidence, starts: Sequence[tuple[int, int]], margin_px: int) -> tuple[slice, slice]:
    """The rows and columns around all that speaks for a piece."""
    speaks = np.asarray(evidence.max(axis=0) > SEED_EVIDENCE, np.uint8)
    for x, y in starts:
        speaks[y, x] = 1
    left, top, width, height = cv2.boundingRect(speaks)
    low = max(top - margin_px, 0) // GRID_PX * GRID_PX, max(left - margin_px, 0) // GRID_PX * GRID_PX
    return slice(low[0], top + height + margin_px), slice(low[1], left + width + margin_px)


def _places(evidence: Evidence) -> tuple[Numbers, Numbers, Numbers]:
    """Where a piece of which colour may have its middle: colour, row and column of each place."""
    reach = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * REACH_PX + 1, 2 * REACH_PX + 1))
    any_new = evidence.max(axis=0) > SEED_EVIDENCE
    near = [cv2.dilate(np.asarray(own > SEED_EVIDENCE, np.uint8), reach) for own in evidence]
    grid = np.stack(near)[:, ::GRID_PX, ::GRID_PX] * any_new[::GRID_PX, ::GRID_PX]
    colours, ys, xs = np.nonzero(grid)
    return colours, ys * GRID_PX, xs * GRID_PX
