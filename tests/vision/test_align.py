import cv2
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from vision import align

CORNERS = np.array([[[60.0, 60], [740, 60], [740, 540], [60, 540]]])


@settings(max_examples=12, deadline=None)
@given(st.floats(-14, 14), st.floats(-14, 14), st.floats(-1.5, 1.5), st.floats(0.97, 1.03))
def test_a_bumped_camera_is_found_to_a_pixel(
    cluttered, across: float, down: float, turn_deg: float, zoom: float
) -> None:
    empty = cluttered.picture("empty.jpg")
    bump = np.vstack([cv2.getRotationMatrix2D((400, 300), turn_deg, zoom), [0, 0, 1]])
    bump[:2, 2] += across, down
    frame = cv2.warpPerspective(empty, bump, (800, 600), borderMode=cv2.BORDER_REPLICATE)
    found = align.register(align.anchor(empty), frame)
    away = cv2.perspectiveTransform(CORNERS, found.matrix) - cv2.perspectiveTransform(CORNERS, bump)
    assert found.holds
    assert np.abs(away).max() < 1.0


def test_fifteen_gnomes_a_cup_and_bills_do_not_pull_the_camera_along(cluttered) -> None:
    reference, shake = align.anchor(cluttered.picture("empty.jpg")), cluttered.shake(15)
    before = align.register(reference, shake)
    bump = np.vstack([cv2.getRotationMatrix2D((400, 300), 0.8, 1.0), [0, 0, 1]])
    bump[:2, 2] += 7, -9
    after = align.register(reference, cv2.warpPerspective(shake, bump, (800, 600), borderMode=cv2.BORDER_REPLICATE))
    away = cv2.perspectiveTransform(CORNERS, after.matrix) - cv2.perspectiveTransform(CORNERS, bump @ before.matrix)
    assert np.linalg.norm(away, axis=2).mean() < 0.4


def test_a_camera_that_nobody_touched_is_said_not_to_have_moved(cluttered) -> None:
    empty = cluttered.picture("empty.jpg")
    grain = np.random.default_rng(4).normal(0, 6, empty.shape)
    frame = np.clip(empty * 1.03 + grain, 0, 255).astype(np.uint8)
    assert np.array_equal(align.register(align.anchor(empty), frame).matrix, np.eye(3))


def test_another_room_does_not_hold(cluttered) -> None:
    noise = np.random.default_rng(1).integers(0, 255, (75, 100, 3), dtype=np.uint8)
    elsewhere = cv2.resize(noise, (800, 600), interpolation=cv2.INTER_CUBIC)
    assert not align.register(align.anchor(cluttered.picture("empty.jpg")), elsewhere).holds
