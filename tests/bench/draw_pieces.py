"""Draw pictures of like things on any ground, with their truth: what the piece reader learns from and is checked on.

Flat layers instead of solids, so that a picture takes milliseconds: a ground (paper, wood, cloth, carpet, stone, a
printed board), shadows cast by one or two lamps, things of one kind in a few colours, the lamp's fall, glare, and a
cheap camera.

Forty of them side by side: python -m tests.bench.draw_pieces sheet.jpg --seed 1
"""

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

FINE = 2  # things are drawn this many times larger, then averaged down
PAINTS = {
    "white": (222, 229, 232), "natural": (106, 164, 214), "grey": (112, 112, 114), "black": (38, 36, 36),
    "red": (36, 32, 190), "orange": (26, 112, 232), "yellow": (40, 200, 236), "green": (52, 130, 40),
    "blue": (160, 72, 34), "purple": (140, 46, 120), "pink": (170, 130, 230), "brown": (42, 66, 104),
}  # fmt: skip
SHADES = {
    "green": ((60, 200, 150), (40, 70, 20), (90, 160, 60)), "blue": ((220, 190, 110), (190, 120, 40), (90, 30, 20)),
    "red": ((70, 50, 150), (50, 40, 220), (30, 20, 110)), "purple": ((50, 20, 60), (200, 120, 160)),
    "brown": ((30, 40, 60), (60, 90, 130)), "grey": (150, 150, 150), "black": ((20, 20, 22),),
}  # fmt: skip
METALS = ((70, 100, 160), (90, 160, 200), (170, 185, 190), (60, 80, 110), (110, 130, 140), (90, 130, 190))
GROUNDS = (
    (196, 198, 200), (225, 225, 226), (150, 152, 152), (190, 214, 226), (160, 190, 210), (38, 36, 36), (60, 60, 66),
    (120, 160, 200), (84, 124, 168), (52, 76, 112), (120, 120, 110), (60, 110, 70), (150, 66, 40), (60, 150, 160),
)  # fmt: skip
KINDS = ("coin", "candy", "die", "brick", "cube", "chip", "draught", "pawn", "gem", "ring", "cylinder")
WEIGHTS = (0.12, 0.11, 0.12, 0.26, 0.11, 0.06, 0.10, 0.04, 0.03, 0.02, 0.03)
PLAIN = 0.4  # of the grounds are one surface and no more
ON_BOARDS = ("draught", "cylinder", "cube", "pawn")


@dataclass(frozen=True)
class Scene:
    """A picture (BGR), the number of the thing each pixel shows (-1: none), and each thing's middle (n, 2) and colour.

    `shown` is how much of it shows (0 to 1), `sizes` the root of its area in px.
    """

    picture: np.ndarray
    owners: np.ndarray
    middles: np.ndarray
    shown: np.ndarray
    sizes: np.ndarray
    colours: tuple[str, ...]
    kind: str


@dataclass(frozen=True)
class Look:
    """What all things of a scene share: kind, size in fine pixels, light and slant (unit vectors), palette, spread."""

    kind: str
    size: float
    light: np.ndarray
    slant: np.ndarray
    flat: float
    palette: tuple[tuple[str, tuple], ...]
    spread: float
    gloss: float
    relief: float
    pattern: int


def draw_scene(seed, shape=(192, 192), size_px=None, most=60, empty=0.06, kind=None):
    """One scene of `shape` (rows, columns); `size_px` is a thing's usual width, if it is not left to chance."""
    rng = np.random.default_rng(np.append(seed, 75))
    size = float(size_px or math.exp(rng.uniform(math.log(8), math.log(64)))) * FINE
    rows, columns = shape[0] * FINE, shape[1] * FINE
    look = draw_look(rng, size, kind)
    board = look.kind in ON_BOARDS and rng.random() < 0.45
    canvas, cells = draw_ground(rng, rows, columns, size, board)
    owners = np.full((rows, columns), -1, np.int16)
    things = [] if rng.random() < empty else places(rng, rows, columns, look, most, cells)
    shadows = draw_shadows(rng)
    kept = []
    for number, (x, y) in enumerate(things):
        name, patch, alpha, height = draw_thing(rng, look)
        for way, length, dark, soft in shadows:
            cast(canvas, alpha, x, y, way * length * height, dark, soft * size)
        paste(canvas, owners, patch, alpha, x, y, number)
        kept.append((name, middle_of(alpha, x, y), float((alpha > 0.5).sum())))
    picture = develop(rng, lamp_over(rng, canvas), shape)
    middles = np.array([m for _, m, _ in kept], np.float64).reshape(-1, 2)
    areas = np.maximum(np.array([a for _, _, a in kept]), 1.0)
    shown = np.bincount(owners[owners >= 0], minlength=len(kept)) / areas
    names = tuple(n for n, _, _ in kept)
    owners = owners[::FINE, ::FINE]
    return Scene(picture, owners, (middles + 0.5) / FINE - 0.5, shown, np.sqrt(areas) / FINE, names, look.kind)


