"""The HTTP API: the table as these eyes may know it, what may be done, and doing it.

The schema stands at /api/openapi.json.
"""

from __future__ import annotations

from typing import Any, Literal

from flask import Response, current_app, jsonify, make_response
from flask_openapi3.blueprint import APIBlueprint
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from companion import codec
from companion.view import Line, Offer, Seen, seen
from rules.core import TABLE, Result
from rules.registry import GAMES
from web import desk, failures, posts

WHOLE = 2**31
"""Numbers beyond this are no seats, counts or entries."""


class Failure(BaseModel):
    """What did not work: in words, by code, and whatever helps to go on."""

    model_config = ConfigDict(extra="allow")
    ok: Literal[False]
    error: str
    code: str
    status: int


class Strict(BaseModel):
    """Takes what it names and nothing else."""

    model_config = ConfigDict(extra="forbid")


class Key(BaseModel):
    """The id of one tap: the same twice acts once."""

    idempotency_key: str = Field(
        alias="Idempotency-Key", min_length=1, max_length=desk.LONGEST_KEY, pattern=r"^[\x21-\x7e]+$"
    )


class Step(Strict):
    """One step of a gesture, as a choice offered it."""

    who: int = Field(ge=-1, le=WHOLE, description="A seat from 0, or -1 for what happened on the table")
    action: dict[str, Any] = Field(description="`do` and the fields of the action")
    fingerprint: str = Field(description="The fingerprint of the choice that was filled in")


class Gesture(Strict):
    """Steps that are kept all or not at all, and undone as one."""

    steps: list[Step] = Field(min_length=1, max_length=16)


class Undo(Strict):
    """Take back the last gesture; `asked` says that the table was asked and agrees."""

    asked: bool = False
    why: str = Field("", max_length=200)


class Amend(Strict):
    """Put another action in the place of an entry."""

    n: int = Field(ge=0, le=WHOLE)
    action: dict[str, Any]
    why: str = Field("", max_length=200)


class Decide(Strict):
    """Say what becomes of the first step that a correction left open."""

    n: int = Field(ge=0, le=WHOLE)
    how: Literal["keep", "change", "drop"]
    action: dict[str, Any] | None = None


class Count(Strict):
    """A count that a person typed: what fell, or what is left in the cup."""

    fingerprint: str = Field(description="The fingerprint of the choice that asks for the count")
    fell: int | None = Field(None, ge=-WHOLE, le=WHOLE)
    left: int | None = Field(None, ge=-WHOLE, le=WHOLE)


class Whose(Strict):
    """Whose choices: all of them where it is left out."""

    who: int | None = Field(None, ge=-1, le=WHOLE)


REFUSED = dict.fromkeys((400, 403, 404, 409, 413, 415, 421, 422, 429, 503), Failure)
api = APIBlueprint(
    "api", __name__, url_prefix="/api", abp_responses={str(code): kind for code, kind in REFUSED.items()}
)


def unreadable(error: ValidationError) -> Response:
    """Answer a body or a header that does not read, in the one shape."""
    first = error.errors()[0]
    field = ".".join(map(str, first["loc"])) or "body"
    words = desk.speech().text("bad_field", field=field)
    return make_response(jsonify(failures.body(422, "bad_field", words, field=field)), 422)


@api.get("/openapi.json", doc_ui=False)
def schema() -> Response:
    """Return the schema of this API."""
    return jsonify(current_app.api_doc)  # type: ignore[attr-defined]


@api.get("/health")
def health() -> Response:
    """Say whether the table stands and how the devices are."""
    snapshot = desk.desk().snapshot
    devices = [{"name": one.name, "ok": one.ok, "words": desk.speech().health(one)} for one in snapshot.devices]
    return jsonify({"ok": True, "number": snapshot.number, "devices": devices, "streams": len(desk.desk().stream)})


