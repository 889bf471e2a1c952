"""Golden playthroughs: every state's turn, offers and every seat's view, then the action, as plain text.

`python -m tests.rules.playthrough --write` writes them anew; the test compares them line by line.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import fields
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from rules.core import TABLE, Action, Choice, Game, Message, Money, Noun, Who, changes
from rules.registry import GAMES
from tests.rules import drive

FOLDER = Path(__file__).parent / "playthroughs"
SHELF: Mapping[str, tuple[str, int, int, bool, dict[str, str]]] = {
    "schuettels-two": ("schuettels", 2, 1, True, {}),
    "schuettels-risky": ("schuettels", 4, 2, True, {"risky": "yes", "tavern_rank": "own", "zero": "fine"}),
    "schuettels-six": ("schuettels", 6, 3, True, {"end_on": "ask"}),
    "schuettels-new-box": ("schuettels", 3, 4, False, {"end_on": "supply"}),
}
"""name: game, seats, seed, whether the box's values are known, options."""
MOST_STATES = 45


def lines(name: str) -> Iterator[str]:
    """Yield the text of one playthrough: its first states, then how it ends."""
    key, seats, seed, known, options = SHELF[name]
    game, random = GAMES[key], Random(seed)
    state = drive.start(key, seats, seed, known=known, **options)
    yield f"game {key} seats {seats} seed {seed} known {known} options {options}"
    played = drive.playout(game, state, random, calls=0.05)
    shown: dict[str, Any] = {}
    for number, (before, who, action) in enumerate(islice(played, MOST_STATES)):
        yield from _state(game, before, number, shown)
        yield f"  {'TABLE' if who == TABLE else who} does {say(action)}: {say(action.tell(before, who))}"
    for before, who, action in played:
        state = game.apply(before, who, action)
    yield f"the end: {say(game.result(state))}"


def _state(game: Game[Any], state: Any, number: int, shown: dict[str, Any]) -> Iterator[str]:
    turn = game.turn(state)
    yield f"state {number}: {turn.phase}, waiting for {sorted(turn.movers)}, may {sorted(turn.may)}"
    views = {eyes: game.view(game.see(state, eyes)) for eyes in (None, *range(len(game.scored(state).scores)))}
    for path, (_, now) in changes(shown, views[None]).items():
        yield f"  all see {path}: {say(now)}"
    shown.clear()
    shown.update(views[None])
    for eyes, view in views.items():
        yield from (f"  {eyes} sees {fact}: {say(view[fact])}" for fact in view if view[fact] != views[None][fact])
    for who, form in drive.all_choices(game, state):
        if not form.kind.called:
            yield f"  offered to {'TABLE' if who == TABLE else who}: {form.kind.do} {_fields(form)}"


def _fields(form: Choice) -> str:
    return " ".join(f"{name}={say(field)}" for name, field in form.fields.items())


def say(value: Any) -> str:
    """Return one value as short, stable text."""
    match value:
        case Who(seat):
            return f"seat {seat}"
        case Money(amount):
            return f"{amount} bills"
        case Noun(key):
            return key
        case Message(key, values):
            return f"{key}({', '.join(f'{name}={say(one)}' for name, one in values.items())})"
        case Action():
            return f"{value.do}({', '.join(f'{one.name}={say(getattr(value, one.name))}' for one in fields(value))})"
        case Mapping():
            return "{" + ", ".join(f"{name}: {say(one)}" for name, one in value.items()) + "}"
        case tuple():
            return "[" + ", ".join(map(say, value)) + "]"
        case _:
            return repr(value)


def main() -> None:
    """Write every playthrough of the shelf, or say which differ."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", action="store_true")
    write = parser.parse_args().write
    for name in SHELF:
        text, path = "\n".join(lines(name)) + "\n", FOLDER / f"{name}.txt"
        if write:
            path.write_text(text, encoding="utf-8")
        elif text != path.read_text(encoding="utf-8"):
            print(f"{name} differs")


if __name__ == "__main__":
    main()
