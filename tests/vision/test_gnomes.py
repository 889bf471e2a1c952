import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vision import gnomes
from vision.calibration import GnomeCalibration, calibrate
from vision.errors import PictureRefused
from vision.readings import FLOOR

BAR = 0.9
RIM_PX = 24
FEW = 50  # shakes: of so few, one misread more or less says nothing


def bumped(picture: np.ndarray, across: float, down: float, turn_deg: float) -> np.ndarray:
    bump = cv2.getRotationMatrix2D((400, 300), turn_deg, 1.0)
    bump[:, 2] += across, down
    return cv2.warpAffine(picture, bump, (800, 600), borderMode=cv2.BORDER_REPLICATE)


def within(picture: np.ndarray) -> np.ndarray:
    """Leave out the rim, so that a bump brings real table into the picture."""
    return picture[RIM_PX:-RIM_PX, RIM_PX:-RIM_PX].copy()


def lit(picture: np.ndarray, share: float) -> np.ndarray:
    return np.clip(picture * share, 0, 255).astype(np.uint8)


def test_nine_shakes_of_ten_are_counted_exactly(every_session) -> None:
    right = [
        gnomes.read(session.picture(shake["file"]), session.calibration).count == shake["count"]
        for session in every_session
        for shake in session.shakes
    ]
    by_chance = 1 if len(right) < FEW else 0
    assert right.count(False) <= (1 - BAR) * len(right) + by_chance


def test_a_reading_shows_each_gnome_in_its_colour_inside_its_box(colourful) -> None:
    shake = next(s for s in colourful.shakes if s["count"] == 7)
    picture = colourful.picture(shake["file"])
    reading = gnomes.read(picture, colourful.calibration)
    assert dict(reading.by_colour) == shake["by_colour"]
    assert len(reading.outlines) == 7
    for x, y, colour in shake["centres"]:
        around = [o for o in reading.outlines if cv2.pointPolygonTest(np.array(o.polygon_px), (x, y), False) > 0]
        assert colour in {o.colour for o in around}
    box = reading.box
    assert box.x >= 0
    assert box.y >= 0
    assert box.x + box.width <= picture.shape[1]
    assert box.y + box.height <= picture.shape[0]
    assert min(reading.likelihood) >= FLOOR * 0.999
    assert abs(sum(reading.likelihood) - 1) < 1e-9


def test_cubes_bills_and_a_cup_are_no_gnomes(cluttered) -> None:
    reading = gnomes.read(cluttered.shake(0), cluttered.calibration)
    assert (reading.count, reading.outlines) == (0, ())


def test_a_gnome_beside_the_tray_counts_and_is_in_the_box(cluttered) -> None:
    shake = next(s for s in cluttered.shakes if s["count"] == 15 and s["outside_tray"] == 1)
    reading = gnomes.read(cluttered.picture(shake["file"]), cluttered.calibration)
    assert reading.count == 15
    box = reading.box
    for x, y, _ in shake["centres"]:
        assert box.x <= x <= box.x + box.width
        assert box.y <= y <= box.y + box.height


@pytest.fixture(scope="module")
def narrower(colourful) -> GnomeCalibration:
    return calibrate(within(colourful.picture("empty.jpg")), within(colourful.picture("calibration.jpg")))


@settings(max_examples=5, deadline=None)
@given(st.floats(-9, 9), st.floats(-9, 9), st.floats(-1, 1), st.floats(0.93, 1.06))
def test_a_bumped_camera_or_a_flickering_lamp_changes_nothing(
    colourful, narrower, across: float, down: float, turn_deg: float, light: float
) -> None:
    def seen(picture: np.ndarray) -> np.ndarray:
        return lit(within(bumped(picture, across, down, turn_deg)), light)

    assert gnomes.is_empty(seen(colourful.shake(0)), narrower)
    assert not gnomes.is_empty(seen(colourful.shake(1)), narrower)
    assert gnomes.read(seen(colourful.shake(3)), narrower).count == 3


