"""Who sends this request: which role, which seat, whether as host. What the cookie's device may do, and no more."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from flask import Request, Response

from companion.errors import NotAllowed
from rules.messages import Seat
from web.addresses import is_from_here
from web.clients import Client, Clients
from web.sights import Page, Role, Sight

COOKIE = "companion_device"
YEAR_S = 365 * 24 * 3600


@dataclass(frozen=True, slots=True)
class Visitor:
    """The device behind one request, as it stands now: a seat of another game only looks on."""

    role: Role
    seat: Seat | None = None
    host: bool = False
    client: Client | None = None

    def by(self, names: Sequence[str]) -> str:
        """Return under which name the journal keeps what this device sends: its player's, or the tablet's."""
        return "tablet" if self.seat is None else names[self.seat]

    def sight(self, page: Page, language: str, game: str | None) -> Sight:
        """Return the kind of eyes through which this device looks at a page."""
        return Sight(page, self.role, language, self.seat, game)

    def must_act(self, who: Seat) -> None:
        """Raise NotAllowed unless this device may act for a seat or for TABLE."""
        if not Sight("table", self.role, "", self.seat).acts_for(who):
            raise NotAllowed("only_looks_on" if self.role == "watch" else "not_your_seat")

    def must_be_table(self) -> None:
        """Raise NotAllowed unless this is a shared screen."""
        if self.role != "table":
            raise NotAllowed("only_on_the_table")

    def must_keep_house(self) -> None:
        """Raise NotAllowed unless this is a shared screen, or a device that gave the host's PIN."""
        if not self.host:
            self.must_be_table()

    def must_be_host(self) -> None:
        """Raise NotAllowed unless this device gave the host's PIN."""
        if not self.host:
            raise NotAllowed("only_the_host")


class Door:
    """Tells who a request comes from, and lets the first device have the table."""

    def __init__(
        self,
        clients: Clients,
        *,
        is_open: bool,
        has_pin: bool,
        game: Callable[[], str | None],
        names: Collection[str] = (),
    ) -> None:
        self.clients = clients
        self._is_open = is_open
        self._has_pin = has_pin
        self._game = game
        self._names = names

    def visitor(self, request: Request) -> Visitor:
        """Return who sends this request."""
        client = self.clients.find(request.cookies.get(COOKIE))
        if client is None or client.role == "watch":
            return Visitor("watch", host=bool(client and client.host), client=client)
        if client.role == "seat" and client.game != self._game():
            return Visitor("watch", client=client)
        host = client.host or (client.role == "table" and not self._has_pin)
        return Visitor(client.role, client.seat, host, client)

    def may_take_table(self, visitor: Visitor, request: Request) -> bool:
        """Say whether a device may become a shared screen without an invitation.

        The first one may, and the machine itself that the companion runs on always may: who sits at it owns the table.
        """
        if is_from_here(request.remote_addr or "", request.host, self._names):
            return True
        taken = any(client.role == "table" for client in self.clients.all())
        return visitor.role == "table" or self._is_open or not taken


def remember(response: Response, credential: str, *, secure: bool) -> None:
    """Give a device its credential."""
    response.set_cookie(COOKIE, credential, max_age=YEAR_S, httponly=True, samesite="Strict", secure=secure)
