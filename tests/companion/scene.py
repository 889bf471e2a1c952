"""A camera without a camera: pictures that carry their number of gnomes as stripes, and eyes that read the stripes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from companion.entries import SeatPlan
from companion.evidence import EvidenceStore
from companion.journal import Journal
from companion.sheets import SheetStore
from companion.table import Kept, Post, Table
from companion.watch import Watch
from devices.camera import Frame
from rules.core import TABLE
from vision import gnomes, refit
from vision.readings import Box, GnomeReading, Outline, normalised

STEP_MS = 100
HAND = -1
SEATS = (SeatPlan("Anna", "red"), SeatPlan("Ben", "yellow"), SeatPlan("Cem", "green"))


class Now(Executor):
    """Runs at once, or when the test says so: a reader whose slowness is in the test's hand."""

    def __init__(self) -> None:
        self.waits = False
        self._waiting: list[Callable[[], None]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()

        def run() -> None:
            try:
                future.set_result(fn(*args, **kwargs))
            except (ValueError, ArithmeticError) as error:
                future.set_exception(error)

        if self.waits:
            self._waiting.append(run)
        else:
            run()
        return future

    def finish(self) -> None:
        """Let the reader finish what it was given."""
        self.waits = False
        for run in self._waiting:
            run()
        self._waiting.clear()


class Scene:
    """A table with a journal on the disk, a watch, and a clock that only the test moves."""

    def __init__(self, folder: Path, **watch: Any) -> None:
        self.ms = 0
        self.number = 0
        self.reader = Now()
        self.table = Table(Journal(folder), now_ms=lambda: self.ms, wall=lambda: "2026-01-01T00:00:00+00:00",
                           store=SheetStore(folder))  # fmt: skip
        self.evidence = EvidenceStore(folder, most_mb=10, most_days=1)
        calibration: Any = object()
        self.watch = Watch(self.table, self.evidence, calibration=calibration, reader=self.reader, **watch)

    def begin(self, **more: Any) -> None:
        """Lay out a game for three."""
        self.table.begin("schuettels", SEATS, sheet="house", **more)

    def see(self, *counts: int, frames: int = 7) -> None:
        """Show each number of gnomes for some frames; HAND is a hand that moves."""
        for count in counts:
            for _ in range(frames):
                self.ms += STEP_MS
                self.number += 1
                self.watch.step(Frame(picture(count, self.number), self.ms, self.number))

    def keep(self, count: int, *more: dict[str, Any]) -> Kept:
        """Keep a count, and what the seat on turn does with it, in one gesture."""
        proposal = self.table.snapshot.proposal
        crop = proposal.evidence.crop if proposal and proposal.evidence else None
        turn = self.table.snapshot.state.on_turn
        posts = [Post(TABLE, {"do": "shake", "count": count}, evidence=crop), *(Post(turn, one) for one in more)]
        return self.table.submit(posts, key=f"{self.number}-{count}", by="test")

    @property
    def proposed(self) -> Any:
        """The most likely count of the open proposal, None where there is none."""
        proposal = self.table.snapshot.proposal
        return None if proposal is None else proposal.answers[0].value

    @property
    def counted(self) -> Any:
        """The newest count of a table that only counts."""
        reading = self.table.snapshot.count_reading
        return None if reading is None else reading.answers[0].value

    def close(self) -> None:
        """Close the journal."""
        self.table.close()


def picture(count: int, number: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return a picture with as many stripes as gnomes; a hand is a block that never stays."""
    drawn = np.full((200, 320, 3), 90, np.uint8)
    if count == HAND:
        drawn[20:110, 40 * (number % 7) : 40 * (number % 7) + 60] = 200
    for stripe in range(max(0, count)):
        drawn[10:110, 20 * stripe + 4 : 20 * stripe + 16] = 230
    return drawn


def _stripes(drawn: np.ndarray[Any, np.dtype[np.uint8]]) -> int:
    return int((np.diff((drawn[60, :, 0] > 150).astype(int)) > 0).sum())


@contextmanager
def eyes(monkeypatch: pytest.MonkeyPatch, unsure: float = 0.001) -> Iterator[None]:
    """Let the watch read stripes; `unsure` is the share of every other count."""

    def read(drawn: Any, _: object) -> GnomeReading:
        count = _stripes(drawn)
        likelihood = normalised([1 - 15 * unsure if n == count else unsure for n in range(16)])
        return GnomeReading(likelihood, {"white": count}, (Outline("white", ((6, 11), (9, 30), (12, 11)), 0.9),),
                            Box(2, 5, 300, 180), 0)  # fmt: skip

    monkeypatch.setattr(refit, "identity", lambda _: "table")
    monkeypatch.setattr(gnomes, "read", read)
    monkeypatch.setattr(gnomes, "is_empty", lambda drawn, _: _stripes(drawn) == 0)
    yield