# ---- ground -----------------------------------------------------------------------------------------------------


def colour_near(rng, colour, spread=0.12):
    return np.clip(np.array(colour, np.float64) * np.exp(rng.normal(0, spread, 3) + rng.normal(0, spread)), 4, 252)


def any_ground(rng):
    if rng.random() < 0.15:
        return rng.uniform(15, 240, 3)
    return colour_near(rng, GROUNDS[rng.integers(len(GROUNDS))])


def noise(rng, rows, columns, cell_x, cell_y):
    small = rng.standard_normal((max(int(rows / cell_y), 1) + 3, max(int(columns / cell_x), 1) + 3)).astype(np.float32)
    return cv2.resize(small, (columns, rows), interpolation=cv2.INTER_CUBIC)


def draw_ground(rng, rows, columns, size, board=False):
    """A ground of float32 BGR levels: one or two surfaces, perhaps with print or lines; the middles of its cells."""
    canvas = surface(rng, rows, columns, size)
    if not board and rng.random() < PLAIN:
        return canvas, []
    if rng.random() < 0.3:
        other = surface(rng, rows, columns, size)
        keep = half_plane(rng, rows, columns)
        canvas = canvas * (1 - keep) + other * keep
    roll, cells = rng.random(), []
    if board or roll < 0.06:
        cells = checks(rng, canvas, size)
    elif roll < 0.16:
        lines(rng, canvas, size)
    elif roll < 0.3:
        prints(rng, canvas, size)
    if rng.random() < 0.15:
        frame(rng, canvas)
    if rng.random() < 0.25:
        crumbs(rng, canvas, size)
    return canvas, cells


def surface(rng, rows, columns, size):
    base = any_ground(rng)
    roll = rng.random()
    mix = np.zeros((rows, columns), np.float32)
    if roll < 0.45:
        mix += 0.02 * rng.random() * noise(rng, rows, columns, 3, 3)
    elif roll < 0.62:
        long, thin = (size * 6, size * 0.3) if rng.random() < 0.5 else (size * 0.3, size * 6)
        mix += rng.uniform(0.03, 0.16) * noise(rng, rows, columns, long, thin) + 0.02 * noise(rng, rows, columns, 3, 3)
    elif roll < 0.85:
        mix += rng.uniform(0.03, 0.18) * noise(rng, rows, columns, *[rng.uniform(2, 8)] * 2)
        mix += rng.uniform(0, 0.1) * noise(rng, rows, columns, size, size)
    elif roll < 0.92:
        sharp = noise(rng, rows, columns, *[size * rng.uniform(0.4, 2.5)] * 2) + 0.6 * noise(rng, rows, columns, 9, 9)
        mix += rng.uniform(0.2, 1.4) * np.tanh(4 * sharp)
    else:
        step = size * rng.uniform(0.15, 0.8)
        turned = np.add.outer(np.arange(rows) * math.cos(rng.uniform(0, 3)), np.arange(columns) * 0.7)
        mix += np.float32(rng.uniform(0.05, 0.4)) * np.sign(np.sin(turned * 2 * math.pi / step)).astype(np.float32)
    tint = np.float32(1 + rng.normal(0, 0.08, 3))
    return np.exp(mix)[..., None] ** tint * base.astype(np.float32)


def half_plane(rng, rows, columns):
    turn, off = rng.uniform(0, 2 * math.pi), rng.uniform(0.1, 0.45)
    x, y = (np.arange(columns) / columns - 0.5) * math.cos(turn), (np.arange(rows) / rows - 0.5) * math.sin(turn)
    return (np.add.outer(y, x) > off).astype(np.float32)[..., None]


