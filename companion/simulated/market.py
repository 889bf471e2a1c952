"""A market board as a camera would see it: without markers, and with a marker on each ladder and cubes on SOLD spaces.

`draw_market(seed)` gives a `Market`; `set_up` puts markers and cubes on it; `render` takes the picture; `labels_of` is
the truth as labels.json has it.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import cv2
import numpy as np

from companion.simulated.ground import MARGIN_PX, Ground, bare_ground, lamp_from
from companion.simulated.lens import Lens, Picture, develop
from companion.simulated.light import FINE, View, cast, look_down, paint_faces
from companion.simulated.market_board import (
    LADDERS,
    PX_PER_MM,
    SOLD_SPACE,
    Board,
    any_paint,
    draw_board,
    layout_of,
    places_mm,
    price,
    printed,
    sold_mm,
)
from companion.simulated.market_pieces import Cube, Make, Marker, body, cube_body, draw_make, ink_on
from companion.simulated.painting import Bump, cropped, knock, light_up
from companion.simulated.solids import Floats, Paint, Solid, f32, flat, joined
from companion.simulated.style import Camera, Light, Surface, draw_table

__all__ = ["Board", "Bump", "Cube", "Make", "Marker", "Market", "crowded", "draw_make", "draw_market", "labels_of",
           "layout", "place_mm", "render", "set_up"]  # fmt: skip

_LAMP_REACH_MM = 260.0
_BEAMS = 4
_STEEPEST_RAD = math.radians(35.0)
_CELL_MARGIN_MM = 9.0
_FURTHEST_MM = 2.5
_CLICK_PX = 0.7
_CROSSED = 1 / 3
_CROWD = 0.18
_CUBES = 0.14
_ANY_MAKE = Make()


@dataclass(frozen=True, slots=True)
class Market:
    """One board on one table under one camera; equal markets look equal."""

    seed: int
    board: Board
    surface: Surface = field(default_factory=Surface)
    light: Light = field(default_factory=Light)
    camera: Camera = field(default_factory=lambda: Camera((1280, 960)))
    lens: Lens = field(default_factory=Lens)
    at_mm: tuple[float, float] = (0.0, 0.0)
    make: Make = field(default_factory=Make)


def draw_market(seed: int, size_px: tuple[int, int] = (1280, 960)) -> Market:
    """Any board that a player may have, on any table."""
    rng = np.random.default_rng([seed, 93])
    table, board = draw_table(seed, size_px), draw_board(rng)
    camera, at = _draw_camera(board, size_px, rng)
    return Market(
        seed=seed,
        board=board,
        surface=table.surface,
        light=replace(table.light, height_rad=float(rng.uniform(0.75, 1.4))),
        camera=camera,
        lens=_draw_lens(board, table.lens, table.light, rng),
        at_mm=at,
        make=draw_make(rng),
    )


def set_up(market: Market, rng: np.random.Generator) -> tuple[list[Marker], list[Cube]]:
    """A marker on a random cell of each ladder, a third of them cross side up, and cubes on some SOLD spaces."""
    board = market.board
    markers, cubes = [], []
    for column, one in enumerate(board.ladders):
        for ladder in LADDERS:
            cell = int(rng.integers(one.cells))
            x, y = places_mm(board, column, ladder)[cell]
            dx, dy = np.clip(rng.normal(0, market.make.astray_mm, 2), -_FURTHEST_MM, _FURTHEST_MM)
            at, turn = (x + float(dx), y + float(dy)), float(rng.uniform(0, math.pi))
            ink = ink_on(one.paint, market.make.pale) if rng.random() < _CROSSED else None
            markers.append(Marker(column, ladder, cell, at, turn, one.paint, ink))
        if rng.random() < 0.45:
            x, y = sold_mm(board, column)
            dx, dy = np.clip(rng.normal(0, 1.5, 2), -4, 4)
            at = (x + float(dx), y + float(dy))
            cubes.append(Cube(column, at, float(rng.uniform(0, math.pi)), one.paint))
    return markers, cubes


def crowded(market: Market, rng: np.random.Generator) -> tuple[list[Marker], list[Cube]]:
    """Markers and cubes of any paint on many cells, cubes on half the SOLD spaces: no game, but much to see."""
    markers, cubes = [], []
    for column in range(len(market.board.ladders)):
        if rng.random() < 0.5:
            cubes.append(_any_cube(market.board, column, "sold", 0, sold_mm(market.board, column), rng))
        for ladder in LADDERS:
            for cell, place in enumerate(places_mm(market.board, column, ladder)):
                chance = rng.random()
                if chance < _CROWD:
                    markers.append(_any_marker(market.board, column, ladder, cell, place, rng))
                elif chance < _CROWD + _CUBES:
                    cubes.append(_any_cube(market.board, column, ladder, cell, place, rng))
    return markers, cubes


def _any_marker(
    board: Board, column: int, ladder: str, cell: int, place: tuple[float, float], rng: np.random.Generator
) -> Marker:
    x, y = rng.normal(place, 1.0)
    turn, paint = float(rng.uniform(0, math.pi)), _hard_paint(board, rng)
    ink = ink_on(paint, float(rng.uniform(0.08, 0.45))) if rng.random() < 0.5 else None
    return Marker(column, ladder, cell, (float(x), float(y)), turn, paint, ink)


def _any_cube(
    board: Board, column: int, ladder: str, cell: int, place: tuple[float, float], rng: np.random.Generator
) -> Cube:
    x, y = rng.normal(place, 1.5)
    return Cube(column, (float(x), float(y)), float(rng.uniform(0, math.pi)), _hard_paint(board, rng), ladder, cell)


def _hard_paint(board: Board, rng: np.random.Generator) -> Paint:
    """Any paint, now and then one that is printed on the board as well."""
    alike = (board.sell_cell, board.buy_cell, board.dark_cell, board.ground, SOLD_SPACE)
    return alike[int(rng.integers(len(alike)))] if rng.random() < 0.3 else any_paint(rng)


def place_mm(market: Market, column: int, ladder: str, cell: int) -> tuple[float, float]:
    """The middle of a cell on the board."""
    return places_mm(market.board, column, ladder)[cell]


def labels_of(market: Market, markers: Sequence[Marker], cubes: Sequence[Cube]) -> dict[str, dict[str, int | bool]]:
    """What stands where, as a frame's `market` in labels.json."""
    found: dict[str, dict[str, int | bool]] = {one.name: {} for one in market.board.ladders}
    for marker in markers:
        here = found[market.board.ladders[marker.column].name]
        here[marker.ladder] = price(market.board, marker.column, marker.ladder, marker.cell)
        here[f"{marker.ladder}_crossed"] = marker.ink is not None
    taken = {cube.column for cube in cubes}
    for column, one in enumerate(market.board.ladders):
        found[one.name]["sold"] = column in taken
    return found


