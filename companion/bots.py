"""Acts for the seats that simulated players take, not faster than people can follow."""

from __future__ import annotations

from random import Random

from companion import asking, players
from companion.table import Post, Table
from rules.core import TABLE


class Bots:
    """The simulated players of a table; `pace_ms` is how long each step stands before the next one."""

    def __init__(self, pace_ms: int) -> None:
        self._pace_ms = pace_ms
        self._random = Random()
        self._seen: tuple[int, int] = (-1, 0)

    def act(self, table: Table, now_ms: int) -> None:
        """Act for one seat that waits for it, if it is time."""
        snapshot = table.snapshot
        entries = len(snapshot.entries)
        if self._seen[0] != entries:
            self._seen = (entries, now_ms)
        if snapshot.game is None or snapshot.header is None or snapshot.open or now_ms < self._seen[1] + self._pace_ms:
            return
        if snapshot.header.depth != "referee":
            return
        movers = snapshot.game.turn(snapshot.state).movers
        seats = snapshot.header.seats
        bots = [seat for seat in sorted(movers) if seat != TABLE and seats[seat].player != "person"]
        for seat in bots[:1]:
            player = players.make(snapshot.header.seats[seat].player, self._random)
            action = player.act(snapshot.game, snapshot.state, seat)
            table.submit([Post(seat, action)], key=asking.new_id(), by="companion", eyes=seat)
