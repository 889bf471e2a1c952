"""The table: one writer. It checks, commits, then publishes; everything else reads snapshots."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from companion import codec, offers
from companion.entries import (
    Act,
    Amend,
    Body,
    Decide,
    Depth,
    DepthChange,
    Entry,
    Header,
    MoneyAt,
    MoneyChange,
    Player,
    SeatChange,
    SeatPlan,
    Undo,
    body_to_json,
    header_from_json,
    header_to_json,
)
from companion.errors import CompanionError, NoGame, NotAllowed, Stale, Undecided, Unreadable
from companion.fold import Folded, Step, actor, advance, begin
from companion.journal import GameRow, Journal, Row, StateRow
from companion.playing import Playing, opened, snapshot_of, state_row
from companion.proposal import Device, Proposal
from companion.seating import checked_seats, table_options
from companion.sheets import SheetStore, box_sheet, house_sheet
from companion.snapshot import Snapshot
from companion.stream import WAIT_S, Bell, Subscription
from rules.core import Action, Game, Message, Refused, Seat, Setup
from rules.registry import GAMES

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Post:
    """One filled form: who acts, the action (or its data), the fingerprint it was offered with, its evidence."""

    who: Seat
    action: Action[Any] | Mapping[str, Any]
    fingerprint: str | None = None
    evidence: str | None = None


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
            game_id = self._journal.begin(header_to_json(header), key=request or f"{at} {self._fresh()}", at_wall=at)
            self._lay_out(self._journal.game(game_id))
        return game_id

    def open_game(self, game_id: str) -> None:
        """Put a game of the journal on the table; the one that lies there is put aside. Raises NoGame, Unreadable."""
        with self._lock:
            row = self._journal.game(game_id)
            self._lay_out(row)
            if row.status != "finished":
                self._journal.set_status(game_id, "open")

    def put_aside(self) -> None:
        """Clear the table; the game stays in the journal."""
        with self._lock:
            if self._playing is None:
                return
            if self._snapshot.result is None:
                self._journal.set_status(self._playing.id, "aside")
            self._playing = None
            self._show(Snapshot(0, devices=self._snapshot.devices))

    def games(self) -> list[GameLine]:
        """Return the games of the journal, newest first."""
        with self._lock:
            rows = self._journal.games()
        return [_line(row) for row in rows]

    def submit(self, posts: Sequence[Post], *, key: str, by: str, eyes: Seat | None = None) -> Kept:
        """Keep one gesture of one or more actions, all or nothing, in one undo; returns when it is on the disk.

        Each fingerprint is compared with the offer to `eyes` in the state before its action. The same `key` twice
        returns the first answer. Raises Stale, Refused, Undecided, Unreadable, NoGame, JournalFull.
        """
        with self._lock:
            playing = self._on_table()
            if kept := self._kept(playing, key):
                return kept
            if not posts:
                raise Unreadable("nothing_posted")
            _nothing_open(playing.folded)
            folded = playing.folded
            bodies: list[Body] = []
            for post in posts:
                bodies.append(self._act(playing.game, folded.state, post, by, eyes))
                folded = self._advanced(playing, folded, bodies[-1], len(bodies))
            mends = any(step.action.do == "mend" for step in folded.steps[len(playing.folded.steps) :])
            return self._keep(playing, folded, key, says_moves=mends or folded.header.money == "box")

    def undo(self, *, by: str, key: str, why: str = "", seat: Seat | None = None, asked: bool = False) -> Kept:
        """Take back the newest gesture. Free for who made it (`by`, or their `seat`) if nothing was revealed.

        Otherwise raises NotAllowed until the table was `asked` and said yes; who and why stay in the log.
        """
        with self._lock:
            playing = self._on_table()
            if kept := self._kept(playing, key):
                return kept
            offer = self._snapshot.undo
            if offer is None:
                raise NoGame("nothing_to_undo")
            if not asked and not offer.is_free(by, seat):
                what = tuple(step.told(playing.game, None) for step in offer.steps)
                raise NotAllowed("ask_the_table", what=what)
            return self._correct(playing, Undo(offer.gesture, by, why, asked), key)

    def amend(
        self, n: int, action: Action[Any] | Mapping[str, Any], *, by: str, key: str, why: str = "",
        eyes: Seat | None = None,
    ) -> Kept:  # fmt: skip
        """Put another action in the place of entry `n`. Later steps stand as long as they are still offered; from the
        first that is not, all are left `open` to be decided. Raises Refused where the action was not offered then.
        """
        with self._lock:
            playing = self._on_table()
            if kept := self._kept(playing, key):
                return kept
            _nothing_open(playing.folded)
            step = playing.folded.step(n)
            if not step.stands:
                raise NoGame("no_such_step", got=n)
            new = _read(playing.game, action)
            offers.check(playing.game, step.before, actor(step, new), new, eyes=eyes, mark=None)
            return self._correct(playing, Amend(n, codec.action_to_data(new), by, why), key)

    def decide(
        self, n: int, how: Literal["keep", "change", "drop"], action: Action[Any] | Mapping[str, Any] | None = None,
        *, by: str, key: str, eyes: Seat | None = None,
    ) -> Kept:  # fmt: skip
        """Say what becomes of the first open step: keep it, change it to `action`, or drop it.

        Raises Refused where what would stand is not offered, Stale where another step comes first.
        """
        with self._lock:
            playing = self._on_table()
            if kept := self._kept(playing, key):
                return kept
            step = _first_open(playing.folded, n)
            new = None if action is None else _read(playing.game, action)
            _check_how(how, new)
            if how != "drop":
                stands = step.action if new is None else new
                who = step.who if new is None else actor(step, new)
                offers.check(playing.game, playing.folded.state, who, stands, eyes=eyes, mark=None)
            data = None if new is None else codec.action_to_data(new)
            return self._correct(playing, Decide(n, how, by, data), key)

    def keep_rest(self, *, by: str, key: str) -> Kept:
        """Keep the open steps in order, up to the first that is not offered. Raises Refused if it is the first."""
        with self._lock:
            playing = self._on_table()
            if kept := self._kept(playing, key):
                return kept
            if not playing.folded.open:
                raise NoGame("nothing_open")
            folded, part = playing.folded, 0
            while folded.open and (folded.open[0].why_not is None or part == 0):
                first = folded.open[0]
                offers.check(playing.game, folded.state, first.who, first.action, eyes=None, mark=None)
                part += 1
                folded = self._advanced(playing, folded, Decide(first.n, "keep", by), part)
            return self._keep(playing, folded, key, says_moves=True)

    def seat_change(
        self, seat: Seat, how: Literal["left", "back", "player"], *, by: str, key: str, player: Player | None = None,
        name: str | None = None,
    ) -> Kept:  # fmt: skip
        """Note that a seat is left, is taken again, or is played by another."""
        with self._lock:
            seats = self._on_table().folded.header.seats
            if not 0 <= seat < len(seats):
                raise Unreadable("no_such_seat", got=seat)
            if name is not None:
                checked_seats([replace(one, name=name if at == seat else one.name) for at, one in enumerate(seats)])
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

    def _lay_out(self, row: GameRow) -> None:
        playing, lost = opened(self._journal, row, self._games, self._wall())
        self._show_game(playing, () if lost is None else (lost,))

    def _game(self, key: str) -> Game[Any]:
        if key not in self._games:
            raise Unreadable("unknown_game", got=codec.shown(key), known=tuple(self._games))
        return self._games[key]

    def _box(self, key: str) -> Any:
        return box_sheet(key) if self._store is None else self._store.box(key)

    def _fresh(self) -> int:
        return len(self._journal.games())

    def _on_table(self) -> Playing:
        if self._playing is None:
            raise NoGame("no_game_on_table")
        return self._playing

    def _kept(self, playing: Playing, key: str) -> Kept | None:
        """Return the first answer to a key that came before."""
        if key not in playing.keys:
            return None
        gesture = playing.keys[key]
        entries = tuple(entry.n for entry in playing.folded.entries if entry.gesture == gesture)
        return Kept(self._snapshot.number, gesture, entries, again=True)

    def _act(self, game: Game[Any], state: Any, post: Post, by: str, eyes: Seat | None) -> Act:
        action = _read(game, post.action)
        offers.check(game, state, post.who, action, eyes=eyes, mark=post.fingerprint)
        return Act(post.who, codec.action_to_data(action), by, post.fingerprint, post.evidence)

    def _note(self, body: Body, key: str) -> Kept:
        with self._lock:
            playing = self._on_table()
            if kept := self._kept(playing, key):
                return kept
            codec.from_data(type(body), codec.to_data(type(body), body))  # an unknown depth or player is refused here
            return self._keep(playing, self._advanced(playing, playing.folded, body, 1), key, says_moves=False)

    def _correct(self, playing: Playing, body: Body, key: str) -> Kept:
        return self._keep(playing, self._advanced(playing, playing.folded, body, 1), key, says_moves=True)

    def _advanced(self, playing: Playing, folded: Folded, body: Body, part: int) -> Folded:
        entry = Entry(folded.next_n, playing.folded.next_gesture, body, self._wall())
        assert entry.n == playing.folded.next_n + part - 1, "entries of one gesture follow each other"
        return advance(playing.game, folded, entry)

    def _keep(self, playing: Playing, folded: Folded, key: str, *, says_moves: bool) -> Kept:
        """Commit what the fold has more than the journal, then show it."""
        new = folded.entries[len(playing.folded.entries) :]
        rows = [Row(e.n, e.gesture, e.body.kind, body_to_json(e.body), key, e.at_wall) for e in new]
        result = playing.game.result(folded.state)
        ended = result is not None and not folded.open
        status: Literal["finished", "open"] = "finished" if ended else "open"
        self._journal.append(playing.id, rows, status=status, state=self._state_row(playing, folded, ended))
        settled = playing.settled if folded.open else folded.state
        corrected = (playing.settled, settled) if says_moves and not folded.open else None
        keys = {**playing.keys, key: new[0].gesture}
        playing = replace(playing, folded=folded, settled=settled, corrected=corrected, keys=keys)
        self._show_game(self._learned(playing))
        return Kept(self._snapshot.number, new[0].gesture, tuple(entry.n for entry in new))

    def _state_row(self, playing: Playing, folded: Folded, ended: bool) -> StateRow | None:
        return state_row(playing.game, folded, ended) if not folded.open else None

    def _learned(self, playing: Playing) -> Playing:
        """Keep what this box told; a disk that takes nothing here stops no game: the journal has it too."""
        if self._store is None or playing.folded.header.sheet_from != "box":
            return playing
        learned = playing.game.learned(playing.folded.state)
        if learned == playing.learned:
            return playing
        try:
            self._store.learn(playing.game.key, learned)
        except (OSError, Unreadable) as error:
            log.warning("the values read off this box were not kept: %s", error)
        return replace(playing, learned=learned)

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


def _line(row: GameRow) -> GameLine:
    try:
        header = header_from_json(row.header)
    except Unreadable:
        return GameLine(row.id, "", (), row.status, row.at_wall)
    return GameLine(row.id, header.game, header.names, row.status, row.at_wall)


def _read(game: Game[Any], action: Action[Any] | Mapping[str, Any]) -> Action[Any]:
    return action if isinstance(action, Action) else codec.action_from_data(game, action)


def _nothing_open(folded: Folded) -> None:
    if folded.open:
        raise Undecided("decide_first", n=len(folded.open))


def _first_open(folded: Folded, n: int) -> Step:
    if not folded.open:
        raise NoGame("nothing_open")
    if folded.open[0].n != n:
        raise Stale("another_step_first", got=n, first=folded.open[0].n)
    return folded.open[0]


def _check_how(how: str, new: Action[Any] | None) -> None:
    if how not in ("keep", "change", "drop"):
        raise Unreadable("wrong_value", field="how", got=codec.shown(how), wants=("keep", "change", "drop"))
    if (how == "change") != (new is not None):
        raise Unreadable("missing_field" if new is None else "unknown_field", field="action", known=("how",))
