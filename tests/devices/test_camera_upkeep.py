"""The decisions about a camera, on a clock that only moves when told to."""

from __future__ import annotations

from dataclasses import replace

import pytest

from devices.messages import Beat
from devices.presence import Backoff
from devices.upkeep import Deed, FrozenDetector, Upkeep, is_fresh


def test_waiting_times_double_up_to_eight_seconds() -> None:
    backoff = Backoff()
    assert [backoff.wait_ms() for _ in range(6)] == [1000, 2000, 4000, 8000, 8000, 8000]


def test_waiting_times_start_again_after_a_steady_while() -> None:
    backoff = Backoff()
    for _ in range(4):
        backoff.wait_ms()
    assert backoff.wait_ms(up_for_ms=4999) == 8000
    assert [backoff.wait_ms(up_for_ms=5000), backoff.wait_ms()] == [1000, 2000]


@pytest.mark.parametrize(
    ("every_ms", "frames", "frozen"),
    [
        (250, 10, False),  # enough frames, and not quite long enough
        (250, 11, True),
        (700, 4, False),  # long enough, and too few frames
        (700, 5, True),
    ],
)
def test_frozen_takes_enough_equal_frames_for_long_enough(every_ms: int, frames: int, frozen: bool) -> None:
    detector = FrozenDetector()
    results = [detector.see(number, 7, number * every_ms) for number in range(1, frames + 1)]
    assert results == [False] * (frames - 1) + [frozen]


def test_one_frame_told_often_is_not_frozen() -> None:
    detector = FrozenDetector()
    assert not any(detector.see(1, 7, now_ms) for now_ms in range(0, 10_000, 250))


def test_another_picture_ends_the_freeze() -> None:
    detector = FrozenDetector()
    for number in range(1, 20):
        detector.see(number, 7, number * 250)
    assert detector.is_frozen(7, 5000)
    assert not detector.is_frozen(8, 5000)
    assert not detector.see(20, 8, 5000)


def test_a_second_old_is_too_old() -> None:
    assert is_fresh(1000, 1999)
    assert not is_fresh(1000, 2000)


