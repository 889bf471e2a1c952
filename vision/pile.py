"""Explaining a pile by whole pieces: which pawns, laid where and how turned, would look like what is seen?

A piece gains the evidence of the pixels that it covers. Where pieces overlap a pixel counts once, for the piece
whose colour fits it, less a small price; each piece has a price too, so that leftovers make no pieces. The best
explanation is sought greedily, then every piece is taken off and laid down again, alone and with its neighbour.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Evidence = NDArray[np.float32]

PIECE_PRICE = 0.2  # of what a wholly seen piece gains
OVERLAP_PRICE = 0.6  # log odds for a pixel covered once more
GRID_PX = 2
MOST_PIECES = 24
SWEEPS = 2
WORTH = 1e-3
SEED_EVIDENCE = 1.0
BLOCK = 400


@dataclass(frozen=True, slots=True)
class Piece:
    """One pawn of an explanation: its middle in view pixels, its pose in the bank, its colour, its own gain."""

    x: int
    y: int
    pose: int
    colour: int
    gain: float


class Pile:
    """A search for the pieces that explain some evidence (3 x height x width)."""

    def __init__(self, evidence: Evidence, bank: NDArray[np.float32], worth: float) -> None:
        self.side = bank.shape[1]
        self.half = self.side // 2
        self.bank = bank
        self.flat = np.ascontiguousarray(bank.reshape(len(bank), -1).T)
        pad = ((0, 0), (self.half, self.half), (self.half, self.half))
        self.evidence = np.pad(evidence, pad, constant_values=-1.0)
        self.price = PIECE_PRICE * worth
        self.pieces: list[Piece] = []
        self.rest = self.evidence.copy()
        ys, xs = np.nonzero(evidence[:, ::GRID_PX, ::GRID_PX].max(axis=0) > SEED_EVIDENCE)
        self.ys, self.xs = ys * GRID_PX, xs * GRID_PX
        self.best = np.full((len(self.ys), 3), -np.inf, np.float32)
        self.pose = np.zeros((len(self.ys), 3), np.int32)
        self._rescore(np.arange(len(self.ys)))

    def solve(self) -> list[Piece]:
        """Find the pieces."""
        self._grow()
        for _ in range(SWEEPS):
            if not self._sweep():
                break
        return self.pieces

    def value(self) -> float:
        """Return what all pieces explain together, prices paid."""
        cover, many = self._cover(self.pieces)
        return float(cover[many > 0].sum() - OVERLAP_PRICE * np.maximum(many - 1, 0).sum() - self._prices())

    def _prices(self) -> float:
        return self.price * len(self.pieces)

    def _grow(self) -> None:
        while len(self.pieces) < MOST_PIECES and self._add():
            pass

    def _add(self) -> bool:
        if not len(self.ys):
            return False
        index, colour = np.unravel_index(int(self.best.argmax()), self.best.shape)
        gain = float(self.best[index, colour])
        if gain <= self.price:
            return False
        pose = int(self.pose[index, colour])
        self._change([*self.pieces, Piece(int(self.xs[index]), int(self.ys[index]), pose, int(colour), gain)])
        return True

    def _change(self, pieces: list[Piece]) -> None:
        """Put another set of pieces in place of the present one and score again what lies near the difference."""
        moved = set(self.pieces) ^ set(pieces)
        self.pieces = pieces
        near = np.zeros(len(self.ys), bool)
        for piece in moved:
            self._refresh(piece)
            near |= (np.abs(self.ys - piece.y) < self.side) & (np.abs(self.xs - piece.x) < self.side)
        self._rescore(np.flatnonzero(near))

    def _refresh(self, piece: Piece) -> None:
        """Work out again what is left to explain in the square of one piece."""
        rows, columns = slice(piece.y, piece.y + self.side), slice(piece.x, piece.x + self.side)
        cover = np.full((self.side, self.side), -np.inf, np.float32)
        for other in self.pieces:
            self._lay(cover, other, piece)
        evidence = self.evidence[:, rows, columns]
        more = np.maximum(evidence - np.maximum(cover, -99.0), 0.0) - OVERLAP_PRICE
        self.rest[:, rows, columns] = np.where(np.isneginf(cover), evidence, more)

    def _lay(self, cover: NDArray[np.float32], other: Piece, at: Piece) -> None:
        dx, dy = other.x - at.x, other.y - at.y
        if abs(dx) >= self.side or abs(dy) >= self.side:
            return
        here = (slice(max(dy, 0), self.side + min(dy, 0)), slice(max(dx, 0), self.side + min(dx, 0)))
        there = (slice(max(-dy, 0), self.side + min(-dy, 0)), slice(max(-dx, 0), self.side + min(-dx, 0)))
        mask = self.bank[other.pose][there] > 0.5
        rows = slice(at.y + here[0].start, at.y + here[0].stop)
        columns = slice(at.x + here[1].start, at.x + here[1].stop)
        values = self.evidence[other.colour, rows, columns]
        part = cover[here]
        part[mask] = np.maximum(part[mask], values[mask])

    def _rescore(self, which: NDArray[np.intp]) -> None:
        for colour in range(3):
            windows = sliding_window_view(self.rest[colour], (self.side, self.side))
            for start in range(0, len(which), BLOCK):
                some = which[start : start + BLOCK]
                patches = windows[self.ys[some], self.xs[some]].reshape(len(some), -1)
                scores = patches @ self.flat
                self.pose[some, colour] = scores.argmax(axis=1)
                self.best[some, colour] = scores.max(axis=1)

    def _sweep(self) -> bool:
        """Take off each piece, and each with its nearest neighbour, and lay down what explains more."""
        better = False
        for piece in list(self.pieces):
            if piece in self.pieces:
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
        before, value = self.pieces, self.value()
        self._change([p for p in before if p not in off])
        self._grow()
        if self.value() > value + WORTH:
            return True
        self._change(before)
        return False

    def _cover(self, pieces: list[Piece]) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        cover = np.full(self.evidence.shape[1:], -np.inf, np.float32)
        many = np.zeros(cover.shape, np.int32)
        for piece in pieces:
            rows, columns = slice(piece.y, piece.y + self.side), slice(piece.x, piece.x + self.side)
            mask = self.bank[piece.pose] > 0.5
            part = cover[rows, columns]
            part[mask] = np.maximum(part[mask], self.evidence[piece.colour, rows, columns][mask])
            many[rows, columns] += mask
        return cover, many
