"""What every vector of a scale's bytes has to stand: any cut, any tail before it, any prefix, any damage."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from devices.scales.parser import Parser
from devices.scales.profile import PLAIN, Profile
from devices.scales.registry import PROTOCOLS
from devices.scales.weighing import Weighing, last_of

SHARED = Path(__file__).resolve().parents[3] / "shared" / "devices" / "scale_vectors.jsonl"


@dataclass(frozen=True)
class Vector:
    """Bytes of one scale, what they mean, and the weights that must not come of them."""

    name: str
    protocol: str
    data: bytes
    expect: Weighing
    profile: Profile = PLAIN
    never: frozenset[float] = field(default_factory=frozenset)
    chunks: tuple[bytes, ...] = ()


def shared() -> list[Vector]:
    """The vectors in the shared folder."""
    return [_vector(json.loads(line)) for line in SHARED.read_text().splitlines()]


def _vector(line: Mapping[str, object]) -> Vector:
    expect, config = line["expect"], line.get("config") or {}
    assert isinstance(expect, dict)
    assert isinstance(config, dict)
    return Vector(
        str(line["id"]),
        str(line["protocol"]),
        bytes.fromhex(str(line["bytes_hex"])),
        Weighing(**expect),
        Profile(**config),
        frozenset(_list(line.get("never_grams"))),
        tuple(bytes.fromhex(str(chunk)) for chunk in _list(line.get("chunks"))),
    )


def _list(given: object) -> list[float]:
    return given if isinstance(given, list) else []


def events(vector: Vector, chunks: Iterable[bytes], profile: Profile | None = None) -> list[Weighing]:
    """Feed a fresh parser."""
    parser = Parser(PROTOCOLS[vector.protocol], profile or vector.profile)
    found = [weighing for chunk in chunks for weighing in parser.feed(chunk)]
    return found + parser.finish()


def grams(found: Sequence[Weighing]) -> set[float]:
    """The weights among some answers."""
    return {weighing.grams for weighing in found if weighing.grams is not None}


def near(one: float, other: float) -> bool:
    """Whether two weights are the same as far as floats go."""
    return abs(one - other) <= max(1e-9, 1e-12 * abs(other))


def is_right(vector: Vector, found: Sequence[Weighing]) -> bool:
    """Whether the answers come to what is expected, and nothing forbidden is among them."""
    expect, got = vector.expect, last_of(found)
    if any(near(one, never) for one in grams(found) for never in vector.never):
        return False
    if (got.overload, got.error) != (expect.overload, expect.error):
        return False
    if expect.grams is None or got.grams is None:
        return got.grams == expect.grams
    return near(got.grams, expect.grams) and (got.unit, got.stable) == (expect.unit, expect.stable)


def cuts(data: bytes, random: Random) -> list[bytes]:
    """Cut bytes at random places."""
    places = sorted(random.sample(range(len(data) + 1), min(len(data), random.randint(0, 6))))
    return [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)]


def tails(vector: Vector) -> Iterator[bytes]:
    """Each proper tail of the last frame, where the vector ends with a whole one and is not itself about tails."""
    if not vector.profile.aligned or not is_right(vector, events(vector, [vector.data, vector.data])):
        return
    frame = vector.data.rstrip(b"\r\n")
    begins = max(frame.rfind(b"\r"), frame.rfind(b"\n")) + 1
    for start in range(begins + 1, len(vector.data)):
        yield vector.data[start:]


def joined(vector: Vector) -> Profile:
    """The settings with which a port is opened in mid-stream."""
    has_header = PROTOCOLS[vector.protocol].has_header
    return vector.profile if has_header else replace(vector.profile, aligned=False)


def mutations(data: bytes, random: Random, count: int) -> Iterator[bytes]:
    """Damage bytes: one flipped bit, byte changed, deleted, doubled or put in."""
    for _ in range(count if data else 0):
        place = random.randrange(len(data))
        byte, kind = bytes((random.randrange(256),)), random.randrange(5)
        before, at, after = data[:place], data[place : place + 1], data[place + 1 :]
        flipped = bytes((at[0] ^ 1 << random.randrange(8),))
        yield before + (flipped, byte, b"", at + at, byte + at)[kind] + after


def every_mutation(data: bytes) -> Iterator[bytes]:
    """All damage to one byte."""
    for place in range(len(data)):
        before, at, after = data[:place], data[place : place + 1], data[place + 1 :]
        yield before + after
        yield before + at + at + after
        for value in range(256):
            byte = bytes((value,))
            yield before + byte + after
            yield before + byte + at + after
