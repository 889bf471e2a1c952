"""One shape for everything that did not work: what happened in words, its code, and the fresh view where it went stale.

`{"ok": false, "error": words, "code": code, "status": number, "values": {...}}`, as a page for who wants a page.
"""

from __future__ import annotations

import logging
from typing import Any

from flask import Flask, Response, g, jsonify, make_response, render_template, request
from werkzeug.exceptions import HTTPException

from companion.codec import value_to_data
from companion.errors import CompanionError, NoGame, NotAllowed, Stale, Undecided, Unreadable
from rules.core import Refused
from web import desk

log = logging.getLogger(__name__)

STATUSES: dict[type[CompanionError], int] = {
    Stale: 409,
    Undecided: 409,
    NotAllowed: 403,
    NoGame: 404,
    Unreadable: 422,
}
HTTP_CODES = {
    400: "bad_request",
    403: "foreign_page",
    404: "not_found",
    405: "wrong_method",
    413: "too_large",
    415: "bad_request",
    421: "foreign_host",
    429: "too_many_tries",
    503: "too_many_streams",
}


def body(status: int, code: str, words: str, **more: Any) -> dict[str, Any]:
    """Return the one shape."""
    return {"ok": False, "error": words, "code": code, "status": status, **more}


def answer(status: int, code: str, words: str, **more: Any) -> Response:
    """Return a failure to whom it may concern: a page for a browser that loads one, else the one shape."""
    if (
        request.method == "GET"
        and request.accept_mimetypes.best == "text/html"
        and not request.headers.get("HX-Request")
    ):
        page = render_template("failure.html", words=words)
        return make_response(page, status)
    return make_response(jsonify(body(status, code, words, **more)), status)


def status_of(error: CompanionError) -> int:
    """Return the HTTP status of what the companion cannot do."""
    known = next((status for kind, status in STATUSES.items() if isinstance(error, kind)), None)
    return known or (503 if isinstance(error, OSError) else 422)


def of_companion(error: CompanionError) -> Response:
    """Answer what the companion cannot do; who tapped something stale gets the fresh view with it.

    A view that has more to show about a refusal than words says where (`g.go`).
    """
    more: dict[str, Any] = {"values": value_to_data(error.values)}
    if "go" in g:
        more["go"] = g.go
    if isinstance(error, Stale | Undecided) and (shown := desk.desk().regions(desk.sight("table"))):
        more |= {"number": shown[0], "regions": shown[1]}
    words = desk.speech().say(error)
    if error.code == "ask_the_table" and desk.visitor().role == "table":
        more["html"] = render_template("ask_undo.html", what=desk.speech().value(error.values.get("what")))
    return answer(status_of(error), error.code, words, **more)


def of_rules(error: Refused) -> Response:
    """Answer what the rules refuse: what, why by which rule, and the way to allow it this once."""
    refusal = error.refusal
    words = desk.speech().say(refusal)
    return answer(422, refusal.code, words, rule=refusal.rule, values=value_to_data(refusal.values))


def of_http(error: HTTPException) -> Response:
    """Answer what never reached the table."""
    status = error.code or 500
    code = HTTP_CODES.get(status, "went_wrong")
    return answer(status, code, desk.speech().text(code))


def of_bug(error: Exception) -> Response:
    """Answer a mistake of ours: said once in the log, in full, and to the reader in plain words."""
    log.exception("A request failed: %s %s", request.method, request.path, exc_info=error)
    return answer(500, "went_wrong", desk.speech().text("went_wrong"))


def of_depth(_: RecursionError) -> Response:
    """Answer a body that is nested deeper than anything of ours."""
    return answer(400, "bad_request", desk.speech().text("bad_request"))


def install(app: Flask) -> None:
    """Let every failure of this app be answered in the one shape."""
    app.register_error_handler(CompanionError, of_companion)
    app.register_error_handler(Refused, of_rules)
    app.register_error_handler(HTTPException, of_http)
    app.register_error_handler(RecursionError, of_depth)
    app.register_error_handler(Exception, of_bug)