def checks(rng, canvas, size):
    """A board of two or three colours, cells about as large as a thing, turned; return the middles of one colour's."""
    rows, columns = canvas.shape[:2]
    step, turn = size * rng.uniform(1.0, 1.6), rng.uniform(-0.8, 0.8)
    y, x = np.mgrid[:rows, :columns].astype(np.float32)
    u, v = (x * math.cos(turn) + y * math.sin(turn)) / step, (y * math.cos(turn) - x * math.sin(turn)) / step
    odd = ((np.floor(u) + np.floor(v)) % 2).astype(bool)
    wide = rng.integers(3, 11)
    low_u, low_v = (np.floor(a.mean() - wide / 2) for a in (u, v))
    inside = (u >= low_u) & (u < low_u + wide) & (v >= low_v) & (v < low_v + wide)
    one, two = any_ground(rng), any_ground(rng)
    if rng.random() < 0.5:
        two = np.array(list(PAINTS.values())[rng.integers(len(PAINTS))], float)
    canvas[inside & odd], canvas[inside & ~odd] = one, two
    if rng.random() < 0.6:
        edge = rng.uniform(0.2, 0.8)
        rim = (u >= low_u - edge) & (u < low_u + wide + edge) & (v >= low_v - edge) & (v < low_v + wide + edge)
        canvas[rim & ~inside] = any_ground(rng)
    odd_ones = [(i + 0.5, j + 0.5) for i in range(wide) for j in range(wide) if (low_u + i + low_v + j) % 2 == 1]
    return [
        (((low_u + i) * math.cos(turn) - (low_v + j) * math.sin(turn)) * step,
         ((low_u + i) * math.sin(turn) + (low_v + j) * math.cos(turn)) * step) for i, j in odd_ones
    ]  # fmt: skip


def lines(rng, canvas, size):
    rows, columns = canvas.shape[:2]
    step, colour, thick = size * rng.uniform(0.2, 1.5), any_ground(rng), int(rng.integers(1, 4))
    mask = np.zeros((rows, columns), np.uint8)
    lean = rng.normal(0, 0.2)
    for at in np.arange(-columns, 2 * columns, step):
        cv2.line(mask, (int(at), 0), (int(at + lean * rows), rows), 255, thick)
        cv2.line(mask, (0, int(at)), (columns, int(at - lean * columns)), 255, thick)
    weight = (mask / 255.0 * rng.uniform(0.2, 1)).astype(np.float32)[..., None]
    canvas[:] = canvas * (1 - weight) + colour.astype(np.float32) * weight


def prints(rng, canvas, size):
    """Flat coloured marks: printed spaces, text, cards, none of which stands up from the ground."""
    rows, columns = canvas.shape[:2]
    for _ in range(rng.integers(2, 30)):
        at = (int(rng.integers(columns)), int(rng.integers(rows)))
        colour = tuple(float(v) for v in colour_near(rng, list(PAINTS.values())[rng.integers(len(PAINTS))]))
        long, thin = size * rng.uniform(0.3, 1.6), size * rng.uniform(0.15, 0.8)
        roll = rng.random()
        if roll < 0.4:
            box = cv2.boxPoints((at, (long, thin), float(rng.uniform(0, 180)))).astype(np.int32)
            cv2.fillPoly(canvas, [box], colour)
        elif roll < 0.7:
            write(canvas, "".join(rng.choice(list("ABCKMRST0123589"), 4)), at, size / rng.uniform(30, 90), colour)
        elif roll < 0.85:
            cv2.polylines(canvas, [rng.normal(at, size * 1.5, (5, 2)).astype(np.int32)], False, colour,
                          int(rng.integers(1, 6)))  # fmt: skip
        else:
            cv2.circle(canvas, at, int(thin / 2) + 2, colour, int(rng.choice([-1, 2, 4])))


def write(canvas, text, at, scale, colour):
    """Put text on float levels, which OpenCV's own `putText` does not take."""
    mask = np.zeros(canvas.shape[:2], np.uint8)
    cv2.putText(mask, text, at, 0, scale, 255, 1 + int(scale * 1.5))
    canvas[mask > 0] = colour


def frame(rng, canvas):
    """The rim of a box, or another thing that reaches in from the border."""
    rows, columns = canvas.shape[:2]
    inset = rng.uniform(0.02, 0.2, 4) * [columns, rows, columns, rows]
    corners = np.array([[inset[0], inset[1]], [columns - inset[2], inset[1]],
                        [columns - inset[2], rows - inset[3]], [inset[0], rows - inset[3]]])  # fmt: skip
    corners += rng.normal(0, 0.02 * columns, (4, 2))
    thick = int(rng.uniform(0.01, 0.06) * columns) + 1
    cv2.polylines(canvas, [corners.astype(np.int32)], True, tuple(any_ground(rng).tolist()), thick)


def crumbs(rng, canvas, size):
    rows, columns = canvas.shape[:2]
    for _ in range(rng.integers(1, 25)):
        at = (int(rng.integers(columns)), int(rng.integers(rows)))
        cv2.circle(canvas, at, int(size * rng.uniform(0.01, 0.07)), tuple(any_ground(rng).tolist()), -1)


# ---- where things lie ---------------------------------------------------------------------------------------------


