"""`companion scale`: what a scale says, live from a port or from bytes that were kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TextIO

import click

from companion import codec
from companion.cli_group import companion
from companion.errors import CompanionError, Unreadable
from companion.words import Words
from devices.scales.parser import Parser
from devices.scales.profile import Profile, profile_of
from devices.scales.protocol import Protocol
from devices.scales.registry import PROTOCOLS
from devices.scales.weighing import Weighing, last_of

BROKEN = 2
"""The exit code where a line of vectors could not be read."""


@companion.command()
@click.option("--vectors", type=click.File(encoding="utf-8"), help="Read JSON lines: id, protocol, bytes_hex, config.")
@click.pass_context
def scale(ctx: click.Context, vectors: TextIO | None) -> None:
    """Print what a scale weighs, or what kept bytes of one mean."""
    words: Words = ctx.obj
    if vectors is None:
        raise Unreadable("scale_from_what")
    if not _print_vectors(words, vectors):
        ctx.exit(BROKEN)


def _print_vectors(words: Words, vectors: TextIO) -> bool:
    """Print the answer to each line; for one that does not read, a sentence on standard error. True: all did."""
    are_well = True
    for number, text in enumerate(vectors, 1):
        if not text.strip():
            continue
        try:
            click.echo(codec.dump_json(_answer(codec.parse_object(text))))
        except CompanionError as error:
            are_well = False
            click.echo(words.text("refusal", "scale_line", {"number": number, "why": words.say(error)}), err=True)
    return are_well


def _answer(line: Mapping[str, object]) -> codec.Data:
    parser = Parser(_protocol(line.get("protocol")), _profile(line.get("config")))
    chunks = line.get("chunks") or [line.get("bytes_hex")]
    if not isinstance(chunks, list):
        raise Unreadable("scale_no_bytes", got=codec.shown(chunks))
    found = [weighing for chunk in chunks for weighing in parser.feed(_bytes(chunk))]
    return {"id": line.get("id"), **as_data(last_of(found + parser.finish()))}


def as_data(weighing: Weighing) -> codec.Data:
    """Return an answer of a scale as plain data."""
    names = ("grams", "unit", "stable", "overload", "error")
    return {name: getattr(weighing, name) for name in names}


def _protocol(name: object) -> Protocol:
    if name not in PROTOCOLS:
        raise Unreadable("scale_no_protocol", got=codec.shown(name), known=tuple(PROTOCOLS))
    return PROTOCOLS[str(name)]


def _profile(config: object) -> Profile:
    if not isinstance(config, dict | None):
        raise Unreadable("not_an_object", got=codec.shown(config))
    try:
        return profile_of(config or {})
    except ValueError as error:
        raise Unreadable("scale_setting", why=str(error)) from error


def _bytes(text: object) -> bytes:
    try:
        return bytes.fromhex(text if isinstance(text, str) else "?")
    except ValueError as error:
        raise Unreadable("scale_no_bytes", got=codec.shown(text)) from error
