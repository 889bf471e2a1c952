"""Settings and files: every key explained, nothing lost, whole or not at all."""

from __future__ import annotations

import os
from dataclasses import fields, replace
from pathlib import Path

import pytest

from companion import settings, sheets
from companion.errors import Unreadable
from companion.settings import Settings, data_folder, load, parse, write_atomically
from companion.sheets import SheetStore, box_sheet, house_sheet
from companion.words import Words, languages
from rules.registry import GAMES
from rules.sheets import TRUSTED, Sheet


@pytest.mark.parametrize("language", languages())
@pytest.mark.parametrize("name", [one.name for one in fields(Settings)])
def test_every_key_is_explained(name: str, language: str) -> None:
    explained = Words(language, strict=True).text("setting", name)
    assert f"# {explained}\n{name} = " in settings.dump(replace(Settings(), language=language))


def test_settings_come_back_as_they_were_written() -> None:
    own = replace(Settings(), camera='http://cam/"x"', confirm="sure", port=80, carry_out_after_s=1.5)
    assert parse(settings.dump(own)) == own
    assert parse("") == Settings()
    assert parse("carry_out_after_s = 4").carry_out_after_s == 4


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("colour = 1", "unknown_setting", "colour"),
        ('port = "8000"', "wrong_setting", "0 to 65535"),
        ("port = true", "wrong_setting", "0 to 65535"),
        ("port = 1.5", "wrong_setting", "0 to 65535"),
        ("port = 99999", "wrong_setting", "0 to 65535"),
        ('language = "xx"', "wrong_setting", "en"),
        ("camera = 0", "wrong_setting", "text"),
        ('confirm = "never"', "wrong_setting", "always"),
        ("port = ", "not_toml", "line 1"),
    ],
)
def test_a_key_that_does_not_read_is_named_and_the_file_left_alone(
    tmp_path: Path, text: str, code: str, said: str
) -> None:
    file = tmp_path / settings.NAME
    file.write_text(text)
    with pytest.raises(Unreadable) as error:
        load(file)
    assert error.value.code == code
    assert said in Words("en", strict=True).say(error.value)
    assert file.read_text() == text


def test_a_missing_file_means_the_defaults_and_a_broken_one_is_named(tmp_path: Path) -> None:
    assert load(tmp_path / "nothing.toml") == Settings()
    (tmp_path / settings.NAME).write_bytes(b"\xff\xfe")
    with pytest.raises(Unreadable, match="settings_unreadable"):
        load(tmp_path / settings.NAME)


@pytest.mark.parametrize(
    ("chosen", "environment", "folder"),
    [
        ("here", {"STATE_DIRECTORY": "there"}, "here"),
        (None, {"STATE_DIRECTORY": "there:more", "XDG_DATA_HOME": "x"}, "there"),
        (None, {"XDG_DATA_HOME": "x", "HOME": "h"}, "x/table-companion"),
        (None, {"HOME": "h"}, "h/.local/share/table-companion"),
    ],
)
def test_the_data_directory(chosen: str | None, environment: dict[str, str], folder: str) -> None:
    assert data_folder(chosen, environment) == Path(folder)


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "new" / "file"
    write_atomically(file, b"first")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_atomically(file, b"second")
    assert [(one.name, one.read_bytes()) for one in file.parent.iterdir()] == [("file", b"first")]


@pytest.mark.parametrize("key", GAMES)
def test_a_box_starts_from_what_is_printed_alone(key: str) -> None:
    assert set(box_sheet(key).sources.values()) <= set(TRUSTED)
    house = house_sheet(key)
    assert sheets.parse(sheets.dump(house), "a sheet") == house


def test_values_told_are_kept_over_what_is_known(tmp_path: Path) -> None:
    store, key = SheetStore(tmp_path), next(iter(GAMES))
    store.learn(key, Sheet().told({"a.b": 3}))
    store.learn(key, Sheet().told({"c": 4}))
    store.learn(key, Sheet({"guess": 1}, {"guess": "house"}))
    assert dict(store.told(key).values) == {"a.b": 3, "c": 4}
    assert store.box(key).get("a.b") == 3
    assert store.box(key).get("guess") is None


def test_what_an_editor_saved_with_a_mark_of_byte_order_reads_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "sheets").mkdir()
    (tmp_path / "sheets" / "pebbles.toml").write_text('\ufeff"a.b" = { value = 3, source = "printed" }')
    assert SheetStore(tmp_path).told("pebbles").get("a.b") == 3
    (tmp_path / "settings.toml").write_text('\ufefflanguage = "de"')
    assert load(tmp_path / "settings.toml").language == "de"


def test_a_told_sheet_that_does_not_read_is_named(tmp_path: Path) -> None:
    store = SheetStore(tmp_path)
    (tmp_path / "sheets").mkdir()
    (tmp_path / "sheets" / "pebbles.toml").write_text("a = 1")
    with pytest.raises(Unreadable) as error:
        store.told("pebbles")
    assert error.value.values["file"] == "pebbles.toml"
