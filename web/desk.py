"""What every view function needs: the service, the door, the words of the reader, the pages' painter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from flask import Flask, current_app, g, request

from companion.errors import NoGame, Unreadable
from companion.service import Service
from companion.snapshot import Snapshot
from companion.table import Table
from web.clients import Invitations, Tries
from web.regions import Painter
from web.sights import Page, Sight
from web.speech import Speech, language_of
from web.stream import Regions, Stream
from web.visitors import Door, Visitor

EXTENSION = "companion"
LONGEST_KEY = 80


@dataclass(frozen=True)
class Desk:
    """One app's parts."""

    service: Service
    door: Door
    invitations: Invitations
    tries: Tries
    painter: Painter
    stream: Stream
    listens: str = ""
    """The address the server listens on, empty where nobody said."""

    @property
    def table(self) -> Table:
        """The one live table."""
        return self.service.table

    @property
    def snapshot(self) -> Snapshot:
        """The table as it is now."""
        return self.service.table.snapshot

    def regions(self, sight: Sight) -> tuple[int, Regions] | None:
        """Render a sight's page as the table is now; None where that sight is of another game than lies there."""
        snapshot = self.snapshot
        if sight.page == "table" and sight.game != snapshot.game_id:
            return None
        return snapshot.number, self.painter.paint(snapshot, sight)


def desk_of(app: Flask) -> Desk:
    """Return the parts of an app."""
    return cast("Desk", app.extensions[EXTENSION])


def desk() -> Desk:
    """Return the parts of the app that answers this request."""
    return desk_of(current_app)


def visitor() -> Visitor:
    """Return who sends this request."""
    if "visitor" not in g:
        g.visitor = desk().door.visitor(request)
    return cast("Visitor", g.visitor)


def language() -> str:
    """Return the language of who sends this request."""
    return language_of(request, desk().service.settings.language)


def speech() -> Speech:
    """Return the words for who sends this request."""
    snapshot = desk().snapshot
    key = snapshot.game.key if snapshot.game else None
    return Speech(language(), key, snapshot.header.names if snapshot.header else ())


def sight(page: Page) -> Sight:
    """Return through which eyes this request looks at a page."""
    return visitor().sight(page, language(), desk().snapshot.game_id if page == "table" else None)


def key() -> str:
    """Return the id of this tap; raises Unreadable for a post that names none."""
    found = request.headers.get("Idempotency-Key", "")
    if not found or len(found) > LONGEST_KEY:
        raise Unreadable("missing_key")
    return found


def by() -> str:
    """Return under which name the journal keeps what this request does."""
    header = desk().snapshot.header
    return visitor().by(header.names if header else ())


def game_on_table() -> Snapshot:
    """Return the table with its game; raises NoGame where none lies there."""
    snapshot = desk().snapshot
    if snapshot.game is None:
        raise NoGame("no_game_on_table")
    return snapshot
