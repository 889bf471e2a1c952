"""Explaining a pile by whole pieces: which pawns, laid where and how turned, would look like what is seen?

A piece gains the evidence of the pixels that it covers. Where pieces overlap a pixel counts once, for the piece
whose colour fits it, less a small price; each piece has a price too, so that leftovers make no pieces. The best
explanation is sought greedily, then every piece is taken off and laid down again, alone and with its neighbour.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Evidence = NDArray[np.float32]

PIECE_PRICE = 0.07  # of what a wholly seen piece gains
OVERLAP_PRICE = 0.6  # log odds for a pixel covered once more
GRID_PX = 2
REACH_PX = 7  # from a pixel of its own colour to the middle of a piece that is partly covered
MOST_PIECES = 20
SWEEPS = 2
LEAST_BETTER = 1e-2
SEED_EVIDENCE = 1.0
BLOCK = 512
NOTHING = np.float32(-99.0)


@dataclass(frozen=True, slots=True)
class Piece:
    """One pawn of an explanation: its middle in view pixels, its pose in the bank, its colour, its own gain."""

    x: int
    y: int
    pose: int
    colour: int
    gain: float


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
        self.middles = middles * np.float32(worth)
        self.rarity = rarity * worth
        self.side = bank.shape[1]
        self.half = self.side // 2
        self.masks = bank > 0.5
        self.flat = np.ascontiguousarray(bank.reshape(len(bank), -1).T)
        pad = ((0, 0), (self.half, self.half), (self.half, self.half))
        self.evidence = np.pad(evidence, pad, constant_values=0.0)
        self.price = PIECE_PRICE * worth
        self.pieces: list[Piece] = []
        self.rest = self.evidence.copy()
        self.windows = sliding_window_view(self.rest, (self.side, self.side), axis=(1, 2))
        self.colours, self.ys, self.xs = _places(evidence)
        self.best = np.full(len(self.ys), -np.inf, np.float32)
        self.pose = np.zeros(len(self.ys), np.int32)
        self._rescore(np.arange(len(self.ys)))

    def solve(self) -> list[Piece]:
        """Find the pieces, each with the gain that would be lost without it."""
        self._grow()
        for _ in range(SWEEPS):
            if not self._sweep():
                break
        return [replace(piece, gain=self._loss(piece)) for piece in self.pieces]

    def _loss(self, piece: Piece) -> float:
        self._change([p for p in self.pieces if p is not piece], score=False)
        loss = self._gain(piece)
        self._change([*self.pieces, piece], score=False)
        return loss

    def _gain(self, piece: Piece) -> float:
        """What a piece would gain now if it was laid down."""
        seen = self.windows[piece.colour, piece.y, piece.x].ravel() @ self.flat[:, piece.pose]
        return float(seen) - float(self.rarity[piece.pose]) + float(self.middles[piece.y, piece.x])

    def _grow(self) -> float:
        """Lay down pieces as long as one gains more than its price; return the gain less the prices."""
        total = 0.0
        while len(self.pieces) < MOST_PIECES and (piece := self._next()):
            total += piece.gain - self.price
            self._change([*self.pieces, piece])
        return total

    def _next(self) -> Piece | None:
        if not len(self.ys):
            return None
        index = int(self.best.argmax())
        gain = float(self.best[index])
        if gain <= self.price:
            return None
        return Piece(int(self.xs[index]), int(self.ys[index]), int(self.pose[index]), int(self.colours[index]), gain)

    def _sweep(self) -> bool:
        """Take off each piece, and each with its nearest neighbour, and lay down what explains more."""
        better = False
        for piece in list(self.pieces):
            if piece in self.pieces and self._nearest(piece):
                better |= self._retry([piece])
        for piece in list(self.pieces):
            if piece in self.pieces and (other := self._nearest(piece)):
                better |= self._retry([piece, other])
        return better

    def _nearest(self, piece: Piece) -> Piece | None:
        others = [p for p in self.pieces if p is not piece]
        if not others:
            return None
        other = min(others, key=lambda p: (p.x - piece.x) ** 2 + (p.y - piece.y) ** 2)
        return other if (other.x - piece.x) ** 2 + (other.y - piece.y) ** 2 < self.side**2 else None

    def _retry(self, off: list[Piece]) -> bool:
        kept = self.pieces, self.best.copy(), self.pose.copy()
        lost = 0.0
        for piece in off:
            self._change([p for p in self.pieces if p is not piece])
            lost += self._gain(piece) - self.price
        if self._grow() > lost + LEAST_BETTER:
            return True
        self._change(kept[0], score=False)
        self.best, self.pose = kept[1], kept[2]
        return False

    def _change(self, pieces: list[Piece], *, score: bool = True) -> None:
        """Put another set of pieces in place of the present one and score again what lies near the difference."""
        moved = set(self.pieces) ^ set(pieces)
        self.pieces = pieces
        near = np.zeros(len(self.ys), bool)
        for piece in moved:
            self._refresh(piece)
            near |= (self.ys - piece.y) ** 2 + (self.xs - piece.x) ** 2 < (self.side - 2) ** 2
        if score:
            self._rescore(np.flatnonzero(near))

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

    def _rescore(self, which: NDArray[np.intp]) -> None:
        for start in range(0, len(which), BLOCK):
            some = which[start : start + BLOCK]
            patches = self.windows[self.colours[some], self.ys[some], self.xs[some]].reshape(len(some), -1)
            scores = patches @ self.flat - self.rarity + self.middles[self.ys[some], self.xs[some], None]
            self.pose[some] = scores.argmax(axis=1)
            self.best[some] = scores.max(axis=1)


def _overlap(shift: int, side: int) -> slice:
    return slice(max(shift, 0), side + min(shift, 0))


def _places(evidence: Evidence) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Where a piece of which colour may have its middle: colour, row and column of each place."""
    reach = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * REACH_PX + 1, 2 * REACH_PX + 1))
    any_new = evidence.max(axis=0) > SEED_EVIDENCE
    near = [cv2.dilate(np.asarray(own > SEED_EVIDENCE, np.uint8), reach) for own in evidence]
    grid = np.stack(near)[:, ::GRID_PX, ::GRID_PX] * any_new[::GRID_PX, ::GRID_PX]
    colours, ys, xs = np.nonzero(grid)
    return colours, ys * GRID_PX, xs * GRID_PX
