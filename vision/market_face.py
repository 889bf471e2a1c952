"""The upper side of a marker: how much what is drawn on it looks like a cross."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision import market_place
from vision.market_place import Eye, Matrix, Points
from vision.pictures import Picture

Look = NDArray[np.float32]
Samples = NDArray[np.float64]

SIDE = 15  # of a face, in samples
STEP = 1 / 12  # of a marker's width
STRAY = 4  # samples by which a face may be off its place
WIDE_SIDE = SIDE + 2 * STRAY
ANGLES = np.arange(0, 90, 7.5)
ARMS = ((0.05, 0.30), (0.05, 0.38), (0.08, 0.32))
"""Half the width and the length of a cross's arm, in marker widths."""
DARK_LEVEL = 20.0
LEAST_LEVELS = 2.0
NUMBERS, MORE = 5, 1
HEIGHT_MM = 4.0  # of a marker, as good as any


def _grid() -> tuple[Samples, Samples]:
    line = (np.arange(SIDE) - SIDE // 2) * STEP
    across, down = np.meshgrid(line, line)
    return across, down


ACROSS, DOWN = _grid()
AWAY = np.hypot(ACROSS, DOWN)
INSIDE = AWAY < 0.4


def _crosses() -> Samples:
    """Crosses of each angle and make inside a face (n x samples), each of mean 0 and length 1."""
    across, down = ACROSS[INSIDE], DOWN[INSIDE]
    found = []
    for half, reach in ARMS:
        for angle in np.radians(ANGLES):
            along = np.abs(across * np.cos(angle) + down * np.sin(angle))
            aside = np.abs(down * np.cos(angle) - across * np.sin(angle))
            arms = [_soft(half - thin) * _soft(reach - long) for long, thin in ((along, aside), (aside, along))]
            found.append(np.maximum(*arms))
    centred = np.array(found) - np.mean(found, axis=1, keepdims=True)
    return np.asarray(centred / np.linalg.norm(centred, axis=1, keepdims=True))


def _soft(inside: Samples) -> Samples:
    return np.clip(inside / STEP + 0.5, 0, 1)


CROSSES = _crosses()


def looks(picture: Picture, board: Matrix, eye: Eye, places_mm: Points, width_mm: float) -> Look:
    """Look at markers of some width on places of a board (n x 2, mm): n x NUMBERS, as `about`."""
    at = eye.lifted(places_mm, HEIGHT_MM)
    turned = np.einsum("nij,kj->nki", eye.turns(places_mm), market_place.grid(WIDE_SIDE) * width_mm * STEP)
    seen = cv2.perspectiveTransform((turned + at[:, None]).reshape(1, -1, 2), board)
    shown = market_place.sampled(picture, seen.reshape(turned.shape).astype(np.float64))
    return np.stack([about(one.reshape(WIDE_SIDE, WIDE_SIDE, 3)) for one in shown])


def about(wide: Look) -> Look:
    """Return what tells a cross from a plain face in a look at it and around it (WIDE_SIDE x WIDE_SIDE x 3, BGR).

    NUMBERS numbers, of the place and turn at which it is most like a cross and least like one turned by half a
    quarter: how like, by how much more than turned, how strong against the face's tone and against what else is on
    the face, and how strong in grey levels.
    """
    parts = np.lib.stride_tricks.sliding_window_view(wide, (SIDE, SIDE), axis=(0, 1))
    faces = parts[..., INSIDE].reshape(-1, 3, int(INSIDE.sum())).astype(np.float64)
    along = _along(faces)
    strength = along @ CROSSES.T
    alike = np.abs(strength) / (np.linalg.norm(along, axis=1, keepdims=True) + LEAST_LEVELS)
    more = alike - _turned(alike)
    place, kind = np.unravel_index(int(np.argmax(alike + more)), alike.shape)
    levels = float(np.abs(strength[place, kind])) / np.sqrt(INSIDE.sum())
    rest = float(np.std(along[place] - strength[place, kind] * CROSSES[kind]))
    tone = float(faces[place].mean())
    numbers = (
        float(alike[place, kind]),
        float(more[place, kind]),
        levels / (DARK_LEVEL + tone) * 8,
        float(np.log((levels + 1) / (rest + 1))),
        float(np.log(levels + 1)) / 2,
    )
    return np.array(numbers, np.float32)


def _along(faces: Samples) -> Samples:
    """Each face (n x 3 x samples) along its own line of colours: the one on which it varies most."""
    centred = faces - faces.mean(axis=2, keepdims=True)
    _, axes = np.linalg.eigh(np.einsum("nis,njs->nij", centred, centred))
    return np.asarray(np.einsum("ni,nis->ns", axes[:, :, -1], centred))


def _turned(alike: Samples) -> Samples:
    """What each cross's twin, turned by half a quarter, has."""
    by_make = alike.reshape(len(alike), len(ARMS), len(ANGLES))
    return np.roll(by_make, len(ANGLES) // 2, axis=2).reshape(alike.shape)
