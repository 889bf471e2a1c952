"""Folders, films, nodes and streams: what each reads, and what it says when it cannot."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devices.address import parse_address
from devices.camera import open_camera
from devices.errors import CameraAway
from devices.messages import Setting
from devices.mjpeg import Parts, jpeg_size
from devices.play import FolderPlay
from devices.sources import JpegShot, Tally, open_source
from devices.v4l2 import V4l2Source


def test_a_folder_is_played_with_the_empty_table_before_between_and_after() -> None:
    play = FolderPlay(["a", "b"], hold_ms=2000, between="-", between_ms=1000)
    shown = [play.at(now_ms) for now_ms in range(5000, 13_000, 500)]
    assert "".join(shown) == "--aaaa--bbbb----"


def test_a_folder_without_a_picture_between_keeps_the_last_one() -> None:
    play = FolderPlay(["a", "b"], hold_ms=1000)
    assert "".join(play.at(now_ms) for now_ms in range(0, 5000, 500)) == "aabbbbbbbb"


def test_a_folder_may_begin_again() -> None:
    play = FolderPlay(["a", "b"], hold_ms=500, loops=True)
    assert "".join(play.at(now_ms) for now_ms in range(0, 3000, 500)) == "ababab"


def test_a_play_waits_for_somebody_to_look() -> None:
    play = FolderPlay(["a", "b"], hold_ms=1000)
    assert [play.at(now_ms, is_watched=False) for now_ms in (0, 5000)] == ["a", "a"]
    assert [play.at(now_ms) for now_ms in (9000, 9999, 10_000)] == ["a", "a", "b"]


def test_a_dropped_picture_is_passed_over() -> None:
    play = FolderPlay(["a", "b", "c"], hold_ms=1000, loops=True)
    assert play.at(0) == "a"
    play.drop("a")
    assert play.at(0) == "b"
    assert "".join(play.at(now_ms) for now_ms in range(1000, 5000, 1000)) == "cbcb"
    play.drop("b")
    play.drop("c")
    assert play.at(9000) == ""


@pytest.mark.parametrize(
    ("make", "url", "code"),
    [
        (lambda folder: None, "folder:{}/none", "camera_folder_missing"),
        (lambda folder: None, "folder:{}", "camera_folder_empty"),
        (lambda folder: (folder / "a.jpg").write_bytes(b"no picture"), "folder:{}", "camera_folder_empty"),
        (lambda folder: None, "folder:{}?between=empty.jpg", "camera_picture_missing"),
        (lambda folder: None, "file:{}/none.avi", "camera_missing"),
        (lambda folder: (folder / "a.avi").write_bytes(b"no film"), "file:{}/a.avi", "camera_not_video"),
        (lambda folder: None, "v4l2:{}/video9", "camera_missing"),
        (lambda folder: (folder / "node").write_bytes(b""), "v4l2:{}/node", "camera_refused"),
        (lambda folder: None, "picamera2:", "camera_picamera2_missing"),
    ],
)
def test_a_source_says_why_it_cannot_be_opened(
    make: Callable[[Path], object], url: str, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "picamera2", None)
    make(tmp_path)
    with pytest.raises(CameraAway) as raised:
        for _ in open_source(parse_address(url.format(tmp_path)), Tally(), lambda: True).shots():
            pass
    assert raised.value.code == code


def test_a_camera_without_a_source_is_away_and_comes_when_the_source_does(tmp_path: Path, tools: Any) -> None:
    later = tmp_path / "later"
    with open_camera(f"folder:{later}") as camera:
        assert tools.eventually(lambda: camera.health().state == "away")
        assert camera.health().message_code == "camera_folder_missing"
        assert camera.health().values["path"] == str(later)
        assert camera.latest() is None
        later.mkdir()
        cv2.imwrite(str(later / "a.png"), tools.numbered(5))
        assert tools.number_in(camera.fresh(10_000).picture) == 5


def test_a_picture_that_is_none_is_skipped_and_named(tmp_path: Path, tools: Any) -> None:
    (tmp_path / "a.jpg").write_bytes(b"no picture")
    (tmp_path / "labels.json").write_text("{}")
    cv2.imwrite(str(tmp_path / "b.png"), tools.numbered(2))
    cv2.imwrite(str(tmp_path / "c.png"), tools.numbered(3))
    with open_camera(f"folder:{tmp_path}?skip=c.png") as camera:
        assert tools.number_in(camera.fresh(10_000).picture) == 2
        assert tools.eventually(lambda: camera.health().message_code == "camera_pictures_skipped")
        assert camera.health().values["names"] == ("a.jpg",)


@pytest.mark.parametrize(("options", "last"), [("fps=100", 9), ("fps=100&loop=1", None)])
def test_a_film_keeps_its_last_picture_or_begins_again(
    tmp_path: Path, tools: Any, options: str, last: int | None
) -> None:
    path = tmp_path / "film.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 10, (320, 240))
    for number in range(10):
        writer.write(tools.numbered(number))
    writer.release()
    source = open_source(parse_address(f"file:{path}?{options}"), Tally(), lambda: True)
    shown = [tools.number_in(shot.picture()) for shot, _ in zip(source.shots(), range(25), strict=False)]
    source.close()
    assert source.granted == {"fps": Setting(100, 100)}
    assert shown == [number % 10 if last is None else min(number, last) for number in range(25)]


class StubbornNode:
    """A capture object that takes one format only, lies about nothing, and has three frames."""

    def __init__(self) -> None:
        self.asked: list[int] = []
        self.is_released = False
        self.left = 3
        self.granted = {cv2.CAP_PROP_FOURCC: float(cv2.VideoWriter.fourcc(*"YUYV")), cv2.CAP_PROP_FPS: 30.0}

    def set(self, prop: int, value: float) -> bool:
        self.asked.append(prop)
        return False

    def get(self, prop: int) -> float:
        return self.granted.get(prop, 640.0)

    def grab(self) -> bool:
        self.left -= 1
        return self.left >= 0

    def retrieve(self) -> tuple[bool, object]:
        return True, np.full((4, 4, 3), self.left, np.uint8)

    def release(self) -> None:
        self.is_released = True


def test_a_node_is_asked_for_format_size_and_rate_in_this_order_and_what_it_grants_is_told() -> None:
    node: Any = StubbornNode()
    source = V4l2Source(parse_address("v4l2:/dev/video0?width=1280&height=720&fps=10"), node)
    order = [cv2.CAP_PROP_FOURCC, cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT, cv2.CAP_PROP_FPS]
    assert [prop for prop in node.asked if prop in order] == order
    assert source.granted == {
        "format": Setting("MJPG", "YUYV"),
        "width": Setting(1280, 640),
        "height": Setting(720, 640),
        "fps": Setting(10, 30),
    }
    shots = source.shots()
    for left in (2, 1, 0):
        shot = next(shots)
        picture = shot.picture()
        assert picture is not None
        assert picture[0, 0, 0] == left
        assert shot.digest() is not None
    with pytest.raises(CameraAway, match="camera_ended"):
        next(shots)
    source.close()
    assert node.is_released


def encoded(width: int = 64, height: int = 48) -> bytes:
    noise = np.random.default_rng(width).integers(0, 255, (height, width, 3), np.uint8)
    return cv2.imencode(".jpg", noise)[1].tobytes()


def test_a_jpeg_knows_its_size_and_half_a_jpeg_has_none() -> None:
    jpeg = encoded(64, 48)
    assert jpeg_size(jpeg) == (64, 48)
    assert jpeg_size(jpeg + b"\0" * 20) == (64, 48)  # some cameras pad
    for length in (0, 1, 2, 20, len(jpeg) // 2, len(jpeg) - 2):
        assert jpeg_size(jpeg[:length]) is None
    assert jpeg_size(b"\xff\xd8\xff\xd9") is None
    assert jpeg_size(b"no picture") is None


def test_a_jpeg_that_cannot_be_decoded_is_counted_once() -> None:
    tally = Tally()
    shot = JpegShot(b"\xff\xd8 rubbish \xff\xd9", 0, tally)
    assert shot.picture() is None
    assert shot.picture() is None
    assert tally.half_frames == 1


DIALECTS = {
    # How servers write a part: what the header calls the boundary, and one part.
    "plain": ("frame", b"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n%b\r\n"),
    "dashes in the name": ("--frame", b"--frame\r\nContent-Length: %d\r\n\r\n%b\r\n"),
    "quoted": ('"frame"', b"--frame\r\ncontent-length:%d\r\n\r\n%b\r\n"),
    "dashes added": ("--frame", b"----frame\r\nContent-Length: %d\r\n\r\n%b\r\n"),
    "no length": ("frame", b"--frame\r\nX-Number: %d\r\n\r\n%b\r\n"),
}


@pytest.mark.parametrize("dialect", DIALECTS)
@settings(deadline=None)
@given(cuts=st.lists(st.integers(1, 700), min_size=1, max_size=20))
def test_parts_come_whole_however_the_bytes_are_cut(dialect: str, cuts: list[int]) -> None:
    boundary, form = DIALECTS[dialect]
    jpegs = [encoded(width) for width in (16, 32, 48)]
    wire = b"".join(form % (len(jpeg), jpeg) for jpeg in jpegs) + b"--frame\r\n"
    parts, found, at = Parts(boundary), list[bytes](), 0
    while at < len(wire):
        size = cuts[at % len(cuts)]
        found += [part.removesuffix(b"\r\n") for _, part in parts.feed(wire[at : at + size], 0)]
        at += size
    assert found == jpegs


def test_a_part_is_as_old_as_the_first_block_of_its_body() -> None:
    wire = b"--b\r\nContent-Length: 4\r\n\r\nabcd\r\n"
    parts = Parts("b")
    assert list(parts.feed(wire[:10], 100)) == []
    assert list(parts.feed(wire[10:-4], 200)) == []
    assert list(parts.feed(wire[-4:] + wire, 300)) == [(200, b"abcd"), (300, b"abcd")]


def test_a_part_without_end_is_refused() -> None:
    parts = Parts("b")
    assert list(parts.feed(bytes(30 << 20), 0)) == []
    with pytest.raises(ValueError, match="longer than"):
        list(parts.feed(bytes(30 << 20), 0))
