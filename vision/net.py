"""Small nets that know what pieces look like; vision/data/README.md says what goes in and comes out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from threading import Lock

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.pictures import Picture

GNOMES = "gnomes.onnx"
LENGTH_PX = 44.0
"""A lying gnome as `calibration` measures it, shadow's edge included, is this long in the pictures given to the net,
which learned from gnomes of 36 px without that edge."""
STEP = 16
CELL_PX = 2
MIDDLE = 128.0
SPREAD = 64.0

Map = NDArray[np.float32]
_ASKING = Lock()
_ENGINE = (cv2.dnn.ENGINE_CLASSIC,) if hasattr(cv2.dnn, "ENGINE_CLASSIC") else ()
"""OpenCV 5 has two engines; the older takes a quarter less time for such nets. OpenCV 4 has only that one."""


@dataclass(frozen=True, slots=True, eq=False)
class Sight:
    """What the net says at half size, as log odds: a gnome's centre here, any part of a gnome here."""

    centre: Map
    part: Map


def see(picture: Picture, empty: Picture) -> Sight:
    """Run the net on a BGR picture and the empty picture registered to it, both at LENGTH_PX.

    Where none is known, the picture itself does as its empty picture.
    """
    height, width = picture.shape[:2]
    down, right = -height % STEP, -width % STEP
    both = [cv2.copyMakeBorder(p, 0, down, 0, right, cv2.BORDER_REFLECT_101) for p in (picture, empty)]
    planes = np.concatenate(cv2.dnn.blobFromImages(both, 1 / SPREAD, mean=(MIDDLE, MIDDLE, MIDDLE)))
    maps = ask(GNOMES, np.asarray(planes, np.float32))[:, : height // CELL_PX, : width // CELL_PX]
    return Sight(maps[0], maps[1])


def ask(file: str, planes: NDArray[np.float32]) -> NDArray[np.float32]:
    """Show a net of vision/data one picture (channels x height x width); return its maps at half size.

    One picture at a time: a net that two threads ask at once answers the wrong one, or falls over.
    """
    with _ASKING:
        net = _net(file)
        net.setInput(np.ascontiguousarray(planes[None]))
        return _unfolded(np.array(net.forward(), np.float32))


def _unfolded(raw: NDArray[np.float32]) -> NDArray[np.float32]:
    rows, columns = raw.shape[2:]
    cells = raw.reshape(-1, CELL_PX, CELL_PX, rows, columns).transpose(0, 3, 1, 4, 2)
    return cells.reshape(-1, CELL_PX * rows, CELL_PX * columns)


@lru_cache(maxsize=4)
def _net(file: str) -> cv2.dnn.Net:
    data = files("vision").joinpath("data", file).read_bytes()
    return cv2.dnn.readNetFromONNX(np.frombuffer(data, np.uint8), *_ENGINE)
