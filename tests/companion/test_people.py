"""People at a simulated table shake once, when the tray is ready, and gather what lies there first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from companion.proposal import Device
from companion.simulated.people import People
from rules.core import Message
from tests.companion.scene import Scene


class Cup:
    """A simulated table's cup and tray, without its pictures."""

    def __init__(self) -> None:
        self.in_tray = 0
        self.done: list[str] = []

    def shake(self, count: int | None = None) -> int:
        self.in_tray = count or 7
        self.done.append("shake")
        return self.in_tray

    def gather(self) -> None:
        self.in_tray = 0
        self.done.append("gather")


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    scene = Scene(tmp_path)
    scene.begin()
    yield scene
    scene.close()


@pytest.fixture
def cup() -> Cup:
    return Cup()


@pytest.fixture
def people(scene: Scene, cup: Cup) -> People:
    around: Any = cup
    people = People(scene.table, around, now_ms=lambda: scene.ms, seed=1)
    people.close()  # the test takes each step itself
    return people


def say(scene: Scene, key: str) -> None:
    scene.table.set_devices([Device("camera", True, Message(key))])


def test_a_shake_wished_too_early_waits_for_an_empty_tray(scene: Scene, cup: Cup, people: People) -> None:
    cup.in_tray = 5
    say(scene, "wait_for_empty")
    people.wish()
    people.step()
    people.step()
    assert cup.done == ["gather"]
    say(scene, "ready")
    people.step()
    assert cup.done == ["gather", "shake"]


def test_a_second_tap_while_the_shake_is_counted_shakes_no_more(scene: Scene, cup: Cup, people: People) -> None:
    say(scene, "ready")
    for _ in range(2):
        people.wish()
        people.step()
    assert cup.done == ["shake"]
    assert cup.in_tray == 7


def test_after_the_shake_was_kept_the_gnomes_are_gathered(scene: Scene, cup: Cup, people: People) -> None:
    say(scene, "ready")
    people.wish()
    people.step()
    scene.keep(15)
    people.step()
    scene.ms += 2000
    people.step()
    assert cup.done == ["shake", "gather"]
