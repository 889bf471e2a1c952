"""How a simulated table with gems looks: everything that stays the same from one picture to the next."""

import math
from dataclasses import dataclass, field

import numpy as np

from companion.simulated.ground import lamp_from
from companion.simulated.lens import Lens
from companion.simulated.light import beam_to
from companion.simulated.solids import Paint
from companion.simulated.style import Camera, Grain, Light, Surface, srgb

COLOURS = ("gold", "red", "orange", "yellow", "green", "blue")

_MATT_GOLD, _BRIGHT_GOLD = srgb(150, 112, 52), srgb(196, 148, 66)
_PAINTS: dict[str, Paint] = {
    "red": srgb(186, 30, 32), "orange": srgb(222, 100, 28), "yellow": srgb(232, 188, 40),
    "green": srgb(40, 128, 56), "blue": srgb(52, 108, 182),
}  # fmt: skip
_TOPS: dict[str, tuple[Grain, Paint, Paint]] = {
    "black cloth": ("plain", srgb(46, 44, 46), srgb(36, 36, 38)),
    "white cloth": ("plain", srgb(222, 220, 214), srgb(196, 194, 190)),
    "grey cloth": ("plain", srgb(128, 126, 124), srgb(108, 108, 108)),
    "grey laminate": ("plain", srgb(150, 152, 150), srgb(136, 138, 138)),
    "oak": ("wood", srgb(168, 124, 84), srgb(128, 92, 60)),
    "pine": ("wood", srgb(222, 178, 116), srgb(168, 122, 72)),
    "walnut": ("wood", srgb(112, 76, 52), srgb(72, 48, 34)),
    "green cloth": ("plain", srgb(52, 98, 66), srgb(40, 84, 56)),
}  # fmt: skip
_OFTEN = (0.27, 0.12, 0.11, 0.12, 0.14, 0.11, 0.09, 0.04)
_DAYLIGHT_K = 6500.0


@dataclass(frozen=True, slots=True)
class Cut:
    """The shape of a gem: facets around, its girdle's radius and height, the crown's and pavilion's; all in mm.

    `table` is the radius of the flat top in shares of the girdle's.
    """

    sides: int = 8
    radius_mm: float = 6.5
    girdle_mm: float = 0.8
    crown_mm: float = 2.6
    table: float = 0.55
    pavilion_mm: float = 5.2


@dataclass(frozen=True, slots=True)
class GemTable:
    """One simulated table with gems; equal tables look equal.

    `palette` holds the six paints by name, as linear BGR; `sheen` is how metallic the gold is, 0 to 1; `point_up` says
    which way a gem of a row stands; `place_mm` and `turn_rad` are where the picture's middle lies and the rows run.
    """

    seed: int = 0
    surface: Surface = field(default_factory=Surface)
    light: Light = field(default_factory=Light)
    camera: Camera = field(default_factory=Camera)
    lens: Lens = field(default_factory=Lens)
    cut: Cut = field(default_factory=Cut)
    palette: tuple[tuple[str, Paint], ...] = (("gold", _MATT_GOLD), *_PAINTS.items())
    gloss: float = 0.08
    sheen: float = 0.0
    point_up: bool = True
    turn_rad: float = 0.0


def draw_gem_table(seed: int, size_px: tuple[int, int] = (960, 720)) -> GemTable:
    """Any table that a player may lay gems on."""
    rng = np.random.default_rng([seed, 81])
    surface, cut = _draw_top(rng), _draw_cut(rng)
    kelvin = float(rng.uniform(2700, 6600))
    light = _draw_light(rng, kelvin)
    metal = bool(rng.random() < 0.5)
    return GemTable(
        seed=seed,
        surface=surface,
        light=light,
        camera=_draw_camera(rng, cut, size_px),
        lens=_draw_lens(rng, surface, light, kelvin),
        cut=cut,
        palette=_draw_palette(rng, metal),
        gloss=float(rng.uniform(0.0, 0.45) ** 1.3),
        sheen=float(rng.uniform(0.3, 1.0)) if metal else 0.0,
        point_up=bool(rng.random() < 0.5),
        turn_rad=float(rng.uniform(-math.pi, math.pi)),
    )


def _near(rng: np.random.Generator, paint: Paint, spread: float) -> Paint:
    """The same paint from another pot: lighter or darker, and a little off in hue."""
    light = rng.normal(0, spread)
    b, g, r = (float(np.clip(v * math.exp(light + rng.normal(0, 0.7 * spread)), 0.006, 0.9)) for v in paint)
    return b, g, r


def _draw_palette(rng: np.random.Generator, metal: bool) -> tuple[tuple[str, Paint], ...]:
    gold = _near(rng, _BRIGHT_GOLD if metal else _MATT_GOLD, 0.14)
    return (("gold", gold), *((name, _near(rng, paint, 0.12)) for name, paint in _PAINTS.items()))


