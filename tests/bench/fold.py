"""Time the fold and the table: `python -m tests.bench.fold [GAME] [ACTIONS] [SEED]`. One core, medians."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

from companion import players, view
from companion.entries import SeatPlan
from companion.fold import fold
from companion.journal import Journal, Row
from companion.table import Post, Table
from rules.registry import GAMES


def main(key: str, actions: int, seed: int) -> None:
    """Play one long game on a table and print what each part of a gesture costs, in milliseconds."""
    with tempfile.TemporaryDirectory() as folder:
        table = Table(Journal(Path(folder)), now_ms=lambda: 0, wall=lambda: "2026-01-02T03:04:05")
        submits_ms = _played(table, key, actions, Random(seed))
        snapshot = table.snapshot
        commits_ms = [_timed(lambda n=n: _commit(table, n)) for n in range(50)]  # type: ignore[misc]
        table.close()
    game, header, entries = snapshot.game, snapshot.header, snapshot.entries
    assert game is not None
    assert header is not None
    print(f"{key}, {len(entries)} entries, seed {seed}")
    print(f"fold of all {len(entries)}: {_median(lambda: fold(game, header, entries)):.1f} ms")
    print(f"submit, with commit: median {statistics.median(submits_ms):.2f} ms, worst {max(submits_ms):.1f} ms")
    print(f"commit alone: median {statistics.median(commits_ms):.2f} ms")
    print(f"seen by one pair of eyes: {_median(lambda: view.seen(snapshot, None)):.1f} ms")


def _played(table: Table, key: str, actions: int, random: Random) -> list[float]:
    """Play games until one has enough entries; what is over is taken back and goes on."""
    player, took_ms = players.RandomPlayer(random), list[float]()
    seats = [SeatPlan(name, name) for name in ("red", "blue", "green", "black")[: GAMES[key].seats[-1]]]
    table.begin(key, seats, sheet="house", request="bench")
    for number in range(actions):
        snapshot = table.snapshot
        assert snapshot.game is not None
        who = players.next_mover(snapshot.game, snapshot.state)
        if who is None:
            table.undo(by="bench", key=f"undo {number}", asked=True)
            continue
        post = Post(who, player.act(snapshot.game, snapshot.state, who))
        took_ms.append(_timed(lambda post=post, number=number: _submit(table, post, number)))  # type: ignore[misc]
    return took_ms


def _submit(table: Table, post: Post, number: int) -> Any:
    return table.submit([post], key=f"key {number}", by="bench")


def _commit(table: Table, n: int) -> None:
    last = len(table.snapshot.entries)
    table._journal.append("1", [Row(last + n + 1, last + n + 1, "act", "{}", f"commit {n}", "")])


def _timed(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def _median(work: Callable[[], Any], times: int = 7) -> float:
    return statistics.median(_timed(work) for _ in range(times))


if __name__ == "__main__":
    given = sys.argv[1:] + ["schuettels", "300", "1"][len(sys.argv) - 1 :]
    main(given[0], int(given[1]), int(given[2]))
