"""Learning from corrections: a table under another lamp reads better afterwards, wrong answers change nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner

from companion.cli import companion
from companion.corrections import Correction, CorrectionStore
from companion.evidence import Note
from companion.settings import Settings
from companion.simulated.pawns import apart, draw_table, render, shake
from vision import gnomes, pictures, refit
from vision.calibration import GnomeCalibration, calibrate
from vision.errors import CalibrationRefused
from vision.readings import Box, GnomeReading
from vision.refit import Example, Refit, Score

SEED = 9004
CROPS, FRESH = 12, 3
WARM_BGR = (0.8, 0.97, 1.16)
MARGIN_PX = 12


@dataclass(frozen=True)
class Evening:
    """A table that was shown by daylight, and what the camera saw of it under a warm lamp in the evening."""

    calibration: GnomeCalibration
    examples: list[Example]
    fresh: list[tuple[pictures.Picture, int]]


@pytest.fixture(scope="module")
def evening() -> Evening:
    rng = np.random.default_rng(SEED)
    table = draw_table(SEED, box=True)
    calibration = calibrate(render(table, [], rng).picture, render(table, apart(table, rng), rng).picture)
    warm = replace(table, light=replace(table.light, key_colour=WARM_BGR, room_colour=WARM_BGR))
    names = [name for name, _ in table.palette for _ in range(5)]
    counts = [int(n) for n in rng.integers(2, 6, CROPS + FRESH)]
    rolls = [shake(warm, list(rng.permutation(names)[:n]), rng, spread_mm=34.0, spill=0.0) for n in counts]
    shown = [(render(warm, gone, rng).picture, n) for gone, n in zip(rolls, counts, strict=True)]
    box = _around(calibration)
    examples = [Example(_crop(picture, box), box, n) for picture, n in shown[:CROPS]]
    return Evening(calibration, examples, shown[CROPS:])


@pytest.fixture(autouse=True, scope="module")
def read_once() -> Iterator[None]:
    """The same picture reads the same: reading it once is enough."""
    read, known = gnomes.read, {}

    def remembered(picture: pictures.Picture, calibration: GnomeCalibration) -> GnomeReading:
        key = (hash(picture.tobytes()), id(calibration))
        known[key] = known.get(key) or (read(picture, calibration), calibration)
        return known[key][0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gnomes, "read", remembered)
        yield


def _around(calibration: GnomeCalibration) -> Box:
    height, width = calibration.empty.shape[:2]
    left, top = (max(0, int(v) - MARGIN_PX) for v in calibration.tray_px.min(axis=0))
    right, bottom = (int(v) + MARGIN_PX for v in calibration.tray_px.max(axis=0))
    return Box(left, top, min(right, width) - left, min(bottom, height) - top)


def _crop(picture: pictures.Picture, box: Box) -> pictures.Picture:
    """A crop as it is stored."""
    part = picture[box.y : box.y + box.height, box.x : box.x + box.width]
    return pictures.decode(pictures.encode_jpeg(part))


def _likelihood(evening: Evening, calibration: GnomeCalibration) -> float:
    """The mean log likelihood of the right answer in pictures nobody learned from."""
    odds = [gnomes.read(picture, calibration).likelihood[n] for picture, n in evening.fresh]
    return float(np.mean(np.log(odds)))


def test_a_table_under_another_lamp_reads_better_after_it_learned(evening: Evening) -> None:
    found = refit.refit(evening.calibration, evening.examples)
    assert (found.after.exact, found.after.likelihood) >= (found.before.exact, found.before.likelihood)
    assert found.n == CROPS // refit.HELD_BACK
    assert _likelihood(evening, found.calibration) > _likelihood(evening, evening.calibration)
    assert refit.identity(found.calibration) == refit.identity(evening.calibration)


def test_wrong_answers_change_nothing(evening: Evening) -> None:
    poisoned = [replace(one, right=(one.right + 5) % 12) for one in evening.examples]
    with pytest.raises(CalibrationRefused) as error:
        refit.refit(evening.calibration, poisoned)
    assert error.value.code == "refit_worse"
    assert set(error.value.values) == {"before", "after", "n"}


def test_too_few_and_those_of_another_camera_teach_nothing(evening: Evening) -> None:
    strange = replace(evening.examples[0], box=Box(5, 5, 9, 9))
    with pytest.raises(CalibrationRefused) as error:
        refit.refit(evening.calibration, [*evening.examples[:-1], strange])
    assert (error.value.code, dict(error.value.values)) == ("too_few", {"have": 11, "need": 12})


def test_the_command_learns_from_what_was_kept_and_says_how_well(
    evening: Evening, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taught: list[Example] = []

    def learned(before: GnomeCalibration, examples: list[Example]) -> Refit:
        taught.extend(examples)
        return Refit(replace(before, noise=2.5), Score(2, -1.0), Score(4, -0.1), 4)

    monkeypatch.setattr(refit, "refit", learned)
    evening.calibration.save(tmp_path / "gnomes.npz")
    store = CorrectionStore(tmp_path, Settings())
    table = refit.identity(evening.calibration)
    for number, one in enumerate(evening.examples):
        box = one.box
        note = Note("gnomes", table, (box.x, box.y, box.width, box.height), one.right, float(number))
        store.keep(cv2.imencode(".jpg", one.crop)[1].tobytes(), Correction(note, one.right))
    command = ["calibrate", "gnomes", "--from-corrections", "--data", str(tmp_path)]
    result = CliRunner().invoke(companion, command)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("Of 4 pictures held back, 2 read right before and 4 now")
    assert GnomeCalibration.load(tmp_path / "gnomes.npz").noise == 2.5
    assert sorted(one.right for one in taught) == sorted(one.right for one in evening.examples)
    assert {one.box for one in taught} == {one.box for one in evening.examples}
