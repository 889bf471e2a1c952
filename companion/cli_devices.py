"""Commands about senses: calibrate a table, say how every device is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from companion import codec, refitting, settings, wizard
from companion.cli_group import Companion, Sentence, companion, data_option, json_option, said
from companion.corrections import CorrectionStore
from companion.errors import CompanionError, NoGame, Unreadable
from companion.journal import Journal
from companion.journal_backup import backups
from companion.wizard import C, Kind
from companion.words import Words, languages
from devices.camera import Camera, open_camera
from devices.errors import DeviceError
from vision import market_calibration, pictures
from vision.errors import VisionError
from vision.market_calibration import MarketCalibration
from vision.market_layout import Layout
from vision.pictures import Picture

MARKET = "market.npz"
LOADS: Mapping[str, Callable[[Path], object]] = {
    "gnomes": wizard.GNOMES.load,
    "gems": wizard.GEMS.load,
    "market": MarketCalibration.load,
}
"""How the calibration of each sense is read from its file."""
FRESH_MS = 5_000


@companion.group("calibrate", cls=Companion)
def calibrate_() -> None:
    """Show the companion a table."""


def _pictures(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say where its two pictures come from."""
    for option in (
        click.option("--empty", type=click.Path(path_type=Path), help="A picture of the table without pieces."),
        click.option("--pieces", type=click.Path(path_type=Path), help="A picture of the pieces lying apart."),
        click.option("--camera", "url", help="Take both pictures with this camera instead."),
        data_option,
        click.pass_obj,
    ):
        function = option(function)
    return function


@calibrate_.command("gnomes")
@click.option("--from-corrections", is_flag=True, help="Learn from the counts that were tapped at this table instead.")
@_pictures
def calibrate_gnomes(
    words: Words, empty: Path | None, pieces: Path | None, url: str | None, data: Path, from_corrections: bool
) -> None:
    """Learn the table from a picture of the empty tray and one of all 15 gnomes apart, or from corrections."""
    if from_corrections:
        _refit(words, data)
        return
    learned = _learned(words, wizard.GNOMES, (empty, pieces, url), data)
    click.echo(words.text("web", "calibrated", {"colours": learned.colours}))
    if note := wizard.remark(learned):
        click.echo(words.say(note, context="refusal"))


@calibrate_.command("gems")
@_pictures
def calibrate_gems(words: Words, empty: Path | None, pieces: Path | None, url: str | None, data: Path) -> None:
    """Learn the table from a picture without gems and one with a gem of each colour in a row."""
    _learned(words, wizard.GEMS, (empty, pieces, url), data)
    click.echo(words.text("web", "calibrated_gems"))


@calibrate_.command("market")
@click.option("--reference", type=click.Path(path_type=Path), help="A picture of the board without markers.")
@click.option("--layout", type=click.Path(path_type=Path), required=True, help="The board's cells (layout.json).")
@click.option("--camera", "url", help="Take the picture with this camera instead.")
@data_option
@click.pass_obj
def calibrate_market(words: Words, reference: Path | None, layout: Path, url: str | None, data: Path) -> None:
    """Learn the board from its layout and a picture of it without markers."""
    if url is None and reference is None:
        raise Unreadable("market_from_what")
    cells = Layout.load(layout)
    if url is not None:
        (picture,) = _taken(words, url, "calibrate_reference")
    else:
        assert reference is not None  # one of the two is there
        picture = pictures.load(reference)
    data.mkdir(parents=True, exist_ok=True)
    market_calibration.calibrate(picture, cells).save(data / MARKET)
    click.echo(words.text("web", "calibrated_market", {"n": len(cells.resources)}))


def _learned(words: Words, kind: Kind[C], chosen: tuple[Path | None, Path | None, str | None], data: Path) -> C:
    """Learn a table from two pictures that were named, or taken now, and keep it."""
    empty, pieces, url = chosen
    if url is not None:
        before, after = _taken(words, url, f"calibrate_empty_{kind.name}", f"calibrate_pieces_{kind.name}")
    elif empty is not None and pieces is not None:
        before, after = pictures.load(empty), pictures.load(pieces)
    else:
        raise Unreadable("calibrate_from_what")
    found = kind.learn(before, after)
    data.mkdir(parents=True, exist_ok=True)
    found.save(data / kind.file)
    return found


def _refit(words: Words, data: Path) -> None:
    """Learn from kept corrections; the calibration before stays where the new one reads worse."""
    path = data / wizard.GNOMES.file
    if not path.exists():
        raise NoGame("not_calibrated")
    own = settings.load(data / settings.NAME)
    found = refitting.refitted(wizard.GNOMES.load(path), CorrectionStore(data, own))
    found.calibration.save(path)
    click.echo(words.say(refitting.told(found)))


def _taken(words: Words, url: str, *asks: str) -> list[Picture]:
    """Take a picture for each thing that is asked, when a key says that it is done."""
    with open_camera(url) as camera:
        return [_shown(words, camera, ask) for ask in asks]


def _shown(words: Words, camera: Camera, ask: str) -> Picture:
    click.pause(words.text("web", ask))
    return camera.fresh(FRESH_MS).picture


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
    yield from _calibrations(words, data)
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


def _calibrations(words: Words, data: Path) -> Iterator[Finding]:
    """Look at each table that is known; of those nobody showed, only the gnomes' is missed."""
    if not (data / wizard.GNOMES.file).exists():
        yield Finding("calibration", True, words.text("web", "doctor_not_calibrated"))
    for name, load in LOADS.items():
        if (path := data / f"{name}.npz").exists():
            yield _calibration(words, name, load, path)


def _calibration(words: Words, name: str, load: Callable[[Path], object], path: Path) -> Finding:
    called = "calibration" if name == wizard.GNOMES.name else f"calibration_{name}"
    try:
        load(path)
    except VisionError as error:
        return Finding(called, False, said(words, error))
    return Finding(called, True, words.text("web", f"doctor_calibrated_{name}"))


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
