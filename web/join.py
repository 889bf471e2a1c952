"""How a device comes to the table: a code or a token from the shared screen, or the host's PIN; and how it goes."""

from __future__ import annotations

import hmac
from typing import Any

import segno
from flask import Blueprint, abort, redirect, render_template, request
from markupsafe import Markup
from werkzeug.wrappers import Response as AnyResponse

from companion.errors import NotAllowed
from rules.core import Who
from web import desk
from web.addresses import for_others
from web.clients import Client, Invitation
from web.posts import done
from web.visitors import remember

joining = Blueprint("joining", __name__)


def qr(text: str) -> Markup:
    """Return a QR code as SVG for a page."""
    return Markup(
        segno.make(text, error="m").svg_inline(
            scale=4, border=3, omitsize=True, svgclass="qr", dark="#000", light="#fff"
        )
    )


@joining.get("/join")
def page() -> str:
    """Show where to type a code; a QR code's token arrives behind the #."""
    return render_template("join.html", has_pin=bool(desk.desk().service.settings.pin))


@joining.post("/join")
def join() -> AnyResponse:
    """Take a device in by its code or token."""
    _try()
    secret = request.form.get("secret", "").replace(" ", "")
    invitation = desk.desk().invitations.take(secret) if secret else None
    if invitation is None:
        raise NotAllowed("wrong_code")
    credential = _admit(invitation)
    response = done(go="/table")
    remember(response, credential, secure=request.is_secure)
    return response


def _admit(invitation: Invitation) -> str:
    parts = desk.desk()
    game = parts.snapshot.game_id if invitation.role == "seat" else None
    return parts.door.clients.admit(invitation.role, seat=invitation.seat, game=game, host=invitation.host)


def _try() -> None:
    if not desk.desk().tries.may(request.remote_addr or ""):
        abort(429)


@joining.post("/pin")
def pin() -> AnyResponse:
    """Make a device host and shared screen by the PIN."""
    _try()
    wanted, given = desk.desk().service.settings.pin, request.form.get("pin", "")
    if not wanted or not hmac.compare_digest(wanted.encode(), given.encode()):
        raise NotAllowed("wrong_pin")
    clients, client = desk.desk().door.clients, desk.visitor().client
    response = done(go="/table")
    if client is not None and client.role == "table":
        clients.make_host(client.key)
    else:
        remember(response, clients.admit("table", host=True), secure=request.is_secure)
    return response


@joining.get("/table/invite")
def invite() -> str:
    """Show a code for each seat, and one for another shared screen."""
    desk.visitor().must_be_table()
    parts, snapshot = desk.desk(), desk.game_on_table()
    seats = range(len(snapshot.header.seats)) if snapshot.header else range(0)
    invitations = [parts.invitations.invite("seat", seat) for seat in seats]
    address = for_others(request.scheme, request.host, parts.listens)
    base = (address or request.host_url.rstrip("/")) + "/join"
    shown = [_shown(one, base) for one in [*invitations, parts.invitations.invite("table")]]
    return render_template("side_invite.html", shown=shown, address=base, is_reached=address is not None)


def _shown(one: Invitation, base: str) -> dict[str, Any]:
    speech = desk.speech()
    words = speech.text("another_table") if one.seat is None else speech.value(Who(one.seat))
    code = f"{one.code[:3]} {one.code[3:]}"
    return {"seat": one.seat, "words": words, "code": code, "qr": qr(f"{base}#{one.token}")}


@joining.get("/devices")
def devices() -> str:
    """Show every device and every screen."""
    parts = desk.desk()
    speech = desk.speech()
    health = [{"ok": one.ok, "words": speech.health(one)} for one in parts.snapshot.devices]
    clients = [_client(one) for one in parts.door.clients.all()]
    service = parts.service
    return render_template(
        "devices.html",
        health=health,
        clients=clients,
        pictures=len(service.evidence),
        corrections=len(service.corrections),
        learns=service.settings.keep_corrections,
        gone=request.args.get("gone", type=int),
    )


def _client(one: Client) -> dict[str, Any]:
    speech, visitor = desk.speech(), desk.visitor()
    here = one.seat is not None and one.game == desk.desk().snapshot.game_id
    key = f"role_{one.role}" if one.role != "seat" or here else "role_seat_other"
    mine = visitor.client is not None and visitor.client.key == one.key
    return {"key": one.key, "words": speech.text(key, who=Who(one.seat or 0)), "mine": mine, "since": one.since}


@joining.post("/devices/remove")
def remove() -> AnyResponse:
    """Send a device away; its page looks on from then on."""
    desk.visitor().must_be_host()
    parts, key = desk.desk(), request.form.get("key", "")
    gone = next((one for one in parts.door.clients.all() if one.key == key), None)
    parts.door.clients.remove(key)
    if gone is not None:
        parts.stream.reload(lambda sight: (sight.role, sight.seat) == (gone.role, gone.seat))
    return redirect("/devices")