@api.get("/games")
def games() -> Response:
    """Return the games that can be played and those of the journal."""
    known = [
        {
            "game": game.key,
            "title": game.title,
            "seats": [game.seats[0], game.seats[-1]],
            "options": {
                name: {"values": list(one.values), "default": one.default} for name, one in game.options.items()
            },
        }
        for game in GAMES.values()
    ]
    kept = [
        {"id": one.id, "game": one.game, "names": list(one.names), "status": one.status, "began": one.began}
        for one in desk.desk().table.games()
    ]
    return jsonify({"ok": True, "games": known, "kept": kept})


def _seen() -> Seen:
    return seen(desk.game_on_table(), desk.sight("table").eyes)


@api.get("/state")
def state() -> Response:
    """Return the table as these eyes may know it."""
    shown, header = _seen(), desk.game_on_table().header
    assert shown.turn is not None  # there is a game
    assert header is not None
    return jsonify(
        {
            "ok": True,
            "number": shown.number,
            "game": header.game,
            "seats": [{"name": one.name, "colour": one.colour, "player": one.player} for one in header.seats],
            "turn": {"phase": shown.turn.phase, "movers": sorted(shown.turn.movers), "may": sorted(shown.turn.may)},
            "facts": codec.value_to_data(shown.facts),
            "log": [_line(one) for one in shown.log],
            "open": [{"n": one.n, "who": one.who, "message": codec.value_to_data(one.message)} for one in shown.open],
            "moves": codec.value_to_data(shown.moves),
            "result": _result(shown.result),
        }
    )


def _line(line: Line) -> dict[str, Any]:
    message = codec.value_to_data(line.message)
    return {
        "n": line.n,
        "gesture": line.gesture,
        "status": line.status,
        "message": message,
        "words": desk.speech().say(line.message),
    }


def _result(result: Result | None) -> dict[str, Any] | None:
    if result is None:
        return None
    return {"end": result.end, "scores": list(result.scores), "winners": list(result.winners)}


@api.get("/choices")
def choices(query: Whose) -> Response:
    """Return what may be done now, each form with its fingerprint, and why the rest may not."""
    offers = _seen().offers
    actors = list(offers) if query.who is None else [query.who]
    listed = {str(who): {do: _offer(one) for do, one in offers.get(who, {}).items()} for who in actors}
    return jsonify({"ok": True, "choices": listed})


def _offer(offer: Offer) -> dict[str, Any]:
    if offer.choice is None:
        return {"refused": offer.refusal and codec.refusal_to_data(offer.refusal)}
    return {"form": codec.choice_to_data(offer.choice), "fingerprint": offer.fingerprint}


@api.post("/act")
def act(header: Key, body: Gesture) -> Response:
    """Keep one gesture."""
    return posts.submit([step.model_dump() for step in body.steps])


@api.post("/undo")
def undo(header: Key, body: Undo) -> Response:
    """Take back the last gesture."""
    visitor = desk.visitor()
    visitor.must_act(TABLE)
    if body.asked:
        visitor.must_be_table()
    key = header.idempotency_key
    kept = desk.desk().table.undo(by=desk.by(), key=key, why=body.why, seat=visitor.seat, asked=body.asked)
    return posts.done(number=kept.number)


@api.post("/amend")
def amend(header: Key, body: Amend) -> Response:
    """Put another action in the place of an entry."""
    visitor = desk.visitor()
    visitor.must_act(TABLE)
    kept = desk.desk().table.amend(body.n, body.action, by=desk.by(), key=header.idempotency_key, why=body.why)
    return posts.done(number=kept.number)


@api.post("/decide")
def decide(header: Key, body: Decide) -> Response:
    """Decide the first step that a correction left open."""
    visitor = desk.visitor()
    visitor.must_act(TABLE)
    kept = desk.desk().table.decide(body.n, body.how, body.action, by=desk.by(), key=header.idempotency_key)
    return posts.done(number=kept.number)


@api.post("/count")
def count(body: Count) -> Response:
    """Propose a count that a person typed."""
    desk.visitor().must_act(TABLE)
    posts.must_be_asked(body.fingerprint)
    service = desk.desk().service
    if body.left is not None:
        service.left_in_cup(body.left)
    else:
        service.type_count(-1 if body.fell is None else body.fell)
    return posts.done()
