"""Game records: a game as lines of JSON, the set-up first, then every act that stands, to keep, to share, to replay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

from pydantic import ConfigDict

from companion import codec
from companion.entries import Act, Entry, Header, SeatPlan, body_to_json, header_to_json
from companion.errors import CompanionError, Unreadable, reason
from companion.fold import Folded, advance, begin
from companion.journal import Journal, Row
from companion.seating import checked_seats
from rules.core import Action, Game, Noun, Refusal, Refused, Seat, Setup, Sheet
from rules.registry import GAMES
from rules.sheets import SheetError

FORMAT = 1
BY = "record"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Replay:
    """What a record makes of a game; `refused` is why line `line` was not taken, where one was not."""

    game: Game[Any]
    folded: Folded
    line: int = 0
    refused: Refusal | None = None

    @property
    def actions(self) -> int:
        """How many acts were taken."""
        return len(self.folded.steps)


@dataclass(frozen=True, slots=True)
class _Seat:
    """One seat in the first line of a record, and nothing else."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")
    name: str
    colour: str


@dataclass(frozen=True, slots=True)
class _First:
    """The first line of a record, as it is checked by the codec."""

    format: int
    game: str
    rules: int
    seats: tuple[_Seat, ...]
    first: Seat
    options: Mapping[str, str]
    sheet: Mapping[str, Mapping[str, int | str]]


def lines(header: Header, acts: Iterable[tuple[Seat, Action[Any]]]) -> Iterator[str]:
    """Return a record's lines, without line ends."""
    seats = [{"name": seat.name, "colour": seat.colour} for seat in header.seats]
    first = {"format": FORMAT, "game": header.game, "rules": header.rules, "seats": seats, "first": header.first}
    yield codec.dump_json({**first, "options": dict(header.options), "sheet": header.sheet.dump()})
    for who, action in acts:
        yield codec.dump_json({"who": who, **codec.action_to_data(action)})


def record(game: Game[Any], folded: Folded) -> Iterator[str]:
    """Return the record of a fold: what stands, nothing that was taken back, by the rules that this fold was made with.

    Raises Unreadable for a game of which older rules made a part: no rules replay that from its first line.
    """
    if folded.settled_n:
        raise Unreadable("record_of_two_rules", got=game.rules)
    header = replace(folded.header, rules=game.rules)
    return lines(header, ((step.who, step.action) for step in folded.steps if step.stands))


def replay(text: Iterable[str], games: Mapping[str, Game[Any]] = GAMES) -> Replay:
    """Fold a record; stops at the first refused line. Raises Unreadable naming the line and the cure."""
    numbered = [(number, line) for number, line in enumerate(text, 1) if line.strip()]
    if not numbered:
        raise Unreadable("record_empty")
    header = _at_line(numbered[0], lambda line: _header(line, games))
    game = games[header.game]
    folded = begin(game, header)
    for number, line in numbered[1:]:
        act = _at_line((number, line), lambda text: _act(game, text))
        folded = advance(game, folded, Entry(folded.next_n, folded.next_gesture, act))
        if folded.open:
            step = folded.open[0]
            taken = Folded(folded.header, folded.start, folded.state, folded.steps[:-1], folded.entries[:-1])
            return Replay(game, taken, number, step.why_not)
    return Replay(game, folded)


def keep(journal: Journal, replayed: Replay, *, at_wall: str) -> str:
    """Put a replayed record into the journal as a game that was put aside; returns its id."""
    folded = replayed.folded
    key = "record " + codec.digest(list(record(replayed.game, folded)))
    game_id = journal.begin(header_to_json(folded.header), key=key, at_wall=at_wall)
    done = len(journal.rows(game_id))  # the same record once more goes on where it stopped
    for entry in folded.entries[done:]:
        row = Row(entry.n, entry.gesture, entry.body.kind, body_to_json(entry.body), f"{key} {entry.n}", at_wall)
        journal.append(game_id, [row])
    over = replayed.game.result(folded.state) is not None
    journal.set_status(game_id, "finished" if over else "aside")
    return game_id


def _at_line(numbered: tuple[int, str], read: Callable[[str], T]) -> T:
    number, line = numbered
    try:
        return read(line)
    except Refused as refused:
        raise Unreadable("record_line", line=number, why=reason(refused.refusal)) from refused
    except CompanionError as error:
        raise Unreadable("record_line", line=number, why=error.message) from error


def _header(line: str, games: Mapping[str, Game[Any]]) -> Header:
    data = codec.parse_object(line)
    found = data.get("format")
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise Unreadable("record_no_format")
    if found > FORMAT:
        raise Unreadable("record_newer_format", got=found, known=FORMAT)
    first = codec.from_data(_First, data)
    if first.game not in games:
        raise Unreadable("unknown_game", got=codec.shown(first.game), known=tuple(games))
    game = games[first.game]
    if first.rules != game.rules:
        code = "record_newer_rules" if first.rules > game.rules else "record_older_rules"
        raise Unreadable(code, got=first.rules, known=game.rules)
    setup = game.setup(Setup(len(first.seats), first.first, first.options, _sheet(first)))
    seats = checked_seats([SeatPlan(one.name, one.colour) for one in first.seats])
    header = Header(first.game, first.rules, seats, first.first, setup.options, setup.sheet, "house")
    begin(game, header)
    return header


def _sheet(first: _First) -> Sheet:
    try:
        return Sheet.parse(first.sheet)
    except SheetError as error:
        raise Unreadable("sheet_unreadable", file=first.game, why=str(error)) from error


def _act(game: Game[Any], line: str) -> Act:
    data = codec.parse_object(line)
    if "who" not in data:
        raise Unreadable("missing_field", field="who")
    who = data.pop("who")
    if not isinstance(who, int) or isinstance(who, bool):
        raise Unreadable("wrong_value", field="who", got=codec.shown(who), wants=Noun("whole_number"))
    return Act(who, codec.action_to_data(codec.action_from_data(game, data)), BY)
