"""A whole simulated table in one process: camera, cup, players; what a newcomer without hardware sees first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from companion.entries import SeatPlan
from companion.service import BOT_PACE_MS, Service, monotonic_ms
from companion.settings import Settings
from companion.simulated.people import PACE_MS, People
from companion.simulated.table import SimulatedTable
from vision.calibration import calibrate

COLOURS = ("red", "yellow", "green", "blue", "purple", "orange")
NAMES = ("Anna", "Ben", "Cem", "Dora", "Emil", "Fay")
OWN_SEATS = 1


class Demo:
    """A service on a simulated table. With `autoplay` every seat plays by itself, else the first is the visitor's.

    Without a `game` the table only counts; with `autoplay` it is shaken at all the same.
    """

    def __init__(
        self,
        data: Path,
        own: Settings | None = None,
        *,
        game: str | None,
        autoplay: bool,
        seats: int = 3,
        seed: int = 1,
        pace_ms: int = PACE_MS,
    ) -> None:
        self.scene = SimulatedTable(seed, now_ms=monotonic_ms, hand_ms=min(700, pace_ms))
        settings = replace(own or Settings(), camera="")
        self.service = Service(settings, data, camera_url=self.scene.url, bot_pace_ms=min(BOT_PACE_MS, pace_ms))
        self.service.use_calibration(calibrate(*self.scene.calibration_pictures()))
        if game is not None and self.service.table.snapshot.game is None:
            self.service.table.begin(game, plans(seats, autoplay=autoplay), sheet="house")
        self.people = People(
            self.service.table, self.scene, now_ms=monotonic_ms, seed=seed, pace_ms=pace_ms, counts=autoplay
        )
        self.service.shaker = self.people.wish

    def close(self) -> None:
        """Clear the table."""
        self.people.close()
        self.service.close()
        self.scene.close()


def plans(seats: int, *, autoplay: bool) -> Sequence[SeatPlan]:
    """Return who sits where."""
    own = 0 if autoplay else OWN_SEATS
    return [SeatPlan(NAMES[at], COLOURS[at], "person" if at < own else "greedy") for at in range(seats)]
