"""Named regions of a page, rendered for one kind of eyes: one template a game, cut at its markers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from flask import Flask
from jinja2 import ChoiceLoader, FileSystemLoader, PrefixLoader
from markupsafe import Markup

from companion.asking import is_counting
from companion.service import Service
from companion.snapshot import Snapshot
from rules.registry import GAMES
from web.answers import last_count
from web.drawing import drawn
from web.scene import Scene
from web.sights import Sight
from web.speech import Speech

HERE = Path(__file__).parent
GAME_PAGES = HERE / "games"
MARKER = re.compile(r"<!--@(\w+)-->")


def load_game_pages(app: Flask) -> None:
    """Let templates of games be found under `games/`."""
    pages = PrefixLoader({"games": FileSystemLoader(GAME_PAGES)})
    own = app.jinja_loader
    app.jinja_loader = ChoiceLoader([pages] if own is None else [own, pages])
    app.jinja_env.trim_blocks = True
    app.jinja_env.lstrip_blocks = True


def page_of(game: str, name: str) -> Path | None:
    """Return a file of a game's own page, None where it has none."""
    path = GAME_PAGES / game / name
    return path if path.is_file() else None


class Painter:
    """Renders the regions of a page; holds no state but what it was built with, so any thread may use it."""

    def __init__(self, app: Flask, service: Service) -> None:
        self._templates = app.jinja_env
        self._service = service
        self._crop = service.crop

    def paint(self, snapshot: Snapshot, sight: Sight) -> dict[str, Markup]:
        """Return the regions of a sight's page."""
        return self._count(snapshot, sight) if sight.page == "count" else self._game(snapshot, sight)

    def _game(self, snapshot: Snapshot, sight: Sight) -> dict[str, Markup]:
        if snapshot.game is None or snapshot.header is None:
            return {}
        key = snapshot.game.key
        speech = Speech(sight.language, key, snapshot.header.names)
        name = f"games/{key}/page.html" if page_of(key, "page.html") else "regions.html"
        return self._cut(name, self._scene(snapshot, sight, speech).context())

    def _count(self, snapshot: Snapshot, sight: Sight) -> dict[str, Markup]:
        n, found, evidence = last_count(snapshot, tuple(GAMES.values())) or (None, None, None)
        speech = Speech(sight.language, found[0].key if found else None)
        context = {
            **self._scene(Snapshot(snapshot.number), sight, speech).context(),
            "reading": n,
            "place": speech.noun(found[1]) if found else "",
            "is_playing": not is_counting(snapshot),
            "has_camera": bool(snapshot.devices),
            "can_shake": self._service.shaker is not None,
            "evidence": evidence and drawn(evidence, self._crop(evidence.crop)),
            "devices": [speech.health(one) for one in snapshot.devices],
        }
        return self._cut("counting.html", context)

    def _scene(self, snapshot: Snapshot, sight: Sight, speech: Speech) -> Scene:
        service = self._service
        return Scene(
            snapshot,
            sight,
            speech,
            self._crop,
            can_shake=service.shaker is not None,
            carry_out_s=service.settings.carry_out_after_s,
        )

    def _cut(self, template: str, context: dict[str, Any]) -> dict[str, Markup]:
        pieces = MARKER.split(self._templates.get_template(template).render(context))
        return {name: Markup(html.strip()) for name, html in zip(pieces[1::2], pieces[2::2], strict=True)}
