"""How the table plays from now on: what the tablet does, where the money lies, who plays, which pictures are kept."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, cast, get_args

from flask import Blueprint, Response, render_template, request

from companion.codec import shown
from companion.entries import Depth, MoneyAt, Player, SeatPlan
from companion.errors import Unreadable
from rules.core import Noun
from web import desk
from web.posts import done, number

conduct = Blueprint("conduct", __name__)
Plays: TypeAlias = Literal["here", "left", "random", "greedy"]
"""A seat: its player is here, has left, or the companion plays in one way or the other."""


@conduct.get("/table/more")
def more() -> str:
    """Show what else can be done at the table."""
    snapshot, service = desk.game_on_table(), desk.desk().service
    header = snapshot.header
    assert header is not None  # a game has one
    return render_template(
        "side_more.html",
        depths=_chosen("depth", get_args(Depth), header.depth),
        moneys=_chosen("money", get_args(MoneyAt), header.money),
        has_eye=service.has_camera,
        away=service.watch.away,
    )


def _chosen(what: str, values: tuple[str, ...], now: str) -> list[dict[str, Any]]:
    """Return what may be chosen, in words that begin like a sentence, and which is chosen now."""
    words = {value: desk.speech().noun(f"{what}_{value}") for value in values}
    return [{"value": one, "words": said[:1].upper() + said[1:], "now": one == now} for one, said in words.items()]


@conduct.post("/table/depth")
def depth() -> Response:
    """Count, keep the score, or check every step, from now on."""
    desk.visitor().must_be_table()
    chosen = _one_of("depth", get_args(Depth))
    desk.desk().table.set_depth(cast("Depth", chosen), by=desk.by(), key=desk.key())
    return done()


@conduct.post("/table/money")
def money() -> Response:
    """Keep the money on the tablet or in the box from now on."""
    desk.visitor().must_be_table()
    where = _one_of("where", get_args(MoneyAt))
    desk.desk().table.set_money(cast("MoneyAt", where), by=desk.by(), key=desk.key())
    return done()


@conduct.get("/table/seats")
def seats() -> str:
    """Show for each seat who plays there, and what may change that."""
    desk.visitor().must_be_table()
    header = desk.game_on_table().header
    assert header is not None  # a game has one
    return render_template(
        "side_seats.html", seats=[{"plan": one, "plays": plays(one)} for one in header.seats], ways=get_args(Plays)
    )


def plays(seat: SeatPlan) -> Plays:
    """Return who plays at a seat now."""
    return "left" if seat.away else "here" if seat.player == "person" else seat.player


@conduct.post("/table/seat")
def seat() -> Response:
    """Note that a seat is left, is taken again, or is played by the companion."""
    desk.visitor().must_be_table()
    way, at, key = _one_of("plays", get_args(Plays)), number("seat"), desk.key()
    table, by = desk.desk().table, desk.by()
    if way == "left":
        table.seat_change(at, "left", by=by, key=key)
    elif way == "here" and _has_left(at):
        table.seat_change(at, "back", player="person", by=by, key=key)
    else:
        table.seat_change(at, "player", player="person" if way == "here" else cast("Player", way), by=by, key=key)
    return done()


def _has_left(at: int) -> bool:
    header = desk.game_on_table().header
    return header is not None and 0 <= at < len(header.seats) and header.seats[at].away


@conduct.post("/pictures/forget")
def forget() -> Response:
    """Delete this evening's pictures, or (`all`) every stored one, and say how many there were."""
    desk.visitor().must_keep_house()
    gone = desk.desk().service.forget(0.0 if request.form.get("all") else None)
    if request.form.get("back") == "/devices":
        return done(go=f"/devices?gone={gone}")
    return done(said=desk.speech().text("pictures_gone", n=gone))


@conduct.post("/pictures/learn")
def learn() -> Response:
    """Learn from taps from now on, or keep nothing of them."""
    desk.visitor().must_keep_house()
    desk.desk().service.keep_corrections(bool(request.form.get("on")))
    return done(go="/devices")


def _one_of(name: str, known: tuple[str, ...]) -> str:
    """Return a value that was sent; raises Unreadable for one that is not known."""
    got = request.form.get(name, "")
    if got not in known:
        raise Unreadable("wrong_value", field=name, got=shown(got), wants=Noun("another_value"))
    return got
