"""What is printed on a market board: ladders of prices and SOLD spaces, in millimetres from the print's top left."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.errors import CalibrationRefused

Points = NDArray[np.float64]
CORNERS = ("top left", "top right", "bottom right", "bottom left")
LEAST_CELLS = 2
LEAST_STICKERS = 4
FLATTEST = 1e-3  # of the square of the longest side: corners on one line span no board


@dataclass(frozen=True, slots=True)
class Cell:
    """A price of a ladder and the middle of its cell."""

    price: int
    x_mm: float
    y_mm: float


@dataclass(frozen=True, slots=True)
class Resource:
    """The two ladders of a resource and the middle of its SOLD space."""

    name: str
    sell: tuple[Cell, ...]
    buy: tuple[Cell, ...]
    sold_mm: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Stickers:
    """ArUco stickers on a board: the name of OpenCV's dictionary, and each id with its middle in millimetres."""

    dictionary: str
    middles_mm: Mapping[int, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Layout:
    """A ladder board.

    `corners_px` are the print's corners in the reference picture, in the order of CORNERS; `stickers` find the board
    where they are not known. At least one of the two is there.
    """

    width_mm: float
    height_mm: float
    marker_mm: float
    resources: tuple[Resource, ...]
    corners_px: tuple[tuple[float, float], ...] | None
    stickers: Stickers | None

    @staticmethod
    def load(source: Path | str | Mapping[str, object]) -> Layout:
        """Read a layout.json, or what was read from one.

        `width`, `height` and `marker_diameter` are in mm; `resources` maps a name to `sell` and `buy`, lists of
        `price`, `x`, `y`, and to `sold` with `x`, `y`; `corners_px_in_reference` lists the print's corners: top left,
        top right, bottom right, bottom left. Instead of them, or beside them, `aruco` may say where stickers are:
        `{"dictionary": "DICT_4X4_50", "markers": {"0": [x, y], "1": "top right"}}`, each by its middle in mm or by the
        corner that its middle lies on; at least four. Raises CalibrationRefused: `no_file`, `layout_broken`,
        `layout_missing`, `layout_wrong`, `layout_outside`, `layout_corners`, each naming the thing at fault.
        """
        found = source if isinstance(source, Mapping) else _parsed(Path(source))
        return _layout(_Part(found, ""))

    def dumps(self) -> str:
        """Write as `load` reads it."""
        ladders = {
            one.name: {
                "sell": [_written(cell) for cell in one.sell],
                "buy": [_written(cell) for cell in one.buy],
                "sold": {"x": one.sold_mm[0], "y": one.sold_mm[1]},
            }
            for one in self.resources
        }
        whole: dict[str, object] = {
            "width": self.width_mm,
            "height": self.height_mm,
            "marker_diameter": self.marker_mm,
            "resources": ladders,
        }
        if self.corners_px is not None:
            whole["corners_px_in_reference"] = self.corners_px
        if self.stickers is not None:
            middles = {str(number): place for number, place in self.stickers.middles_mm.items()}
            whole["aruco"] = {"dictionary": self.stickers.dictionary, "markers": middles}
        return json.dumps(whole)

    @property
    def corners_mm(self) -> Points:
        """The print's corners on the board (4 x 2), in the order of CORNERS."""
        return _corners_mm(self.width_mm, self.height_mm)


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a layout and the way to it, by which a mistake is named."""

    value: object
    way: str

    def at(self, key: str) -> _Part:
        if not isinstance(self.value, Mapping):
            raise _wrong(self)
        if key not in self.value:
            raise CalibrationRefused("layout_missing", {"key": self._way_to(key)})
        return _Part(self.value[key], self._way_to(key))

    def has(self, key: str) -> bool:
        return isinstance(self.value, Mapping) and self.value.get(key) is not None

    def items(self) -> list[tuple[str, _Part]]:
        if not isinstance(self.value, Mapping) or not self.value:
            raise _wrong(self)
        return [(str(key), _Part(value, self._way_to(str(key)))) for key, value in self.value.items()]

    def parts(self) -> list[_Part]:
        if not isinstance(self.value, list | tuple):
            raise _wrong(self)
        return [_Part(value, f"{self.way}[{i}]") for i, value in enumerate(self.value)]

    def number(self) -> float:
        if isinstance(self.value, bool) or not isinstance(self.value, int | float) or not math.isfinite(self.value):
            raise _wrong(self)
        return float(self.value)

    def length(self) -> float:
        found = self.number()
        if found <= 0:
            raise _wrong(self)
        return found

    def point(self) -> tuple[float, float]:
        both = [part.number() for part in self.parts()]
        if len(both) != 2:
            raise _wrong(self)
        return both[0], both[1]

    def _way_to(self, key: str) -> str:
        return f"{self.way}.{key}" if self.way else key


def _parsed(path: Path) -> object:
    try:
        parsed: object = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CalibrationRefused("no_file", {"file": path.name}) from error
    except ValueError as error:
        raise CalibrationRefused("layout_broken", {"file": path.name}) from error
    return parsed


def _wrong(part: _Part) -> CalibrationRefused:
    return CalibrationRefused("layout_wrong", {"key": part.way or "layout", "value": repr(part.value)[:80]})


def _layout(whole: _Part) -> Layout:
    size = (whole.at("width").length(), whole.at("height").length())
    resources = tuple(_resource(name, part, size) for name, part in whole.at("resources").items())
    corners = _corners(whole.at("corners_px_in_reference")) if whole.has("corners_px_in_reference") else None
    stickers = _stickers(whole.at("aruco"), size) if whole.has("aruco") else None
    if corners is None and stickers is None:
        raise CalibrationRefused("layout_missing", {"key": "corners_px_in_reference"})
    return Layout(size[0], size[1], whole.at("marker_diameter").length(), resources, corners, stickers)


def _resource(name: str, part: _Part, size: tuple[float, float]) -> Resource:
    sold = part.at("sold")
    place = (sold.at("x").number(), sold.at("y").number())
    _refuse_outside(sold, place, size)
    return Resource(name, _ladder(part.at("sell"), size), _ladder(part.at("buy"), size), place)


def _ladder(part: _Part, size: tuple[float, float]) -> tuple[Cell, ...]:
    cells = tuple(_cell(one, size) for one in part.parts())
    if len(cells) < LEAST_CELLS or len({(cell.x_mm, cell.y_mm) for cell in cells}) < len(cells):
        raise _wrong(part)
    return cells


def _cell(part: _Part, size: tuple[float, float]) -> Cell:
    price = part.at("price").number()
    if price != int(price):
        raise _wrong(part.at("price"))
    place = (part.at("x").number(), part.at("y").number())
    _refuse_outside(part, place, size)
    return Cell(int(price), *place)


def _refuse_outside(part: _Part, place: tuple[float, float], size: tuple[float, float]) -> None:
    if not (0 <= place[0] <= size[0] and 0 <= place[1] <= size[1]):
        raise CalibrationRefused("layout_outside", {"key": part.way, "x_mm": place[0], "y_mm": place[1]})


def _corners(part: _Part) -> tuple[tuple[float, float], ...]:
    corners = tuple(one.point() for one in part.parts())
    if len(corners) != len(CORNERS) or not _convex(np.array(corners)):
        raise CalibrationRefused("layout_corners", {"key": part.way, "corners": len(corners)})
    return corners


def _convex(corners: Points) -> bool:
    """Whether four corners run clockwise around a quadrilateral without a dent: as seen, a board is not mirrored."""
    sides = np.roll(corners, -1, axis=0) - corners
    turns = sides[:, 0] * np.roll(sides[:, 1], -1) - sides[:, 1] * np.roll(sides[:, 0], -1)
    return bool(turns.min() > FLATTEST * np.square(sides).sum(axis=1).max())


def _stickers(part: _Part, size: tuple[float, float]) -> Stickers:
    name = part.at("dictionary")
    if not isinstance(name.value, str) or not name.value.startswith("DICT_") or not hasattr(cv2.aruco, name.value):
        raise _wrong(name)
    middles = {_sticker_id(one, key): _sticker_place(one, size) for key, one in part.at("markers").items()}
    if len(middles) < LEAST_STICKERS:
        raise _wrong(part.at("markers"))
    return Stickers(name.value, middles)


def _sticker_id(part: _Part, key: str) -> int:
    if not key.isdecimal():
        raise _wrong(part)
    return int(key)


def _sticker_place(part: _Part, size: tuple[float, float]) -> tuple[float, float]:
    if not isinstance(part.value, str):
        return part.point()
    if part.value not in CORNERS:
        raise _wrong(part)
    x, y = _corners_mm(*size)[CORNERS.index(part.value)]
    return float(x), float(y)


def _corners_mm(width: float, height: float) -> Points:
    return np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float64)


def _written(cell: Cell) -> dict[str, float]:
    return {"price": cell.price, "x": cell.x_mm, "y": cell.y_mm}
