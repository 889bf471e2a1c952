"""How a simulated gnome table looks: everything that stays the same from one shake to the next."""

import math
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from companion.simulated.lens import Lens
from companion.simulated.solids import Paint, Profile

Grain = Literal["wood", "plain", "checks", "stripes"]


def srgb(red: int, green: int, blue: int) -> Paint:
    """Linear BGR of a colour given as on a screen."""
    b, g, r = ((v / 255.0) ** 2.2 for v in (blue, green, red))
    return b, g, r


PAINTS: dict[str, Paint] = {
    "white": srgb(232, 229, 222), "natural": srgb(214, 164, 106), "grey": srgb(112, 110, 110),
    "red": srgb(196, 30, 34),
    "yellow": srgb(238, 198, 34), "blue": srgb(36, 66, 168), "green": srgb(36, 132, 52),
    "purple": srgb(134, 44, 148),
    "orange": srgb(232, 118, 26), "black": srgb(40, 40, 43), "pink": srgb(232, 134, 172), "brown": srgb(112, 70, 42),
    "turquoise": srgb(40, 160, 160),
}  # fmt: skip
_FELTS = {
    "blue": srgb(38, 66, 152), "grey": srgb(118, 114, 112), "green": srgb(30, 92, 56), "red": srgb(130, 26, 36),
    "black": srgb(44, 44, 48), "brown": srgb(96, 66, 46), "sand": srgb(186, 164, 128), "violet": srgb(84, 52, 120),
}  # fmt: skip
_OAK: tuple[Grain, Paint, Paint] = ("wood", srgb(168, 124, 84), srgb(128, 92, 60))
_TABLES: dict[str, tuple[Grain, Paint, Paint]] = {
    "oak": _OAK, "pine": ("wood", srgb(226, 180, 116), srgb(176, 128, 74)),
    "walnut": ("wood", srgb(112, 76, 52), srgb(72, 48, 34)),
    "beech": ("wood", srgb(212, 172, 134), srgb(194, 150, 112)),
    "grey laminate": ("plain", srgb(150, 152, 150), srgb(136, 138, 138)),
    "white laminate": ("plain", srgb(226, 226, 222), srgb(212, 212, 210)),
    "black cloth": ("plain", srgb(48, 46, 46), srgb(36, 36, 38)),
    "green cloth": ("plain", srgb(52, 98, 66), srgb(40, 84, 56)),
    "checked cloth": ("checks", srgb(214, 206, 196), srgb(166, 52, 48)),
    "striped cloth": ("stripes", srgb(206, 196, 172), srgb(96, 118, 150)),
}  # fmt: skip
BOX = ("white", "natural", "grey")


@dataclass(frozen=True, slots=True)
class Tray:
    """A square felt tray with a hollow: half side, half flat middle, rim height in mm; place and turn on the table."""

    half_mm: float = 88.0
    flat_mm: float = 42.0
    rim_mm: float = 16.0
    centre_mm: tuple[float, float] = (0.0, 0.0)
    angle_rad: float = 0.4
    felt: Paint = _FELTS["blue"]
    fuzz: float = 0.05
    snap: Paint = PAINTS["white"]
    snap_mm: float = 6.0


@dataclass(frozen=True, slots=True)
class Surface:
    """The table's top: two paints, how they mix, the size of the pattern in mm, and how much it mirrors the lamp."""

    grain: Grain = "wood"
    paint: Paint = _OAK[1]
    dark: Paint = _OAK[2]
    pattern_mm: float = 14.0
    angle_rad: float = 0.0
    gloss: float = 0.05


@dataclass(frozen=True, slots=True)
class Light:
    """One lamp and the room: directions in rad, powers, colours (linear BGR), and how unevenly the lamp falls."""

    azimuth_rad: float = 1.0
    height_rad: float = 1.0
    width_rad: float = 0.06
    key: float = 0.8
    room: float = 0.4
    key_colour: Paint = (0.85, 0.95, 1.1)
    room_colour: Paint = (1.1, 1.0, 0.9)
    fall: float = 0.2
    closeness: float = 1.0


@dataclass(frozen=True, slots=True)
class Camera:
    """Where the camera is: picture size, scale over the tray, distance, tilt from straight down, directions in rad."""

    size_px: tuple[int, int] = (800, 600)
    px_per_mm: float = 2.0
    distance_mm: float = 600.0
    tilt_rad: float = 0.2
    heading_rad: float = 0.0
    roll_rad: float = 0.0
    aside_mm: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Table:
    """One simulated table; equal tables look equal. `palette` holds the three piece colours by name, as linear BGR."""

    seed: int = 0
    tray: Tray = field(default_factory=Tray)
    surface: Surface = field(default_factory=Surface)
    light: Light = field(default_factory=Light)
    camera: Camera = field(default_factory=Camera)
    lens: Lens = field(default_factory=Lens)
    pawn: Profile = field(default_factory=Profile)
    palette: tuple[tuple[str, Paint], ...] = tuple((name, PAINTS[name]) for name in BOX)
    pawn_gloss: float = 0.08


def draw_table(seed: int, size_px: tuple[int, int] = (800, 600), box: bool | None = None) -> Table:
    """Any table that a player may have; `box` asks for (or rules out) white, natural and grey pawns on blue felt."""
    rng = np.random.default_rng([seed, 71])
    own = bool(rng.random() < 0.5) if box is None else box
    tray, surface = _draw_tray(rng, own), _draw_surface(rng)
    light = _draw_light(rng)
    return Table(
        seed=seed,
        tray=tray,
        surface=surface,
        light=light,
        camera=_draw_camera(rng, tray, size_px),
        lens=_draw_lens(rng, tray, surface, light),
        pawn=_draw_pawn(rng),
        palette=_draw_palette(rng, own),
        pawn_gloss=float(rng.uniform(0.0, 0.3) ** 1.5),
    )


