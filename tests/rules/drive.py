"""What the tests of every game share: its sheets, its invariants, and how to drive it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

from companion import players
from rules.core import Action, Choice, Game, Seat, Setup
from rules.registry import GAMES
from rules.schuettels.state import BILLS, GOODS
from rules.schuettels.state import State as SchuettelsState
from rules.sheets import Sheet

RULES = Path(__file__).parents[2] / "rules"
GAME_KEYS = sorted(GAMES)
CAP = 10_000


def sheet(key: str) -> Sheet:
    """Return the whole sheet of a game, house values included."""
    return Sheet.parse(tomllib.loads((RULES / key / "sheet.toml").read_text(encoding="utf-8")))


def start(key: str, seats: int, seed: int = 0, *, known: bool = True, **options: str) -> Any:
    """Return a first state; `known` says whether the box's values are known from the start."""
    game = GAMES[key]
    values = sheet(key) if known else sheet(key).trusted()
    return game.start(Setup(seats, seed % seats, options, values))


def playout(game: Game[Any], state: Any, random: Random, calls: float = 0.0) -> Iterator[tuple[Any, Seat, Action[Any]]]:
    """Yield (state before, who, action) of a random game; `calls` is how often somebody calls something out."""
    player = players.RandomPlayer(random)
    for _ in range(CAP):
        who = players.next_mover(game, state)
        if who is None:
            return
        action = player.act(game, state, who)
        called = _called(game, state, random) if random.random() < calls else None
        who, action = (-1, called) if called else (who, action)
        yield state, who, action
        state = game.apply(state, who, action)
    raise AssertionError(f"a game of {game.key} did not end in {CAP} actions")


def final(game: Game[Any], state: Any, random: Random) -> Any:
    """Return the last state of a random game."""
    for before, who, action in playout(game, state, random):
        state = game.apply(before, who, action)
    return state


def all_choices(game: Game[Any], state: Any) -> Iterator[tuple[Seat, Choice]]:
    """Yield every form that anybody is offered in this state."""
    turn = game.turn(state)
    for who in sorted(turn.movers | turn.may):
        for kind in game.actions.values():
            offered = game.offer(state, who, kind)
            if isinstance(offered, Choice):
                yield who, offered


def _called(game: Game[Any], state: Any, random: Random) -> Action[Any] | None:
    calls = [form for who, form in all_choices(game, state) if form.kind.called and form.kind.do != "mend"]
    return random.choice(calls).sample(random) if calls else None


def _schuettels(state: SchuettelsState) -> None:
    assert sum(state.money) + state.market + state.treasury == BILLS
    assert min(state.money) >= 0
    assert all(amount % 10 == 0 for amount in state.money)
    for seat in range(state.seats):
        assert state.supply[seat] >= 0
        assert state.stored[seat] >= 0
        assert state.supply[seat] + state.on_board(seat) + state.stored[seat] == GOODS
    assert all(len(goods) <= (state.spaces or len(goods)) for goods in state.houses.values())
    assert len(set(state.bank)) == len(state.bank)
    assert (state.phase == "over") == bool(state.end)
    if state.phase in ("shake", "act"):
        assert state.storage_free != 0  # reading 29


INVARIANTS: Mapping[str, Callable[[Any], None]] = {"schuettels": _schuettels}
SETUPS: Mapping[str, tuple[dict[str, str], ...]] = {
    "schuettels": (
        {},
        {"zero": "fine", "tavern_rank": "own", "end_on": "supply"},
        {"end_on": "ask"},
    ),
}
