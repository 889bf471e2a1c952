"""What leaves of a picture: the part in which something was seen, and the outlines moved into it."""

from __future__ import annotations

from collections.abc import Sequence

from companion.proposal import Outline
from vision import pictures, readings
from vision.pictures import Picture
from vision.readings import Box

AROUND_PX = 24


def jpeg(picture: Picture, box: Box) -> bytes:
    """Return a part of a picture as it is stored and shown."""
    return pictures.encode_jpeg(picture[box.y : box.y + box.height, box.x : box.x + box.width])


def shifted(seen: readings.Outline, box: Box) -> Outline:
    """Return an outline in the pixels of a part; the second group of one colour has its colour's name alone."""
    colour = seen.colour.partition(" ")[0]
    return Outline(colour, tuple((x - box.x, y - box.y) for x, y in seen.polygon_px))


def around(points: Sequence[tuple[int, int]], picture: Picture) -> Box:
    """Return the part of a picture around some points of it, large enough to be a picture of its own."""
    height, width = picture.shape[:2]
    left, top = (max(0, min(axis) - AROUND_PX) for axis in zip(*points, strict=True))
    right, bottom = (max(axis) + AROUND_PX for axis in zip(*points, strict=True))
    least = pictures.LEAST_SIDE_PX
    box_width, box_height = max(min(right, width) - left, least), max(min(bottom, height) - top, least)
    return Box(min(left, width - box_width), min(top, height - box_height), box_width, box_height)
