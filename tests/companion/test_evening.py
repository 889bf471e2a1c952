"""An evening before a folder camera: a session's shakes, its empty tray between them, a game, a person who taps."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from companion.entries import SeatPlan
from companion.players import fill_in, open_forms
from companion.service import Service
from companion.settings import Settings
from companion.table import Post
from rules.core import TABLE
from vision import gnomes, pictures
from vision.calibration import GnomeCalibration, calibrate

SESSION = Path(__file__).parents[1] / "data" / "gnomes" / "session08"
SEATS = tuple(SeatPlan(name, colour) for name, colour in (("Anna", "red"), ("Ben", "yellow"), ("Cem", "green")))
HOLD_MS, EMPTY_MS = 1700, 1200
DEADLINE_S = 90.0


@pytest.fixture(scope="module")
def calibration() -> GnomeCalibration:
    return calibrate(pictures.load(SESSION / "empty.jpg"), pictures.load(SESSION / "calibration.jpg"))


@pytest.fixture(scope="module")
def expected(calibration: GnomeCalibration) -> list[int]:
    """What the pictures are read as one by one, with all the time in the world."""
    return [gnomes.read(pictures.load(path), calibration).count for path in shakes()]


@pytest.fixture
def service(tmp_path: Path, calibration: GnomeCalibration, expected: list[int]) -> Iterator[Service]:
    """A service that looks at the session; the folder begins to play when it is first looked at."""
    url = f"folder:{SESSION}?hold_ms={HOLD_MS}&between=empty.jpg&between_ms={EMPTY_MS}&skip=empty.jpg,calibration.jpg"
    service = Service(Settings(), tmp_path, camera_url=url)
    service.use_calibration(calibration)
    service.table.begin("schuettels", SEATS, sheet="house")
    yield service
    service.close()


def shakes() -> list[Path]:
    """The session's shakes in which something fell, in order."""
    frames = json.loads((SESSION / "labels.json").read_text())["frames"]
    return [SESSION / frame["file"] for frame in frames if frame["role"] == "shake" and frame["count"]]


def confirm(service: Service) -> None:
    """Tap what is proposed, and do the first thing that the place offers."""
    proposal = service.table.snapshot.proposal
    assert proposal is not None
    assert proposal.evidence is not None
    count = {"do": proposal.do, proposal.field: proposal.answers[0].value}
    service.table.submit([Post(TABLE, count, evidence=proposal.evidence.crop)], key=proposal.id, by="test")
    act(service)


def act(service: Service) -> None:
    snapshot = service.table.snapshot
    game, state = snapshot.game, snapshot.state
    assert game is not None
    if state.phase == "act":
        seat = state.on_turn
        action = next(fill_in(form, Random(1)) for form in open_forms(game, state, seat).values())
        service.table.submit([Post(seat, action)], key=f"act {len(snapshot.entries)}", by="test")


def test_the_journal_holds_a_session_s_shakes_in_order_with_their_crops_and_no_ghost(
    service: Service, expected: list[int]
) -> None:
    end_s = time.monotonic() + DEADLINE_S
    with service.table.subscribe(wait_s=0.2) as news:
        while time.monotonic() < end_s and len(kept(service)) < len(expected):
            news.next()
            if service.table.snapshot.proposal is not None:
                confirm(service)
    assert [step.action.count for step in kept(service)] == expected
    crops = [service.crop(step.evidence) for step in kept(service)]
    assert all(crop is not None and crop.startswith(b"\xff\xd8") for crop in crops)
    assert len(set(crops)) == len(expected)


def kept(service: Service) -> list[Any]:
    return [step for step in service.table.snapshot.steps if step.action.do == "shake"]
