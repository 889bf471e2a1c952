"""The service: one table with its clock, with and without devices."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from companion import settings
from companion.entries import SeatPlan
from companion.errors import CompanionError, NoGame
from companion.evidence import Note
from companion.service import SETTINGS, Service
from companion.settings import Settings
from companion.table import Post
from companion.wizard import GNOMES
from companion.words import Words
from devices.errors import CameraSilent
from rules.core import TABLE, Refused

SEATS = (SeatPlan("Anna", "red"), SeatPlan("Ben", "yellow"))
DEADLINE_S = 10.0


class Clock:
    """A clock that only the test moves."""

    def __init__(self) -> None:
        self.ms = 0

    def __call__(self) -> int:
        return self.ms


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def service(tmp_path: Path, clock: Clock) -> Iterator[Service]:
    service = Service(Settings(), tmp_path, now_ms=clock)
    service.table.begin("schuettels", SEATS, sheet="house")
    yield service
    service.close()


def until(true: Any, what: str) -> None:
    """Wait until something is true; the wait is for another thread, never for luck."""
    end_s = time.monotonic() + DEADLINE_S
    while not true():
        assert time.monotonic() < end_s, what
        time.sleep(0.01)


def proposal(service: Service) -> Any:
    return service.table.snapshot.proposal


def test_a_typed_count_is_a_proposal_and_changes_nothing_yet(service: Service) -> None:
    service.type_count(8)
    assert (proposal(service).answers[0].value, proposal(service).answers[0].probability) == (8, 1.0)
    assert service.table.snapshot.steps == ()


def test_what_is_left_in_the_cup_says_what_fell(service: Service) -> None:
    service.left_in_cup(4)
    assert proposal(service).answers[0].value == 11


@pytest.mark.parametrize("count", [16, -1, 0])
def test_a_count_that_cannot_be_is_refused_and_the_proposal_stays(service: Service, count: int) -> None:
    service.type_count(8)
    with pytest.raises(Refused):
        service.type_count(count)
    assert proposal(service).answers[0].value == 8


def test_a_place_without_a_choice_carries_itself_out_after_three_seconds(service: Service, clock: Clock) -> None:
    service.type_count(15)
    clock.ms = 2_900
    service.tick()
    assert service.table.snapshot.steps == ()
    clock.ms = 3_000
    until(lambda: len(service.table.snapshot.steps) == 1, "the pillory was not carried out")
    assert service.table.snapshot.state.money == (360, 400)


def test_a_place_with_a_choice_waits_for_its_player(service: Service, clock: Clock) -> None:
    service.type_count(2)
    clock.ms = 60_000
    service.tick()
    assert service.table.snapshot.steps == ()
    assert proposal(service) is not None


def test_the_deed_confirms_the_count_in_one_gesture(service: Service) -> None:
    service.type_count(2)
    deed = {"do": "place", "house": ["forge"], "says": {}}
    kept = service.table.submit([Post(TABLE, {"do": "shake", "count": 2}), Post(0, deed)], key="tap", by="test")
    assert len(kept.entries) == 2
    assert service.table.snapshot.state.houses["forge"] == (0,)
    service.table.undo(by="test", key="undo", asked=True)
    assert service.table.snapshot.state.houses["forge"] == ()


def test_simulated_players_act_for_their_seats(tmp_path: Path, clock: Clock) -> None:
    service = Service(Settings(), tmp_path, now_ms=clock, bot_pace_ms=500)
    service.table.begin("schuettels", (replace(SEATS[0], player="greedy"), SEATS[1]), sheet="house")
    service.table.submit([Post(TABLE, {"do": "shake", "count": 2})], key="shake", by="test")
    for clock.ms in (500, 1000, 1500):
        service.tick()
    assert service.table.snapshot.turn is not None
    assert service.table.snapshot.turn.phase == "shake"
    service.close()


def test_where_only_the_score_is_kept_simulated_players_do_nothing(tmp_path: Path, clock: Clock) -> None:
    service = Service(Settings(), tmp_path, now_ms=clock, bot_pace_ms=500)
    service.table.begin("schuettels", (replace(SEATS[0], player="greedy"), SEATS[1]), sheet="house", depth="score")
    service.table.submit([Post(TABLE, {"do": "shake", "count": 2})], key="shake", by="test")
    for clock.ms in (500, 1000, 1500):
        service.tick()
    assert len(service.table.snapshot.steps) == 1
    service.close()


def test_a_shake_that_a_correction_made_missing_is_typed(service: Service) -> None:
    for number, count in enumerate((14, 15, 14)):
        service.table.submit([Post(TABLE, {"do": "shake", "count": count})], key=str(number), by="test")
    first = service.table.snapshot.steps[0].n
    mend = {"do": "mend", "facts": {"turn": 0}, "reason": "she had not shaken yet"}
    service.table.amend(first, mend, by="test", key="amend")
    assert service.table.snapshot.open
    service.type_count(15)
    assert proposal(service).answers[0].value == 15


def test_without_a_camera_looking_again_says_so(service: Service) -> None:
    with pytest.raises(NoGame) as why:
        service.look_again()
    assert why.value.code == "no_camera"
    assert service.table.snapshot.devices == ()


def test_a_camera_that_hangs_on_one_picture_is_named_when_somebody_asks(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Hanging:
        """A live camera whose driver repeats itself."""

        def fresh(self, timeout_ms: int) -> None:
            raise CameraSilent(camera="usb", timeout_ms=timeout_ms, reason="camera_frozen")

        def close(self) -> None:
            """Nothing is open."""

    monkeypatch.setattr(service, "_camera", Hanging())
    monkeypatch.setattr(service.watch, "_calibration", object())
    with pytest.raises(CompanionError) as why:
        service.look_again()
    assert why.value.code == "camera_frozen"
    assert "the same picture all the time" in Words("en").say(why.value)
    monkeypatch.setattr(service, "_camera", None)


@pytest.mark.parametrize("url", ["gopher:nowhere", "http://127.0.0.1:9/", "folder:/no/such/folder", "v4l2:/dev/none"])
def test_a_camera_address_that_leads_nowhere_is_one_calm_line_and_the_game_goes_on(tmp_path: Path, url: str) -> None:
    service = Service(Settings(), tmp_path, camera_url=url)
    service.table.begin("schuettels", SEATS, sheet="house")
    until(lambda: any(not device.ok for device in service.table.snapshot.devices), "nothing was said")
    service.table.submit([Post(TABLE, {"do": "shake", "count": 1})], key="hand", by="test")
    assert len(service.table.snapshot.steps) == 1
    with pytest.raises(CompanionError):
        service.look_again()
    service.close()


def test_a_broken_calibration_file_is_said_and_stays_where_it_is(tmp_path: Path) -> None:
    (tmp_path / GNOMES.file).write_bytes(b"not a calibration")
    service = Service(Settings(), tmp_path)
    note = service.wizard.note
    assert note is not None
    assert note.key == "broken_file"
    assert (tmp_path / GNOMES.file).read_bytes() == b"not a calibration"
    service.close()


def keep_proposed(service: Service, number: int, count: int, *, proposed: int) -> None:
    """Keep a count after the camera proposed one."""
    crop = service.evidence.keep(f"{number}".encode(), Note("gnomes", "table", (0, 0, 9, 9), proposed, 0.0))
    service.table.submit([Post(TABLE, {"do": "shake", "count": count}, evidence=crop)], key=str(number), by="test")


def test_after_twenty_in_a_row_the_table_is_offered_to_keep_sure_counts(service: Service) -> None:
    for number in range(20):
        keep_proposed(service, number, 15, proposed=15)
    service.tick()
    assert service.table.snapshot.notices[-1].key == "offer_keep_sure"
    service.set_confirm("sure")
    assert service.table.snapshot.notices == ()
    assert settings.load(service.data / SETTINGS).confirm == "sure"


@pytest.mark.parametrize("correction", ["one tap beside", "amend", "undo"])
def test_a_correction_begins_the_row_anew(service: Service, correction: str) -> None:
    for number in range(21):
        keep_proposed(service, number, 15, proposed=14 if number == 10 and correction == "one tap beside" else 15)
        if number == 10 and correction == "amend":
            service.table.amend(service.table.snapshot.steps[-1].n, {"do": "shake", "count": 14}, by="test", key="fix")
        if number == 10 and correction == "undo":
            service.table.undo(by="test", key="back", asked=True)
    service.tick()
    assert service.table.snapshot.notices == ()


def test_stored_pictures_can_be_forgotten(service: Service) -> None:
    name = service.evidence.keep(b"a picture")
    assert service.crop(name) == b"a picture"
    assert service.forget() == 1
    assert service.crop(name) is None
    assert service.crop("../gnomes") is None


def test_old_and_too_many_pictures_go_first(service: Service) -> None:
    service.evidence.keep(b"x" * 10)
    service.evidence.prune(time.time() + 31 * 86_400)
    assert service.forget() == 0
