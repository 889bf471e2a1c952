"""What every answer and every request is held to: headers, known hosts, posts from our own pages only.

Tablets reach us by plain HTTP, where browsers send no Sec-Fetch-Site: a post is ours when its Origin is the host it
was sent to. A host given as an address cannot be a name turned on us (DNS rebinding); names must be on the list.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Collection
from urllib.parse import urlsplit

from flask import Flask, Response, abort, request

from web.addresses import name_in

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
MOST_BODY = 256 * 1024
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with no-referrer a form of ours would come with Origin null
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


def own_names() -> frozenset[str]:
    """Return the names under which this machine is called at home."""
    name = socket.gethostname().lower().split(".")[0]
    return frozenset({"localhost", name, f"{name}.local"})


def is_known_host(host: str, names: Collection[str]) -> bool:
    """Say whether a Host header names this machine: by an address, or by a name on the list."""
    name = name_in(host)
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name in names
    return True


def is_own_post(origin: str | None, host: str) -> bool:
    """Say whether a post came from one of our own pages, or from a program, which sends no Origin."""
    if origin is None:
        return True
    try:
        return urlsplit(origin).netloc.lower() == host.lower()
    except ValueError:
        return False


def guard(app: Flask, names: Collection[str]) -> None:
    """Hold every request and every answer of this app to the rules above."""
    app.config["MAX_CONTENT_LENGTH"] = MOST_BODY

    @app.before_request
    def known_host_and_own_post() -> None:
        if not is_known_host(request.host, names):
            abort(421)
        if request.method not in SAFE and not is_own_post(request.headers.get("Origin"), request.host):
            abort(403)

    @app.after_request
    def headers(response: Response) -> Response:
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        if not request.path.startswith("/static/"):
            response.headers.setdefault("Cache-Control", "no-store")
        return response
