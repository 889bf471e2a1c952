import cv2
import numpy as np
import pytest

from vision import gnomes
from vision.calibration import GnomeCalibration, calibrate
from vision.errors import CalibrationRefused


def refusal(empty: np.ndarray, pieces: np.ndarray) -> CalibrationRefused:
    with pytest.raises(CalibrationRefused) as refused:
        calibrate(empty, pieces)
    return refused.value


def test_the_colours_are_called_what_people_call_them(every_session) -> None:
    import json

    for session in every_session:
        palette = json.loads((session.folder / "labels.json").read_text())["palette"]
        assert sorted(session.calibration.colours) == sorted(palette), session.folder.name


def test_a_missing_gnome_is_said_and_the_others_are_shown(colourful) -> None:
    empty, pieces = colourful.picture("empty.jpg"), colourful.picture("calibration.jpg").copy()
    pieces[230:300, 620:720] = empty[230:300, 620:720]
    pieces[290:350, 480:560] = empty[290:350, 480:560]
    error = refusal(empty, pieces)
    assert error.code == "not_15"
    seen = error.values["seen"]
    assert seen in (13, 14)
    assert len(error.values["outlines"]) == seen


def test_a_sixteenth_gnome_is_said_and_shown(colourful) -> None:
    empty, pieces = colourful.picture("empty.jpg"), colourful.picture("calibration.jpg").copy()
    pieces[260:330, 580:640] = pieces[148:218, 180:240]
    error = refusal(empty, pieces)
    assert (error.code, error.values["seen"], len(error.values["outlines"])) == ("not_15", 16, 16)


def test_two_colours_too_alike_are_named(colourful) -> None:
    """The yellow gnomes are repainted in a red that only their owner tells from the red ones."""
    pieces = colourful.picture("calibration.jpg").astype(np.float32)
    yellow = (pieces[..., 1:] > 1.35 * pieces[..., :1]).all(axis=2)
    pieces[yellow] *= (1.0, 0.3, 0.75)
    error = refusal(colourful.picture("empty.jpg"), pieces.astype(np.uint8))
    assert error.code == "colours_alike"
    assert {error.values["first"], error.values["second"]} == {"orange", "red"}
    assert 0 <= error.values["apart"] < error.values["least"]


def test_a_shaken_picture_is_refused_and_says_how_soft_it_is(cluttered) -> None:
    along = np.zeros((15, 15), np.float32)
    np.fill_diagonal(along, 1 / 15)
    shaken = cv2.filter2D(cluttered.picture("calibration.jpg"), -1, along)
    error = refusal(cluttered.picture("empty.jpg"), shaken)
    assert error.code == "shaken"
    assert error.values["softness_px"] > error.values["most_px"]


def test_a_tray_whose_edge_nobody_sees_is_said_and_still_used(colourful) -> None:
    """Only the pieces and their surroundings are seen: the camera hangs too low."""
    whole = [colourful.picture(name) for name in ("empty.jpg", "calibration.jpg")]
    assert colourful.calibration.tray_found
    low, high = colourful.calibration.tray_px.min(axis=0) + 30, colourful.calibration.tray_px.max(axis=0) - 30
    near = [np.ascontiguousarray(picture[low[1] : high[1], low[0] : high[0]]) for picture in whole]
    assert not calibrate(near[0], near[1]).tray_found


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda p: (p * 0.04).astype(np.uint8), "too_dark"),
        (lambda p: np.clip(p.astype(int) * 9, 0, 255).astype(np.uint8), "blown_out"),
        (lambda p: p[:, ::-1].copy(), "moved"),
        (lambda p: cv2.resize(p, (640, 480)), "other_size"),
        (lambda p: cv2.cvtColor(p, cv2.COLOR_BGR2GRAY), "not_colour"),
    ],
)
def test_a_calibration_picture_that_would_mislead_is_refused(cluttered, change, code: str) -> None:
    assert refusal(cluttered.picture("empty.jpg"), change(cluttered.picture("calibration.jpg"))).code == code


def test_the_two_pictures_in_the_wrong_order_are_refused(cluttered, colourful) -> None:
    for session in (cluttered, colourful):
        assert refusal(session.picture("calibration.jpg"), session.picture("empty.jpg")).code == "not_empty"


def test_pieces_too_small_to_tell_apart_are_refused(cluttered) -> None:
    empty, pieces = (cv2.resize(cluttered.picture(n), (240, 180), interpolation=cv2.INTER_AREA)
                     for n in ("empty.jpg", "calibration.jpg"))  # fmt: skip
    assert refusal(empty, pieces).code == "pieces_small"


def test_a_stored_calibration_reads_the_same(colourful, tmp_path) -> None:
    colourful.calibration.save(tmp_path / "gnomes.npz")
    again = GnomeCalibration.load(tmp_path / "gnomes.npz")
    picture = colourful.shake(7)
    assert gnomes.read(picture, again).count == gnomes.read(picture, colourful.calibration).count == 7
    assert again.colours == colourful.calibration.colours
    assert [path.name for path in tmp_path.iterdir()] == ["gnomes.npz"]


@pytest.mark.parametrize("keep", [0, 10, 5000])
def test_a_broken_calibration_file_is_refused(colourful, tmp_path, keep: int) -> None:
    path = tmp_path / "gnomes.npz"
    colourful.calibration.save(path)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(CalibrationRefused) as refused:
        GnomeCalibration.load(path)
    assert refused.value.code == "broken_file"


def test_a_calibration_that_was_never_made_is_refused_by_name(tmp_path) -> None:
    with pytest.raises(CalibrationRefused) as refused:
        GnomeCalibration.load(tmp_path / "gnomes.npz")
    assert (refused.value.code, refused.value.values["file"]) == ("no_file", "gnomes.npz")
