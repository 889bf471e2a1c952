"""What is this, how many like it, how does the market stand: one tap, one large answer, no game needed."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, abort, render_template

from companion.asking import is_counting
from companion.glancing import KINDS, Glance, Kind
from companion.naming import colour_named, named
from web import desk
from web.drawing import bare_mark, drawn
from web.posts import done

looks = Blueprint("looks", __name__)


@looks.get("/what", defaults={"kind": "what"})
@looks.get("/count/<kind>")
def page(kind: str) -> str:
    """Show the newest answer of a kind while it is fresh, else what to do."""
    known = _known(kind)
    service = desk.desk().service
    seen = service.glanced(known) if _may_look() else None
    evidence = None if seen is None or seen.evidence is None else drawn(seen.evidence, seen.jpeg, f"/seen/{kind}/")
    return render_template(
        "look.html",
        kind=kind,
        address=_address(kind),
        has_camera=service.has_camera,
        may_look=_may_look(),
        seen=seen,
        answer=seen and _answer(seen),
        evidence=evidence,
        bare_mark=bare_mark,
        kinds=[(one, _address(one)) for one in KINDS if service.knows(one)],
    )


@looks.post("/what", defaults={"kind": "what"})
@looks.post("/count/<kind>")
def look(kind: str) -> Response:
    """Look at what lies there now; what cannot be read is the answer, too."""
    known = _known(kind)
    if not _may_look():
        desk.visitor().must_be_table()
    desk.desk().service.glance(known)
    return done(go=_address(kind))


@looks.get("/seen/<kind>/<name>")
def picture(kind: str, name: str) -> Response:
    """Return the picture of an answer that is shown, to whom it is shown."""
    seen = desk.desk().service.glanced(_known(kind)) if _may_look() else None
    if seen is None or seen.evidence is None or seen.evidence.crop != name:
        abort(404)
    return Response(seen.jpeg, mimetype="image/jpeg")


def _known(kind: str) -> Kind:
    if kind not in KINDS:
        abort(404)
    return kind


def _may_look() -> bool:
    """A camera looks behind screens: while a game is played, only the tablet in the middle asks."""
    return is_counting(desk.desk().snapshot) or desk.visitor().role == "table"


def _address(kind: str) -> str:
    return "/what" if kind == "what" else f"/count/{kind}"


def _answer(seen: Glance) -> dict[str, Any]:
    """Put an answer into words, with the shape of each colour."""
    words, speech = desk.speech().words, desk.speech()
    if seen.refused is not None:
        return {"refused": speech.trouble(seen.refused)}
    found = seen.answer
    sure = speech.text("glance_sure") if seen.sure else speech.text("glance_not_sure")
    if seen.kind == "what":
        maybe = "" if seen.sure else speech.text("glance_maybe", what=named(words, found["other"]))
        shape = "" if found["shape"] == "piece" else named(words, f"shape_{found['shape']}")
        colour = named(words, found["colour"])
        return {
            "colour": found["colour"],
            "word": colour[:1].upper() + colour[1:],
            "shape": shape,
            "sure": maybe or sure,
        }
    if seen.kind == "market":
        rows = [{"name": named(words, name), **row} for name, row in found["market"].items()]
        return {"market": rows, "sure": sure}
    colours = [(one, n, colour_named(words, one)) for one, n in found["by_colour"].items() if n]
    return {"n": found["n"], "colours": colours, "sure": sure}
