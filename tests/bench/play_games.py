"""Random games for every number of seats: do all end, is everything conserved at every step, how fast is it.

`python -m tests.bench.play_games [--games 1000] [--seed 0] [--game schuettels]`
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from random import Random

from rules.registry import GAMES
from tests.rules import drive


def play(key: str, seats: int, games: int, seed: int, *, check: bool) -> tuple[Counter[str], int, float]:
    """Return the ends, the number of actions and the CPU seconds of so many random games."""
    game, ends, actions = GAMES[key], Counter[str](), 0
    begun_s = time.process_time()
    for number in range(seed, seed + games):
        state = drive.start(key, seats, number)
        for before, who, action in drive.playout(game, state, Random(number)):
            state = game.apply(before, who, action)
            actions += 1
            if check:
                drive.INVARIANTS[key](state)
        ends[game.scored(state).end] += 1
    return ends, actions, time.process_time() - begun_s


def main() -> None:
    """Print one line for each number of seats."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--games", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--game", default=drive.GAME_KEYS[0])
    asked = parser.parse_args()
    for seats in GAMES[asked.game].seats:
        ends, actions, _ = play(asked.game, seats, asked.games, asked.seed, check=True)
        _, timed, cpu_s = play(asked.game, seats, max(1, asked.games // 10), asked.seed, check=False)
        unended = ends.pop("", 0)
        speed = f"{timed / cpu_s:,.0f} actions a second (offered, checked, applied twice: to choose and to keep)"
        print(f"{asked.game}, {seats} seats, n={asked.games}, seed {asked.seed}: {dict(ends)}, {unended} did not end; "
              f"{actions / asked.games:.0f} actions a game; {speed}")  # fmt: skip


if __name__ == "__main__":
    main()