def layout(market: Market, rng: np.random.Generator | None = None) -> Mapping[str, object]:
    """The board's layout.json, with the corners as a person would click them in the reference picture."""
    width, height = market.board.size_mm
    corners = f32([(0.0, 0.0), (width, 0.0), (width, height), (0.0, height)])
    seen = _view_of(market).project(_to_world(market, corners))[0] - MARGIN_PX
    if rng is not None:
        seen = seen + f32(rng.normal(0, _CLICK_PX, seen.shape))
    return layout_of(market.board, [(float(x), float(y)) for x, y in seen])


def render(
    market: Market,
    markers: Sequence[Marker],
    cubes: Sequence[Cube],
    rng: np.random.Generator,
    *,
    flicker: float = 0.0,
    bump: Bump | None = None,
) -> Picture:
    """Take one picture; the same arguments and generator state give the same picture.

    The lamp's brightness varies by the share `flicker` (one standard deviation).
    """
    ground = _ground_of(replace(market, make=_ANY_MAKE))
    lamp = lamp_from(market.light, float(np.clip(rng.normal(0, 1), -2, 2)) * flicker)
    solid = joined([ground.solid, *_bodies(market, markers, cubes)])
    faces = paint_faces(ground.view, solid, FINE)
    maps = cast(solid, lamp, rng, _BEAMS, _LAMP_REACH_MM)
    light = light_up(ground, lamp, solid, faces, maps, market.board.ground, market.camera.px_per_mm)
    warp = knock(ground, bump, rng)
    return develop(f32(cropped(light, warp, cv2.INTER_LINEAR)), market.lens, rng)


def _bodies(market: Market, markers: Sequence[Marker], cubes: Sequence[Cube]) -> list[Solid]:
    found = []
    for marker in markers:
        at = _to_world(market, f32([marker.at_mm]))[0]
        found.append(body(marker, at, market.board.marker_mm, market.make))
    for cube in cubes:
        at = _to_world(market, f32([cube.at_mm]))[0]
        found.append(cube_body(cube, at, market.make))
    return found


def _to_world(market: Market, points_mm: Floats) -> Floats:
    """Board points (n, 2), which run right and down, to world points (n, 3), which run right and up."""
    width, height = market.board.size_mm
    return f32(np.column_stack([points_mm[:, 0] - width / 2, height / 2 - points_mm[:, 1], np.zeros(len(points_mm))]))


