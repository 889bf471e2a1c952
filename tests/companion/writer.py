"""A child that plays pebbles on a real journal and says each answered key: run with a folder and a seed."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from random import Random

from companion import players
from companion.table import Post, Table
from tests.companion.toy import GAME, SEATS, journal_and_table


def main(folder: Path, seed: int) -> None:
    """Play for ever; each line on standard output is a key whose gesture was answered."""
    table = journal_and_table(folder)
    table.begin("pebbles", SEATS, sheet="house", request=f"a game {seed}")
    player = players.RandomPlayer(Random(seed))
    for number in itertools.count(len(table.snapshot.entries)):
        _one(table, player, f"{seed} {number}")


def _one(table: Table, player: players.RandomPlayer, key: str) -> None:
    who = players.next_mover(GAME, table.snapshot.state)
    if who is None:
        table.undo(by="child", key=key, asked=True)
    else:
        table.submit([Post(who, player.act(GAME, table.snapshot.state, who))], key=key, by="child")
    sys.stdout.write(f"{key}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