def draw_look(rng, size, kind=None):
    any_kind = str(rng.choice(KINDS, p=np.array(WEIGHTS) / sum(WEIGHTS)))
    kind = kind or any_kind
    turn, lean = rng.uniform(0, 2 * math.pi, 2)
    spread = {"brick": 0.3, "coin": 0.12, "candy": 0.07}.get(kind, 0.03) * rng.uniform(0.2, 1.5)
    names = rng.choice(list(PAINTS), int(rng.integers(1, 7)), replace=False)
    palette = tuple((str(n), tuple(shade_of(rng, str(n)))) for n in names)
    tilt = abs(rng.normal(0, 0.6 if kind == "cube" else 0.4))
    return Look(
        kind, size, np.array([math.cos(turn), math.sin(turn)]), np.array([math.cos(lean), math.sin(lean)]) * tilt,
        float(np.clip(1 - tilt * rng.uniform(0.2, 0.8), 0.5, 1)), palette, spread, float(rng.random() ** 2),
        float(rng.uniform(0.05, 0.5)), int(rng.integers(1000)),
    )  # fmt: skip


def shade_of(rng, name):
    shades = [PAINTS[name], *(s for s in SHADES.get(name, ()) if isinstance(s, tuple))]
    return colour_near(rng, shades[rng.integers(len(shades))], 0.08)


def places(rng, rows, columns, look, most, cells=()):
    """Middles of things in fine pixels, those drawn first lying lowest: scattered, heaped, touching, on a grid."""
    if cells and rng.random() < 0.85:
        kept = [c for c in cells if rng.random() < 0.6 and -0.3 < c[0] / columns < 1.3 and -0.3 < c[1] / rows < 1.3]
        return [tuple(rng.normal(c, 0.05 * look.size)) for c in kept[:most]]
    style = rng.choice(["scatter", "heap", "touch", "grid"], p=[0.35, 0.25, 0.3, 0.1])
    least = look.size * {"scatter": 1.15, "heap": rng.uniform(0.6, 0.95), "touch": 0.97, "grid": 1.0}[style]
    room = rows * columns / (look.size**2 * 2.2)
    few = rng.random() < 0.15
    count = int(rng.integers(1, 4)) if few else int(np.clip(rng.integers(1, max(2, int(min(room, most)) + 1)), 1, most))
    if style == "grid":
        step = look.size * rng.uniform(1.05, 1.7)
        grid = [(x, y) for x in np.arange(step / 2, columns, step) for y in np.arange(step / 2, rows, step)]
        rng.shuffle(grid)
        return [(x + rng.normal(0, 0.04) * step, y + rng.normal(0, 0.04) * step) for x, y in grid[:count]]
    found, middle = [], (rng.uniform(0.25, 0.75) * columns, rng.uniform(0.25, 0.75) * rows)
    for _ in range(count * 12):
        if len(found) >= count:
            break
        at = propose(rng, style, found, middle, rows, columns, look.size, least)
        if all(math.hypot(at[0] - x, at[1] - y) >= least for x, y in found):
            found.append(at)
    return found


def propose(rng, style, found, middle, rows, columns, size, least):
    if style == "scatter" or not found:
        wide = rng.uniform(0.3, 1.0) if style == "scatter" else 0.1
        if rng.random() < 0.9:
            return middle[0] + rng.uniform(-0.5, 0.5) * columns * wide, middle[1] + rng.uniform(-0.5, 0.5) * rows * wide
        return rng.uniform(0, columns), rng.uniform(0, rows)
    x, y = found[rng.integers(len(found))]
    turn, far = rng.uniform(0, 2 * math.pi), least * rng.uniform(1.0, 1.06)
    if rng.random() < 0.15:
        far = size * rng.uniform(1.5, 3.0)
    return x + far * math.cos(turn), y + far * math.sin(turn)


# ---- things -------------------------------------------------------------------------------------------------------


def draw_thing(rng, look):
    """Name of the colour, patch (float32 BGR levels), alpha (0 to 1), height in fine pixels."""
    size = look.size * math.exp(rng.normal(0, look.spread))
    name, paint = look.palette[rng.integers(len(look.palette))]
    paint = colour_near(rng, paint, 0.03)
    kind = look.kind
    if kind == "coin":
        return name, *coin(rng, look, size)
    if kind in ("candy",):
        return name, *candy(rng, look, size, paint)
    if kind in ("chip", "draught", "cylinder"):
        return name, *disc(rng, look, size, paint)
    if kind in ("die", "cube"):
        return name, *cube(rng, look, size, paint)
    if kind == "brick":
        return name, *brick(rng, look, size, paint)
    if kind == "ring":
        return name, *ring(rng, look, size, paint)
    return name, *polygon(rng, look, size, paint)


def blank(size, colour):
    side = int(size * 1.7) | 1
    return np.tile(np.float32(colour), (side, side, 1)), np.zeros((side, side), np.uint8), side // 2


