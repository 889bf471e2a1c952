"""From a view to candidates: every pawn that the net or the evidence suggests, with what speaks for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import net, pile, shapes
from vision.regions import Region
from vision.view import CLIP, View, to_frame_px

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
    """Something that may be a gnome, and what speaks for it.

    `outline` is in view pixels (n x 2), `strength` what would be lost without it in units of a wholly seen piece,
    `peak` the net's log odds for a middle near its own, `started` whether the net suggested it, `inside` whether it
    lies in the tray. `fit` is the mean evidence of its pixels over CLIP, `told` how much of the evidence around and
    the candidates that explain it cover each other, `bare` the share of what changed near it that no candidate covers.
    `clear_px` is the way to the next middle, `edge_px` that to the picture's edge.
    """

    outline: NDArray[np.int32]
    colour: int
    strength: float
    peak: float
    started: bool
    inside: bool
    fit: float
    told: float
    bare: float
    clear_px: float
    edge_px: float


@dataclass(frozen=True, slots=True)
class Peak:
    """A place where the net sees a middle: its log odds, and what lies around it.

    `support` is the mean evidence for a piece, `left` that which no candidate explains, `clear_px` the way to the next
    candidate's middle.
    """

    x: int
    y: int
    peak: float
    support: float
    inside: bool
    left: float = 0.0
    clear_px: float = FAR_PX


@dataclass(frozen=True, slots=True)
class Found:
    """The candidates of a view, and what they leave.

    `lonely` are the net's peaks that no candidate has, `unsaid` is the evidence that no candidate explains in wholly
    seen pieces, `alike` how well the frame fits the empty picture.
    """

    candidates: tuple[Candidate, ...]
    lonely: tuple[Peak, ...]
    unsaid: float
    alike: float


def find(view: View) -> Found:
    """Explain what is seen by whole gnomes, and look at what is left."""
    worth = FULL_EVIDENCE * CLIP * float(view.stage.bank[0].sum())
    peaks = _peaks(view)
    starts = [peak for peak in peaks if peak.peak > START_LEAST]
    search = pile.Pile(view.evidence, view.middles, view.stage.bank, worth, shapes.RARITY)
    pieces = search.solve([(peak.x, peak.y) for peak in starts])
    scene = _Scene(view, pieces)
    others = peaks[len(starts) :]
    ways = scene.ways([(peak.x, peak.y) for peak in others])
    own = (ways < OWN_PEAK_PX) & (ways <= ways.min(axis=1, keepdims=True, initial=np.inf))
    heights = [peak.peak for peak in starts], np.array([peak.peak for peak in others])
    return Found(
        candidates=tuple(
            scene.candidate(piece, worth, _height(piece, mine, heights))
            for piece, mine in zip(pieces, own.T, strict=True)
        ),
        lonely=tuple(
            replace(peak, left=scene.left(peak.x, peak.y), clear_px=float(way.min(initial=FAR_PX)))
            for peak, way, taken in zip(others, ways, own, strict=True)
            if not taken.any()
        ),
        unsaid=float(scene.rest.sum()) / worth,
        alike=view.alike,
    )


def _height(piece: pile.Piece, own: NDArray[np.bool_], heights: tuple[list[float], NDArray[np.float64]]) -> float:
    """The net's log odds for a piece: of the peak it was started at, else of the best that is its own."""
    started, others = heights
    return started[piece.start] if piece.start >= 0 else float(others[own].max(initial=PEAK_LEAST))


class _Scene:
    """A view and the pieces that explain it, to ask about one of them or about a place."""

    def __init__(self, view: View, pieces: list[pile.Piece]) -> None:
        self.view, self.pieces = view, pieces
        self.masks = view.stage.bank > 0.5
        self.best = view.evidence.max(axis=0)
        self.cover = np.zeros(self.best.shape, np.uint8)
        for piece in pieces:
            place, mask = self._place(piece)
            self.cover[place] |= mask
        self.rest = np.where(self.cover > 0, 0.0, np.maximum(self.best, 0.0))
        self.middles = np.array([(piece.x, piece.y) for piece in pieces], np.float64).reshape(-1, 2)
        speaks = np.asarray(self.best > 0, np.uint8)
        _, self.knots = cv2.connectedComponents(speaks | self.cover, ltype=cv2.CV_16U)
        self.sizes = np.bincount(self.knots.ravel())
        self.told = np.bincount(self.knots[(speaks & self.cover) > 0], minlength=len(self.sizes))

    def ways(self, places: list[tuple[int, int]]) -> NDArray[np.float64]:
        """How far each place is from each piece's middle: places x pieces, px."""
        points = np.array(places, np.float64).reshape(-1, 2)
        return np.asarray(np.linalg.norm(points[:, None] - self.middles[None], axis=2))

    def left(self, x: int, y: int) -> float:
        """The mean evidence around a place that no piece explains."""
        half = AROUND_PX // 2
        return float(self.rest[max(y - half, 0) : y + half + 1, max(x - half, 0) : x + half + 1].mean())

    def candidate(self, piece: pile.Piece, worth: float, peak: float) -> Candidate:
        """Put together what speaks for a piece."""
        place, mask = self._place(piece)
        half = self.masks.shape[1] // 2
        ways = self.ways([(piece.x, piece.y)])[0]
        evidence = self.view.evidence[piece.colour][place][mask > 0]
        return Candidate(
            outline=shapes.outline_of(self.view.stage.bank[piece.pose])
            + np.array([piece.x - half, piece.y - half], np.int32),
            colour=piece.colour,
            strength=piece.gain / worth,
            peak=peak,
            started=piece.start >= 0,
            inside=bool(self.view.tray[piece.y, piece.x]),
            fit=float(evidence.mean()) / CLIP,
            told=self._told(piece),
            bare=self._bare(piece),
            clear_px=float(np.sort(ways)[1]) if len(ways) > 1 else FAR_PX,
            edge_px=self._edge_px(piece),
        )

    def _place(self, piece: pile.Piece) -> tuple[Region, NDArray[np.uint8]]:
        """Where a piece lies, and its mask there, as far as the view shows it."""
        half = self.masks.shape[1] // 2
        height, width = self.best.shape
        top, left = piece.y - half, piece.x - half
        rows, columns = (
            slice(max(top, 0), min(piece.y + half + 1, height)),
            slice(max(left, 0), min(piece.x + half + 1, width)),
        )
        mask = self.masks[piece.pose][rows.start - top : rows.stop - top, columns.start - left : columns.stop - left]
        return (rows, columns), mask.astype(np.uint8)

    def _told(self, piece: pile.Piece) -> float:
        knot = self.knots[piece.y, piece.x]
        return float(self.told[knot] / max(self.sizes[knot], 1))

    def _bare(self, piece: pile.Piece) -> float:
        (rows, columns), _ = self._place(piece)
        changed = self.view.changed[rows, columns] > 0
        return int(np.count_nonzero(changed & (self.cover[rows, columns] == 0))) / max(
            int(np.count_nonzero(changed)), 1
        )

    def _edge_px(self, piece: pile.Piece) -> float:
        x, y = to_frame_px(self.view, np.array([[piece.x, piece.y]], np.float64))[0].tolist()
        height, width = self.view.stage.calibration.empty.shape[:2]
        return float(min(x, y, width - 1 - x, height - 1 - y) * self.view.stage.scale / net.CELL_PX)


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
