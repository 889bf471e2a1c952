import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vision import pictures
from vision.errors import PictureRefused, VisionError

PLAIN = np.full((200, 300, 3), 120, np.uint8)
JPEG = pictures.encode_jpeg(PLAIN)


def encoded(picture: np.ndarray, kind: str = ".png") -> bytes:
    return cv2.imencode(kind, picture)[1].tobytes()


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "no_picture"),
        (b"<html>404</html>", "no_picture"),
        (JPEG[: len(JPEG) // 2], "half_picture"),  # a camera unplugged while sending
        (encoded(PLAIN)[:-30], "half_picture"),
        (encoded(PLAIN[:, :, 0]), "not_colour"),
        (encoded(np.dstack([PLAIN, PLAIN[:, :, :1]])), "has_alpha"),
        (encoded(PLAIN.astype(np.uint16) * 257), "not_8_bit"),
        (encoded(PLAIN[:100]), "too_small"),
    ],
)
def test_a_file_that_is_no_usable_picture_is_refused_by_name(data: bytes, code: str) -> None:
    with pytest.raises(PictureRefused) as refused:
        pictures.decode(data)
    assert refused.value.code == code


@given(st.binary(max_size=400) | st.integers(1, len(JPEG) - 1).map(lambda n: JPEG[:n]))
def test_no_bytes_whatever_do_more_than_be_refused(data: bytes) -> None:
    with pytest.raises(PictureRefused):
        pictures.decode(data)


def test_a_missing_file_is_named_without_its_folder(tmp_path) -> None:
    with pytest.raises(PictureRefused) as refused:
        pictures.load(tmp_path / "gone.jpg")
    assert refused.value.code == "no_file"
    assert refused.value.values["file"] == "gone.jpg"


def test_what_is_stored_looks_like_what_was_seen() -> None:
    ramp = np.tile(np.linspace(0, 255, 300).astype(np.uint8)[None, :, None], (200, 1, 3))
    again = pictures.decode(pictures.encode_jpeg(ramp))
    assert np.abs(again.astype(int) - ramp).mean() < 3


@pytest.mark.parametrize(("level", "code"), [(3, "too_dark"), (255, "blown_out")])
def test_a_picture_without_light_or_with_too_much_is_refused(level: int, code: str) -> None:
    with pytest.raises(PictureRefused) as refused:
        pictures.refuse_light(np.full((200, 300, 3), level, np.uint8))
    assert refused.value.code == code


def test_an_error_keeps_its_values_between_processes() -> None:
    import pickle

    again = pickle.loads(pickle.dumps(PictureRefused("too_small", {"width": 12})))
    assert isinstance(again, VisionError)
    assert (again.code, dict(again.values)) == ("too_small", {"width": 12})
