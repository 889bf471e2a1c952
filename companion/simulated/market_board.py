"""A market board as it is printed: its layout as layout.json has it, and its print as linear BGR paint."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from companion.simulated.solids import Floats, Paint, f32
from companion.simulated.style import PAINTS, srgb

PX_PER_MM = 4
LADDERS = ("sell", "buy")
BOX: tuple[tuple[str, Paint], ...] = (
    ("wood", PAINTS["brown"]), ("stone", PAINTS["grey"]), ("iron", PAINTS["blue"]), ("coal", PAINTS["black"]),
    ("copper", PAINTS["orange"]), ("silver", PAINTS["white"]), ("gold", PAINTS["yellow"]),
)  # fmt: skip
_NAMES = ("clay", "salt", "cloth", "grain", "wine", "glass", "paper", "spice", "wool")
_INK = srgb(40, 36, 34)
_PALE_CELL, _WARM_CELL, _DARK_CELL = srgb(205, 190, 180), srgb(222, 186, 136), srgb(122, 114, 112)
SOLD_SPACE = srgb(228, 218, 214)
_FONT, _FONT_SIZE, _STROKE_PX = cv2.FONT_HERSHEY_SIMPLEX, 0.8, 3


@dataclass(frozen=True, slots=True)
class Ladder:
    """One resource's prices: the first of its two ladders, how many cells, and by how much buying is dearer."""

    name: str
    paint: Paint
    first: int
    cells: int
    dearer: int


@dataclass(frozen=True, slots=True)
class Board:
    """A printed board, all lengths in mm; equal boards look equal.

    Columns stand side by side; prices rise from `bottom_mm` upwards by `pitch_mm`, or downwards from it where
    that is negative; SOLD spaces at `sold_mm` from the top, `bar_mm` of colour at the other end.
    """

    seed: int
    ladders: tuple[Ladder, ...]
    size_mm: tuple[float, float] = (420.0, 297.0)
    marker_mm: float = 14.0
    pitch_mm: float = 16.7
    bottom_mm: float = 245.0
    sold_mm: float = 275.0
    apart_mm: float = 22.0
    cell_mm: float = 14.5
    bar_mm: float = 20.0
    ground: Paint = (0.4, 0.45, 0.35)
    blotches: float = 0.35
    sell_cell: Paint = _PALE_CELL
    buy_cell: Paint = _WARM_CELL
    dark_cell: Paint = _DARK_CELL
    dark_row: int = 4
    bars: bool = True


def draw_board(rng: np.random.Generator) -> Board:
    """Any ladder board with seven resources."""
    size = (420.0, 297.0) if rng.random() < 0.6 else (float(rng.uniform(380, 440)), float(rng.uniform(280, 310)))
    upwards = rng.random() < 0.8
    bottom = size[1] - 52.0
    light = float(rng.uniform(0.6, 1.0))
    return Board(
        seed=int(rng.integers(1 << 30)),
        ladders=tuple(_draw_ladder(name, paint, rng) for name, paint in _draw_resources(rng)),
        size_mm=size,
        marker_mm=float(rng.choice([11.0, 12.0, 13.0, 14.0])),
        pitch_mm=float(rng.uniform(16.0, 17.0)) * (1.0 if upwards else -1.0),
        bottom_mm=bottom if upwards else size[1] - bottom,
        sold_mm=size[1] - 22.0 if upwards else 22.0,
        apart_mm=float(rng.uniform(20.0, 24.0)),
        cell_mm=float(rng.uniform(13.5, 15.0)),
        ground=_draw_ground(rng),
        blotches=float(rng.uniform(0.05, 0.5)),
        sell_cell=_lighter(_PALE_CELL, light, rng),
        buy_cell=_lighter(_WARM_CELL, light, rng),
        dark_cell=_lighter(_DARK_CELL, light, rng),
        dark_row=int(rng.integers(3, 6)),
        bars=bool(rng.random() < 0.85),
    )


