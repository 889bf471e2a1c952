"""A picture crop as a page draws it: each seen thing outlined, with the shape of its colour."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from companion.proposal import Evidence, Outline
from web.shapes import SHAPES, known

JPEG_SIZES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def bare_mark(colour: str) -> Markup:
    """Return the drawn shape of a colour within a picture."""
    name = known(colour)
    return Markup(f'<path class="c-{name}" fill-rule="evenodd" d="{SHAPES[name]}"/>')


def drawn(evidence: Evidence, jpeg: bytes | None, at: str = "/evidence/") -> dict[str, Any] | None:
    """Return a picture crop with its outlines as a page draws it; None where the picture is not there any more.

    The page finds the picture under its id at the address `at`.
    """
    size = None if jpeg is None else jpeg_size(jpeg)
    if size is None:
        return None
    outlines = [_outline(one) for one in evidence.outlines if one.polygon_px]
    return {
        "href": at + evidence.crop,
        "width": size[0],
        "height": size[1],
        "outlines": outlines,
        "scale": max(size) / 900,
    }


def _outline(outline: Outline) -> Mapping[str, Any]:
    points = outline.polygon_px
    middle = [round(sum(axis) / len(points)) for axis in zip(*points, strict=True)]
    path = "M" + "L".join(f"{x} {y}" for x, y in points) + "Z"
    return {"colour": outline.colour, "path": path, "x": middle[0], "y": middle[1]}


@lru_cache(maxsize=32)
def jpeg_size(jpeg: bytes) -> tuple[int, int] | None:
    """Return width and height from a JPEG's header, None where it is none."""
    for match in re.finditer(rb"\xff([\xc0-\xcf])..\x08(..)(..)", jpeg, re.DOTALL):
        if match[1][0] in JPEG_SIZES:
            return int.from_bytes(match[3], "big"), int.from_bytes(match[2], "big")
    return None
