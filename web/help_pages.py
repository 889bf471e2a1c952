"""Help: pages in plain words, and each game's guide for the first round, in the reader's language."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from flask import Blueprint, Response, abort, render_template, send_file
from markdown_it import MarkdownIt
from markupsafe import Markup

from rules.registry import GAMES
from web import desk

helping = Blueprint("helping", __name__)
PAGES = Path(__file__).parent / "help"
TOPICS = ("play", "count", "calibrate", "devices", "phones")
LANGUAGE = "en"
"""The language in which every page is there."""


def markdown(text: str) -> Markup:
    """Return one of our own texts as HTML; raw HTML within it stays text."""
    return Markup(MarkdownIt("commonmark", {"html": False}).render(text))


def topic(name: str, language: str) -> str | None:
    """Return a help page's text."""
    found = (PAGES / f"{name}.{one}.md" for one in (language, LANGUAGE))
    return next((path.read_text(encoding="utf-8") for path in found if path.is_file()), None)


def guide(game: str, language: str) -> str | None:
    """Return a game's guide for the first round."""
    folder = resources.files("rules") / game / "guide"
    found = (folder / f"{one}.md" for one in (language, LANGUAGE))
    return next((path.read_text(encoding="utf-8") for path in found if path.is_file()), None)


@helping.get("/help")
def contents() -> str:
    """Show what there is to read."""
    language = desk.language()
    topics = [(f"/help/{name}", title(topic(name, language) or "")) for name in TOPICS]
    guides = [
        (f"/help/game/{game.key}", title(guide(game.key, language) or "") or game.title) for game in GAMES.values()
    ]
    return render_template("help.html", title=desk.speech().text("help_title"), links=[*guides, *topics], text="")


@helping.get("/help/<name>")
def page(name: str) -> str:
    """Show one help page."""
    return _shown(topic(name, desk.language()) if name in TOPICS else None)


@helping.get("/help/game/<game>")
def game_guide(game: str) -> str:
    """Show a game's guide for the first round."""
    return _shown(guide(game, desk.language()) if game in GAMES else None)


@helping.get("/help/tablet.png")
def picture() -> Response:
    """Return the picture of the shared screen."""
    return send_file(PAGES / "tablet.png", mimetype="image/png")


def _shown(text: str | None) -> str:
    if text is None:
        abort(404)
    return render_template("help.html", title=title(text), links=[], text=markdown(text.partition("\n")[2]))


def title(text: str) -> str:
    """Return a text's first heading."""
    return text.partition("\n")[0].lstrip("# ").strip()