def axes(side, turn=0.0, flat=1.0):
    y, x = np.mgrid[:side, :side].astype(np.float32) - side // 2
    u, v = x * math.cos(turn) + y * math.sin(turn), y * math.cos(turn) - x * math.sin(turn)
    return u, v / flat


def coin(rng, look, size):
    """Metal: a rim, an emboss that shines here and there, sometimes two metals."""
    patch, alpha, _ = blank(size, METALS[rng.integers(len(METALS))])
    u, v = axes(len(alpha), math.atan2(look.slant[1], look.slant[0]) + math.pi / 2, look.flat)
    r = np.hypot(u, v) / (size / 2)
    if rng.random() < 0.2:
        patch[r < 0.7] = METALS[rng.integers(len(METALS))]
    emboss = noise(rng, len(alpha), len(alpha), *[max(size * rng.uniform(0.04, 0.12), 2)] * 2)
    emboss = cv2.GaussianBlur(emboss, (0, 0), 0.8) * (r < 0.82)
    ring_ = np.exp(-(((r - 0.93) / 0.05) ** 2)) * rng.uniform(-0.3, 0.5)
    facing = (u * look.light[0] + v * look.light[1]) / size
    shine = rng.uniform(-0.3, 0.5) * facing
    patch *= np.exp(look.relief * emboss + ring_ + shine)[..., None] * np.float32(rng.uniform(0.75, 1.25))
    return finished(rng, look, patch, r < 1, size * 0.08)


def candy(rng, look, size, paint):
    patch, alpha, _ = blank(size, paint)
    u, v = axes(len(alpha), rng.uniform(0, math.pi), rng.uniform(0.72, 1.0))
    r = np.hypot(u, v) / (size / 2)
    rise = np.sqrt(np.clip(1 - r * r, 0, 1))
    x, y = axes(len(alpha))
    facing = rise * rng.uniform(0.5, 0.9) - (x * look.light[0] + y * look.light[1]) / size * rng.uniform(0.5, 1.4)
    patch *= np.clip(0.35 + 0.75 * facing, 0.12, 1.5)[..., None]
    glint = np.hypot(x + look.light[0] * size * 0.2, y + look.light[1] * size * 0.2) / size
    patch += (look.gloss * 200 * np.exp(-((glint / 0.09) ** 2)))[..., None]
    return finished(rng, look, patch, r < 1, size * 0.8)


def disc(rng, look, size, paint):
    """A chip with a two-coloured rim, a draught with rings, a plain cylinder seen from the side."""
    patch, alpha, half = blank(size, paint)
    turn = math.atan2(look.slant[1], look.slant[0]) + math.pi / 2
    u, v = axes(len(alpha), turn, look.flat)
    r, around = np.hypot(u, v) / (size / 2), np.arctan2(v, u) + rng.uniform(0, 6)
    if look.kind == "chip":
        kind = np.random.default_rng(look.pattern)
        other = np.float32(list(PAINTS.values())[kind.integers(len(PAINTS))])
        inner = np.float32(colour_near(kind, (225, 225, 225), 0.1))
        patch[(np.sin(around * kind.integers(3, 9)) > kind.uniform(0, 0.8)) & (r > 0.72)] = other
        patch[r < 0.68] = inner
        patch[(r > 0.5) & (r < 0.54)] = other
        at = (half - int(size * 0.2), half + int(size * 0.1))
        write(patch, str(rng.integers(1, 900)), at, size / 90, (30.0, 30.0, 30.0))
    elif look.kind == "draught":
        waves = np.cos(r * look.pattern % 9 + r * 14) * look.relief * 0.5
        rough = noise(rng, len(alpha), len(alpha), *[size * 0.1 + 2] * 2)
        patch *= np.exp(waves + look.relief * 0.4 * rough)[..., None]
    patch *= (1 + rng.uniform(0, 0.5) * (u * look.light[0] + v * look.light[1]) / size)[..., None]
    return finished(rng, look, patch, r < 1, size * (0.5 if look.kind == "cylinder" else 0.2))


def corners_of(wide, deep, turn, middle):
    way, across = np.array([math.cos(turn), math.sin(turn)]), np.array([-math.sin(turn), math.cos(turn)])
    return np.array([middle + sx * wide / 2 * way + sy * deep / 2 * across
                     for sx, sy in ((-1, -1), (1, -1), (1, 1), (-1, 1))])  # fmt: skip


