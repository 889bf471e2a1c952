"""Commands about senses: calibrate a table, say how every device is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from companion import codec, settings
from companion.cli_group import Companion, Sentence, companion, data_option, json_option, said
from companion.errors import CompanionError, Unreadable
from companion.journal import Journal
from companion.journal_backup import backups
from companion.words import Words, languages
from devices.camera import Camera, open_camera
from devices.errors import DeviceError
from vision import pictures
from vision.calibration import GnomeCalibration, calibrate
from vision.errors import VisionError
from vision.pictures import Picture

CALIBRATION = "gnomes.npz"
FRESH_MS = 5_000


@companion.group("calibrate", cls=Companion)
def calibrate_() -> None:
    """Show the companion a table."""


@calibrate_.command("gnomes")
@click.option("--empty", type=click.Path(path_type=Path), help="A picture of the empty tray.")
@click.option("--pieces", type=click.Path(path_type=Path), help="A picture of all 15 gnomes lying apart.")
@click.option("--camera", "url", help="Take both pictures with this camera instead.")
@data_option
@click.pass_obj
def calibrate_gnomes(words: Words, empty: Path | None, pieces: Path | None, url: str | None, data: Path) -> None:
    """Learn the table from a picture of the empty tray and one of all 15 gnomes apart."""
    if url is not None:
        before, after = _taken(words, url)
    elif empty is not None and pieces is not None:
        before, after = pictures.load(empty), pictures.load(pieces)
    else:
        raise Unreadable("calibrate_from_what")
    learned = calibrate(before, after)
    data.mkdir(parents=True, exist_ok=True)
    learned.save(data / CALIBRATION)
    click.echo(words.text("web", "calibrated", {"colours": learned.colours}))


def _taken(words: Words, url: str) -> tuple[Picture, Picture]:
    with open_camera(url) as camera:
        click.pause(words.text("web", "calibrate_empty"))
        before = camera.fresh(FRESH_MS).picture
        click.pause(words.text("web", "calibrate_pieces"))
        return before, camera.fresh(FRESH_MS).picture


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the doctor: what was looked at, whether it is well, and what it has to say."""

    name: str
    ok: bool
    says: str


@companion.command()
@data_option
@json_option
@click.pass_obj
def doctor(words: Words, data: Path, as_json: bool) -> None:
    """Say how every device is, and what to do about it."""
    found = list(_findings(words, data))
    for one in found:
        line = {"name": one.name, "ok": one.ok, "says": one.says}
        click.echo(codec.dump_json(line) if as_json else f"{words.noun('well' if one.ok else 'look')}: {one.says}")
    if not all(one.ok for one in found):
        raise Sentence(words.text("web", "doctor_found", {"n": sum(not one.ok for one in found)}))


def _findings(words: Words, data: Path) -> Iterator[Finding]:
    yield _journal(words, data)
    own, finding = _settings(words, data)
    yield finding
    yield _calibration(words, data)
    yield _camera(words, own.camera)
    yield Finding("languages", True, words.text("web", "doctor_languages", {"names": languages()}))


def _journal(words: Words, data: Path) -> Finding:
    try:
        with Journal(data, writes=False) as journal:
            values = {"n": len(journal.games()), "backups": len(backups(journal.path))}
    except CompanionError as error:
        return Finding("journal", error.code == "no_journal", words.say(error))
    return Finding("journal", True, words.text("web", "doctor_journal", values))


def _settings(words: Words, data: Path) -> tuple[settings.Settings, Finding]:
    try:
        own = settings.load(data / settings.NAME)
    except CompanionError as error:
        return settings.Settings(), Finding("settings", False, words.say(error))
    return own, Finding("settings", True, words.text("web", "doctor_settings"))


def _calibration(words: Words, data: Path) -> Finding:
    path = data / CALIBRATION
    if not path.exists():
        return Finding("calibration", True, words.text("web", "doctor_not_calibrated"))
    try:
        GnomeCalibration.load(path)
    except VisionError as error:
        return Finding("calibration", False, said(words, error))
    return Finding("calibration", True, words.text("web", "doctor_calibrated"))


def _camera(words: Words, url: str) -> Finding:
    if not url:
        return Finding("camera", True, words.text("web", "doctor_no_camera"))
    try:
        with open_camera(url) as camera:
            return _seen_by(words, camera)
    except DeviceError as error:
        return Finding("camera", False, said(words, error))


def _seen_by(words: Words, camera: Camera) -> Finding:
    height, width = camera.fresh(FRESH_MS).picture.shape[:2]
    return Finding("camera", True, words.text("web", "doctor_camera", {"width": str(width), "height": str(height)}))
