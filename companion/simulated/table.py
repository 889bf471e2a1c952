"""A simulated table: gnomes are thrown into a tray and a camera sees them, as far as the service can tell.

The pictures go through the ordinary camera door: an address that `devices.camera` opens like any other.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Sequence

import cv2
import numpy as np

from companion.simulated.lens import Picture
from companion.simulated.pawns import Gnome, apart, draw_table, render, shake
from devices.fakes import FakeCamera

GNOMES = 15
HAND_MS = 700
NOISE_LEVELS = 2.0
NOISES = 5
FLICKER = 0.01


class SimulatedTable:
    """A table, a tray and 15 gnomes in a cup, seen by a camera at `url`.

    `in_tray` is the truth, for those who play along. Every method may be called from any thread and returns when the
    scene is painted; the camera then sees a hand for a moment, and after it the scene at rest.
    """

    def __init__(self, seed: int, *, now_ms: Callable[[], int], clutter: int = 1, hand_ms: int = HAND_MS) -> None:
        self._random = np.random.default_rng(seed)
        self._table = draw_table(seed, box=True)
        self._now_ms, self._clutter, self._hand_ms = now_ms, clutter, hand_ms
        self._names = [name for name, _ in self._table.palette for _ in range(GNOMES // len(self._table.palette))]
        self._painting = threading.Lock()
        self.in_tray = 0
        self._empty = self._paint([])
        self._noises = [_noise(self._empty.shape, self._random) for _ in range(NOISES)]
        self._frames = itertools.count()
        self._rest, self._hand_until_ms = self._empty, 0
        self._camera = FakeCamera()
        self._camera.show(self._frame)

    @property
    def url(self) -> str:
        """The address of the camera over this table."""
        return self._camera.url

    @property
    def at_rest(self) -> bool:
        """Whether the hand is out of the picture again."""
        return self._now_ms() > self._hand_until_ms

    def calibration_pictures(self) -> tuple[Picture, Picture]:
        """Return the two pictures of the wizard: the empty tray, and all 15 apart."""
        return self._empty, self._paint(apart(self._table, self._random))

    def spread(self) -> None:
        """Lay all 15 gnomes apart in the tray, for the wizard."""
        self._show(self._paint(apart(self._table, self._random)), GNOMES)

    def shake(self, count: int | None = None) -> int:
        """Shake `count` gnomes (by chance, where it is not said) out of the cup and return how many fell."""
        fell = self._fallen() if count is None else count
        names = [self._names[at] for at in self._random.permutation(GNOMES)[:fell]]
        self._show(self._paint(shake(self._table, names, self._random, spill=0.0), self._clutter), fell)
        return fell

    def gather(self) -> None:
        """Put all gnomes back into the cup."""
        self._show(self._empty, 0)

    def close(self) -> None:
        """Take the camera away."""
        self._camera.close()

    def _fallen(self) -> int:
        """A flick of the wrist: mostly some, now and then hardly any or all of them."""
        share = self._random.beta(2.2, 2.0)
        return int(np.clip(round(share * (GNOMES + 1)), 1, GNOMES))

    def _show(self, picture: Picture, count: int) -> None:
        self._hand_until_ms = self._now_ms() + self._hand_ms
        self._rest, self.in_tray = picture, count

    def _paint(self, gnomes: Sequence[Gnome], clutter: int = 0) -> Picture:
        with self._painting:
            return render(self._table, gnomes, self._random, clutter=clutter, flicker=FLICKER).picture

    def _frame(self) -> Picture:
        """What the camera sees now: the scene, the sensor's noise, and a hand while it is there."""
        left_ms = self._hand_until_ms - self._now_ms()
        picture = self._rest.copy() if left_ms > 0 else self._rest
        if left_ms > 0:
            _draw_hand(picture, left_ms / max(1, self._hand_ms))
        noise = self._noises[next(self._frames) % NOISES]
        noisy: Picture = cv2.add(picture, noise, dtype=cv2.CV_8U).astype(np.uint8, copy=False)
        return noisy


def _noise(shape: tuple[int, ...], random: np.random.Generator) -> np.ndarray[tuple[int, ...], np.dtype[np.int16]]:
    return np.rint(random.normal(0, NOISE_LEVELS, shape)).astype(np.int16)


def _draw_hand(picture: Picture, left: float) -> None:
    """A sleeve and a fist that come in from the near edge and go away again; `left` falls from 1 to 0."""
    height, width = picture.shape[:2]
    reach = np.sin(np.pi * left)
    x, y = int(width * (0.35 + 0.3 * left)), int(height * (1.1 - 0.6 * reach))
    cv2.line(picture, (x + width // 10, height + 50), (x, y), (70, 60, 50), width // 8)
    cv2.circle(picture, (x, y), width // 12, (120, 150, 200), -1)
