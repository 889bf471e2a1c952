"""A game on the table between journal and snapshot: laid out from its entries, and shown."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from companion import codec
from companion.entries import (
    Act,
    Amend,
    Decide,
    Entry,
    GoneOn,
    Header,
    Undo,
    body_from_json,
    body_to_json,
    header_from_json,
)
from companion.errors import Unreadable
from companion.fold import Folded, advance, begin, fold
from companion.journal import GameRow, Journal, Row, StateRow
from companion.snapshot import Snapshot, UndoOffer
from rules.core import Game, Message

log = logging.getLogger(__name__)

STATE_EVERY_ENTRIES = 20
"""How often a state is stored beside the entries: often enough that little is folded by hand if rules change."""
CORRECTIONS = Undo | Amend | Decide


@dataclass(frozen=True, slots=True)
class Playing:
    """The game on the table: its fold, the gesture of each key, the state that pieces lie in (`settled`).

    While steps are open to be decided, `settled` stays what it was before the correction.
    """

    id: str
    game: Game[Any]
    folded: Folded
    settled: Any
    corrected: tuple[Any, Any] | None = None
    keys: Mapping[str, int] = field(default_factory=dict)


def read(journal: Journal, row: GameRow, games: Mapping[str, Game[Any]]) -> Playing:
    """Lay a stored game out by folding its entries; raises Unreadable for an unknown game or entry."""
    header = header_from_json(row.header)
    if header.game not in games:
        raise Unreadable("unknown_game", got=header.game, known=tuple(games))
    game, rows = games[header.game], journal.rows(row.id)
    entries = [Entry(one.n, one.gesture, body_from_json(one.kind, one.body), one.at_wall) for one in rows]
    folded = fold(game, header, entries)
    keys = {one.key: one.gesture for one in rows}
    return Playing(row.id, game, folded, _settled(game, header, folded), keys=keys)


def opened(
    journal: Journal, row: GameRow, games: Mapping[str, Game[Any]], at_wall: str
) -> tuple[Playing, Message | None]:
    """Lay a stored game out to go on with it; also returns what its players should know. Raises Unreadable.

    Where the rules rose since and fold it differently, it goes on from the newest stored state that the old ones made.
    """
    playing = read(journal, row, games)
    game, folded = playing.game, playing.folded
    stored = _needed(game, folded, journal.states(row.id))
    if stored is None:
        return playing, None
    gone_on = _gone_on(stored, folded, game.rules, at_wall)
    folded = advance(game, folded, gone_on)
    key = f"rules {game.rules} from {stored.n}"
    text = body_to_json(gone_on.body)
    journal.append(row.id, [Row(gone_on.n, gone_on.gesture, GoneOn.kind, text, key, at_wall)])
    settled = _settled(game, folded.header, folded)
    return replace(playing, folded=folded, settled=settled), Message("rules_changed", {"n": len(folded.open)})


def snapshot_of(playing: Playing) -> Snapshot:
    """Return what the table shows of a game, without a number, devices and proposals."""
    game, folded = playing.game, playing.folded
    return Snapshot(
        number=0,
        game_id=playing.id,
        game=game,
        header=folded.header,
        state=folded.state,
        turn=game.turn(folded.state),
        result=None if folded.open else game.result(folded.state),
        steps=folded.steps,
        open=folded.open,
        entries=folded.entries,
        corrected=playing.corrected,
        undo=undo_offer(folded),
    )


def undo_offer(folded: Folded) -> UndoOffer | None:
    """Return what undo would take back, and for whom that is free: for nobody where something was revealed."""
    gesture = folded.last_gesture
    if gesture is None:
        return None
    steps = tuple(step for step in folded.steps if step.gesture == gesture)
    if any(step.action.reveals for step in steps):
        return UndoOffer(gesture, steps)
    by = next(getattr(entry.body, "by", None) for entry in folded.entries if entry.gesture == gesture)
    whose = {step.who for step in steps}
    return UndoOffer(gesture, steps, frozenset(whose) if len(whose) == 1 else frozenset(), by)


def state_row(game: Game[Any], folded: Folded, ended: bool) -> StateRow | None:
    """Return the state to store beside the newest entry: now and then, at the end, and after every correction."""
    newest = folded.entries[-1]
    corrects = isinstance(newest.body, CORRECTIONS) or (isinstance(newest.body, Act) and newest.body.ahead != "no")
    if not (ended or newest.n % STATE_EVERY_ENTRIES == 0 or corrects):
        return None
    data = codec.state_to_data(game, folded.state)
    return StateRow(newest.n, game.rules, codec.digest(data), codec.dump_json(data))


def _needed(game: Game[Any], folded: Folded, states: Sequence[StateRow]) -> StateRow | None:
    """Return the stored state that older rules made and today's do not, if the game has to go on from it."""
    stored = next((state for state in states if _is_whole(state)), None)
    if stored is None or stored.n <= folded.settled_n:
        return None
    upto = [entry for entry in folded.entries if entry.n <= stored.n]
    same = codec.state_hash(game, fold(game, folded.header, upto).state) == stored.hash
    if same and not (stored.rules < game.rules and folded.open):
        return None
    if stored.rules == game.rules:
        log.warning("the stored state after entry %s differs from the fold; the fold wins", stored.n)
        return None
    corrected_since = any(isinstance(one.body, CORRECTIONS) for one in folded.entries if one.n > stored.n)
    return None if corrected_since else stored


def _is_whole(state: StateRow) -> bool:
    try:
        return codec.digest(codec.parse_json(state.body)) == state.hash
    except Unreadable:
        return False


def _gone_on(stored: StateRow, folded: Folded, rules: int, at_wall: str) -> Entry:
    body = GoneOn(codec.parse_object(stored.body), stored.n, rules, "companion")
    return Entry(folded.next_n, folded.next_gesture, body, at_wall)


def _settled(game: Game[Any], header: Header, folded: Folded) -> Any:
    """Return the state in which the pieces lie: while steps are open, the one before the correction."""
    if not folded.open:
        return folded.state
    one = begin(game, header)
    settled = one.state
    for entry in folded.entries:
        one = advance(game, one, entry)
        settled = settled if one.open else one.state
    return settled
