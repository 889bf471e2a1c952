"""Commands that need no table: play, replay, keep and share games."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import click

from companion import codec, players, records, sheets
from companion.cli_group import Sentence, companion, data_option, json_option, the_game, words_of
from companion.entries import Header, SeatPlan
from companion.errors import Unreadable
from companion.fold import begin
from companion.journal import NAME, Journal, prove
from companion.playing import read as playing_of
from companion.settings import write_atomically
from companion.words import Words
from rules.core import Action, Game, Result, Seat, Setup
from rules.registry import GAMES

MOST_ACTIONS = 10_000
CAP = "cap"
"""The end of a game that had to be stopped."""


@dataclass(frozen=True, slots=True)
class Played:
    """One game that simulated players played: its set-up, its acts, its end."""

    seed: int
    header: Header
    acts: tuple[tuple[Seat, Action[Any]], ...]
    result: Result | None
    scores: tuple[int, ...]

    @property
    def end(self) -> str:
        """The rule that ended the game, `cap` where it had to be stopped."""
        return CAP if self.result is None else self.result.end

    def as_data(self) -> codec.Data:
        """Return what --json prints."""
        return {"seed": self.seed, "end": self.end, "scores": list(self.scores), "actions": len(self.acts)}


def played(game: Game[Any], header: Header, *, player: str, seed: int) -> Played:
    """Let simulated players play one game from its seed, MOST_ACTIONS at most."""
    acting = players.make(player, Random(seed))
    state, acts = begin(game, header).state, list[tuple[Seat, Action[Any]]]()
    while (who := players.next_mover(game, state)) is not None and len(acts) < MOST_ACTIONS:
        action = acting.act(game, state, who)
        state = game.apply(state, who, action)
        acts.append((who, action))
    result = game.result(state)
    return Played(seed, header, tuple(acts), result, (result or game.scored(state)).scores)


@companion.command()
@click.argument("game", callback=the_game)
@click.option("--seats", type=int, help="How many play; else as few as may.")
@click.option("--games", type=click.IntRange(1), default=1, show_default=True, help="How many games.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the first game, then one more each.")
@click.option("--player", type=click.Choice(sorted(players.PLAYERS)), default="random", show_default=True)
@click.option("--option", "options", multiple=True, metavar="NAME=VALUE", help="A house choice of the game.")
@click.option("--records", "folder", type=click.Path(path_type=Path, file_okay=False), help="Keep the games here.")
@json_option
@click.pass_context
def play(
    ctx: click.Context, game: Game[Any], seats: int | None, games: int, seed: int, player: str,
    options: tuple[str, ...], folder: Path | None, as_json: bool,
) -> None:  # fmt: skip
    """Let simulated players play GAME."""
    header = _header(game, game.seats[0] if seats is None else seats, codec.values_from(tuple(game.options), options))
    words = Words(words_of(ctx).language, game.key)
    for number in range(seed, seed + games):
        one = played(game, header, player=player, seed=number)
        if folder is not None:
            text = "".join(f"{line}\n" for line in records.lines(header, one.acts))
            write_atomically(folder / f"{game.key}-{number}.jsonl", text.encode())
        click.echo(codec.dump_json(one.as_data()) if as_json else _told(words, one))


def _header(game: Game[Any], seats: int, options: dict[str, str]) -> Header:
    setup = game.setup(Setup(seats, 0, options, sheets.house_sheet(game.key)))
    plans = tuple(SeatPlan(f"Seat {seat + 1}", f"colour {seat + 1}") for seat in range(seats))
    return Header(game.key, game.rules, plans, 0, setup.options, setup.sheet, "house")


def _told(words: Words, one: Played) -> str:
    scores = tuple(f"{name} {score}" for name, score in zip(one.header.names, one.scores, strict=True))
    line = words.text("web", "played", {"seed": str(one.seed), "n": len(one.acts), "scores": scores})
    reasons = () if one.result is None else one.result.reasons
    return " ".join([line, *(words.say(reason, one.header.names) for reason in reasons)])


@companion.command()
@click.argument("file", type=click.Path(path_type=Path))
@json_option
@click.pass_context
def replay(ctx: click.Context, file: Path, as_json: bool) -> None:
    """Fold a game record; stop at the first refused line and say which and why."""
    found = records.replay(read_lines(file))
    folded, game = found.folded, found.game
    if as_json:
        click.echo(codec.dump_json(_replay_data(found)))
    else:
        words = Words(words_of(ctx).language, game.key)
        for step in folded.steps:
            click.echo(f"{step.n}. {words.say(step.told(game, None), folded.header.names)}")
    _all_taken(words_of(ctx), found)


def _all_taken(words: Words, found: records.Replay) -> None:
    """Raise Sentence where a line of a record was refused, saying which and why."""
    if found.refused is not None:
        why = Words(words.language, found.game.key).say(found.refused, found.folded.header.names)
        raise Sentence(words.text("refusal", "record_refused", {"line": str(found.line), "why": why}))


def _replay_data(found: records.Replay) -> codec.Data:
    game, state = found.game, found.folded.state
    result = game.result(state)
    data: codec.Data = {
        "game": game.key,
        "actions": found.actions,
        "end": None if result is None else result.end,
        "scores": list((result or game.scored(state)).scores),
        "state": codec.state_hash(game, state),
    }
    if found.refused is not None:
        data["refused"] = {"line": found.line, **codec.refusal_to_data(found.refused)}
    return data


def read_lines(file: Path) -> Iterator[str]:
    """Return a text file's lines; raises Unreadable for what is no text."""
    try:
        return iter(file.read_bytes().decode("utf-8-sig").split("\n"))
    except UnicodeDecodeError as error:
        raise Unreadable("not_text", file=file.name) from error


