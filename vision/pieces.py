"""From a view to candidates: every pawn that the evidence suggests, with how much speaks for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision import pile, shapes
from vision.view import CLIP, View

FULL_EVIDENCE = 0.5  # of CLIP: what an average pixel of a wholly seen piece brings


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that may be a gnome.

    `outline` is in view pixels (n x 2), `strength` what would be lost without it in units of a wholly seen piece,
    `middle` what the net lacks of a gnome's middle there (0: nothing, to -0.3), `inside` whether it lies in the tray.
    """

    outline: NDArray[np.int32]
    colour: int
    strength: float
    middle: float
    inside: bool


def candidates(view: View) -> list[Candidate]:
    """Explain what is seen by whole gnomes."""
    worth = FULL_EVIDENCE * CLIP * float(view.stage.bank[0].sum())
    search = pile.Pile(view.evidence, view.middles, view.stage.bank, worth, shapes.RARITY)
    return [_candidate(view, piece, worth) for piece in search.solve()]


def _candidate(view: View, piece: pile.Piece, worth: float) -> Candidate:
    half = view.stage.bank.shape[1] // 2
    outline = shapes.outline_of(view.stage.bank[piece.pose]) + np.array([piece.x - half, piece.y - half], np.int32)
    return Candidate(
        outline=outline,
        colour=piece.colour,
        strength=piece.gain / worth,
        middle=float(view.middles[piece.y, piece.x]),
        inside=bool(view.tray[piece.y, piece.x]),
    )
