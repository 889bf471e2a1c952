"""From a view to candidates: every pawn that the evidence suggests, with how much speaks for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import palette, pile, shapes
from vision.view import CLIP, View

FULL_EVIDENCE = 0.5  # of CLIP: what an average pixel of a wholly seen piece brings
RING_PX = 3
THICK = 0.8  # of a piece's length: cups and bills are thicker everywhere than a pawn anywhere
RING_MOST = 0.35
OWN_LEAST = 0.6
COLOUR_CELLS = float(palette.BINS**3)
COLOUR_DOUBT = 1e-2
SMALL_SHARE = 0.25


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that may be a gnome.

    `outline` is in view pixels (n x 2), `strength` what it alone explains in units of a wholly seen piece, `ring` the
    share of its surroundings that is new as well, `own` the share of itself that has its colour.
    """

    outline: NDArray[np.int32]
    colour: int
    strength: float
    inside: bool
    upright: bool
    ring: float = 0.0
    own: float = 1.0


def candidates(view: View) -> list[Candidate]:
    """Find what may be gnomes in the tray, where all that is new is a gnome, and beside it, where little is."""
    return _inside(view) + _outside(view)


def _worth(view: View) -> float:
    return FULL_EVIDENCE * CLIP * float(view.stage.bank[0].sum())


def _inside(view: View) -> list[Candidate]:
    evidence = np.where(view.stage.tray > 0, view.evidence, -CLIP).astype(np.float32)
    found = pile.Pile(evidence, view.stage.bank, _worth(view), shapes.RARITY).solve()
    return [_candidate(view, piece, inside=True) for piece in found]


def _candidate(view: View, piece: pile.Piece, *, inside: bool, ring: float = 0.0, own: float = 1.0) -> Candidate:
    half = view.stage.bank.shape[1] // 2
    outline = shapes.outline_of(view.stage.bank[piece.pose]) + np.array([piece.x - half, piece.y - half], np.int32)
    upright = shapes.POSES_DEG[piece.pose][0] > shapes.UPRIGHT_DEG
    return Candidate(outline, piece.colour, piece.gain / _worth(view), inside, upright, ring, own)


def _outside(view: View) -> list[Candidate]:
    new = view.evidence.max(axis=0) > 0
    beside = np.asarray(new & (view.stage.tray == 0) & (view.seen > 0), np.uint8)
    slim = beside & ~_thick(beside, view)
    if int(slim.sum()) < SMALL_SHARE * view.stage.bank[0].sum():
        return []
    evidence = np.where(slim > 0, _colour_evidence(view), -CLIP).astype(np.float32)
    search = pile.Pile(evidence, view.stage.bank, _worth(view), shapes.RARITY)
    return [_beside(view, piece, beside, evidence) for piece in search.solve()]


def _thick(mask: NDArray[np.uint8], view: View) -> NDArray[np.uint8]:
    """What a disc of nearly a pawn's length fits into, and its rim."""
    side = int(THICK * view.stage.bank.shape[1] / 1.12) | 1
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side))
    core = cv2.morphologyEx(mask, cv2.MORPH_OPEN, disc)
    return np.asarray(cv2.dilate(core, np.ones((7, 7), np.uint8)), np.uint8)


def _colour_evidence(view: View) -> NDArray[np.float32]:
    """Beside the tray a thing must have a gnome's colour, not only the likeliest of three."""
    known = np.log(palette.shares(view.frame, view.stage.densities) * COLOUR_CELLS + COLOUR_DOUBT)
    return np.asarray(np.clip(np.minimum(view.evidence, known), -CLIP, CLIP), np.float32)


def _beside(view: View, piece: pile.Piece, new: NDArray[np.uint8], evidence: NDArray[np.float32]) -> Candidate:
    mask = np.asarray(view.stage.bank[piece.pose] > 0.5, np.uint8)
    wide = 2 * RING_PX + 1
    ring = (cv2.dilate(np.pad(mask, RING_PX), np.ones((wide, wide), np.uint8)) > 0) & (np.pad(mask, RING_PX) == 0)
    reach = mask.shape[0] // 2 + RING_PX
    around = _cut(new, piece, reach)
    own = _cut(evidence[piece.colour], piece, mask.shape[0] // 2)
    return _candidate(
        view, piece, inside=False, ring=float((around[ring] > 0).mean()), own=float((own[mask > 0] > 0).mean())
    )


def _cut(plane: NDArray[Any], piece: pile.Piece, reach: int) -> NDArray[Any]:
    padded = np.pad(plane, reach)
    return padded[piece.y : piece.y + 2 * reach + 1, piece.x : piece.x + 2 * reach + 1]