def boxy(rng, look, patch, alpha, wide, deep, high, paint):
    """Paint a box: its sides as far as the slant shows them, then its top; return the top's corners."""
    half, turn = len(alpha) // 2, rng.uniform(0, 2 * math.pi)
    down = look.slant * high
    top = corners_of(wide, deep, turn, np.array([half, half]) - down / 2)
    for a, b in zip(range(4), (1, 2, 3, 0), strict=True):
        edge = top[b] - top[a]
        out = np.array([edge[1], -edge[0]]) / max(np.linalg.norm(edge), 1e-6)
        if out @ down <= 0:
            continue
        side = np.array([top[a], top[b], top[b] + down, top[a] + down]).astype(np.int32)
        shade = np.clip(0.6 - 0.4 * float(out @ look.light), 0.15, 1.1)
        cv2.fillConvexPoly(patch, side, (np.array(paint) * shade).tolist())
        cv2.fillConvexPoly(alpha, side, 1)
    cv2.fillConvexPoly(patch, top.astype(np.int32), np.array(paint).tolist())
    cv2.fillConvexPoly(alpha, top.astype(np.int32), 1)
    return top


def cube(rng, look, size, paint):
    patch, alpha, _ = blank(size, paint)
    wide = size * 0.86
    top = boxy(rng, look, patch, alpha, wide, wide, wide * rng.uniform(0.8, 1.1), paint)
    if look.kind == "die":
        pip = (245.0, 245.0, 245.0) if np.mean(paint) < 110 else (25.0, 25.0, 25.0)
        pips(rng, patch, top, pip)
        cv2.polylines(patch, [top.astype(np.int32)], True, np.clip(np.array(paint) * 1.15, 0, 255).tolist(), 2)
    if rng.random() < 0.5:
        alpha = rounded(alpha, size * 0.08)
    return finished(rng, look, patch, alpha > 0, size * 0.8, thick=False)


def rounded(alpha, radius):
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * int(radius) + 1, 2 * int(radius) + 1))
    return cv2.morphologyEx(alpha, cv2.MORPH_OPEN, kernel)


_PIPS = {1: ((0, 0),), 2: ((-1, -1), (1, 1)), 3: ((-1, -1), (0, 0), (1, 1)), 4: ((-1, -1), (1, -1), (-1, 1), (1, 1)),
         5: ((-1, -1), (1, -1), (-1, 1), (1, 1), (0, 0)),
         6: ((-1, -1), (1, -1), (-1, 1), (1, 1), (-1, 0), (1, 0))}  # fmt: skip


def pips(rng, patch, top, colour):
    middle, across, down = top.mean(axis=0), (top[1] - top[0]) / 2, (top[3] - top[0]) / 2
    radius = float(np.linalg.norm(across)) * rng.uniform(0.13, 0.22)
    for x, y in _PIPS[int(rng.integers(1, 7))]:
        at = middle + 0.52 * (x * across + y * down)
        cv2.circle(patch, (int(at[0]), int(at[1])), max(1, round(radius)), colour, -1, cv2.LINE_AA)


def brick(rng, look, size, paint):
    """Studs on top or tubes below, some hollow as window frames; of many lengths."""
    wide, deep = rng.choice([1, 1, 2, 2, 2, 4]), rng.choice([1, 2, 2, 3, 4, 4, 6, 8])
    unit = size * rng.uniform(0.9, 1.1) / math.sqrt(wide * deep) * rng.choice([1.0, (wide * deep / 6) ** 0.3])
    patch, alpha, _ = blank(max(size, unit * deep * 1.1), paint)
    top = boxy(rng, look, patch, alpha, unit * deep, unit * wide, unit * rng.choice([0.4, 1.1]), paint)
    hole = np.zeros_like(alpha)
    roll = rng.random()
    if roll < 0.55:
        studs(rng, look, patch, top, deep, wide, unit * 0.3, paint)
    elif roll < 0.75:
        inner = (top.mean(axis=0) + (top - top.mean(axis=0)) * rng.uniform(0.6, 0.85)).astype(np.int32)
        cv2.fillConvexPoly(patch, inner, (np.array(paint) * rng.uniform(0.2, 0.6)).tolist())
        studs(rng, look, patch, top, max(deep - 1, 1), max(wide - 1, 1), unit * 0.3, np.array(paint) * 0.8)
    elif roll < 0.82 and wide > 1:
        inner = (top.mean(axis=0) + (top - top.mean(axis=0)) * rng.uniform(0.6, 0.8)).astype(np.int32)
        cv2.fillConvexPoly(hole, inner, 1)
    return finished(rng, look, patch, (alpha > 0) & (hole == 0), unit, thick=False)


