"""The camera's set-up: two pictures of a table for each sense, and a cure in words where one of them will not do."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, abort, g, render_template
from werkzeug.wrappers import Response as AnyResponse

from companion.errors import CompanionError
from web import desk
from web.drawing import bare_mark, drawn
from web.posts import done

setting_up = Blueprint("setting_up", __name__)


@setting_up.get("/calibrate")
def page() -> str:
    """Show how far the set-up is, what the camera sees, and what it refused."""
    service, visitor = desk.desk().service, desk.visitor()
    sees = visitor.host or visitor.role == "table"
    status = service.wizard.status()
    return render_template(
        "calibrate.html",
        camera=service.has_camera,
        sees=sees,
        status=status,
        note=status["note"] and desk.speech().trouble(status["note"]),
        seen=_seen() if sees else None,
        bare_mark=bare_mark,
    )


def _seen() -> dict[str, Any] | None:
    """Return the picture of what was refused, as a page draws it."""
    seen = desk.desk().service.wizard.seen
    return None if seen is None else drawn(seen.evidence, seen.jpeg, "/calibrate/")


@setting_up.get("/calibrate/picture")
def live_picture() -> Response:
    """Return what the camera sees now, uncropped: to the host and the shared screen alone, to set it up by."""
    desk.visitor().must_keep_house()
    return _jpeg(desk.desk().service.preview())


@setting_up.get("/calibrate/seen")
def refused_picture() -> Response:
    """Return the picture that was refused last, to the host and the shared screen alone."""
    desk.visitor().must_keep_house()
    seen = desk.desk().service.wizard.seen
    return _jpeg(None if seen is None else seen.jpeg)


def _jpeg(jpeg: bytes | None) -> Response:
    return Response(status=204) if jpeg is None else Response(jpeg, mimetype="image/jpeg")


@setting_up.post("/calibrate/<step>")
def take_picture(step: str) -> AnyResponse:
    """Take one of the two pictures; a refusal says what to do about it."""
    desk.visitor().must_be_table()
    wizard = desk.desk().service.wizard
    steps = {"empty": wizard.take_empty, "pieces": wizard.take_pieces}
    if step not in steps:
        abort(404)
    try:
        steps[step]()
    except CompanionError:
        if wizard.seen is not None:
            g.go = "/calibrate"
        raise
    return done(go="/calibrate")
