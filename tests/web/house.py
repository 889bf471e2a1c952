"""A house for tests of the pages: a service, its app, devices that came in, and taps as the pages send them."""

from __future__ import annotations

import html
import itertools
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from companion.entries import SeatPlan
from companion.service import Service
from companion.settings import Settings
from web.app import close, create_app
from web.desk import desk_of

GAME = "schuettels"
SEATS = (SeatPlan("Anna", "red"), SeatPlan("Ben", "blue"), SeatPlan("Carla", "yellow"))
COUNTS = ("/table/count", "/table/left")
_keys = itertools.count()


class Clock:
    """A clock that only the test moves."""

    def __init__(self) -> None:
        self.ms = 0

    def __call__(self) -> int:
        return self.ms


@dataclass
class Device:
    """One browser: its cookies, and posts with a fresh Idempotency-Key as its pages send them."""

    client: FlaskClient
    language: str = "en"

    def get(self, path: str, **headers: str) -> TestResponse:
        return self.client.get(path, headers={"Accept-Language": self.language, **headers})

    def post(self, path: str, form: Mapping[str, Any] | None = None, *, key: str = "", **headers: str) -> TestResponse:
        if path in COUNTS and "fingerprint" not in (form or {}):
            form = {**(form or {}), "fingerprint": self.asks()}
        sent = {"Idempotency-Key": key or f"tap-{next(_keys)}", "HX-Request": "true", "Accept-Language": self.language}
        return self.client.post(path, data=dict(form or {}), headers={**sent, **headers})

    def send(self, path: str, body: object, *, key: str = "") -> TestResponse:
        return self.client.post(path, json=body, headers={"Idempotency-Key": key or f"tap-{next(_keys)}"})

    def asks(self) -> str:
        """Return the fingerprint of the form by which the table is asked for a count."""
        choices = self.get("/api/choices?who=-1").get_json().get("choices", {}).get("-1", {})
        return str(choices.get("shake", {}).get("fingerprint", "none"))

    def table(self) -> str:
        return self.get("/table").get_data(as_text=True)

    def gestures(self) -> list[list[dict[str, Any]]]:
        """Return every gesture that the page of the table offers, as it would be posted."""
        found = re.findall(r'hx-vals="([^"]*gesture[^"]*)"', self.table())
        return [json.loads(json.loads(html.unescape(one))["gesture"]) for one in found]

    def tap(self, *dos: str) -> TestResponse:
        """Tap the gesture of these deeds that the bar offers: the last one of the page."""
        gesture = [one for one in self.gestures() if [step["action"]["do"] for step in one] == list(dos)][-1]
        return self.post("/table/act", {"gesture": json.dumps(gesture)})


@dataclass
class House:
    """A service and its app."""

    service: Service
    app: Flask
    clock: Clock
    devices: list[Device] = field(default_factory=list)

    def device(self, language: str = "en", *, at: str = "") -> Device:
        """Return a browser that was never here; `at` is its address where it is not on this machine."""
        device = Device(self.app.test_client(), language)
        if at:
            device.client.environ_base["REMOTE_ADDR"] = at
        self.devices.append(device)
        return device

    def tablet(self) -> Device:
        """Return the shared screen, with a game on it."""
        device = self.device()
        if self.service.table.snapshot.game is None:
            self.begin()
        assert device.post("/table/take").status_code == 302
        return device

    def phone(self, seat: int) -> Device:
        """Return a phone that joined a seat by its code."""
        device = self.device()
        code = desk_of(self.app).invitations.invite("seat", seat).code
        assert device.post("/join", {"secret": code}).status_code == 200
        return device

    def begin(self, sheet: Any = "house", **more: Any) -> str:
        return self.service.table.begin(GAME, SEATS, sheet=sheet, **more)

    def play(self, *counts: int) -> None:
        """Shake these counts and place a good where something is to be decided."""
        tablet = next((one for one in self.devices if 'id="undo"' in one.table() or "n-8" in one.table()), None)
        tablet = tablet or self.tablet()
        for count in counts:
            assert tablet.post("/table/count", {"n": count}).status_code == 200
            dos = [[step["action"]["do"] for step in one] for one in tablet.gestures()]
            assert tablet.tap(*(["shake", "place"] if ["shake", "place"] in dos else ["shake"])).status_code == 200

    @property
    def state(self) -> Any:
        return self.service.table.snapshot.state


@contextmanager
def house(
    folder: Path, *, is_open: bool = False, settings: Settings | None = None, listens: str = ""
) -> Iterator[House]:
    """Open a house in a folder."""
    clock = Clock()
    service = Service(replace(settings or Settings()), folder, now_ms=clock)
    app = create_app(service, is_open=is_open, listens=listens)
    app.testing = True
    app.config["PROPAGATE_EXCEPTIONS"] = False
    try:
        yield House(service, app, clock)
    finally:
        close(app)
        service.close()
