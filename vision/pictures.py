"""Pictures from files and cameras, checked once at the door."""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.errors import PictureRefused

Picture: TypeAlias = NDArray[np.uint8]
"""A colour picture: height x width x 3, BGR as OpenCV has it, 8 bit."""

LEAST_SIDE_PX = 160
MOST_SIDE_PX = 8192
DARK_LEVEL = 24  # of 255: the brightest hundredth of a usable picture is above it
BLOWN_LEVEL = 250
SPARSE_PX = 7  # light is judged by every so-manieth pixel
BLOWN_SHARE = 0.5  # of the picture may be burnt out by a lamp's reflection, not more
JPEG_QUALITY = 90
MIDDLE_GREY = 128
GREY_ROWS = 16  # of a picture the last sixteenth


def load(path: Path | str) -> Picture:
    """Read a picture file as BGR, height x width x 3, 8 bit; raise PictureRefused if it is none."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise PictureRefused("no_file", {"file": Path(path).name, "errno": error.errno or 0}) from error
    return decode(data)


def decode(data: bytes) -> Picture:
    """Decode JPEG or PNG bytes to BGR, 8 bit; raise PictureRefused for anything else, or half of one."""
    _refuse_half(data)
    try:
        found = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED | cv2.IMREAD_IGNORE_ORIENTATION)
    except cv2.error as error:
        raise PictureRefused("no_picture", {"bytes": len(data)}) from error
    if found is None:
        raise PictureRefused("no_picture", {"bytes": len(data)})
    return checked(np.asarray(found))


def checked(picture: NDArray[np.generic]) -> Picture:
    """Return the picture if it is BGR, 8 bit and of a usable size; else raise PictureRefused saying what it is."""
    if picture.dtype != np.uint8:
        raise PictureRefused("not_8_bit", {"type": str(picture.dtype)})
    if picture.ndim != 3 or picture.shape[2] != 3:
        raise PictureRefused(_kind(picture), {"shape": tuple(picture.shape)})
    height, width = picture.shape[:2]
    if min(height, width) < LEAST_SIDE_PX:
        raise PictureRefused("too_small", {"width": width, "height": height, "least": LEAST_SIDE_PX})
    if max(height, width) > MOST_SIDE_PX:
        raise PictureRefused("too_large", {"width": width, "height": height, "most": MOST_SIDE_PX})
    return np.ascontiguousarray(picture, dtype=np.uint8)


def refuse_light(picture: Picture) -> None:
    """Raise PictureRefused if the picture is too dark or burnt out to see anything in it."""
    small = np.ascontiguousarray(picture[::SPARSE_PX, ::SPARSE_PX])
    brightest = float(np.percentile(small, 99))
    if brightest < DARK_LEVEL:
        raise PictureRefused("too_dark", {"brightest": round(brightest), "least": DARK_LEVEL})
    burnt = float((small.min(axis=2) >= BLOWN_LEVEL).mean())
    if burnt > BLOWN_SHARE:
        raise PictureRefused("blown_out", {"share": round(burnt, 2), "most": BLOWN_SHARE})


def refuse_grey_rest(picture: Picture) -> None:
    """Raise PictureRefused if the lower part is the flat grey that decoders put where a picture broke off."""
    rest = picture[-(len(picture) // GREY_ROWS) :]
    if abs(int(rest[-1, 0, 0]) - MIDDLE_GREY) <= 2 and int(rest.max()) - int(rest.min()) <= 2:
        raise PictureRefused("half_picture")


def encode_jpeg(picture: Picture) -> bytes:
    """Encode a picture as JPEG bytes, as evidence is stored and shown."""
    return cv2.imencode(".jpg", checked(picture), [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])[1].tobytes()


def _kind(picture: NDArray[np.generic]) -> str:
    if picture.ndim == 3 and picture.shape[2] == 4:
        return "has_alpha"
    return "not_colour"


def _refuse_half(data: bytes) -> None:
    """OpenCV fills the missing half of a JPEG or PNG with grey and says nothing, so look for the end marker."""
    if data.startswith(b"\xff\xd8") and b"\xff\xd9" not in data[-64:]:
        raise PictureRefused("half_picture", {"bytes": len(data)})
    if data.startswith(b"\x89PNG") and b"IEND" not in data[-64:]:
        raise PictureRefused("half_picture", {"bytes": len(data)})
    if not data:
        raise PictureRefused("no_picture", {"bytes": 0})
