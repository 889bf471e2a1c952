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


def test_another_room_does_not_hold(cluttered) -> None:
    noise = np.random.default_rng(1).integers(0, 255, (75, 100, 3), dtype=np.uint8)
    elsewhere = cv2.resize(noise, (800, 600), interpolation=cv2.INTER_CUBIC)
    assert not align.register(align.anchor(cluttered.picture("empty.jpg")), elsewhere).holds
