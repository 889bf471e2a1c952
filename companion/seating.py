"""Who sits at the table and by which house choices they play, checked before a game begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from companion.codec import shown
from companion.entries import Player, SeatChange, SeatPlan
from companion.errors import Unreadable
from rules.core import Game

LONGEST_NAME = 24


def checked_seats(seats: Sequence[SeatPlan]) -> tuple[SeatPlan, ...]:
    """Return the seats with trimmed names; raises Unreadable for a name or a colour that tells nobody apart."""
    trimmed = tuple(replace(one, name=" ".join(part for part in one.name.split(" ") if part)) for one in seats)
    for at, seat in enumerate(trimmed):
        _check_name(seat.name)
        if seat.player not in get_args(Player):
            raise Unreadable("unknown_player", got=shown(seat.player), known=get_args(Player))
        earlier = trimmed[:at]
        if seat.name.casefold() in {one.name.casefold() for one in earlier}:
            raise Unreadable("name_taken", got=seat.name)
        _check_signs(seat.colour)
        if not seat.colour or seat.colour in {one.colour for one in earlier}:
            raise Unreadable("colour_taken", got=shown(seat.colour))
    return trimmed


def check_change(seats: Sequence[SeatPlan], change: SeatChange) -> None:
    """Raise Unreadable for a change of a seat that is not there, or to a name that another has."""
    if not 0 <= change.seat < len(seats):
        raise Unreadable("no_such_seat", got=change.seat)
    if change.name is not None:
        checked_seats([replace(one, name=change.name) if at == change.seat else one for at, one in enumerate(seats)])


def table_options(game: Game[Any], chosen: Mapping[str, str], *, at_table: bool) -> dict[str, str]:
    """Return the chosen options over what a real table (or a simulated one) starts with."""
    start = {name: (one.at_table if at_table else None) or one.default for name, one in game.options.items()}
    return {**start, **chosen}


def _check_name(name: str) -> None:
    if not name:
        raise Unreadable("name_empty")
    _check_signs(name)


def _check_signs(text: str) -> None:
    """Raise Unreadable for what a page, a log or a terminal cannot show in one short line."""
    if not text.isprintable():
        raise Unreadable("name_unprintable", got=shown(text))
    if len(text) > LONGEST_NAME:
        raise Unreadable("name_too_long", got=shown(text), n=LONGEST_NAME)