def _near(rng: np.random.Generator, paint: Paint, spread: float) -> Paint:
    b, g, r = (float(np.clip(v * math.exp(rng.normal(0, spread)), 0.005, 0.92)) for v in paint)
    return b, g, r


def _wild(rng: np.random.Generator) -> Paint:
    b, g, r = (float(v) for v in rng.uniform(0.01, 0.85, 3) ** 1.5)
    return b, g, r


def _draw_palette(rng: np.random.Generator, own: bool) -> tuple[tuple[str, Paint], ...]:
    names = BOX if own else tuple(str(n) for n in rng.choice(list(PAINTS), 3, replace=False))
    return tuple((name, _near(rng, PAINTS[name], 0.10)) for name in names)


def _draw_tray(rng: np.random.Generator, own: bool) -> Tray:
    half = float(rng.uniform(72, 104))
    kind = "blue" if own and rng.random() < 0.8 else str(rng.choice(list(_FELTS)))
    felt = _wild(rng) if rng.random() < 0.08 else _near(rng, _FELTS[kind], 0.15)
    shade = float(rng.uniform(0.55, 0.88))
    return Tray(
        half_mm=half,
        flat_mm=half * float(rng.uniform(0.35, 0.6)),
        rim_mm=float(rng.uniform(6, 24)),
        angle_rad=float(rng.uniform(-math.pi, math.pi)),
        felt=felt,
        fuzz=float(rng.uniform(0.01, 0.09)),
        snap=_near(rng, (shade, shade, shade), 0.06),
        snap_mm=float(rng.uniform(4.5, 7.0)),
    )


def _draw_surface(rng: np.random.Generator) -> Surface:
    grain, paint, dark = _TABLES[str(rng.choice(list(_TABLES)))]
    if rng.random() < 0.15:
        paint, dark = _wild(rng), _wild(rng)
    return Surface(
        grain=grain,
        paint=_near(rng, paint, 0.12),
        dark=_near(rng, dark, 0.12),
        pattern_mm=float(rng.uniform(6, 26)),
        angle_rad=float(rng.uniform(-math.pi, math.pi)),
        gloss=float(rng.uniform(0.0, 0.5) ** 2),
    )


def _draw_light(rng: np.random.Generator) -> Light:
    warmth = float(rng.uniform(-0.28, 0.28))
    cool = float(rng.uniform(-0.12, 0.12))
    return Light(
        azimuth_rad=float(rng.uniform(-math.pi, math.pi)),
        height_rad=float(rng.uniform(0.6, 1.4)),
        width_rad=float(rng.uniform(0.01, 0.14)),
        key=float(rng.uniform(0.3, 1.1)),
        room=float(rng.uniform(0.12, 0.7)),
        key_colour=(1 - warmth, 1.0, 1 + warmth),
        room_colour=(1 + cool, 1.0, 1 - cool),
        fall=float(rng.uniform(0, 0.5)),
        closeness=float(rng.uniform(0.2, 2.2)),
    )


def _draw_camera(rng: np.random.Generator, tray: Tray, size_px: tuple[int, int]) -> Camera:
    width, height = size_px
    scale = float(rng.uniform(0.46, 0.82)) * height / (2 * tray.half_mm)
    slack_x, slack_y = width / scale / 2 - tray.half_mm, height / scale / 2 - tray.half_mm
    aside = (float(rng.uniform(-0.55, 0.55)) * max(slack_x, 10.0), float(rng.uniform(-0.5, 0.5)) * max(slack_y, 10.0))
    return Camera(
        size_px=size_px,
        px_per_mm=scale,
        distance_mm=float(rng.uniform(420, 1000)),
        tilt_rad=math.radians(abs(rng.normal(0, 14)) % 30.0),
        heading_rad=float(rng.uniform(-math.pi, math.pi)),
        roll_rad=float(rng.uniform(-math.pi, math.pi)),
        aside_mm=aside,
    )


def _draw_pawn(rng: np.random.Generator) -> Profile:
    length = 22.0 * float(rng.uniform(0.95, 1.05))
    return Profile(
        length_mm=length,
        base_mm=length * float(rng.uniform(0.235, 0.315)),
        neck_mm=length * float(rng.uniform(0.095, 0.15)),
        head_mm=length * float(rng.uniform(0.165, 0.225)),
        hollow=float(rng.uniform(0.9, 1.8)),
        rim_mm=float(rng.uniform(0.3, 2.0)),
        collar_mm=float(rng.uniform(0.3, 1.2)) if rng.random() < 0.15 else 0.0,
    )


def _draw_lens(rng: np.random.Generator, tray: Tray, surface: Surface, light: Light) -> Lens:
    grey = (sum(tray.felt) + sum(surface.paint)) / 6
    power = light.key * math.sin(light.height_rad) + light.room
    kelvin = float(rng.uniform(-0.16, 0.16))
    return Lens(
        blur_px=float(rng.choice([0.0, 0.5, 0.7, 1.0, 1.3])),
        noise=float(rng.choice([1.0, 1.5, 3.0, 6.0, 8.0], p=[0.2, 0.3, 0.25, 0.18, 0.07])),
        jpeg=int(rng.integers(68, 97)),
        cast=(1 + kelvin, float(rng.uniform(0.96, 1.04)), 1 - kelvin),
        exposure=float(np.clip(rng.uniform(0.10, 0.24) / (grey * power), 0.5, 1.5 / power)),
        gamma=float(rng.uniform(1.9, 2.5)),
        vignette=float(rng.uniform(0, 0.35)),
        saturation=float(rng.uniform(0.75, 1.2)),
    )
