"""People at a simulated table: they shake the cup, look at the screen, tap what is right, gather the gnomes again."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from random import Random

from companion import asking, players
from companion.asking import Question
from companion.errors import CompanionError
from companion.proposal import Proposal
from companion.simulated.table import SimulatedTable
from companion.snapshot import Snapshot
from companion.table import Post, Table
from companion.watch import SENSE
from rules.core import TABLE, Refused, Who

log = logging.getLogger(__name__)

PACE_MS = 1500
STEP_S = 0.05


class People:
    """Shakes for every seat that a simulated player takes, and gathers the gnomes after every kept shake.

    They never tell the service what fell: they shake, wait for its proposal, and correct it where it is wrong. What
    the seats then do is the service's to play. With `counts`, an idle table is shaken at too.
    """

    def __init__(
        self,
        table: Table,
        scene: SimulatedTable,
        *,
        now_ms: Callable[[], int],
        seed: int,
        pace_ms: int = PACE_MS,
        counts: bool = False,
    ) -> None:
        self._table, self._scene, self._now_ms = table, scene, now_ms
        self._pace_ms, self._counts = pace_ms, counts
        self._player = players.make("random", Random(seed))
        self._seen: tuple[object, ...] = ()
        self._since_ms = now_ms()
        self._shaken: tuple[object, ...] | None = None
        self._wished = False
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="people", daemon=True)
        self._thread.start()

    def shake(self, count: int | None = None) -> int:
        """Shake the cup and return how many fell, which nobody tells the service."""
        self._shaken = _taken(self._table.snapshot)
        return self._scene.shake(count)

    def wish(self) -> None:
        """Ask them to shake as soon as the tray is ready; they gather first what still lies there."""
        self._wished = True

    def close(self) -> None:
        """Leave the table."""
        self._closing.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._closing.wait(STEP_S):
            try:
                self.step()
            except (CompanionError, Refused) as error:
                log.info("somebody else was quicker: %s", error)
            except Exception:
                log.exception("a simulated person gave up a move")

    def step(self) -> None:
        """Do the next thing, once everybody could see the last one."""
        snapshot = self._table.snapshot
        if self._wished:
            self._fulfil(snapshot)
            return
        seen = (*_taken(snapshot), snapshot.proposal and snapshot.proposal.id, self._shaken)
        if seen != self._seen:
            self._seen, self._since_ms = seen, self._now_ms()
        if self._now_ms() - self._since_ms < self._pace_ms:
            return
        if self._shaken is None and _is_ready(snapshot):
            self._begin(snapshot)
        elif self._shaken not in (None, _taken(snapshot)):
            self._scene.gather()
            self._shaken = None
        elif snapshot.proposal is not None and _is_simulated(snapshot, asking.question(snapshot, SENSE)):
            self._confirm(snapshot.proposal)

    def _fulfil(self, snapshot: Snapshot) -> None:
        if self._shaken == _taken(snapshot):  # what was shaken is still being counted: one shake is enough
            self._wished = False
        elif self._scene.in_tray:
            self._scene.gather()
        elif _is_ready(snapshot):
            self._wished = False
            self.shake()

    def _begin(self, snapshot: Snapshot) -> None:
        """Shake for a simulated player; answer the table's other questions where nobody else sits there."""
        asked = asking.question(snapshot, SENSE)
        if asking.is_counting(snapshot):
            if self._counts:
                self.shake()
        elif _is_simulated(snapshot, asked):
            self.shake()
        elif asked is None and snapshot.header is not None and snapshot.game is not None and not snapshot.open:
            nobody = all(seat.player != "person" for seat in snapshot.header.seats)
            if nobody and TABLE in snapshot.game.turn(snapshot.state).movers:
                action = self._player.act(snapshot.game, snapshot.state, TABLE)
                self._table.submit([Post(TABLE, action)], key=asking.new_id(), by="people")

    def _confirm(self, proposal: Proposal) -> None:
        """Tap the count that fell, whatever the camera made of it."""
        crop = None if proposal.evidence is None else proposal.evidence.crop
        action = {"do": proposal.do, proposal.field: self._scene.in_tray}
        self._table.submit([Post(TABLE, action, evidence=crop)], key=asking.new_id(), by="people")


def _taken(snapshot: Snapshot) -> tuple[object, ...]:
    """What changes when a shake was kept, or counted where no game is played."""
    if asking.is_counting(snapshot):
        return ("counted", snapshot.count_reading and snapshot.count_reading.id)
    return (snapshot.game_id, len(snapshot.entries))


def _is_ready(snapshot: Snapshot) -> bool:
    """Whether the screen says that the camera saw the tray empty; without a camera nobody waits for it."""
    return all(device.ok and device.says.key == "ready" for device in snapshot.devices)


def _is_simulated(snapshot: Snapshot, asked: Question | None) -> bool:
    """Whether it is a simulated player's turn to shake."""
    who = None if asked is None else asked.choice.about.get("who")
    return isinstance(who, Who) and snapshot.header is not None and snapshot.header.seats[who.seat].player != "person"