def _draw_top(rng: np.random.Generator) -> Surface:
    grain, paint, dark = _TOPS[str(rng.choice(list(_TOPS), p=_OFTEN))]
    gloss = float(rng.uniform(0.0, 0.35) ** 1.5) if rng.random() < 0.7 else 0.0
    return Surface(
        grain=grain,
        paint=_near(rng, paint, 0.12),
        dark=_near(rng, dark, 0.12),
        pattern_mm=float(rng.uniform(6, 26) if grain == "wood" else rng.uniform(14, 60)),
        angle_rad=float(rng.uniform(-math.pi, math.pi)),
        gloss=gloss * min(1.0, 2.0 * sum(paint) / 3 + 0.1),
    )


def _draw_cut(rng: np.random.Generator) -> Cut:
    radius = float(rng.uniform(5.8, 7.6))
    return Cut(
        sides=int(rng.choice([6, 7, 8, 9, 10], p=[0.06, 0.06, 0.74, 0.06, 0.08])),
        radius_mm=radius,
        girdle_mm=radius * float(rng.uniform(0.03, 0.3)),
        crown_mm=radius * float(rng.uniform(0.25, 0.55)),
        table=float(rng.uniform(0.35, 0.75)),
        pavilion_mm=radius * float(rng.uniform(0.55, 1.05)),
    )


def _draw_light(rng: np.random.Generator, kelvin: float) -> Light:
    room_kelvin = kelvin + float(rng.normal(0, 600))
    return Light(
        azimuth_rad=float(rng.uniform(-math.pi, math.pi)),
        height_rad=float(rng.uniform(0.55, 1.45)),
        width_rad=float(rng.uniform(0.01, 0.16)),
        key=float(rng.uniform(0.3, 1.1)),
        room=float(rng.uniform(0.12, 0.8)),
        key_colour=_warm(kelvin),
        room_colour=_warm(room_kelvin),
        fall=float(rng.uniform(0, 0.6) if rng.random() < 0.75 else rng.uniform(0.6, 1.3)),
        closeness=float(rng.uniform(0.2, 2.2)),
    )


def _warm(kelvin: float) -> Paint:
    """Linear BGR of a lamp; 1 each at daylight."""
    share = max(kelvin, 2000.0) / _DAYLIGHT_K
    return share**1.25, share**0.42, share**-0.1


def _draw_camera(rng: np.random.Generator, cut: Cut, size_px: tuple[int, int]) -> Camera:
    across = float(rng.uniform(23.0, 40.0)) * size_px[1] / 720
    return Camera(
        size_px=size_px,
        px_per_mm=across / (2 * cut.radius_mm),
        distance_mm=float(rng.uniform(420, 1000)),
        tilt_rad=math.radians(float(rng.uniform(0, 30))),
        heading_rad=float(rng.uniform(-math.pi, math.pi)),
        roll_rad=float(rng.uniform(-math.pi, math.pi)),
    )


def _draw_lens(rng: np.random.Generator, surface: Surface, light: Light, kelvin: float) -> Lens:
    """A camera that meters the empty table to grey, whatever its paint, and half corrects the lamp's colour."""
    lamp = lamp_from(light)
    up = float(beam_to(light.azimuth_rad, light.height_rad)[2])
    seen = (np.array(surface.paint) + surface.dark) / 2 * (lamp.key * up + lamp.room)
    corrected = np.array(_warm(kelvin)) ** -float(rng.uniform(0.1, 1.0))
    cast = corrected / corrected[1] * np.exp(rng.normal(0, 0.05, 3))
    target = (float(rng.uniform(70, 140)) / 255) ** 2.2
    return Lens(
        blur_px=float(rng.choice([0.0, 0.6, 0.8, 1.0, 1.4])),
        noise=float(rng.choice([1.0, 1.5, 3.0, 6.0, 8.0], p=[0.15, 0.27, 0.3, 0.2, 0.08])),
        jpeg=int(rng.integers(65, 96)),
        cast=(float(cast[0]), float(cast[1]), float(cast[2])),
        exposure=float(np.clip(target / float((seen * cast).mean()), 0.15, 9.0)),
        gamma=float(rng.uniform(1.9, 2.5)),
        vignette=float(rng.uniform(0, 0.35)),
        saturation=float(rng.uniform(0.75, 1.15)),
        shoulder=float(rng.choice([rng.uniform(0.6, 0.8), rng.uniform(0.8, 0.98)])),
        white=_white(rng),
    )


def _white(rng: np.random.Generator) -> tuple[float, float, float]:
    """Half of all cameras correct white after they clipped: what is burnt out is white no more."""
    b, g, r = (float(v) for v in rng.uniform(0.9, 1.0, 3))
    return (1.0, 1.0, 1.0) if rng.random() < 0.5 else (b, g, r)