def studs(rng, look, patch, top, deep, wide, radius, paint):
    across, down = (top[1] - top[0]) / deep, (top[3] - top[0]) / wide
    for i in range(deep):
        for j in range(wide):
            at = top[0] + (i + 0.5) * across + (j + 0.5) * down
            spot = (int(at[0]), int(at[1]))
            low = (int(at[0] + look.light[0] * radius * 0.35), int(at[1] + look.light[1] * radius * 0.35))
            cv2.circle(patch, low, max(1, round(radius)), (np.array(paint) * 0.6).tolist(), -1, cv2.LINE_AA)
            cv2.circle(patch, spot, max(1, round(radius)), np.clip(np.array(paint) * 1.08, 0, 255).tolist(), -1,
                       cv2.LINE_AA)  # fmt: skip


def ring(rng, look, size, paint):
    patch, alpha, _ = blank(size, paint)
    u, v = axes(len(alpha), rng.uniform(0, 3), look.flat)
    r = np.hypot(u, v) / (size / 2)
    patch *= (1 + rng.uniform(0, 0.6) * (u * look.light[0] + v * look.light[1]) / size)[..., None]
    return finished(rng, look, patch, (r < 1) & (r > rng.uniform(0.35, 0.65)), size * 0.2)


def polygon(rng, look, size, paint):
    """A gem with facets, or a pawn lying or seen from above."""
    patch, alpha, half = blank(size * 1.1, paint)
    if look.kind == "gem":
        turn = np.sort(rng.uniform(0, 2 * math.pi, rng.integers(6, 9)))
        edge = half + np.stack([np.cos(turn), np.sin(turn)], axis=1) * size / 2 * rng.uniform(0.8, 1.1, (len(turn), 1))
        cv2.fillPoly(alpha, [edge.astype(np.int32)], 1)
        peak = half + rng.normal(0, 0.08 * size, 2)
        for a, b in zip(edge, np.roll(edge, -1, axis=0), strict=True):
            face = np.array([a, b, peak]).astype(np.int32)
            cv2.fillPoly(patch, [face], (np.array(paint) * rng.uniform(0.5, 1.35)).clip(0, 255).tolist())
        return finished(rng, look, patch, alpha > 0, size * 0.5)
    way = rng.uniform(0, 2 * math.pi)
    along = np.array([math.cos(way), math.sin(way)])
    across, middle = np.array([-along[1], along[0]]), np.array([half, half], float)
    long = size * 1.35
    head, neck, foot = middle + along * long * 0.3, middle + along * long * 0.15, middle - along * long * 0.45
    body = np.array([neck + across * long * 0.1, neck - across * long * 0.1,
                     foot - across * long * 0.26, foot + across * long * 0.26])  # fmt: skip
    cv2.fillPoly(alpha, [body.astype(np.int32)], 1)
    cv2.circle(alpha, (int(head[0]), int(head[1])), int(long * 0.19), 1, -1)
    depth = cv2.distanceTransform(alpha, cv2.DIST_L2, 3) / size
    patch *= np.clip(0.5 + 2.2 * depth, 0.4, 1.2)[..., None]
    return finished(rng, look, patch, alpha > 0, size * 0.5)


def finished(rng, look, patch, shape, height, thick=True):
    """Give a shape its thickness (the side that the slant shows) and a gleam."""
    alpha = shape.astype(np.uint8)
    if thick:
        steps = int(np.linalg.norm(look.slant) * height)
        move = look.slant / max(np.linalg.norm(look.slant), 1e-6)
        side = alpha.copy()
        for step in range(2, steps + 1, 2):
            shift = np.float32([[1, 0, move[0] * step], [0, 1, move[1] * step]])
            side |= cv2.warpAffine(alpha, shift, alpha.shape[::-1])
        patch[(side > 0) & (alpha == 0)] *= rng.uniform(0.35, 0.8)
        alpha = side
    if rng.random() < 0.3:
        gleam = noise(rng, len(alpha), len(alpha), height + 4, height + 4)
        patch += (look.gloss * 60 * np.maximum(gleam, 0))[..., None]
    return patch, alpha.astype(np.float32), float(height)


def middle_of(alpha, x, y):
    rows, columns = np.nonzero(alpha > 0.5)
    half = len(alpha) // 2
    return (x + columns.mean() - half, y + rows.mean() - half) if len(rows) else (x, y)


# ---- light --------------------------------------------------------------------------------------------------------


def draw_shadows(rng):
    """One or two lamps as (direction, length in heights, what light is left, softness in sizes), and the contact."""
    turn = rng.uniform(0, 2 * math.pi)
    left = np.float32(rng.uniform(0.22, 0.9) * (1 + rng.normal(0, 0.06, 3))).clip(0.15, 0.97)
    shadows = [(np.array([math.cos(turn), math.sin(turn)]), rng.uniform(0.1, 1.2), left, rng.uniform(0.005, 0.12))]
    if rng.random() < 0.25:
        turn += rng.uniform(0.5, 3)
        tint = np.float32(rng.uniform(0.55, 0.95) * (1 + rng.normal(0, 0.08, 3))).clip(0.3, 0.98)
        way = np.array([math.cos(turn), math.sin(turn)])
        shadows.append((way, rng.uniform(0.1, 1.5), tint, rng.uniform(0.01, 0.1)))
    return [*shadows, (np.zeros(2), 0.0, np.float32([rng.uniform(0.5, 1.0)] * 3), 0.08)]


