"""Every scale vector against every way of delivery and every damage, counted.

`python -m tests.bench.scale_vectors [--cuts 50] [--mutations 200] [--every] [--seed 1]`

Vectors are the hand-made ones, and those of the shared folder where it is. `--every` damages each byte in each way
(some three million frames, minutes) in the place of seeded damage. A forbidden weight that one damaged byte makes by
spelling a frame right (a flipped sign, a put-in line end) is named: no reader can tell it from a frame sent so.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from random import Random

from devices.scales.parser import Parser
from devices.scales.registry import PROTOCOLS
from tests.devices import scale_checks as checks
from tests.devices.scale_checks import Vector
from tests.devices.scale_frames import FRAMES


class Tally:
    """Counts right answers by way of delivery, and remembers the wrong ones."""

    def __init__(self) -> None:
        self.tried, self.wrong = Counter[str](), Counter[str]()
        self.named: list[str] = []

    def add(self, way: str, is_right: bool, what: object) -> None:
        """Note one try."""
        self.tried[way] += 1
        if not is_right:
            self.wrong[way] += 1
            self.named.append(f"{way}: {what}")


def deliver(tally: Tally, vector: Vector, random: Random, cuts: int) -> None:
    """Whole, byte by byte, cut, after tails, and in prefixes."""
    name = vector.name
    whole = checks.events(vector, [vector.data])
    tally.add("whole", checks.is_right(vector, whole), name)
    tally.add("in its own reads", checks.is_right(vector, checks.events(vector, vector.chunks or [vector.data])), name)
    singly = checks.events(vector, [bytes((byte,)) for byte in vector.data])
    tally.add("byte by byte", checks.is_right(vector, singly), name)
    for _ in range(cuts):
        tally.add("cut", checks.is_right(vector, checks.events(vector, checks.cuts(vector.data, random))), name)
    for tail in checks.tails(vector):
        found = checks.events(vector, [tail, vector.data], checks.joined(vector))
        tally.add("after a tail", checks.is_right(vector, found), (name, tail))
    for end in range(len(vector.data)):
        begun = checks.grams(checks.events(vector, [vector.data[:end]]))
        tally.add("prefix", begun <= checks.grams(whole), (name, end))


def damage(tally: Tally, vector: Vector, random: Random, mutations: int | None) -> None:
    """Flip, change, delete, double and put in bytes."""
    every = mutations is None
    for data in checks.every_mutation(vector.data) if every else checks.mutations(vector.data, random, mutations or 0):
        weights = checks.grams(checks.events(vector, [data]))
        is_forbidden = any(checks.near(one, never) for one in weights for never in vector.never)
        tally.add("damaged", not is_forbidden, (vector.name, data))


def exchange(tally: Tally, vector: Vector) -> None:
    """Play a vector to every protocol."""
    if vector.expect.error in ("malformed", "checksum"):
        return  # only its own protocol knows what is wrong with it
    own = checks.grams(checks.events(vector, [vector.data]))
    for name, protocol in PROTOCOLS.items():
        stable = {found.grams for found in Parser(protocol, vector.profile).feed(vector.data) if found.stable}
        tally.add("to another protocol", name == vector.protocol or stable <= own | {None}, (vector.name, name))


def main() -> None:
    """Print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cuts", type=int, default=50)
    parser.add_argument("--mutations", type=int, default=200)
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    begun_s, random = time.process_time(), Random(given.seed)
    for title, vectors in {"hand-made": FRAMES, "shared": checks.shared() if checks.SHARED.exists() else []}.items():
        tally = Tally()
        for vector in vectors:
            deliver(tally, vector, random, given.cuts)
            damage(tally, vector, random, None if given.every else given.mutations)
            exchange(tally, vector)
        print(f"{title}: {len(vectors)} vectors of {len({vector.protocol for vector in vectors})} protocols")
        for way, count in tally.tried.items():
            print(f"  {way:20} {count - tally.wrong[way]:8} of {count:8} right")
        print("".join(f"    {one}\n" for one in tally.named), end="")
    print(f"{time.process_time() - begun_s:.0f} s of CPU, seed {given.seed}")


if __name__ == "__main__":
    main()
