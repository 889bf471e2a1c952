"""What lies there, where somebody asks and no game does: one piece named, like pieces or gems counted, a market read.

A glance is kept in memory alone, the newest of each kind, and for a short while.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from companion import cropping
from companion.codec import Data
from companion.errors import NoGame
from companion.proposal import Evidence
from companion.refused import message_of
from rules.core import Message
from vision import gems, market, pictures, pieces, what
from vision.errors import VisionError
from vision.gem_calibration import GemCalibration
from vision.market_calibration import MarketCalibration
from vision.pictures import Picture
from vision.readings import Box
from vision.readings import Outline as SeenOutline

Kind: TypeAlias = Literal["what", "pieces", "gems", "market"]
KINDS: tuple[Kind, ...] = ("what", "pieces", "gems", "market")
MIDDLE = 0.6  # of the shorter side: what is asked about lies in the middle of the picture
FRESH_MS = 120_000
"""So long an answer is shown; then something else may lie there."""


@dataclass(frozen=True, slots=True)
class Glance:
    """What was seen: `answer` holds the fields of its kind, `refused` why nothing can be said.

    `jpeg` is cropped to what was asked about; `evidence` has the outlines in its pixels and its id.
    """

    kind: Kind
    at_ms: int
    answer: Data = field(default_factory=dict)
    sure: bool = False
    refused: Message | None = None
    jpeg: bytes = b""
    evidence: Evidence | None = None


Answer: TypeAlias = tuple[Data, bool, tuple[SeenOutline, ...], Picture, Box]
"""What an eye says: the fields, whether it is sure, the outlines, the picture they are in, the part to be shown."""


class Glancer:
    """Answers what lies in a picture; `gem_table` and `market_board` give what those are read against, if they know."""

    def __init__(
        self, gem_table: Callable[[], GemCalibration | None], market_board: Callable[[], MarketCalibration | None]
    ) -> None:
        self._gem_table, self._market_board = gem_table, market_board
        self._eyes: Mapping[Kind, Callable[[Picture], Answer]] = {
            "what": _what,
            "pieces": _pieces,
            "gems": self._gems,
            "market": self._market,
        }

    def knows(self, kind: Kind) -> bool:
        """Say whether this kind of question can be answered at this table."""
        needs: Mapping[Kind, Callable[[], object]] = {"gems": self._gem_table, "market": self._market_board}
        return kind not in needs or needs[kind]() is not None

    def glance(self, kind: Kind, picture: Picture, at_ms: int, name: str) -> Glance:
        """Read a picture under the id `name`; where it does not read, the reason is the answer. Raises NoGame."""
        try:
            answer, sure, outlines, seen, box = self._eyes[kind](picture)
        except VisionError as error:
            return Glance(kind, at_ms, refused=message_of(error))
        drawn = tuple(cropping.shifted(one, box) for one in outlines)
        return Glance(kind, at_ms, answer, sure, None, cropping.jpeg(seen, box), Evidence(name, drawn))

    def _gems(self, picture: Picture) -> Answer:
        calibration = self._gem_table()
        if calibration is None:
            raise NoGame("gems_not_calibrated")
        reading = gems.read(picture, calibration)
        answer = {"n": sum(reading.by_colour.values()), "by_colour": dict(reading.by_colour)}
        return answer, reading.sure, reading.outlines, picture, reading.box

    def _market(self, picture: Picture) -> Answer:
        calibration = self._market_board()
        if calibration is None:
            raise NoGame("market_not_calibrated")
        reading = market.read(picture, calibration)
        answer = {"market": market.as_labels(reading, calibration.layout)}
        return answer, reading.sure, reading.outlines, picture, reading.box


def _what(picture: Picture) -> Answer:
    middle = _middle(picture)
    found = what.name(middle)
    answer = {"colour": found.colour, "shape": found.shape, "other": found.other_colour, "pieces": found.pieces}
    return answer, found.sure, (found.outline,), middle, _whole(middle)


def _pieces(picture: Picture) -> Answer:
    reading = pieces.read(picture)
    answer = {"n": reading.count, "by_colour": dict(reading.by_colour)}
    return answer, reading.sure, reading.outlines, picture, _around(reading.outlines, picture)


def _middle(picture: Picture) -> Picture:
    height, width = picture.shape[:2]
    side = max(pictures.LEAST_SIDE_PX, round(MIDDLE * min(height, width)))
    left, top = max(0, (width - side) // 2), max(0, (height - side) // 2)
    return picture[top : top + side, left : left + side].copy()


def _whole(picture: Picture) -> Box:
    return Box(0, 0, picture.shape[1], picture.shape[0])


def _around(outlines: Sequence[SeenOutline], picture: Picture) -> Box:
    """Return the part in which something was seen, and no more of the room: the middle where nothing was."""
    height, width = picture.shape[:2]
    points = [point for one in outlines for point in one.polygon_px]
    corners = [(round(width * at), round(height * at)) for at in ((1 - MIDDLE) / 2, (1 + MIDDLE) / 2)]
    return cropping.around(points or corners, picture)