def cast(canvas, alpha, x, y, way, dark, soft):
    """Darken the canvas where the thing's shadow falls: swept from its foot to its shadow's end."""
    reach = int(np.abs(way).max() + 3 * soft) + 2
    wide = cv2.copyMakeBorder(alpha, reach, reach, reach, reach, cv2.BORDER_CONSTANT, value=0)
    swept = wide.copy()
    steps = max(1, int(np.linalg.norm(way) / max(len(alpha) * 0.12, 1)))
    for step in range(1, steps + 1):
        move = np.float32([[1, 0, way[0] * step / steps], [0, 1, way[1] * step / steps]])
        swept = np.maximum(swept, cv2.warpAffine(wide, move, wide.shape[::-1]))
    if soft > 0.4:
        swept = cv2.GaussianBlur(swept, (0, 0), soft)
    part, own = overlap(canvas, swept, x, y)
    if part is not None:
        canvas[part] *= 1 - swept[own][..., None] * (1 - dark)


def overlap(canvas, patch, x, y):
    half = len(patch) // 2
    left, top = round(x) - half, round(y) - half
    x0, y0 = max(left, 0), max(top, 0)
    x1, y1 = min(left + len(patch), canvas.shape[1]), min(top + len(patch), canvas.shape[0])
    if x1 <= x0 or y1 <= y0:
        return None, None
    return np.s_[y0:y1, x0:x1], np.s_[y0 - top : y1 - top, x0 - left : x1 - left]


def paste(canvas, owners, patch, alpha, x, y, number):
    part, own = overlap(canvas, alpha, x, y)
    if part is None:
        return
    weight = alpha[own][..., None]
    canvas[part] = canvas[part] * (1 - weight) + patch[own] * weight
    owners[part][alpha[own] > 0.5] = number


def lamp_over(rng, canvas):
    """The lamp's fall and colour over the whole picture, a glare, the shadow of somebody standing by."""
    rows, columns = canvas.shape[:2]
    fall = noise(rng, rows, columns, columns, rows) * rng.uniform(0, 0.3)
    if rng.random() < 0.12:
        edge = half_plane(rng, rows, columns)[..., 0] * rng.uniform(0.2, 0.9)
        fall -= cv2.GaussianBlur(edge, (0, 0), rng.uniform(1, 25))
    warm = np.float32(np.exp(rng.normal(0, 0.12) * np.array([-1, 0, 1]) + rng.normal(0, 0.03, 3)))
    lit = canvas * (np.exp(fall)[..., None] * warm)
    if rng.random() < 0.2:
        y, x = np.mgrid[:rows, :columns].astype(np.float32)
        far = np.hypot(x - rng.uniform(0, columns), y - rng.uniform(0, rows)) / (columns * rng.uniform(0.05, 0.25))
        lit += (rng.uniform(30, 220) * np.exp(-(far**2)))[..., None]
    return lit


def develop(rng, canvas, shape):
    """Average down, blur, expose, add noise, compress."""
    small = cv2.resize(canvas, (shape[1], shape[0]), interpolation=cv2.INTER_AREA)
    sigma = rng.choice([0, 0.5, 0.8, 1.2], p=[0.3, 0.35, 0.25, 0.1])
    if sigma:
        small = cv2.GaussianBlur(small, (0, 0), float(sigma))
    small = 255 * np.power(np.clip(small / 255, 0, 1.6), np.float32(math.exp(rng.normal(0, 0.2))))
    small *= math.exp(rng.normal(0, 0.15))
    grain = rng.standard_normal(small.shape, np.float32) * np.float32(rng.choice([1, 2, 4, 7], p=[0.4, 0.3, 0.2, 0.1]))
    raw = np.clip(small + grain, 0, 255).astype(np.uint8)
    if rng.random() < 0.5:
        raw = cv2.imdecode(cv2.imencode(".jpg", raw, [cv2.IMWRITE_JPEG_QUALITY, int(rng.integers(55, 96))])[1], 1)
    return raw


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sheet", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    shots = [draw_scene(args.seed + i).picture for i in range(40)]
    cv2.imwrite(str(args.sheet), np.vstack([np.hstack(shots[i : i + 8]) for i in range(0, 40, 8)]))


if __name__ == "__main__":
    main()