def test_empty_and_full_trays_are_told_apart(every_session) -> None:
    for session in every_session:
        assert gnomes.is_empty(session.picture("empty.jpg"), session.calibration)
        assert not gnomes.is_empty(session.picture("calibration.jpg"), session.calibration)
        for shake in session.shakes:
            inside = shake["count"] - shake["outside_tray"]
            assert gnomes.is_empty(session.picture(shake["file"]), session.calibration) == (inside == 0)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda p: lit(p, 0.03), "too_dark"),
        (lambda p: np.full_like(p, 255), "blown_out"),
        (lambda p: cv2.resize(p, (400, 300)), "other_size"),
        (lambda p: p[:, :, 0], "not_colour"),
        (lambda p: p.astype(np.uint16), "not_8_bit"),
        (lambda p: p[:100, :100], "too_small"),
    ],
)
def test_a_picture_that_cannot_be_read_is_refused_not_counted(colourful, change, code: str) -> None:
    for act in (gnomes.read, gnomes.is_empty):
        with pytest.raises(PictureRefused) as refused:
            act(change(colourful.shake(3)), colourful.calibration)
        assert refused.value.code == code


def test_a_hand_that_reaches_into_the_tray_is_not_counted(colourful, cluttered) -> None:
    for session in (colourful, cluttered):
        picture = session.shake(3).copy()
        tray_middle = tuple(int(v) for v in session.calibration.tray_px.mean(axis=0))
        cv2.line(picture, (picture.shape[1] + 20, 40), tray_middle, (120, 160, 210), 90)
        with pytest.raises(PictureRefused) as refused:
            gnomes.read(cv2.GaussianBlur(picture, (0, 0), 1.0), session.calibration)
        assert refused.value.code == "hand"


@pytest.mark.parametrize(
    ("change", "code", "values"),
    [
        (lambda p: np.ascontiguousarray(p[::-1, ::-1]), "turned", {"degrees": 180}),
        (lambda p: np.ascontiguousarray(np.rot90(p)), "turned", {"degrees": 90}),
        (lambda p: np.concatenate([p[:400], np.full_like(p[400:], 128)]), "half_picture", {}),
    ],
)
def test_a_turned_or_broken_picture_says_so(cluttered, change, code: str, values: dict[str, int]) -> None:
    for act in (gnomes.read, gnomes.is_empty):
        with pytest.raises(PictureRefused) as refused:
            act(change(cluttered.shake(3)), cluttered.calibration)
        assert (refused.value.code, dict(refused.value.values)) == (code, values)


def test_another_room_is_not_counted(cluttered) -> None:
    noise = np.random.default_rng(1).integers(0, 255, (75, 100, 3), dtype=np.uint8)
    with pytest.raises(PictureRefused) as refused:
        gnomes.read(cv2.resize(noise, (800, 600), interpolation=cv2.INTER_CUBIC), cluttered.calibration)
    assert refused.value.code == "moved"


def test_looks_at_a_still_scene_agree_together_and_quarrel_together(colourful) -> None:
    seven, three = (gnomes.read(colourful.shake(n), colourful.calibration) for n in (7, 3))
    agreed = gnomes.together([seven, seven])
    assert (agreed.count, agreed.outlines, agreed.box) == (7, seven.outlines, seven.box)
    assert agreed.confidence >= 0.99 * seven.confidence
    assert not gnomes.together([seven, three]).sure
    assert abs(sum(agreed.likelihood) - 1) < 1e-9


def test_a_tray_put_down_elsewhere_is_found_and_counted(cluttered) -> None:
    """The tray of the picture is carried 40 px and turned; the bare table is what lies beside it."""
    calibration = cluttered.calibration
    mask = np.zeros(calibration.empty.shape[:2], np.uint8)
    cv2.fillConvexPoly(mask, calibration.tray_px, 255)
    move = cv2.getRotationMatrix2D((380, 320), 6, 1.0)
    move[:, 2] += 35, -20
    table = cv2.inpaint(calibration.empty, cv2.dilate(mask, np.ones((9, 9), np.uint8)), 3, cv2.INPAINT_TELEA)
    there = cv2.warpAffine(mask, move, (800, 600)) > 127
    for count in (0, 3, 8):
        shake = next(s for s in cluttered.shakes if s["count"] == count and not s["outside_tray"])
        carried = cv2.warpAffine(cluttered.picture(shake["file"]), move, (800, 600), borderMode=cv2.BORDER_REFLECT)
        frame = np.where(there[..., None], carried, table)
        assert gnomes.read(frame, calibration).count == count
        assert gnomes.is_empty(frame, calibration) == (count == 0)


def test_readings_repeat_to_the_last_digit(colourful) -> None:
    picture = colourful.shake(7)
    assert gnomes.read(picture, colourful.calibration) == gnomes.read(picture, colourful.calibration)
