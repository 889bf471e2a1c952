"""Players that drive a game without people: a random one, and a plain greedy one.

They know no game: they fill in what the rules offer and look at the standing if the game were scored now.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any, Protocol

from rules.core import TABLE, Action, Choice, Game, Refused, Seat

GREEDY_TRIES = 6


class Player(Protocol):
    """Acts for a seat or for TABLE."""

    def act(self, game: Game[Any], state: Any, who: Seat) -> Action[Any]:
        """Return one action that is offered to `who` now; raises LookupError where nothing is."""


class RandomPlayer:
    """Fills in any form by chance; as TABLE it draws by the odds that the rules give."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def act(self, game: Game[Any], state: Any, who: Seat) -> Action[Any]:
        forms = open_forms(game, state, who)
        if not forms:
            raise LookupError(f"nothing is offered to {who} in {game.turn(state).phase}")
        return fill_in(forms[self._random.choice(sorted(forms))], self._random)


class GreedyPlayer:
    """Tries each form a few times and keeps what puts its seat furthest ahead now; chance is left to chance."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._chance = RandomPlayer(random)

    def act(self, game: Game[Any], state: Any, who: Seat) -> Action[Any]:
        if who == TABLE:
            return self._chance.act(game, state, who)
        forms = open_forms(game, state, who).values()
        tried = [fill_in(form, self._random) for form in forms for _ in range(GREEDY_TRIES)]
        if not tried:
            raise LookupError(f"nothing is offered to {who} in {game.turn(state).phase}")
        return max(tried, key=lambda action: _lead(game, state, who, action))


PLAYERS: Mapping[str, type[RandomPlayer] | type[GreedyPlayer]] = {"random": RandomPlayer, "greedy": GreedyPlayer}


def make(name: str, random: Random) -> Player:
    """Return a player by its name; raises LookupError naming the known ones."""
    if name not in PLAYERS:
        raise LookupError(f"no player {name!r}; known: {', '.join(PLAYERS)}")
    return PLAYERS[name](random)


def open_forms(game: Game[Any], state: Any, who: Seat) -> dict[str, Choice]:
    """Return the forms that are offered to `who` now, without the calls that nobody waits for."""
    seen = game.see(state, who)
    offers = {do: game.offer(seen, who, kind) for do, kind in game.actions.items() if not kind.called}
    return {do: offer for do, offer in offers.items() if isinstance(offer, Choice)}


def fill_in(form: Choice, random: Random) -> Action[Any]:
    """Fill a form in by chance: by its odds where it has them (one field), else evenly."""
    if form.odds is None:
        return form.sample(random)
    (name,) = form.fields
    (value,) = random.choices(list(form.odds), list(form.odds.values()))
    return form.kind(**{name: value})


def next_mover(game: Game[Any], state: Any) -> Seat | None:
    """Return one whom the game waits for, None when it is over."""
    return min(game.turn(state).movers, default=None)


def _lead(game: Game[Any], state: Any, who: Seat, action: Action[Any]) -> int:
    try:
        standing = game.scored(game.apply(state, who, action)).scores
    except Refused:  # offered to what this seat knows, refused by what the table knows
        return -(10**9)
    return standing[who] - max(standing[:who] + standing[who + 1 :])
