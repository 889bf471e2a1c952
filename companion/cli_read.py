"""`companion read`: what lies on the pictures of session folders, a line a picture."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click
import cv2

from companion import codec, readers
from companion.cli_group import Companion, companion, json_option, said
from companion.errors import CompanionError
from companion.naming import colour_named, named
from companion.readers import Reader
from companion.words import Words
from vision.errors import VisionError

BROKEN = 2
"""The exit code where a folder could not be read."""


@companion.group(cls=Companion)
def read() -> None:
    """Read the pictures of session folders."""


def _add(reader: Reader) -> None:
    """Give a kind of reading its command."""

    @read.command(reader.kind, help=f"Read {reader.kind} in every picture of each FOLDER ({', '.join(reader.needs)}).")
    @click.argument("folders", nargs=-1, required=True, metavar="FOLDER...", type=click.Path(path_type=Path))
    @json_option
    @click.pass_context
    def command(ctx: click.Context, folders: tuple[Path, ...], as_json: bool) -> None:
        words: Words = ctx.obj
        cv2.setNumThreads(1)  # so that times can be compared, and small machines keep a core for the rest
        broken = [folder for folder in folders if not _printed(reader, folder, words, as_json=as_json)]
        if broken:
            ctx.exit(BROKEN)


for _reader in readers.READERS.values():
    _add(_reader)


@read.command("pieces")
@click.argument("images", nargs=-1, required=True, metavar="IMAGE...", type=click.Path(path_type=Path))
@json_option
@click.pass_obj
def read_pieces(words: Words, images: tuple[Path, ...], as_json: bool) -> None:
    """Count like pieces in any picture, with their colours."""
    cv2.setNumThreads(1)
    _print("pieces", (readers.read_file(image, readers.pieces_eye) for image in images), words, as_json=as_json)


def _printed(reader: Reader, folder: Path, words: Words, *, as_json: bool) -> bool:
    """Print a line for each picture of a folder; for one that shows no table, a sentence on standard error."""
    try:
        lines = readers.read_folder(reader, folder)
    except CompanionError as error:
        click.echo(words.say(error), err=True)
    except VisionError as error:
        values = {"folder": str(folder), "why": said(words, error)}
        click.echo(words.text("refusal", "folder_not_calibrated", values), err=True)
    else:
        _print(reader.kind, lines, words, as_json=as_json)
        return True
    return False


def _print(kind: str, lines: Iterator[codec.Data], words: Words, *, as_json: bool) -> None:
    for line in lines:
        click.echo(codec.dump_json(line) if as_json else _sentence(kind, line, words))


def _sentence(kind: str, line: codec.Data, words: Words) -> str:
    if "refused" in line:
        return f"{line['file']}: {words.text('refusal', line['refused'])}"
    values = {
        "file": line["file"],
        "percent": round(100 * line["confidence"]),
        "sure": words.text("web", "read_sure" if line["sure"] else "read_not_sure"),
        "n": line.get("count", 0),
        "what": "; ".join(_parts(line, words)) if "market" in line else tuple(_parts(line, words)),
    }
    return words.text("web", f"read_{kind}", values)


def _parts(line: codec.Data, words: Words) -> Iterator[str]:
    """Return what was read, part by part: colours with their counts, resources with where their markers stand."""
    for colour, n in line.get("by_colour", {}).items():
        yield f"{n} {colour_named(words, colour)}"
    for name, seen in line.get("market", {}).items():
        marks = {way: words.text("web", "crossed", {"n": seen[way]}) if seen[f"{way}_crossed"] else str(seen[way])
                 for way in ("sell", "buy")}  # fmt: skip
        sold = words.text("web", "market_sold") if seen["sold"] else ""
        yield words.text("web", "market_line", {"name": named(words, name), **marks, "sold": sold})