def layout_of(board: Board, corners_px: Sequence[tuple[float, float]]) -> dict[str, object]:
    """The board as a layout.json has it, with the corners of its print in the reference picture."""
    return {
        "unit": "mm",
        "width": board.size_mm[0],
        "height": board.size_mm[1],
        "marker_diameter": board.marker_mm,
        "resources": {ladder.name: _resource(board, i) for i, ladder in enumerate(board.ladders)},
        "corners_px_in_reference": [[round(x, 1), round(y, 1)] for x, y in corners_px],
    }


def places_mm(board: Board, column: int, ladder: str) -> list[tuple[float, float]]:
    """The middles of a ladder's cells on the board, the cheapest first."""
    x = _middle_mm(board, column) + board.apart_mm * (-0.5 if ladder == "sell" else 0.5)
    return [(x, board.bottom_mm - i * board.pitch_mm) for i in range(board.ladders[column].cells)]


def sold_mm(board: Board, column: int) -> tuple[float, float]:
    """The middle of a resource's SOLD space on the board."""
    return _middle_mm(board, column), board.sold_mm


def price(board: Board, column: int, ladder: str, cell: int) -> int:
    """What is printed on a cell."""
    one = board.ladders[column]
    return one.first + cell + (0 if ladder == "sell" else one.dearer)


def printed(board: Board) -> Floats:
    """The board's print at PX_PER_MM, linear BGR (rows, columns, 3), its top left corner first."""
    rng = np.random.default_rng([board.seed, 91])
    width, height = (round(side * PX_PER_MM) for side in board.size_mm)
    page = _ground(board, (height, width), rng)
    for column, ladder in enumerate(board.ladders):
        _frame(page, board, column)
        for name in LADDERS:
            for cell, place in enumerate(places_mm(board, column, name)):
                dark = cell == board.dark_row
                paint = board.dark_cell if dark else board.sell_cell if name == "sell" else board.buy_cell
                _box(page, place, board.cell_mm, paint)
                _write(page, str(price(board, column, name, cell)), place, 0.75 if dark else 1.0)
        _box(page, sold_mm(board, column), 18.0, SOLD_SPACE)
        _write(page, "SOLD", sold_mm(board, column), 1.0)
        if board.bars:
            _bar(page, board, column, ladder.paint)
    return page


def _draw_resources(rng: np.random.Generator) -> list[tuple[str, Paint]]:
    if rng.random() < 0.6:
        return [(name, _near(paint, rng)) for name, paint in BOX]
    names = rng.choice(_NAMES, 7, replace=False)
    paints = rng.choice(list(PAINTS), 7, replace=False)
    return [(str(name), _near(PAINTS[str(paint)], rng)) for name, paint in zip(names, paints, strict=True)]


def any_paint(rng: np.random.Generator) -> Paint:
    """One of the usual paints, or any other."""
    if rng.random() < 0.7:
        return _near(PAINTS[str(rng.choice(list(PAINTS)))], rng)
    b, g, r = (float(v) for v in rng.uniform(0.01, 0.85, 3) ** 1.5)
    return b, g, r


def _near(paint: Paint, rng: np.random.Generator) -> Paint:
    b, g, r = (float(np.clip(v * np.exp(rng.normal(0, 0.1)), 0.01, 0.9)) for v in paint)
    return b, g, r


def _lighter(paint: Paint, light: float, rng: np.random.Generator) -> Paint:
    b, g, r = (float(v * light) for v in _near(paint, rng))
    return b, g, r


def _draw_ground(rng: np.random.Generator) -> Paint:
    b, g, r = (float(v) for v in rng.uniform(0.25, 0.62, 3))
    return b, g, r


def _draw_ladder(name: str, paint: Paint, rng: np.random.Generator) -> Ladder:
    return Ladder(name, paint, int(rng.integers(1, 6)), int(rng.integers(9, 14)), int(rng.integers(1, 4)))