@companion.command()
@click.argument("game", callback=the_game)
def schema(game: Game[Any]) -> None:
    """Print the JSON schema of GAME's actions."""
    click.echo(codec.dump_json(codec.schema(game)))


@companion.command()
@click.argument("game_id")
@data_option
@click.pass_context
def export(ctx: click.Context, game_id: str, data: Path) -> None:
    """Print the record of a game of the journal, or the sheet that this box told of a game: `export sheet:GAME`."""
    kind, colon, key = game_id.partition(":")
    if kind == "sheet" and colon:
        game = the_game(ctx, ctx.command.params[0], key)
        click.echo(sheets.dump(sheets.SheetStore(data).told(game.key)), nl=False)
        return
    with Journal(data, writes=False) as journal:
        playing = playing_of(journal, journal.game(game_id), GAMES)
    for line in records.record(playing.game, playing.folded):
        click.echo(line)


@companion.command("import")
@click.argument("file", type=click.Path(path_type=Path))
@data_option
@click.pass_context
def import_(ctx: click.Context, file: Path, data: Path) -> None:
    """Take in a game record (.jsonl), a component sheet (GAME.toml) or, in a new data directory, a backup (.sqlite)."""
    taken: dict[str, Callable[[click.Context, Path, Path], str]] = {".toml": _take_sheet, ".sqlite": _take_backup}
    click.echo(taken.get(file.suffix, _take_record)(ctx, file, data))


def _take_record(ctx: click.Context, file: Path, data: Path) -> str:
    found = records.replay(read_lines(file))
    _all_taken(words_of(ctx), found)
    with Journal(data) as journal:
        game_id = records.keep(journal, found, at_wall=datetime.now(UTC).isoformat(timespec="seconds"))
    return words_of(ctx).text("web", "imported_game", {"id": game_id, "n": found.actions})


def _take_sheet(ctx: click.Context, file: Path, data: Path) -> str:
    game = the_game(ctx, ctx.command.params[0], file.stem)
    told = sheets.parse("\n".join(read_lines(file)), file.name)
    game.setup(Setup(game.seats[0], sheet=told))  # a value that no box has is refused before anything is kept
    sheets.SheetStore(data).learn(game.key, told)
    kept = len(sheets.printed(told))
    return words_of(ctx).text("web", "imported_sheet", {"n": kept, "left": len(told.values) - kept or None})


def _take_backup(ctx: click.Context, file: Path, data: Path) -> str:
    if (data / NAME).exists():
        raise Unreadable("journal_there", file=file.name)
    prove(file)
    write_atomically(data / NAME, file.read_bytes())
    with Journal(data) as journal:
        if journal.recovered is not None:
            return words_of(ctx).say(journal.recovered)
        return words_of(ctx).text("web", "imported_backup", {"n": len(journal.games())})
