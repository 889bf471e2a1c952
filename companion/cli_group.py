"""The `companion` command itself: what all its commands share. What goes wrong is one sentence and exit code 2."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from companion import codec
from companion.errors import CompanionError, Unreadable
from companion.refused import message_of
from companion.settings import data_folder
from companion.words import Words, languages
from devices.errors import DeviceError
from rules.core import Game, Refused
from rules.registry import GAMES
from vision.errors import VisionError


class Sentence(click.ClickException):
    """One sentence on standard error: what went wrong and what to do; exit code 2."""

    exit_code = 2

    def show(self, file: Any = None) -> None:
        click.echo(self.format_message(), err=True)


class Companion(click.Group):
    """A group whose commands never end in a traceback for what a person can put right."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; turn what the companion, the rules, a picture or a device refuse into one sentence."""
        try:
            return super().invoke(ctx)
        except (CompanionError, Refused) as error:
            raise Sentence(words_of(ctx).say(error)) from error
        except (VisionError, DeviceError) as error:
            raise Sentence(said(words_of(ctx), error)) from error
        except BrokenPipeError:  # whoever read along has enough; click ends quietly
            raise
        except OSError as error:
            values = {"why": error.strerror or str(error), "file": str(error.filename or "")}
            raise Sentence(words_of(ctx).text("refusal", "file_trouble", values)) from error


@click.group(cls=Companion)
@click.version_option(package_name="table-companion")
@click.option(
    "--language",
    type=click.Choice(languages()),
    default="en",
    envvar="COMPANION_LANGUAGE",
    show_default=True,
    help="Language of sentences.",
)
@click.pass_context
def companion(ctx: click.Context, language: str) -> None:
    """Sit beside a board game: count, referee, keep score."""
    ctx.obj = Words(language)


def words_of(ctx: click.Context) -> Words:
    """Return the words of the chosen language."""
    return ctx.obj if isinstance(ctx.obj, Words) else Words("en")


def said(words: Words, error: VisionError | DeviceError) -> str:
    """Put into words what a picture or a device refused."""
    return words.say(message_of(error), context="refusal")


def the_game(_: click.Context, __: click.Parameter, key: str) -> Game[Any]:
    """Read a GAME argument."""
    if key not in GAMES:
        raise Unreadable("unknown_game", got=codec.shown(key), known=tuple(GAMES))
    return GAMES[key]


def folder_of(_: click.Context, __: click.Parameter, chosen: str | None) -> Path:
    """Read a --data option."""
    return data_folder(chosen, os.environ)


data_option = click.option(
    "--data", callback=folder_of, help="Data directory; else $STATE_DIRECTORY, else $XDG_DATA_HOME/table-companion."
)
json_option = click.option("--json", "as_json", is_flag=True, help="One line of JSON each.")