def _resource(board: Board, column: int) -> dict[str, object]:
    def cells(ladder: str) -> list[dict[str, float]]:
        places = enumerate(places_mm(board, column, ladder))
        return [{"price": price(board, column, ladder, i), "x": round(x, 1), "y": round(y, 1)} for i, (x, y) in places]

    x, y = sold_mm(board, column)
    return {"sell": cells("sell"), "buy": cells("buy"), "sold": {"x": round(x, 1), "y": round(y, 1)}}


def _middle_mm(board: Board, column: int) -> float:
    step = (board.size_mm[0] - 24.0) / len(board.ladders)
    return 12.0 + step * (column + 0.46)


def _ground(board: Board, shape: tuple[int, int], rng: np.random.Generator) -> Floats:
    """Blotches of two sizes, each channel by itself."""
    height, width = shape
    page = np.empty((height, width, 3), np.float32)
    for k in range(3):
        blotch = np.zeros(shape, np.float32)
        for size_mm, weight in ((5.0, 0.6), (12.0, 0.4)):
            cells = (round(width / PX_PER_MM / size_mm) + 2, round(height / PX_PER_MM / size_mm) + 2)
            small = rng.standard_normal(cells[::-1]).astype(np.float32)
            blotch += np.float32(weight) * f32(cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC))
        page[..., k] = board.ground[k] * np.exp(board.blotches * blotch)
    return np.asarray(np.clip(page, 0.02, 0.9), np.float32)


def _px(*values_mm: float) -> tuple[int, ...]:
    return tuple(round(v * PX_PER_MM) for v in values_mm)


def _box(page: Floats, middle: tuple[float, float], side_mm: float, paint: Paint) -> None:
    half = side_mm / 2
    low, high = _px(middle[0] - half, middle[1] - half), _px(middle[0] + half, middle[1] + half)
    cv2.rectangle(page, low, high, paint, -1)
    cv2.rectangle(page, low, high, _INK, 2)


def _write(page: Floats, words: str, middle: tuple[float, float], strength: float) -> None:
    (width, height), _ = cv2.getTextSize(words, _FONT, _FONT_SIZE, _STROKE_PX)
    x, y = _px(*middle)
    left, top = x - width // 2 - _STROKE_PX, y - height // 2 - _STROKE_PX
    mask = np.zeros((height + 4 * _STROKE_PX, width + 4 * _STROKE_PX), np.uint8)
    at = (_STROKE_PX, height + _STROKE_PX)
    cv2.putText(mask, words, at, _FONT, _FONT_SIZE, 255, _STROKE_PX, cv2.LINE_AA)
    share = (mask.astype(np.float32) / 255 * strength)[..., None]
    here = page[top : top + mask.shape[0], left : left + mask.shape[1]]
    here[:] = here * (1 - share) + f32(_INK) * share


def _frame(page: Floats, board: Board, column: int) -> None:
    half = (board.size_mm[0] - 24.0) / len(board.ladders) / 2 - 2.0
    x = _middle_mm(board, column) + 1.5
    cv2.rectangle(page, _px(x - half, 28.0 if board.pitch_mm > 0 else 8.0),
                  _px(x + half, board.size_mm[1] - (8.0 if board.pitch_mm > 0 else 28.0)),
                  board.ladders[column].paint, 5, cv2.LINE_AA)  # fmt: skip


def _bar(page: Floats, board: Board, column: int, paint: Paint) -> None:
    half = (board.size_mm[0] - 24.0) / len(board.ladders) / 2 - 1.0
    x = _middle_mm(board, column) + 1.5
    top = 6.0 if board.pitch_mm > 0 else board.size_mm[1] - 6.0 - board.bar_mm
    low, high = _px(x - half, top), _px(x + half, top + board.bar_mm)
    cv2.rectangle(page, low, high, paint, -1)
    cv2.rectangle(page, low, high, _INK, 2)
