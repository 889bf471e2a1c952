"""The time that storage takes to keep something."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from devices.storage import fsync_ms


def test_the_median_of_what_the_storage_takes_is_told_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits_s = [0.001, 0.2, 0.02, 0.021, 0.022]
    monkeypatch.setattr(os, "fsync", lambda descriptor: time.sleep(waits_s.pop()))
    assert 20 <= fsync_ms(tmp_path, 5) < 200
    assert waits_s == []
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        fsync_ms(tmp_path / "none")
