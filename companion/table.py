"""The table: one writer. It checks, commits, then publishes; everything else reads snapshots."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from companion import codec, gestures
from companion.entries import (
    Depth,
    DepthChange,
    Header,
    MoneyAt,
    MoneyChange,
    Player,
    SeatChange,
    SeatPlan,
    body_to_json,
    header_from_json,
    header_to_json,
)
from companion.errors import CompanionError, NoGame, Unreadable
from companion.fold import Folded, begin
from companion.gestures import Filled, Gesture, How, Post
from companion.journal import GameRow, Journal, Row, Status
from companion.playing import Playing, opened, snapshot_of, state_row
from companion.proposal import Device, Proposal
from companion.seating import check_change, checked_seats, table_options
from companion.sheets import SheetStore, box_sheet, house_sheet
from companion.snapshot import Snapshot
from companion.stream import WAIT_S, Bell, Subscription
from rules.core import Game, Message, Refused, Seat, Setup, Sheet
from rules.registry import GAMES

__all__ = ["GameLine", "Kept", "Post", "SeatPlan", "Table"]

log = logging.getLogger(__name__)

MEND = "mend"
"""The `do` that every game has for setting right what lies on the table."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The answer to a gesture: its number, its entries, the snapshot that shows it; `again` if it was kept before."""

    number: int
    gesture: int
    entries: tuple[int, ...]
    again: bool = False


@dataclass(frozen=True, slots=True)
class GameLine:
    """One game of the journal in a list: its id, what is played, by whom, since when, and how it stands."""

    id: str
    game: str
    names: tuple[str, ...]
    status: Literal["open", "aside", "finished"]
    began: str


