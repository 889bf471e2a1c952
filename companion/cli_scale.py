"""`companion scale`: what a scale says, live from a port or from bytes that were kept."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TextIO

import click
from babel.numbers import format_decimal

from companion import codec
from companion.cli_group import companion, json_option
from companion.errors import CompanionError, Unreadable
from companion.words import Words
from devices.health import Health
from devices.scale import AUTO, Candidate, Scale, ScaleConfig, ScaleReading, open_scale
from devices.scales.parser import Parser
from devices.scales.profile import Profile, profile_of
from devices.scales.protocol import Protocol
from devices.scales.registry import PROTOCOLS
from devices.scales.units import GRAMS
from devices.scales.weighing import Weighing, last_of
from rules.core import Noun, Value

SEARCH_S, LOOK_S, ONCE_MS = 40.0, 0.25, 10_000

BROKEN = 2
"""The exit code where a line of vectors could not be read."""


@companion.command()
@click.option(
    "--port", "url", metavar="URL", help="/dev/ttyUSB0, socket://HOST:PORT, rfc2217://HOST:PORT, sim://scale."
)
@click.option("--protocol", type=click.Choice((AUTO, *PROTOCOLS)), default=AUTO, show_default=True, metavar="NAME")
@click.option("--unit", type=click.Choice(tuple(GRAMS)), help="Unit of a scale whose frames carry none.")
@click.option(
    "--known", "known_g", type=click.FloatRange(min=0, min_open=True), help="Grams on a scale of unknown kind."
)
@click.option("--once", is_flag=True, help="Print one weight at rest, and end.")
@click.option("--vectors", type=click.File(encoding="utf-8"), help="Read JSON lines: id, protocol, bytes_hex, config.")
@json_option
@click.pass_context
def scale(
    ctx: click.Context,
    url: str | None,
    protocol: str,
    unit: str | None,
    known_g: float | None,
    once: bool,
    vectors: TextIO | None,
    as_json: bool,
) -> None:
    """Print what a scale weighs, or what kept bytes of one mean.

    With auto it says what the scale could be; it weighs once it was told, with --known, what lies on it.
    """
    words: Words = ctx.obj
    if vectors is not None:
        if not _print_vectors(words, vectors):
            ctx.exit(BROKEN)
        return
    if url is None:
        raise Unreadable("scale_from_what")
    with open_scale(url, protocol, ScaleConfig(Profile(unit_default=unit))) as opened:
        if opened.protocol is None:
            _confirm(words, opened, known_g)
        _print_weighings(words, opened, once=once, as_json=as_json)


def _confirm(words: Words, opened: Scale, known_g: float | None) -> None:
    """Say what the scale could be, and take the candidate that reads the known weight."""
    found = _candidates(opened)
    for one in found:
        reasons = tuple(Noun(reason) for reason in one.reasons)
        reading = _sentence(words, one.reading)
        values: dict[str, Value] = {"name": one.protocol.name, "reasons": reasons, "reading": reading}
        click.echo(words.text("web", "scale_candidate", values), err=True)
    if known_g is None:
        raise Unreadable("scale_unconfirmed" if found else "scale_silent", scale=opened.url)
    opened.confirm(known_g)


def _candidates(opened: Scale) -> list[Candidate]:
    """Wait until the scale is recognised, or all ways to do so have been tried."""
    until_s = time.monotonic() + SEARCH_S
    while time.monotonic() < until_s:
        if found := opened.candidates():
            return found
        time.sleep(LOOK_S)
    return []


def _print_weighings(words: Words, opened: Scale, *, once: bool, as_json: bool) -> None:
    """Print a line for each answer about the load; where the scale goes or returns, a sentence on standard error."""
    if once:
        _print_reading(words, opened.settled(ONCE_MS), as_json=as_json)
        return
    number, state = 0, opened.health().state
    while opened.health().state != "closed":
        reading = opened.next(number, LOOK_S)
        if reading is not None:
            number = reading.number
            _print_reading(words, reading, as_json=as_json)
        if opened.health().state != state:
            state = opened.health().state
            click.echo(health_sentence(words, opened.health()), err=True)


def _print_reading(words: Words, reading: ScaleReading, *, as_json: bool) -> None:
    line = {**as_data(reading.weighing), "settled": reading.is_settled}
    click.echo(codec.dump_json(line) if as_json else _sentence(words, reading.weighing, is_settled=reading.is_settled))


def _sentence(words: Words, weighing: Weighing, *, is_settled: bool = False) -> str:
    if weighing.grams is None:
        return words.text("refusal", "weighing_overload" if weighing.overload else f"weighing_{weighing.error}")
    grams = format_decimal(weighing.grams, format="#,##0.00", locale=words.language)
    return words.text("web", "scale_settled" if is_settled else "scale_moves", {"grams": grams})


def health_sentence(words: Words, health: Health) -> str:
    """Say how a scale is."""
    given = {name: value for name, value in health.values.items() if isinstance(value, str | tuple)}
    return words.text("refusal", health.message_code, given)


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
