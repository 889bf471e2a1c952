"""The watch: from frames to a proposal, and never a ghost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from companion import looking
from companion.table import Post
from devices.camera import Frame
from rules.core import TABLE
from tests.companion.scene import HAND, Scene, eyes, picture
from vision.errors import PictureRefused
from vision.readings import GnomeReading


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    with eyes(monkeypatch):
        scene = Scene(tmp_path)
        yield scene
        scene.close()


def test_a_shake_is_proposed_with_its_crop_and_outlines(scene: Scene) -> None:
    scene.begin()
    scene.see(0, HAND, 8)
    proposal = scene.table.snapshot.proposal
    assert proposal is not None
    assert (scene.proposed, proposal.do, proposal.field, proposal.sure) == (8, "shake", "count", True)
    assert proposal.evidence is not None
    assert scene.evidence.get(proposal.evidence.crop) is not None
    assert proposal.evidence.outlines[0].polygon_px[0] == (4, 6)  # moved into the crop
    assert scene.table.snapshot.steps == ()  # a sensor alone never changes the game


def test_while_a_hand_moves_nothing_is_read(scene: Scene) -> None:
    scene.begin()
    scene.see(0, HAND, HAND, HAND)
    assert scene.proposed is None


def test_gnomes_lying_there_when_the_companion_starts_are_no_shake(scene: Scene) -> None:
    scene.begin()
    scene.see(5, HAND, 3)
    assert scene.proposed is None


def test_a_whole_evening_of_shakes_is_kept_once_each(scene: Scene) -> None:
    scene.begin()
    for count in (1, 14, 3, 15, 13):  # places without a choice
        scene.see(0, HAND, count)
        assert scene.proposed == count
        scene.keep(count)
        scene.see(count, HAND, count, max(0, count - 2), HAND)  # a pause, gnomes gathered in two grips
        assert scene.proposed is None
    assert [step.action.count for step in scene.table.snapshot.steps] == [1, 14, 3, 15, 13]  # type: ignore[attr-defined]


def test_a_late_roller_corrects_the_open_proposal(scene: Scene) -> None:
    scene.begin()
    scene.see(0, HAND, 8)
    scene.see(9)
    assert scene.proposed == 9


def test_gathering_before_anybody_tapped_keeps_the_count(scene: Scene) -> None:
    scene.begin()
    scene.see(0, HAND, 8, HAND, 5, HAND, 2, HAND, 0)
    assert scene.proposed == 8
    scene.see(HAND, 4)  # the next seat was quick: its shake waits for its turn
    assert scene.proposed == 8
    scene.keep(8)
    scene.see(4)
    assert scene.proposed == 4


def test_a_count_typed_while_the_camera_was_still_reading_is_not_read_again(scene: Scene) -> None:
    scene.begin()
    scene.see(0)
    scene.reader.waits = True
    scene.see(HAND, 14)
    scene.keep(14)
    scene.reader.finish()
    scene.see(14)
    assert scene.proposed is None
    assert len(scene.table.snapshot.steps) == 1


def test_a_tray_emptied_while_the_camera_was_reading_arms_the_next_shake(scene: Scene) -> None:
    scene.begin()
    scene.see(0)
    scene.reader.waits = True
    scene.see(HAND, 14, HAND, 0)
    scene.reader.finish()
    scene.see(0)
    assert scene.proposed == 14
    scene.keep(14)
    scene.see(HAND, 3)
    assert scene.proposed == 3


def test_a_gnome_found_after_the_shake_was_kept_is_one_quiet_question(scene: Scene) -> None:
    scene.begin()
    scene.see(0, HAND, 14)
    scene.keep(14)
    scene.see(14, HAND, 15)
    notice = scene.table.snapshot.notices[-1]
    assert (notice.key, notice.values["n"]) == ("late_evidence", 15)
    assert len(scene.table.snapshot.steps) == 1


def test_a_double_shake_called_makes_it_deaf_until_the_tray_is_empty(scene: Scene) -> None:
    scene.begin()
    scene.see(0, HAND, 6)
    scene.table.submit([Post(TABLE, {"do": "double_shake"})], key="double", by="test")
    scene.see(6, HAND, 6)
    assert scene.proposed is None
    scene.see(0, HAND, 6)
    assert scene.proposed == 6


def test_the_camera_looks_away_when_asked(scene: Scene) -> None:
    scene.begin()
    scene.watch.away = True
    scene.see(0, HAND, 8)
    assert scene.proposed is None


def test_an_idle_table_counts_ten_shakes_untouched(scene: Scene) -> None:
    seen = []
    for count in (4, 9, 1, 15, 7, 7, 2, 12, 3, 8):
        scene.see(0, HAND, count)
        seen.append(scene.counted)
    assert seen == [4, 9, 1, 15, 7, 7, 2, 12, 3, 8]


def test_an_idle_table_adds_a_late_roller_and_ignores_gathering(scene: Scene) -> None:
    scene.see(0, HAND, 8, 9)
    assert scene.counted == 9
    scene.see(HAND, 5, HAND, 2)
    assert scene.counted == 9


def test_what_the_camera_waits_for_is_said(scene: Scene) -> None:
    scene.begin()
    assert scene.watch.says.key == "wait_for_empty"
    scene.see(0)
    assert scene.watch.says.key == "ready"
    scene.see(HAND, 14)
    assert scene.watch.says.key == "counted"
    scene.keep(14)
    scene.see(14, HAND, 1)
    assert (scene.watch.says.key, scene.watch.says.values) == ("gnomes_left", {"n": 1})


def test_an_unsure_reading_takes_two_more_looks_at_the_still_scene(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with eyes(monkeypatch, unsure=0.02):
        scene = Scene(tmp_path)
        looks: list[int] = []
        reads = looking.gnomes.read
        monkeypatch.setattr(looking.gnomes, "read", lambda drawn, it: looks.append(1) or reads(drawn, it))
        scene.begin()
        scene.see(0)
        scene.reader.waits = True
        scene.see(HAND, 8)
        scene.reader.finish()
        scene.see(8, frames=1)
        assert scene.proposed == 8
        assert len(looks) == 2  # the newest frame there was; a slower reader sees yet another one
        scene.close()


def test_a_sure_reading_is_offered_at_once(scene: Scene) -> None:
    scene.begin()
    scene.see(0, HAND)
    scene.see(8, frames=5)
    assert scene.proposed == 8


def test_a_hand_over_the_tray_is_waited_for_in_silence_and_told_to_who_asks(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.begin()
    scene.see(0)
    with monkeypatch.context() as covered:
        covered.setattr(looking.gnomes, "read", refuses("hand"))
        scene.see(HAND, 8)
        assert (scene.proposed, scene.watch.trouble) == (None, None)
        with pytest.raises(PictureRefused, match="hand"):
            scene.watch.look_again(lambda: Frame(picture(8, 0), scene.ms, 0))
    scene.see(8, frames=12)  # the hand is gone, and nobody had to do anything
    assert scene.proposed == 8


def test_a_picture_that_does_not_read_is_tried_again_and_again_but_not_all_the_time(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.begin()
    scene.see(0)
    tries: list[int] = []
    monkeypatch.setattr(looking.gnomes, "read", lambda drawn, it: tries.append(1) or refuses("too_dark")())
    scene.see(HAND)
    scene.see(8, frames=40)
    assert scene.watch.trouble is not None
    assert scene.watch.trouble.key == "too_dark"
    assert 2 <= len(tries) <= 4


def refuses(code: str) -> Callable[..., GnomeReading]:
    """Return a reader that refuses every picture."""

    def read(*_: object) -> GnomeReading:
        raise PictureRefused(code)

    return read
