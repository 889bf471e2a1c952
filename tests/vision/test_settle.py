import time

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vision.settle import QUIET_MS, Settle

NOISE = np.random.default_rng(3)


def table(hand: int | None = None, light: float = 1.0) -> np.ndarray:
    picture = np.full((600, 800, 3), 110, np.float32)
    picture[150:450, 250:550] = (120, 60, 30)
    if hand is not None:
        picture[200:420, hand : hand + 90] = (120, 150, 210)
    return np.clip(picture * light + NOISE.normal(0, 5, picture.shape), 0, 255).astype(np.uint8)


def test_a_quiet_table_is_still_only_after_the_quiet_time() -> None:
    settle = Settle()
    told = [settle.feed(table(), at_ms=at) for at in range(0, 500, 50)]
    assert told.index(True) * 50 == QUIET_MS
    assert all(told[QUIET_MS // 50 :])


def test_a_hand_that_creeps_is_seen_to_move() -> None:
    settle = Settle()
    assert not any(settle.feed(table(hand=200 + i * 8), at_ms=i * 100) for i in range(20))


def test_still_comes_back_after_the_hand_has_gone() -> None:
    settle = Settle()
    for at in range(0, 400, 100):
        settle.feed(table(), at_ms=at)
    assert not settle.feed(table(hand=300), at_ms=400)
    assert settle.moving
    assert not settle.feed(table(), at_ms=500)
    assert [settle.feed(table(), at_ms=at) for at in (600, 700, 800)] == [False, False, True]


def test_a_flickering_lamp_is_no_movement() -> None:
    settle = Settle()
    told = [settle.feed(table(light=1.0 + 0.06 * (i % 2)), at_ms=i * 100) for i in range(8)]
    assert told[-1]


@given(st.integers(1001, 10**7) | st.integers(-(10**6), -1))
def test_after_a_gap_or_a_clock_set_back_nobody_knows_what_happened(gap_ms: int) -> None:
    picture = np.full((60, 80, 3), 90, np.uint8)
    settle = Settle()
    for at in (0, 200, 400):
        settle.feed(picture, at_ms=at)
    assert settle.still
    assert not settle.feed(picture, at_ms=400 + gap_ms)


def test_real_camera_noise_is_still_and_one_piece_more_is_not(colourful) -> None:
    settle = Settle()
    empty, one = colourful.picture("empty.jpg"), colourful.picture("calibration.jpg")
    for at in (0, 200, 400):
        settle.feed(empty, at_ms=at)
    assert settle.still
    assert not settle.feed(one, at_ms=600)


def test_a_frame_costs_under_three_milliseconds() -> None:
    settle, frames = Settle(), [table() for _ in range(4)]
    spent = []
    for i in range(40):
        start = time.thread_time()
        settle.feed(frames[i % 4], at_ms=i * 50)
        spent.append(time.thread_time() - start)
    assert np.median(spent) < 0.003
