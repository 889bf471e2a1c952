"""Pages to load, panels that stand in the place of the answer, and the stream."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from flask import Blueprint, Response, abort, make_response, redirect, render_template, request, send_file
from werkzeug.wrappers import Response as AnyResponse

from companion.entries import Player, SeatPlan
from rules.core import TABLE, Game
from rules.registry import GAMES
from web import corrections, desk, mending
from web.answers import asks, counting
from web.regions import page_of
from web.shapes import SHAPES
from web.stream import TooManyStreams
from web.visitors import YEAR_S

pages = Blueprint("pages", __name__)
SEAT_COLOURS = ("red", "blue", "yellow", "green", "white", "black", "orange", "purple")


@pages.get("/")
def start() -> str:
    """Show the start page: count, play, or go on."""
    parts, speech = desk.desk(), desk.speech()
    header = parts.snapshot.header
    aside = [
        {"id": line.id, "title": GAMES[line.game].title, "who": ", ".join(line.names)}
        for line in parts.table.games()
        if line.status == "aside" and line.game in GAMES
    ]
    notices = [speech.say(one) for one in parts.snapshot.notices]
    return render_template(
        "start.html",
        aside=aside[:3],
        notices=notices,
        names=", ".join(header.names) if header else "",
        can_count=parts.service.has_camera or parts.service.shaker is not None,
    )


@pages.post("/choose")
def choose() -> AnyResponse:
    """Keep this device's language, theme or way up."""
    response = redirect(_back())
    for name in ("language", "theme", "flip"):
        if name in request.form:
            response.set_cookie(name, request.form[name][:16], max_age=YEAR_S, samesite="Strict", httponly=True)
    return response


def _back() -> str:
    """Return the page of ours that this post came from."""
    back = request.form.get("back", "/")
    return back if back in ("/", "/table", "/count", "/what", "/join", "/devices", "/calibrate", "/help") else "/"


@pages.get("/play")
def set_up() -> str:
    """Show how a game is set up: seats, colours, who begins, options, money, values."""
    game = GAMES.get(request.args.get("game", "")) or next(iter(GAMES.values()))
    speech = desk.speech()
    colours = sorted(SHAPES, key=lambda colour: (colour not in SEAT_COLOURS, colour))
    return render_template(
        "setup.html",
        game=game,
        games=list(GAMES.values()),
        rows=_rows(game),
        colours=colours,
        players=get_args(Player),
        option_words=speech.option,
        option_value=speech.option,
    )


def _rows(game: Game[Any]) -> list[dict[str, Any]]:
    """Return the seats as they are set up at first: those of the last game, else as many nameless ones as it needs."""
    last = _last_seats()
    if not game.seats[0] <= len(last) <= game.seats[-1]:
        speech = desk.speech()
        last = [SeatPlan(speech.text("player_n", n=at + 1), SEAT_COLOURS[at]) for at in range(game.seats[0])]
    free = [colour for colour in SEAT_COLOURS if colour not in {one.colour for one in last}]
    empty = [SeatPlan("", free[at % len(free)]) for at in range(game.seats[-1] - len(last))]
    return [
        {"at": at, "name": one.name, "colour": one.colour, "player": one.player}
        for at, one in enumerate([*last, *empty])
    ]


def _last_seats() -> list[SeatPlan]:
    """Return who plays in the game on the table, else who played the last one."""
    parts = desk.desk()
    if parts.snapshot.header is not None:
        return list(parts.snapshot.header.seats)
    games = sorted(parts.table.games(), key=lambda line: line.began)
    names = games[-1].names if games else ()
    return [SeatPlan(name, SEAT_COLOURS[at % len(SEAT_COLOURS)]) for at, name in enumerate(names)]


@pages.get("/table")
def table() -> AnyResponse:
    """Show the table to these eyes: the shared screen, a seat's phone, or a spectator's."""
    eyes = desk.sight("table")
    snapshot = desk.desk().snapshot
    shown = desk.desk().regions(eyes)
    if snapshot.game is None or shown is None:
        return redirect("/")
    style = f"/games/{snapshot.game.key}/page.css" if page_of(snapshot.game.key, "page.css") else ""
    return make_response(
        render_template("play.html", title=snapshot.game.title, style=style, number=shown[0], regions=shown[1])
    )


@pages.get("/count")
def count() -> str:
    """Show the last count in large figures; nothing to touch."""
    number, regions = desk.desk().regions(desk.sight("count")) or (0, {})
    return render_template("count.html", number=number, regions=regions)


@pages.get("/games/<game>/page.css")
def style(game: str) -> Response:
    """Return the style of a game's own page."""
    path = page_of(game, "page.css") if game in GAMES else None
    if path is None:
        abort(404)
    return send_file(path, mimetype="text/css", conditional=True)


@pages.get("/evidence/<name>")
def evidence(name: str) -> Response:
    """Return the crop that the open proposal, or the newest count, rests on; no other picture leaves."""
    snapshot = desk.desk().snapshot
    shown = [one.evidence.crop for one in (snapshot.proposal, snapshot.count_reading) if one and one.evidence]
    jpeg = desk.desk().service.crop(name) if name in shown else None
    if jpeg is None:
        abort(404)
    return Response(jpeg, mimetype="image/jpeg")


@pages.get("/stream/<page>")
def stream(page: str) -> Response:
    """Stream these eyes' view of a page."""
    if page not in ("table", "count"):
        abort(404)
    parts = desk.desk()
    try:
        listener = parts.stream.join(desk.sight("table" if page == "table" else "count"), request.remote_addr or "")
    except TooManyStreams:
        abort(503)

    def lines() -> Iterator[bytes]:
        try:
            yield from listener.messages()
        finally:
            parts.stream.leave(listener)

    response = Response(lines(), mimetype="text/event-stream")
    response.headers["X-Accel-Buffering"] = "no"
    return response


@pages.get("/table/pad")
def pad() -> str:
    """Show the number pad: what fell, or what is left in the cup. Who opens it has time: nothing carries itself out."""
    desk.visitor().must_act(TABLE)
    desk.desk().service.hold()
    shown = corrections.now_seen()
    asked = counting(shown)
    return render_template(
        "side_pad.html",
        left=bool(request.args.get("left")),
        asks=asks(shown),
        fingerprint=asked.fingerprint if asked else "",
    )


@pages.get("/table/form")
def form() -> str:
    """Show a form that has to be filled in field by field."""
    return corrections.open_form(request.args.get("gesture", ""))


@pages.get("/table/why/<do>")
def why(do: str) -> str:
    """Show why something cannot be done, and the way to allow it this once."""
    return corrections.why(do, request.args.get("gesture", "[]"), request.args.get("who", ""))


@pages.get("/table/amend/<int:n>")
def amend(n: int) -> str:
    """Show what may stand in the place of a step."""
    return corrections.amend(n, decides=bool(request.args.get("decide")))


@pages.get("/table/mend")
def mend() -> str:
    """Show every countable fact, filled in as the table is, or as a refused action would have made it."""
    desk.visitor().must_act(TABLE)
    filled = {name.removeprefix("fact."): request.args.get(name, type=int) for name in request.args}
    return mending.form({name: value for name, value in filled.items() if value is not None})