def _view_of(market: Market) -> View:
    camera = market.camera
    size = (camera.size_px[0] + 2 * MARGIN_PX, camera.size_px[1] + 2 * MARGIN_PX)
    at = np.array([*market.at_mm, 0.0])
    return look_down(camera.tilt_rad, camera.heading_rad, camera.roll_rad, camera.distance_mm, at, size,
                     camera.px_per_mm * camera.distance_mm)  # fmt: skip


@lru_cache(maxsize=2)
def _ground_of(market: Market) -> Ground:
    """The table with the printed board on it."""
    view = _view_of(market)
    ground = bare_ground(market.surface, market.light, view, np.random.default_rng([market.seed, 94]))
    width, height = market.board.size_mm
    corners = f32([(0.0, 0.0), (width, 0.0), (width, height), (0.0, height)])
    seen = view.project(_to_world(market, corners))[0]
    onto = cv2.getPerspectiveTransform(corners * PX_PER_MM - 0.5, seen)
    size = (view.width_px, view.height_px)
    page = f32(cv2.GaussianBlur(printed(market.board), (0, 0), 0.5 * PX_PER_MM / market.camera.px_per_mm))
    there = f32(cv2.warpPerspective(page, onto, size, flags=cv2.INTER_LINEAR))
    share = f32(cv2.warpPerspective(np.ones(page.shape[:2], np.float32), onto, size))[..., None]
    return replace(
        ground, paint=ground.paint * (1 - share) + there * share, solid=flat(np.zeros((0, 4, 3)), (0, 0, 0), 0)
    )


def _draw_camera(
    board: Board, size_px: tuple[int, int], rng: np.random.Generator
) -> tuple[Camera, tuple[float, float]]:
    """A camera that has every cell in its picture, from any side, mostly along the board's axes."""
    turned = math.pi * float(rng.integers(2)) if rng.random() < 0.9 else float(rng.uniform(-math.pi, math.pi))
    camera = Camera(
        size_px=size_px,
        px_per_mm=1.0,
        distance_mm=float(rng.uniform(430, 900)),
        tilt_rad=float(rng.uniform(0.0, _STEEPEST_RAD)),
        heading_rad=float(rng.uniform(-math.pi, math.pi)),
        roll_rad=turned + float(rng.uniform(-0.3, 0.3)),
    )
    market, used = Market(0, board, camera=camera), float(rng.uniform(0.74, 0.99))
    for _ in range(5):
        market = _fitted(market, used)
    return market.camera, market.at_mm


def _fitted(market: Market, used: float) -> Market:
    """Aim at the middle of the cells as seen, and come so near that they fill the share `used` of the picture."""
    board, view = market.board, _view_of(market)
    columns = range(len(board.ladders))
    places = [p for c in columns for ladder in LADDERS for p in places_mm(board, c, ladder)]
    places += [sold_mm(board, c) for c in columns]
    low, high = np.min(places, axis=0) - _CELL_MARGIN_MM, np.max(places, axis=0) + _CELL_MARGIN_MM
    box = f32([low, (high[0], low[1]), high, (low[0], high[1])])
    seen = view.project(_to_world(market, box))[0]
    size = f32(market.camera.size_px)
    scale = float((size * used / np.ptp(seen, axis=0)).min())
    off = (seen.min(axis=0) + seen.max(axis=0)) / 2 - f32([view.width_px - 1, view.height_px - 1]) / 2
    shift = (off[0] * view.turn[0] + off[1] * view.turn[1]) / market.camera.px_per_mm
    camera = replace(market.camera, px_per_mm=market.camera.px_per_mm * scale)
    return replace(market, camera=camera, at_mm=(market.at_mm[0] + float(shift[0]), market.at_mm[1] + float(shift[1])))


def _draw_lens(board: Board, lens: Lens, light: Light, rng: np.random.Generator) -> Lens:
    power = light.key * math.sin(light.height_rad) + light.room
    grey = sum(board.ground) / 3
    return replace(
        lens,
        blur_px=float(rng.choice([0.5, 0.6, 0.8, 1.0, 1.2])),
        noise=float(rng.choice([1.5, 3.0, 5.0, 8.0], p=[0.5, 0.25, 0.15, 0.1])),
        jpeg=int(rng.integers(65, 96)),
        exposure=float(np.clip(rng.uniform(0.1, 0.33) / (grey * power), 0.3, 1.6 / power)),
    )
