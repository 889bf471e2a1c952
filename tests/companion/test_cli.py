"""The command line: one line of JSON each, one clear sentence and code 2 for what a person can put right."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace

import cv2
import jsonschema_rs
import numpy as np
import pytest
from click.testing import CliRunner, Result

from companion import cli_devices, readers
from companion.cli import companion
from companion.journal import NAME, Journal
from companion.sheets import SheetStore
from rules.registry import GAMES
from vision.readings import Box, GnomeReading, normalised

GAME = next(iter(GAMES))


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(companion, [str(one) for one in arguments])


def lines(result: Result) -> list[dict[str, object]]:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def refused(result: Result) -> str:
    """Return the sentence on standard error."""
    assert result.exit_code == 2, (result.exit_code, result.output)
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    return result.stderr.strip()


@pytest.fixture
def record(tmp_path: Path) -> Path:
    run("play", GAME, "--seed", "3", "--records", tmp_path / "records")
    return tmp_path / "records" / f"{GAME}-3.jsonl"


def test_play_prints_a_line_a_game_and_the_same_seed_plays_the_same_game() -> None:
    first = lines(run("play", GAME, "--games", "3", "--seed", "7", "--json"))
    assert [list(line) for line in first] == [["actions", "end", "scores", "seed"]] * 3
    assert [line["seed"] for line in first] == [7, 8, 9]
    assert lines(run("play", GAME, "--seed", "8", "--json")) == first[1:2]


@pytest.mark.parametrize("seats", GAMES[GAME].seats)
def test_every_number_of_seats_plays(seats: int) -> None:
    (line,) = lines(run("play", GAME, "--seats", str(seats), "--json"))
    assert len(line["scores"]) == seats  # type: ignore[arg-type]
    assert line["end"] != "cap"


def test_play_without_json_is_a_sentence_in_the_chosen_language() -> None:
    assert run("play", GAME).stdout.startswith("Game of seed 0:")
    assert run("--language", "de", "play", GAME).stdout.startswith("Spiel mit Zahl 0:")


def test_a_greedy_player_and_an_option_are_taken() -> None:
    name, option = next(iter(GAMES[GAME].options.items()))
    result = run(
        "play", GAME, "--player", "greedy", "--seats", "4", "--option", f"{name}={option.values[-1]}", "--json"
    )
    assert len(lines(result)) == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["play", "chess"], 'The game "chess" is not known.'),
        (["play", GAME, "--seats", "40"], "40 cannot play this game."),
        (["play", GAME, "--seats", "9" * 32], "999,999,999… cannot play this game."),
        (["play", GAME, "--option", "size=xl"], 'There is no house choice "size" in this game'),
        (["play", GAME, "--option", "size"], '"size" has no equals sign.'),
        (["replay", "nothing.jsonl"], "nothing.jsonl: this file cannot be used"),
        (["schema", "chess"], 'The game "chess" is not known.'),
        (["calibrate", "gnomes"], "Name two pictures"),
        (["calibrate", "gems"], "Name two pictures"),
        (["calibrate", "market", "--layout", "a.json"], "Name a picture"),
        (["calibrate", "market", "--layout", "a.json", "--reference", "a.jpg"], "The picture a.json cannot be found."),
        (["calibrate", "gnomes", "--from-corrections", "--data", "none"], "The camera does not know this table"),
        (["calibrate", "gnomes", "--empty", "a.jpg", "--pieces", "b.jpg"], "The picture a.jpg cannot be found."),
        (["calibrate", "gnomes", "--camera", "teapot:1"], "The camera address"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(arguments: list[str], sentence: str) -> None:
    assert refused(run(*arguments)).startswith(sentence)


def test_an_unknown_option_of_the_command_line_is_code_2() -> None:
    assert run("play", GAME, "--colour").exit_code == 2


def test_replay_tells_a_kept_game(record: Path) -> None:
    played = lines(run("play", GAME, "--seed", "3", "--json"))[0]
    (replayed,) = lines(run("replay", record, "--json"))
    assert replayed["scores"] == played["scores"]
    assert replayed["end"] == played["end"]
    assert replayed["actions"] == played["actions"]
    assert len(run("replay", record).stdout.splitlines()) == played["actions"]


def test_replay_says_which_line_was_refused_and_why(record: Path) -> None:
    text = record.read_text().splitlines()
    record.write_text("\n".join([*text, text[1]]))
    result = run("replay", record, "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["refused"]["line"] == len(text) + 1
    assert f"Line {len(text) + 1} of the record was refused: " in result.stderr


def test_import_says_of_a_refused_line_what_replay_says(tmp_path: Path, record: Path) -> None:
    text = record.read_text().splitlines()
    record.write_text("\n".join([*text, text[1]]))
    said = refused(run("import", record, "--data", tmp_path / "data"))
    assert said == run("replay", record).stderr.strip()
    assert not (tmp_path / "data" / NAME).exists()


def test_a_mark_of_byte_order_and_other_line_ends_are_read_over(record: Path) -> None:
    played = lines(run("replay", record, "--json"))
    record.write_bytes(b"\xef\xbb\xbf" + record.read_bytes().replace(b"\n", b"\r\n"))
    assert lines(run("replay", record, "--json")) == played


@pytest.mark.parametrize("text", ["", "{", '{"format": 99}', "\0", '{"format": 1, "game": "chess"}'])
def test_a_broken_record_is_one_sentence(tmp_path: Path, text: str) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(text)
    assert refused(run("replay", file)).count("\n") == 0


def test_a_picture_is_no_record(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"\xff\xd8\xff")
    assert "no text" in refused(run("replay", file))


def test_a_schema_holds_for_each_line_of_a_record(record: Path) -> None:
    validator = jsonschema_rs.validator_for(json.loads(run("schema", GAME).stdout))
    for line in record.read_text().splitlines()[1:]:
        validator.validate(json.loads(line))


def test_a_record_goes_into_the_journal_and_out_again(tmp_path: Path, record: Path) -> None:
    data = tmp_path / "data"
    assert run("import", record, "--data", data).stdout.startswith("Game 1 is here")
    assert run("export", "1", "--data", data).stdout == record.read_text()
    assert "There is no game 7" in refused(run("export", "7", "--data", data))
    assert "No game is stored" in refused(run("export", "1", "--data", tmp_path / "none"))


def test_a_sheet_is_taken_in_and_given_out(tmp_path: Path) -> None:
    sheet = tmp_path / f"{GAME}.toml"
    (a, limits), (b, _), *_ = GAMES[GAME].sheet_limits.items()
    printed = f'"{a}" = {{ value = {limits.most}, source = "printed" }}\n'
    sheet.write_text(f'\ufeff{printed}"{b}" = {{ value = {limits.most}, source = "house" }}\n')
    said = run("import", sheet, "--data", tmp_path).stdout
    assert said == "1 value of the box is kept. Not kept, as they are not marked as printed: 1.\n"
    assert SheetStore(tmp_path).told(GAME).get(a) == limits.most
    assert run("export", f"sheet:{GAME}", "--data", tmp_path).stdout == printed
    sheet.rename(tmp_path / "chess.toml")
    assert '"chess" is not known' in refused(run("import", tmp_path / "chess.toml", "--data", tmp_path))


def test_a_sheet_that_no_box_has_is_not_taken_in(tmp_path: Path) -> None:
    sheet = tmp_path / f"{GAME}.toml"
    name, limits = next(iter(GAMES[GAME].sheet_limits.items()))
    sheet.write_text(f'"{name}" = {{ value = {limits.most + 1}, source = "printed" }}\n')
    assert f"It goes from {limits.least} to {limits.most}." in refused(run("import", sheet, "--data", tmp_path))
    sheet.write_text('"a.b" = { value = 3, source = "printed" }\n')
    assert "a.b" in refused(run("import", sheet, "--data", tmp_path))
    assert SheetStore(tmp_path).told(GAME).values == {}


@pytest.mark.parametrize("key", ["chess", "", "../../x"])
def test_the_sheet_of_no_game_is_not_given_out(tmp_path: Path, key: str) -> None:
    assert f"Known: {GAME}" in refused(run("export", f"sheet:{key}", "--data", tmp_path))


def test_what_is_no_backup_is_not_taken_in(tmp_path: Path) -> None:
    file, data = tmp_path / "a.sqlite", tmp_path / "data"
    foreign = tmp_path / "foreign.sqlite"
    with closing(sqlite3.connect(foreign)) as db:
        db.execute("CREATE TABLE game (id)")
    for content in (b"", b"x" * 5000, foreign.read_bytes()):
        file.write_bytes(content)
        assert "a.sqlite is no whole store of games" in refused(run("import", file, "--data", data))
        assert file.read_bytes() == content
    assert not data.exists()


def test_a_backup_goes_into_a_new_data_directory_alone(tmp_path: Path, record: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    run("import", record, "--data", old)
    with Journal(old) as journal:
        journal.backup()
    (backup, *_) = sorted(old.glob("*backup*"))
    assert run("import", backup, "--data", new).stdout == "1 game is here again.\n"
    assert (new / NAME).exists()
    assert "so " in refused(run("import", backup, "--data", new))


def test_no_journal_is_written_while_another_companion_writes(tmp_path: Path, record: Path) -> None:
    with Journal(tmp_path / "data"):
        assert "Another companion" in refused(run("import", record, "--data", tmp_path / "data"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A session folder whose pictures are grey; the reader sees 8 in each."""
    grey = np.full((240, 320, 3), 128, np.uint8)
    for name in ("empty", "calibration", "shake02", "shake01"):
        cv2.imwrite(str(tmp_path / f"{name}.jpg"), grey)
    (tmp_path / "shake03.jpg").write_bytes(b"no picture")
    weights = [0.0] * 16
    weights[8] = 1.0
    reading = GnomeReading(normalised(weights), {"red": 8}, (), Box(0, 0, 9, 9), 0)
    monkeypatch.setattr(readers.calibration, "calibrate", lambda empty, pieces: None)
    monkeypatch.setattr(readers.gnomes, "read", lambda picture, calibration: reading)
    return tmp_path


