"""What the wizard says of a calibration that works, but not as well as it could."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from companion.errors import NoGame
from companion.wizard import GNOMES, Wizard
from vision import pictures
from vision.calibration import calibrate
from vision.pictures import Picture

TABLE = Path(__file__).parents[1] / "data" / "gnomes" / "session08"


def nothing() -> Picture:
    """No camera: these tests hand calibrations over."""
    raise NoGame("no_camera")


def test_a_tray_whose_edge_was_not_seen_is_said_and_the_table_is_used_all_the_same(tmp_path: Path) -> None:
    learned = calibrate(*(pictures.load(TABLE / name) for name in ("empty.jpg", "calibration.jpg")))
    wizard = Wizard(GNOMES, tmp_path, nothing)
    wizard.use(replace(learned, tray_found=False))
    note = wizard.status()["note"]
    assert note is not None
    assert note.key == "tray_not_found"
    assert wizard.calibration is not None
    assert not GNOMES.load(tmp_path / GNOMES.file).tray_found
    wizard.use(learned)
    assert wizard.status()["note"] is None
    assert np.array_equal(GNOMES.load(tmp_path / GNOMES.file).empty, learned.empty)
