"""One shape a colour: the second mark that every coloured thing carries, the same everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, pi, sin

from markupsafe import Markup

BOX = "-13 -13 26 26"
STRANGER = "grey"
"""The colour whose shape stands in for one that nobody drew."""


def _round(points: Iterator[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) + "Z"


def _regular(corners: int, radius: float, turn: float = -90.0) -> str:
    angles = (turn / 180 * pi + 2 * pi * k / corners for k in range(corners))
    return _round((radius * cos(a), radius * sin(a)) for a in angles)


def _star(tips: int, radius: float, waist: float) -> str:
    radii = ((radius, waist)[k % 2] for k in range(2 * tips))
    return _round((r * sin(pi * k / tips), -r * cos(pi * k / tips)) for k, r in enumerate(radii))


def _disc(radius: float) -> str:
    return f"M{-radius} 0A{radius} {radius} 0 1 1 {radius} 0A{radius} {radius} 0 1 1 {-radius} 0Z"


SHAPES = {
    "red": _disc(9.2),
    "orange": _regular(3, 13.0),
    "yellow": _regular(4, 11.6),
    "green": _regular(4, 11.4, -45.0),
    "blue": _regular(6, 10.2),
    "gold": _star(5, 12.6, 6.3),
    "copper": _star(4, 12.6, 6.2),
    "white": _disc(10.4) + _disc(5.2),
    "natural": "M-1.6 -9.6A9.8 9.8 0 0 0 -1.6 9.6ZM1.6 -9.6A9.8 9.8 0 0 1 1.6 9.6Z",
    "grey": "M-12 -5H12V5H-12Z",
    "black": "M-4 -11.4H4V-4H11.4V4H4V11.4H-4V4H-11.4V-4H-4Z",
    "brown": _regular(5, 10.8),
    "purple": _regular(3, 13.0, 90.0),
    "pink": "M0 11L-10.4 -0.6A5.9 5.9 0 0 1 0 -7.2A5.9 5.9 0 0 1 10.4 -0.6Z",
    "silver": "M5 -10.6A11.4 11.4 0 1 0 5 10.6A13 13 0 0 1 5 -10.6Z",
}
"""The outline of each colour's shape, in a box of 26 around its middle, all of about the same area."""


def known(colour: str) -> str:
    """Return the colour if it has a shape, else the one that stands in for it."""
    return colour if colour in SHAPES else STRANGER


def mark(colour: str, size: str = "") -> Markup:
    """Return the drawn shape of a colour as SVG for a page; the words beside it say what it means."""
    name = known(colour)
    return Markup(
        f'<svg class="mark c-{name}{" " + size if size else ""}" viewBox="{BOX}" aria-hidden="true" focusable="false">'
        f'<path fill-rule="evenodd" d="{SHAPES[name]}"/></svg>'
    )