class Table:
    """One live table on one journal. Every method may be called from any thread; `snapshot` never blocks.

    `now_ms` is the clock that proposals run on, `wall` says what to write as date and time. After a power cut the open
    game stands there again. Refused is raised for what the rules refuse, CompanionError for the rest.
    """

    def __init__(
        self,
        journal: Journal,
        *,
        now_ms: Callable[[], int],
        wall: Callable[[], str],
        store: SheetStore | None = None,
        games: Mapping[str, Game[Any]] = GAMES,
    ) -> None:
        self.now_ms = now_ms
        self._journal = journal
        self._wall = wall
        self._store = store
        self._games = games
        self._lock = threading.RLock()
        self._bell = Bell()
        self._playing: Playing | None = None
        self._proposal_from = 0
        self._snapshot = Snapshot(0, notices=() if journal.recovered is None else (journal.recovered,))
        self._open_last()

    @property
    def snapshot(self) -> Snapshot:
        """The table as it is now; never None, never half-made."""
        return self._snapshot

    def subscribe(self, *, after: int | None = None, wait_s: float = WAIT_S) -> Subscription:
        """Return a waiting line for snapshot numbers after `after` (None: from now on)."""
        return Subscription(self._bell, after=self._bell.number if after is None else after, wait_s=wait_s)

    def begin(
        self,
        key: str,
        seats: Sequence[SeatPlan],
        *,
        first: Seat = 0,
        options: Mapping[str, str] | None = None,
        sheet: Literal["box", "house"] = "box",
        money: MoneyAt = "tablet",
        depth: Depth = "referee",
        request: str | None = None,
    ) -> str:
        """Begin a game and return its id; the game before it is put aside. The same `request` twice begins one game.

        Raises Refused for what the game does not take, Unreadable for names, colours or an unknown game.
        """
        if request is not None and (known := self._begun(request)) is not None:
            return known
        game = self._game(key)
        full = table_options(game, options or {}, at_table=sheet == "box")
        values = house_sheet(key) if sheet == "house" else self._box(key)
        setup = game.setup(Setup(len(seats), first, full, values))
        at = self._wall()
        header = Header(
            key, game.rules, checked_seats(seats), first, setup.options, values, sheet, money, depth, began=at
        )
        begin(game, header)
        with self._lock:
            self._clear()
            game_id = self._journal.begin(header_to_json(header), key=request or f"{at} {self._fresh()}", at_wall=at)
            self._lay_out(self._journal.game(game_id))
        return game_id

    def open_game(self, game_id: str) -> None:
        """Put a game of the journal on the table; the one that lies there is put aside. Raises NoGame, Unreadable."""
        with self._lock:
            row = self._journal.game(game_id)
            playing, lost = opened(self._journal, row, self._games, self._wall())
            self._clear()
            self._journal.set_status(game_id, "open")
            self._show_game(playing, () if lost is None else (lost,))

    def put_aside(self) -> None:
        """Clear the table; the game stays in the journal."""
        with self._lock:
            self._clear()
            self._show(Snapshot(0, devices=self._snapshot.devices, notices=self._snapshot.notices))

    def games(self) -> list[GameLine]:
        """Return the games of the journal, newest first."""
        with self._lock:
            over = self._snapshot.game_id if self._snapshot.result is not None else None
            return [_line(row, is_over=row.id == over) for row in self._journal.games()]

    def submit(self, posts: Sequence[Post], *, key: str, by: str, eyes: Seat | None = None) -> Kept:
        """Keep one gesture of one or more actions, all or nothing, in one undo; returns when it is on the disk.

        Each fingerprint is compared with the offer to `eyes` in the state before its action. The same `key` twice
        returns the first answer. While steps are open, the gesture is laid before the first of them, and the open
        ones are tried again in order. Raises Stale, Refused, Unreadable, NoGame, JournalFull.
        """
        made = self._made(by, eyes)
        return self._gesture(key, lambda playing: gestures.acted(playing, posts, made))

    def undo(
        self, *, by: str, key: str, why: str = "", seat: Seat | None = None, asked: bool = False,
        eyes: Seat | None = None,
    ) -> Kept:  # fmt: skip
        """Take back the newest gesture. Free for who made it (`by`, or their `seat`) if nothing was revealed.

        Otherwise raises NotAllowed until the table was `asked` and said yes; who and why stay in the log.
        """
        made = self._made(by, eyes)

        def undone(playing: Playing) -> Folded:
            return gestures.undone(playing, self._snapshot.undo, made, why=why, seat=seat, asked=asked)

        return self._gesture(key, undone, corrects=True)

    def amend(self, n: int, action: Filled, *, by: str, key: str, why: str = "", eyes: Seat | None = None) -> Kept:
        """Put another action in the place of entry `n`. Later steps stand as long as they are still offered; from the
        first that is not, all are left `open` to be decided. Raises Refused where the action was not offered then.
        """
        made = self._made(by, eyes)
        return self._gesture(key, lambda playing: gestures.amended(playing, n, action, made, why=why), corrects=True)

    def decide(
        self, n: int, how: How, action: Filled | None = None, *, by: str, key: str, eyes: Seat | None = None
    ) -> Kept:
        """Say what becomes of the first open step: keep it, change it to `action`, or drop it.

        Raises Refused where what would stand is not offered, Stale where another step comes first.
        """
        made = self._made(by, eyes)
        return self._gesture(key, lambda playing: gestures.decided(playing, n, how, action, made), corrects=True)

    def keep_rest(self, *, by: str, key: str, eyes: Seat | None = None) -> Kept:
        """Keep the open steps in order, up to the first that is no longer offered as it was.

        Raises Refused if it is the first.
        """
        made = self._made(by, eyes)
        return self._gesture(key, lambda playing: gestures.kept_rest(playing, made), corrects=True)

    def drop_rest(self, *, by: str, key: str, eyes: Seat | None = None) -> Kept:
        """Drop every open step: the game goes on from what stands. Raises NoGame where none is open."""
        made = self._made(by, eyes)
        return self._gesture(key, lambda playing: gestures.dropped_rest(playing, made), corrects=True)

    def seat_change(
        self, seat: Seat, how: Literal["left", "back", "player"], *, by: str, key: str, player: Player | None = None,
        name: str | None = None,
    ) -> Kept:  # fmt: skip
        """Note that a seat is left, is taken again, or is played by another."""
        return self._note(SeatChange(seat, how, by, player, name), key)

    def set_depth(self, depth: Depth, *, by: str, key: str) -> Kept:
        """Count, score or referee from here on."""
        return self._note(DepthChange(depth, by), key)

    def set_money(self, where: MoneyAt, *, by: str, key: str) -> Kept:
        """Keep the money on the tablet or in the box from here on."""
        return self._note(MoneyChange(where, by), key)

    def propose(self, proposal: Proposal | None) -> bool:
        """Show what a sense thinks happened, or nothing any more; returns False for what comes too late."""
        with self._lock:
            if proposal is not None and proposal.number < self._proposal_from:
                return False
            if proposal != self._snapshot.proposal:
                self._show(replace(self._snapshot, proposal=proposal))
            return True

    def counted(self, reading: Proposal | None) -> None:
        """Show the newest count where no game is played."""
        with self._lock:
            self._show(replace(self._snapshot, count_reading=reading))

    def set_devices(self, devices: Sequence[Device]) -> None:
        """Show the health of the devices; wakes nobody where it is what it was."""
        with self._lock:
            if tuple(devices) != self._snapshot.devices:
                self._show(replace(self._snapshot, devices=tuple(devices)))

    def notice(self, notices: Sequence[Message]) -> None:
        """Show what everyone should know, such as a journal that was restored."""
        with self._lock:
            self._show(replace(self._snapshot, notices=tuple(notices)))

    def close(self) -> None:
        """End all subscriptions and close the journal."""
        self._bell.close()
        with self._lock:
            self._journal.close()

    def _open_last(self) -> None:
        row = next((row for row in self._journal.games() if row.status == "open"), None)
        if row is None:
            return
        try:
            self._lay_out(row)
        except (CompanionError, Refused) as error:
            log.error("the open game %s cannot be laid out: %s", row.id, error)
            self.notice((*self._snapshot.notices, Message("game_not_opened", {"got": row.id})))

    def _clear(self) -> None:
        """Put the game on the table away: over or not, the journal keeps it."""
        if self._playing is not None:
            self._journal.set_status(self._playing.id, "aside" if self._snapshot.result is None else "finished")
        self._playing = None

    def _lay_out(self, row: GameRow) -> None:
        playing, lost = opened(self._journal, row, self._games, self._wall())
        self._show_game(playing, () if lost is None else (lost,))

    def _game(self, key: str) -> Game[Any]:
        if key not in self._games:
            raise Unreadable("unknown_game", got=codec.shown(key), known=tuple(self._games))
        return self._games[key]

    def _box(self, key: str) -> Sheet:
        return box_sheet(key) if self._store is None else self._store.box(key)

    def _begun(self, request: str) -> str | None:
        with self._lock:
            return self._journal.begun(request)

    def _fresh(self) -> int:
        return len(self._journal.games())

    def _on_table(self) -> Playing:
        if self._playing is None:
            raise NoGame("no_game_on_table")
        return self._playing

    def _made(self, by: str, eyes: Seat | None = None) -> Gesture:
        return Gesture(by, self._wall(), eyes)

    def _note(self, body: SeatChange | DepthChange | MoneyChange, key: str) -> Kept:
        made = self._made(body.by)

        def noted(playing: Playing) -> Folded:
            checked = codec.from_data(type(body), codec.to_data(type(body), body))
            if isinstance(checked, SeatChange):
                check_change(playing.folded.header.seats, checked)
            return gestures.laid(playing, [checked], made)

        return self._gesture(key, noted)

    def _gesture(self, key: str, make: Callable[[Playing], Folded], *, corrects: bool = False) -> Kept:
        """Make a gesture, commit what the fold has more than the journal, then show it; once for each key."""
        with self._lock:
            playing = self._on_table()
            if key in playing.keys:
                gesture = playing.keys[key]
                entries = tuple(entry.n for entry in playing.folded.entries if entry.gesture == gesture)
                return Kept(self._snapshot.number, gesture, entries, again=True)
            folded = make(playing)
            new = folded.entries[len(playing.folded.entries) :]
            rows = [Row(e.n, e.gesture, e.body.kind, body_to_json(e.body), key, e.at_wall) for e in new]
            self._commit(playing, folded, rows)
            after = _after(playing, folded, key, corrects)
            self._learn(playing, after)
            self._show_game(after)
            return Kept(self._snapshot.number, new[0].gesture, tuple(entry.n for entry in new))

    def _commit(self, playing: Playing, folded: Folded, rows: Sequence[Row]) -> None:
        """Store a gesture; while steps are open, no state is stored and no game is over."""
        if folded.open:
            self._journal.append(playing.id, rows)
            return
        ends = playing.game.result(folded.state) is not None
        self._journal.append(playing.id, rows, state=state_row(playing.game, folded, ends), ends=ends)

    def _learn(self, before: Playing, after: Playing) -> None:
        """Keep what this gesture told of the box, and take back what it no longer tells; a disk that takes nothing
        here stops no game. While steps are open, what they told may yet be kept: nothing is taken back.
        """
        if self._store is None or after.folded.open or after.folded.header.sheet_from != "box":
            return
        game = after.game
        try:
            self._store.learn(game.key, game.learned(after.settled), before=game.learned(before.settled))
        except (OSError, Unreadable) as error:
            log.warning("the values read off this box were not kept: %s", error)

    def _show_game(self, playing: Playing, notices: tuple[Message, ...] = ()) -> None:
        """Show a game; what is no part of it stays as it was, and a proposal was for the state before."""
        self._playing = playing
        old = self._snapshot
        self._proposal_from = old.number + 1
        part = snapshot_of(playing)
        notices = (*old.notices, *notices)
        self._show(replace(part, devices=old.devices, notices=notices, count_reading=old.count_reading))

    def _show(self, snapshot: Snapshot) -> None:
        """Publish a snapshot under the next number."""
        self._snapshot = replace(snapshot, number=self._snapshot.number + 1)
        self._bell.ring(self._snapshot.number)


def _line(row: GameRow, *, is_over: bool) -> GameLine:
    status: Status = "finished" if is_over else row.status
    try:
        header = header_from_json(row.header)
    except Unreadable:
        return GameLine(row.id, "", (), status, row.at_wall)
    return GameLine(row.id, header.game, header.names, status, row.at_wall)


def _after(playing: Playing, folded: Folded, key: str, corrects: bool) -> Playing:
    """Return the game after a gesture; what to move is said after corrections, and always with money in the box."""
    keys = {**playing.keys, key: folded.entries[-1].gesture}
    if folded.open:
        return replace(playing, folded=folded, corrected=None, keys=keys)
    mends = any(step.action.do == MEND for step in folded.steps if step.n >= playing.folded.next_n)
    says = corrects or mends or bool(playing.folded.open) or folded.header.money == "box"
    corrected = (playing.settled, folded.state) if says else None
    return replace(playing, folded=folded, settled=folded.state, corrected=corrected, keys=keys)
