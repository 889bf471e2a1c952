"""One key, one tap: a key that comes again with something else is a mistake of who sent it, and is said so."""

from __future__ import annotations

import threading
from collections import OrderedDict
from hashlib import sha256

from flask import Flask, Request, Response, request

from companion.errors import Unreadable

HEADER = "Idempotency-Key"
MOST_KEYS = 1000


class Keys:
    """What was sent under the last keys that were taken."""

    def __init__(self, most: int = MOST_KEYS) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._sent: OrderedDict[str, str] = OrderedDict()

    def must_match(self, key: str, sent: str) -> None:
        """Raise Unreadable where something else was taken under this key."""
        with self._lock:
            if self._sent.get(key, sent) != sent:
                raise Unreadable("key_used")

    def took(self, key: str, sent: str) -> None:
        """Remember what was taken under a key; the oldest is forgotten."""
        with self._lock:
            self._sent[key] = sent
            self._sent.move_to_end(key)
            while len(self._sent) > self._most:
                self._sent.popitem(last=False)


def sent_by(asked: Request) -> str:
    """Return what a request sends, in short: its path and its body."""
    return sha256(asked.full_path.encode() + b"\0" + asked.get_data()).hexdigest()


def guard(app: Flask) -> None:
    """Hold every post that carries a key to what was taken under it before."""
    keys = Keys()

    @app.before_request
    def one_tap() -> None:
        if request.method == "POST" and (key := request.headers.get(HEADER)):
            keys.must_match(key, sent_by(request))

    @app.after_request
    def remember(response: Response) -> Response:
        if request.method == "POST" and response.status_code < 400 and (key := request.headers.get(HEADER)):
            keys.took(key, sent_by(request))
        return response
