"""Learning from taps: what a person said of a crop is kept with it, never without consent, and can be forgotten."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from companion import settings
from companion.corrections import Correction, CorrectionStore
from companion.entries import SeatPlan
from companion.evidence import Note
from companion.proposal import Answer, Evidence, Proposal
from companion.service import Service
from companion.settings import Settings
from companion.table import Post
from rules.core import TABLE

SEATS = (SeatPlan("Anna", "red"), SeatPlan("Ben", "yellow"))
BOX = (40, 30, 300, 280)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    service = opened(tmp_path)
    yield service
    service.close()


def opened(folder: Path, own: Settings | None = None) -> Service:
    service = Service(own or Settings(), folder, now_ms=lambda: 0)
    if service.table.snapshot.game is None:
        service.table.begin("schuettels", SEATS, sheet="house")
    service.tick()
    return service


def seen(service: Service, read: int, picture: bytes = b"a crop") -> str:
    """Let the camera propose a count with its picture."""
    return service.evidence.keep(picture, Note("gnomes", "table", BOX, read, 1_700_000_000.0))


def shaken(service: Service, count: int, crop: str, by: str = "tablet") -> int:
    """Keep a count that rests on a picture; return its entry."""
    kept = service.table.submit([Post(TABLE, {"do": "shake", "count": count}, evidence=crop)], key=crop, by=by)
    service.tick()
    return kept.entries[0]


def rights(service: Service) -> dict[str, tuple[int, int]]:
    """What is kept: of each crop what was read and what was right."""
    return {name: (one.seen.read, one.right) for name, one in service.corrections.notes()}


def test_another_figure_tapped_is_kept_with_its_crop(service: Service) -> None:
    crop = seen(service, 14)
    shaken(service, 15, crop)
    ((jpeg, kept),) = service.corrections.of("gnomes", "table")
    assert jpeg == b"a crop"
    assert kept == Correction(Note("gnomes", "table", BOX, 14, 1_700_000_000.0), right=15)
    assert service.corrections.of("gnomes", "another table") == []


def test_a_confirmation_by_tap_is_an_example_of_a_right_reading(service: Service) -> None:
    crop = seen(service, 15)
    shaken(service, 15, crop)
    assert rights(service) == {crop: (15, 15)}


def test_what_nobody_tapped_confirms_nothing(service: Service) -> None:
    shaken(service, 15, seen(service, 15), by="companion")
    assert rights(service) == {}


def test_a_count_amended_later_is_kept_even_when_its_evidence_was_pruned(service: Service) -> None:
    crop = seen(service, 15)
    n = shaken(service, 15, crop)
    service.evidence.prune(time.time() + 400 * 86_400)
    service.table.amend(n, {"do": "shake", "count": 14}, by="tablet", key="amend")
    service.tick()
    assert rights(service) == {crop: (15, 14)}


def test_amending_works_where_no_picture_is_left_at_all(service: Service) -> None:
    n = shaken(service, 15, seen(service, 15))
    service.forget(0.0)
    service.table.amend(n, {"do": "shake", "count": 14}, by="tablet", key="amend")
    service.tick()
    assert service.table.snapshot.steps[0].action.count == 14  # type: ignore[attr-defined]
    assert rights(service) == {}


def test_a_shake_taken_back_teaches_nothing(service: Service) -> None:
    shaken(service, 15, seen(service, 15))
    service.table.undo(by="tablet", key="undo", asked=True)
    service.tick()
    assert rights(service) == {}


def test_what_is_left_in_the_cup_says_nothing_of_the_picture(service: Service) -> None:
    crop = seen(service, 14)
    number = service.table.snapshot.number
    answers = (Answer(14, 0.9),)
    service.table.propose(Proposal("p", number, "shake", "count", answers, evidence=Evidence(crop)))
    service.left_in_cup(0)
    open_one = service.table.snapshot.proposal
    assert open_one is not None
    assert (open_one.answers[0].value, open_one.evidence) == (15, None)


def test_nothing_is_kept_without_consent(tmp_path: Path) -> None:
    service = opened(tmp_path, replace(Settings(), keep_corrections=False))
    shaken(service, 15, seen(service, 14))
    assert rights(service) == {}
    service.keep_corrections(True)
    shaken(service, 14, seen(service, 15, b"another crop"))
    assert list(rights(service).values()) == [(15, 14)]
    assert settings.load(tmp_path / settings.NAME).keep_corrections is True
    service.close()


def test_what_was_kept_before_a_start_is_not_kept_again_after_it_was_forgotten(tmp_path: Path) -> None:
    service = opened(tmp_path)
    shaken(service, 15, seen(service, 14))
    for name in rights(service):
        service.corrections.drop(name)
    service.close()
    again = opened(tmp_path)
    assert rights(again) == {}
    again.close()


def test_an_evening_is_forgotten_and_the_evenings_before_stay(service: Service) -> None:
    shaken(service, 15, seen(service, 14))
    assert service.forget(time.time() + 60) == 0
    assert len(service.corrections) == 1
    assert service.forget() == 1  # one picture, though it is kept twice
    assert (len(service.evidence), len(service.corrections)) == (0, 0)


def test_a_power_cut_leaves_nothing_that_does_not_read(tmp_path: Path) -> None:
    store = CorrectionStore(tmp_path, Settings())
    whole = store.keep(b"whole", Correction(Note("gnomes", "table", BOX, 8, 0.0), 9))
    store.keep(b"without its note")
    half = store.keep(b"half", Correction(Note("gnomes", "table", BOX, 8, 0.0), 9))
    (tmp_path / "corrections" / f"{half}.json").write_text('{"seen": {')
    (tmp_path / "corrections" / "abc.part").write_bytes(b"half")
    assert [name for name, _ in store.notes()] == [whole]
    assert len(store.forget()) == 3
    assert list((tmp_path / "corrections").iterdir()) == []


def test_the_oldest_go_first_when_there_are_too_many(tmp_path: Path) -> None:
    store = CorrectionStore(tmp_path, replace(Settings(), corrections_most=2))
    names = [store.keep(bytes([number])) for number in range(4)]
    store.prune(time.time())
    assert sum(store.get(name) is not None for name in names) == 2
