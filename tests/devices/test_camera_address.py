"""What may be written as a camera's address, what errors carry, and that no code goes without a name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import devices
from devices.address import OPTIONS, parse_address, without_password
from devices.camera import open_camera
from devices.errors import CameraAway, CameraClosed, CameraSilent, CameraUnknown, DeviceError
from devices.health import MESSAGE_CODES


@pytest.mark.parametrize(
    ("url", "scheme", "target", "options"),
    [
        ("0", "v4l2", "/dev/video0", {}),
        ("12", "v4l2", "/dev/video12", {}),
        (
            "v4l2:/dev/video0?width=1280&height=720&fps=10",
            "v4l2",
            "/dev/video0",
            {"width": 1280, "height": 720, "fps": 10},
        ),
        ("picamera2:", "picamera2", "", {}),
        ("picamera2:1?fps=5", "picamera2", "1", {"fps": 5}),
        ("file:/a%20b.avi?loop=1", "file", "/a b.avi", {"loop": True}),
        ("folder:/p?skip=a.jpg,b.jpg&between=e.jpg", "folder", "/p", {"skip": ("a.jpg", "b.jpg"), "between": "e.jpg"}),
        ("rtsp://pi/live", "rtsp", "rtsp://pi/live", {}),
        ("http://pi:8081/s?width=1", "http", "http://pi:8081/s?width=1", {}),  # the query is the camera's own
    ],
)
def test_an_address_is_understood(url: str, scheme: str, target: str, options: dict[str, object]) -> None:
    address = parse_address(url)
    assert (address.scheme, address.target, address.options) == (scheme, target, options)


@pytest.mark.parametrize(
    ("url", "what", "given", "valid"),
    [
        ("ftp://pi/", "scheme", "ftp", tuple(OPTIONS)),
        ("rtsp:///live", "host", "rtsp:///live", ("rtsp://host:port/path",)),
        ("", "scheme", "", tuple(OPTIONS)),
        ("-1", "scheme", "-1", tuple(OPTIONS)),
        ("http", "scheme", "http", tuple(OPTIONS)),
        ("v4l2:/dev/video0?with=3", "option", "with", ("width", "height", "fps")),
        ("v4l2:/dev/video0?width=wide", "width", "wide", ("16..8192",)),
        ("v4l2:/dev/video0?fps=0", "fps", "0", ("1..120",)),
        ("v4l2:/dev/video0?fps=²", "fps", "²", ("1..120",)),
        ("file:/a.avi?loop=yes", "loop", "yes", ("0, 1",)),
        ("folder:/p?between=../e.jpg", "between", "../e.jpg", ("a file name",)),
        ("folder:/p?skip=a.jpg,", "skip", "a.jpg,", ("a file name",)),
        ("folder:", "path", "", ("folder:/path",)),
        ("http:///stream", "host", "http:///stream", ("http://host:port/path",)),
        ("http://pi:99999/", "host", "http://pi:99999/", ("http://host:port/path",)),
    ],
)
def test_what_is_wrong_with_an_address_is_named_with_what_would_be_right(
    url: str, what: str, given: str, valid: tuple[str, ...]
) -> None:
    with pytest.raises(CameraUnknown) as raised:
        open_camera(url)
    assert raised.value.values == {"url": url, "what": what, "given": given, "valid": valid}


def test_passwords_are_not_shown() -> None:
    assert without_password("http://anna:secret@pi/x?a=b@c") == "http://***@pi/x?a=b@c"
    assert without_password("http://pi/x@y") == "http://pi/x@y"
    with open_camera("http://anna:secret@127.0.0.1:1/") as camera:
        assert "secret" not in f"{camera!r} {camera.health()}"


def test_errors_carry_data_and_are_the_fitting_builtin() -> None:
    error = CameraSilent(camera="0", timeout_ms=200)
    assert str(error) == "camera_silent, camera='0', timeout_ms=200"
    assert isinstance(error, TimeoutError)
    assert isinstance(CameraUnknown(), ValueError)
    assert isinstance(CameraAway("camera_ended"), ConnectionError)
    assert all(issubclass(kind, DeviceError) for kind in (CameraSilent, CameraUnknown, CameraClosed, CameraAway))


def test_every_code_used_is_listed_and_every_code_listed_is_used() -> None:
    folder = Path(devices.__file__).parent
    texts = [path.read_text() for path in folder.rglob("*.py") if path.name != "health.py"]
    used = {code for text in texts for code in re.findall(r'"((?:camera|gpio|scale)_[a-z0-9_]+)"', text)}
    refusals = {"scale_unknown", "scale_not_settled", "scale_cannot", "scale_not_confirmed"}
    assert used - {"camera_unknown", "camera_away"} - refusals == set(MESSAGE_CODES)