def test_read_gnomes_is_a_line_a_picture_in_order(folder: Path) -> None:
    found = lines(run("read", "gnomes", folder, "--json"))
    assert [Path(str(line["file"])).name for line in found] == ["shake01.jpg", "shake02.jpg", "shake03.jpg"]
    assert [(line["count"], line["sure"]) for line in found[:2]] == [(8, True)] * 2
    assert set(found[0]) == {"file", "count", "confidence", "sure", "ms"}
    assert set(found[2]) == {"file", "refused", "ms"}
    assert found[2]["refused"] == "no_picture"


def test_read_gnomes_without_json_is_sentences(folder: Path) -> None:
    said = run("read", "gnomes", folder).stdout.splitlines()
    assert said[0].endswith("shake01.jpg: 8 gnomes, 100 percent (sure)")
    assert said[2].endswith("This is no picture. Give a JPEG or PNG.")


MARKET = {"wood": {"sell": 8, "sell_crossed": True, "buy": 5, "buy_crossed": False, "sold": True}}


@dataclass
class Seen:
    """What a reader that is measured elsewhere may answer."""

    count: int = 3
    by_colour: dict[str, int] = field(default_factory=lambda: {"gold": 2, "red": 1})
    confidence: float = 0.98765
    sure: bool = True


@pytest.fixture
def everything(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The session folder of every sense at once."""
    for name in ("palette.jpg", "reference.jpg"):
        (folder / name).write_bytes((folder / "empty.jpg").read_bytes())
    (folder / "layout.json").write_text("{}")
    for sense in (readers.gems, readers.market):
        monkeypatch.setattr(sense, "read", lambda picture, calibration: Seen())
    monkeypatch.setattr(readers.pieces, "read", lambda picture: Seen())
    monkeypatch.setattr(readers.market, "as_labels", lambda reading, layout: MARKET)
    monkeypatch.setattr(readers.gem_calibration, "calibrate", lambda empty, palette: None)
    monkeypatch.setattr(readers.market_calibration, "calibrate", lambda picture, layout: SimpleNamespace(layout=layout))
    monkeypatch.setattr(readers.Layout, "load", lambda path: None)
    return folder


@pytest.mark.parametrize(
    ("sense", "fields", "sentence"),
    [
        ("gems", {"by_colour": {"gold": 2, "red": 1}}, "2 gold and 1 red; 99 percent (sure)"),
        ("market", {"market": MARKET}, "wood: sell 8 crossed, buy 5, sold; 99 percent (sure)"),
    ],
)
def test_each_sense_reads_its_folders_in_one_way(
    everything: Path, sense: str, fields: dict[str, object], sentence: str
) -> None:
    found = {Path(str(line["file"])).name: line for line in lines(run("read", sense, everything, "--json"))}
    shown = found["shake01.jpg"]
    assert shown.pop("ms")
    assert shown == {"file": str(everything / "shake01.jpg"), **fields, "confidence": 0.9877, "sure": True}
    assert found["shake03.jpg"]["refused"] == "no_picture"
    assert f"shake01.jpg: {sentence}" in run("read", sense, everything).stdout


def test_pieces_are_counted_in_any_picture_and_a_broken_one_is_a_line(everything: Path) -> None:
    first, second = lines(run("read", "pieces", everything / "empty.jpg", everything / "none.jpg", "--json"))
    assert (first["count"], first["by_colour"], first["sure"]) == (3, {"gold": 2, "red": 1}, True)
    assert (second["refused"], set(second)) == ("no_file", {"file", "refused", "ms"})
    assert "3 pieces: 2 gold and 1 red, 99 percent" in run("read", "pieces", everything / "empty.jpg").stdout


@pytest.mark.parametrize("missing", ["empty.jpg", "calibration.jpg"])
def test_a_folder_without_its_pictures_is_a_sentence(folder: Path, missing: str) -> None:
    (folder / missing).unlink()
    assert f"has no {missing}" in refused(run("read", "gnomes", folder))


def test_a_broken_folder_is_said_and_the_others_are_read(folder: Path) -> None:
    result = run("read", "gnomes", folder / "none", folder, "--json")
    assert result.exit_code == 2
    assert len(result.stdout.splitlines()) == 3
    assert "There is no folder" in result.stderr


def test_a_folder_that_cannot_be_calibrated_says_why(tmp_path: Path) -> None:
    for name in ("empty", "calibration"):
        cv2.imwrite(str(tmp_path / f"{name}.jpg"), np.full((240, 320, 3), 3, np.uint8))
    assert "too dark" in refused(run("read", "gnomes", tmp_path))


def test_doctor_of_a_new_house_is_well(tmp_path: Path) -> None:
    found = lines(run("doctor", "--data", tmp_path, "--json"))
    assert [line["name"] for line in found] == ["journal", "settings", "calibration", "camera", "languages"]
    assert all(line["ok"] for line in found)


def test_doctor_says_what_needs_a_look(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text("colour = 1")
    (tmp_path / NAME).write_bytes(b"x" * 5000)
    (tmp_path / "gnomes.npz").write_bytes(b"x")
    result = run("doctor", "--data", tmp_path, "--json")
    assert result.exit_code == 2
    found = {line["name"]: line for line in map(json.loads, result.stdout.splitlines())}
    assert [name for name, line in found.items() if not line["ok"]] == ["journal", "settings", "calibration"]
    assert result.stderr == "3 things need a look.\n"
    assert (tmp_path / NAME).read_bytes() == b"x" * 5000, "a doctor looks and changes nothing"


def test_doctor_names_the_gems_and_the_market_board_where_they_are_known(tmp_path: Path) -> None:
    for name in ("gems", "market"):
        (tmp_path / f"{name}.npz").write_bytes(b"x")
    result = run("doctor", "--data", tmp_path, "--json")
    found = [json.loads(line) for line in result.stdout.splitlines()]
    broken = [line["name"] for line in found if not line["ok"]]
    assert broken == ["calibration_gems", "calibration_market"]
    assert {line["says"] for line in found if not line["ok"]} == {
        "The stored calibration does not read. Calibrate again."
    }


def test_a_table_of_gems_and_a_market_board_are_learned_and_kept(
    everything: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Learned:
        """What was learned of a table."""

        def save(self, path: Path) -> None:
            path.write_text("learned")

    data = tmp_path / "data"
    gems = replace(cli_devices.wizard.GEMS, learn=lambda empty, pieces: Learned())
    monkeypatch.setattr(cli_devices.wizard, "GEMS", gems)
    monkeypatch.setattr(cli_devices.market_calibration, "calibrate", lambda picture, layout: Learned())
    monkeypatch.setattr(cli_devices.Layout, "load", lambda path: SimpleNamespace(resources=("wood",)))
    empty, palette = everything / "empty.jpg", everything / "palette.jpg"
    assert run("calibrate", "gems", "--empty", empty, "--pieces", palette, "--data", data).exit_code == 0
    layout, reference = everything / "layout.json", everything / "reference.jpg"
    said = run("calibrate", "market", "--layout", layout, "--reference", reference, "--data", data).stdout
    assert said == "The board is known now: 1 resource.\n"
    assert sorted(path.name for path in data.glob("*.npz")) == ["gems.npz", "market.npz"]


def test_every_command_says_what_it_does() -> None:
    for name, command in companion.commands.items():
        assert command.help, name
