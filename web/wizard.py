"""The camera's set-up: two pictures of a table for each sense, and a cure in words where one of them will not do."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, abort, g, render_template
from werkzeug.wrappers import Response as AnyResponse

from companion.errors import CompanionError
from companion.wizard import Wizard
from web import desk
from web.drawing import bare_mark, drawn
from web.posts import done

setting_up = Blueprint("setting_up", __name__)
SENSES = ("gnomes", "gems")
"""What the page sets up; a market board is shown by `companion calibrate market`, for its layout is a file."""


@setting_up.get("/calibrate")
def page() -> str:
    """Show how far the set-up is, what the camera sees, and what it refused."""
    service, visitor = desk.desk().service, desk.visitor()
    sees = visitor.host or visitor.role == "table"
    return render_template(
        "calibrate.html",
        camera=service.has_camera,
        sees=sees,
        wizards=[_shown(sense, sees=sees) for sense in SENSES],
        learns=service.school.is_busy,
        corrections=len(service.corrections),
        bare_mark=bare_mark,
    )


def _shown(sense: str, *, sees: bool) -> dict[str, Any]:
    """Return one sense's steps as the page shows them; what was seen, only to those who see the camera's picture."""
    wizard = _wizard(sense)
    seen = drawn(wizard.seen.evidence, wizard.seen.jpeg, f"/calibrate/{sense}/") if sees and wizard.seen else None
    status = wizard.status()
    note = status["note"]
    return {**status, "sense": sense, "note": note and desk.speech().say(note), "seen": seen}


def _wizard(sense: str) -> Wizard[Any]:
    service = desk.desk().service
    wizards: dict[str, Wizard[Any]] = {"gnomes": service.wizard, "gems": service.gem_wizard}
    if sense not in wizards:
        abort(404)
    return wizards[sense]


@setting_up.get("/calibrate/picture")
def live_picture() -> Response:
    """Return what the camera sees now, uncropped: to the host and the shared screen alone, to set it up by."""
    desk.visitor().must_keep_house()
    return _jpeg(desk.desk().service.preview())


@setting_up.get("/calibrate/<sense>/seen")
def refused_picture(sense: str) -> Response:
    """Return the picture that was refused last, to the host and the shared screen alone."""
    desk.visitor().must_keep_house()
    seen = _wizard(sense).seen
    return _jpeg(None if seen is None else seen.jpeg)


def _jpeg(jpeg: bytes | None) -> Response:
    return Response(status=204) if jpeg is None else Response(jpeg, mimetype="image/jpeg")


@setting_up.post("/calibrate/gnomes/learn")
def learn() -> AnyResponse:
    """Begin to learn from the counts that were tapped; the page says what came of it."""
    desk.visitor().must_be_table()
    desk.desk().service.school.begin()
    return done(go="/calibrate")


@setting_up.post("/calibrate/<sense>/<step>")
def take_picture(sense: str, step: str) -> AnyResponse:
    """Take one of a sense's two pictures; a refusal says what to do about it, and shows what was seen."""
    desk.visitor().must_be_table()
    wizard = _wizard(sense)
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
