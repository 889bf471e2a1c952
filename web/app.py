"""The application: a factory that ties pages, posts, stream and API to one service."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from flask import Flask, request
from flask_openapi3.models.info import Info
from flask_openapi3.openapi import OpenAPI

from companion.service import Service
from web import api, conduct, desk, failures, help_pages, join, keys, looks, pages, posts, security, wizard
from web.clients import Clients, Invitations, Tries
from web.desk import EXTENSION, Desk
from web.regions import Painter, load_game_pages
from web.shapes import mark
from web.speech import language_names
from web.stream import SPARE_THREADS, Stream
from web.visitors import COOKIE, Door

CLIENTS = "clients.json"
BLUEPRINTS = (
    pages.pages,
    posts.posts,
    conduct.conduct,
    join.joining,
    help_pages.helping,
    looks.looks,
    wizard.setting_up,
)
THREADS = 64
"""Two for each tablet one can think of, and spare ones: a stream holds one as long as it is open."""


def create_app(
    service: Service,
    *,
    is_open: bool = False,
    names: Collection[str] = (),
    threads: int = THREADS,
    listens: str = "",
) -> Flask:
    """Return the application of one service.

    `is_open` lets every device have the table (a demo), `names` are more
    names under which this machine is called, `listens` is the
    address that the server listens on. The stream starts with the app; `close` ends it.
    """
    info = Info(
        title="Table Companion", version="1", description="The table as these eyes may know it, and what may be done."
    )
    app = OpenAPI(
        __name__,
        info=info,
        security_schemes={"device": {"type": "apiKey", "in": "cookie", "name": COOKIE}},
        doc_ui=False,
        validation_error_callback=api.unreadable,
    )
    load_game_pages(app)
    known = security.own_names() | set(names)
    app.extensions[EXTENSION] = replace(_desk(app, service, is_open, threads, known), listens=listens)
    security.guard(app, known)
    keys.guard(app)
    failures.install(app)
    for blueprint in BLUEPRINTS:
        app.register_blueprint(blueprint)
    app.register_api(api.api)
    app.context_processor(_context)
    desk.desk_of(app).stream.start()
    return app


def _desk(app: Flask, service: Service, is_open: bool, threads: int, names: Collection[str]) -> Desk:
    table = service.table
    clients = Clients(service.data / CLIENTS, _wall)
    door = Door(
        clients,
        is_open=is_open,
        has_pin=bool(service.settings.pin),
        game=lambda: table.snapshot.game_id,
        names=names,
    )
    stream = Stream(table.subscribe, lambda sight: desk.desk_of(app).regions(sight), most=threads - SPARE_THREADS)
    painter = Painter(app, service)
    return Desk(service, door, Invitations(table.now_ms), Tries(table.now_ms), painter, stream)


def _wall() -> str:
    return datetime.now(UTC).isoformat(timespec="minutes")


def close(app: Flask) -> None:
    """End the streams of an app."""
    desk.desk_of(app).stream.close()


def _context() -> dict[str, Any]:
    """Return the names that every page knows."""
    speech = desk.speech()
    theme = request.cookies.get("theme", "")
    return {
        "t": speech.text,
        "say": speech.say,
        "noun": speech.noun,
        "mark": mark,
        "language": speech.language,
        "languages": language_names(),
        "theme": theme if theme in ("light", "dark") else "system",
        "flip": bool(request.cookies.get("flip")),
        "on_table": desk.desk().snapshot.game,
        "visitor": desk.visitor(),
    }