class Life:
    """An upkeep, its clock, and the frames of its camera."""

    def __init__(self, is_live: bool = True) -> None:
        self.now_ms = 50_000
        self.upkeep = Upkeep("camera", is_live=is_live, now_ms=self.now_ms)
        self.last = Beat()

    def pass_ms(self, ms: int) -> list[Deed]:
        """Let time pass and return what was to be done in it."""
        deeds = []
        for _ in range(ms // 100):
            self.now_ms += 100
            deeds.append(self.upkeep.tick(self.now_ms))
        return [deed for deed in deeds if deed is not Deed.NOTHING]

    def frame(self, digest: int | None = None, age_ms: int = 100, half_frames: int = 0) -> None:
        number = self.last.number + 1
        taken_ms = self.now_ms - age_ms
        self.last = replace(self.last, number=number, taken_ms=taken_ms, digest=digest or number)
        self.last = replace(self.last, half_frames=half_frames)
        self.upkeep.beat(self.last, self.now_ms)

    def start(self) -> None:
        assert self.upkeep.tick(self.now_ms) is Deed.TRY
        self.upkeep.spawned(self.now_ms)
        self.pass_ms(500)
        self.upkeep.ready(self.now_ms)
        self.frame()

    @property
    def summary(self) -> tuple[str, str, int]:
        health = self.upkeep.health(self.now_ms)
        return health.state, health.message_code, health.restarts


def test_a_camera_is_up_with_its_first_frame() -> None:
    life = Life()
    assert life.summary == ("starting", "camera_starting", 0)
    life.start()
    assert life.summary == ("up", "camera_up", 0)
    assert life.upkeep.health(life.now_ms + 40).frame_age_ms == 140


def test_a_silent_camera_is_ended_and_tried_again_and_again() -> None:
    life = Life()
    life.start()
    assert life.pass_ms(2400) == []
    assert life.pass_ms(100) == [Deed.KILL]
    assert life.summary == ("away", "camera_silent", 0)
    assert life.pass_ms(900) == []
    assert life.pass_ms(100) == [Deed.TRY]
    assert life.summary == ("away", "camera_silent", 1)
    life.frame()
    assert life.summary == ("up", "camera_up", 1)


def test_a_child_that_hangs_in_open_is_ended_after_eight_seconds() -> None:
    life = Life()
    life.upkeep.tick(life.now_ms)
    life.upkeep.ready(life.now_ms)
    assert life.pass_ms(2900) == []
    assert life.summary[0] == "starting"
    assert life.pass_ms(100) == []
    assert life.summary == ("away", "camera_silent", 0)
    assert life.pass_ms(5000) == [Deed.KILL]


def test_a_slow_machine_may_take_long_to_start_the_child() -> None:
    life = Life()
    life.upkeep.tick(life.now_ms)
    life.upkeep.spawned(life.now_ms)
    assert life.pass_ms(19_900) == []
    assert life.pass_ms(100) == [Deed.KILL]


def test_old_frames_are_no_sign_of_life() -> None:
    life = Life()
    life.start()
    for _ in range(24):
        life.pass_ms(100)
        life.frame(age_ms=1500)
    assert life.pass_ms(100) == [Deed.KILL]


@pytest.mark.parametrize(("half", "wrong_size", "code"), [(3, 0, "camera_broken_frames"), (3, 1, "camera_wrong_size")])
def test_a_camera_that_sends_only_refuse_says_so(half: int, wrong_size: int, code: str) -> None:
    life = Life()
    life.start()
    life.upkeep.beat(replace(life.last, half_frames=half, wrong_size_frames=wrong_size), life.now_ms)
    life.pass_ms(2500)
    assert life.summary == ("away", code, 0)
    values = life.upkeep.health(life.now_ms).values
    assert (values["half_frames"], values["wrong_size_frames"]) == (half, wrong_size)


def test_counts_go_on_when_the_child_is_replaced() -> None:
    life = Life()
    life.start()
    life.frame(half_frames=3)
    life.upkeep.spawned(life.now_ms)
    life.frame(half_frames=2)
    assert life.upkeep.health(life.now_ms).values["half_frames"] == 5


def test_numbers_known_are_not_forgotten_when_the_child_is_replaced() -> None:
    life = Life()
    life.start()
    life.upkeep.beat(Beat(), life.now_ms)
    assert life.upkeep.number == 1


def test_a_frozen_camera_is_away_until_its_picture_changes() -> None:
    life = Life()
    life.start()
    deeds = []
    for _ in range(60):
        deeds += life.pass_ms(200)
        life.frame(digest=99)
    assert life.summary[:2] == ("away", "camera_frozen")
    assert deeds == [Deed.TRY] * 3  # 1, 2 and 4 s apart, each once, and nobody is killed
    life.frame(digest=100)
    assert life.summary == ("up", "camera_up", 3)


def test_a_folder_may_repeat_itself() -> None:
    life = Life(is_live=False)
    life.start()
    for _ in range(60):
        life.pass_ms(200)
        life.frame(digest=99)
    assert life.summary == ("up", "camera_up", 0)


def test_a_source_that_ended_is_tried_again_without_ending_the_child() -> None:
    life = Life()
    life.start()
    life.upkeep.gone("camera_ended", {}, life.now_ms)
    assert life.summary == ("away", "camera_ended", 0)
    assert life.pass_ms(1000) == [Deed.TRY]


def test_crashes_end_in_giving_up_with_a_rare_try_that_heals() -> None:
    life = Life()
    life.start()
    for _ in range(5):
        life.upkeep.gone("camera_crashed", {}, life.now_ms)
    assert life.summary[:2] == ("given_up", "camera_given_up")
    assert life.pass_ms(299_000) == []
    assert life.pass_ms(1000) == [Deed.TRY]
    life.upkeep.gone("camera_missing", {}, life.now_ms)  # pulled out: seen soon when it is put back
    assert life.summary[:2] == ("given_up", "camera_given_up")
    assert life.pass_ms(8000)[-1] is Deed.TRY
    life.frame()
    assert life.summary[:2] == ("up", "camera_up")


def test_a_camera_given_up_is_tried_at_once_when_asked() -> None:
    life = Life()
    life.start()
    for _ in range(5):
        life.upkeep.gone("camera_crashed", {}, life.now_ms)
    life.upkeep.hurry(life.now_ms)
    assert life.pass_ms(100) == [Deed.TRY]


def test_a_camera_that_goes_by_itself_is_never_given_up() -> None:
    life = Life()
    life.start()
    for _ in range(50):
        life.upkeep.gone("camera_ended", {}, life.now_ms)
    assert life.summary[:2] == ("away", "camera_ended")


def test_since_is_when_the_state_began() -> None:
    life = Life()
    life.start()
    began_ms = life.now_ms
    life.pass_ms(1000)
    life.frame()
    assert life.upkeep.health(life.now_ms).since_ms == began_ms
