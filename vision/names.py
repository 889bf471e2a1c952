"""What colours are called under any lamp: what is neutral tells the lamp, painted wood tells the names."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import as_file, files

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.stored import load_npz

Colour = NDArray[np.float64]
"""Blue, green, red, 0 to 255 as a camera has them."""

NAMES: dict[str, tuple[float, float, float, float]] = {
    "red": (0.15, 0.15, 0.70, 0.35),
    "orange": (0.10, 0.32, 0.58, 0.50),
    "yellow": (0.10, 0.42, 0.48, 0.65),
    "green": (0.24, 0.54, 0.22, 0.35),
    "blue": (0.62, 0.25, 0.13, 0.35),
    "purple": (0.48, 0.19, 0.33, 0.35),
    "pink": (0.32, 0.25, 0.43, 0.70),
    "white": (0.333, 0.333, 0.333, 0.85),
    "grey": (0.333, 0.333, 0.333, 0.42),
    "black": (0.333, 0.333, 0.333, 0.10),
    "natural": (0.26, 0.33, 0.41, 0.60),
    "brown": (0.18, 0.31, 0.51, 0.25),
}
"""BGR over its sum (chromaticity) and lightness of painted wood under a lamp, for where nothing neutral is seen."""
FORMAT = 1
OTHERWISE = 0.03  # of the chances are spread over all names: a piece may be painted as none of those fitted on
SHEETS = {"white": 0.91, "grey": 0.51, "black": 0.22}  # of full white, as a camera has them
WHITE_FROM, GREY_FROM = 140.0, 60.0
WARMEST, COOLEST = 1.9, 0.75  # red over blue of something neutral
GREENEST = 0.13


def neutral(ground: Colour) -> bool:
    """Say whether a ground can be white, grey or black under some lamp between candle and blue sky."""
    blue, green, red = np.maximum(ground, 2.0)
    lean = float(np.log(green) - (np.log(blue) + np.log(red)) / 2)
    return COOLEST < red / blue < WARMEST and abs(lean) < GREENEST


def white_under(ground: Colour, brightest: float = 0.0) -> Colour:
    """Return what full white would look like (BGR) on a ground that is a white, grey or black sheet.

    `brightest` is the level of the brightest thing there, glints apart: it cannot be whiter than white.
    """
    level = float(ground.max())
    sheet = "white" if level > WHITE_FROM else "grey" if level > GREY_FROM else "black"
    white = np.maximum(ground, 2.0) / SHEETS[sheet]
    return np.asarray(white * max(1.0, brightest / float(white.max())), np.float64)


def chances(colour: Colour, white: Colour) -> tuple[tuple[str, float], ...]:
    """Return each name with its probability for a colour (BGR) seen where full white is `white`; likeliest first."""
    called, means, spreads = _fitted()
    away = under(colour, white) - means
    scores = -0.5 * np.einsum("ni,nij,nj->n", away, np.linalg.inv(spreads), away) - 0.5 * np.linalg.slogdet(spreads)[1]
    weights = np.exp(scores - scores.max())
    shares = (1 - OTHERWISE) * weights / weights.sum() + OTHERWISE / len(called)
    return tuple((called[i], float(shares[i])) for i in np.argsort(-shares, kind="stable"))


def under(colour: Colour, white: Colour) -> Colour:
    """Return a colour (BGR) as CIELAB relative to what full white looks like there."""
    return lab(np.clip(colour / white * 255.0, 0.0, 255.0))


def lab(colours: Colour) -> Colour:
    """Turn colours (3 or n x 3, BGR) into CIELAB."""
    scaled = (colours.reshape(-1, 1, 3) / 255.0).astype(np.float32)
    return np.asarray(cv2.cvtColor(scaled, cv2.COLOR_BGR2Lab), np.float64).reshape(colours.shape)


@lru_cache(maxsize=1)
def _fitted() -> tuple[list[str], Colour, Colour]:
    """Names, their means (n x 3) and spreads (n x 3 x 3), as `tests/bench/fit_what.py` found them on rendered mats."""
    with as_file(files("vision").joinpath("data", "names.npz")) as path:
        stored = load_npz(path, FORMAT)
    called = [str(name) for name in stored["names"]]
    return called, stored["means"].astype(np.float64), stored["spreads"].astype(np.float64)
