"""Frames of every protocol: what they weigh, however they arrive, and what damage must not make of them."""

from __future__ import annotations

from itertools import groupby
from random import Random

import pytest

from devices.scales.numbers import number
from devices.scales.parser import DEADLINE_MS, Parser
from devices.scales.profile import Profile
from devices.scales.registry import PROTOCOLS
from devices.scales.weighing import NOT_WEIGHT, Weighing, last_of, refused
from tests.devices import scale_checks as checks
from tests.devices.scale_checks import Vector
from tests.devices.scale_frames import FRAMES

VECTORS = FRAMES + (checks.shared() if checks.SHARED.exists() else [])
BY_PROTOCOL = {
    name: list(group)
    for name, group in groupby(sorted(VECTORS, key=lambda one: one.protocol), lambda one: one.protocol)
}
MUTATIONS, CUTS = 8, 3


@pytest.fixture(params=PROTOCOLS)
def vectors(request: pytest.FixtureRequest) -> list[Vector]:
    """All vectors of one protocol: there is none without."""
    return BY_PROTOCOL[request.param]


def test_a_frame_says_what_its_layout_says_however_it_is_cut(vectors: list[Vector]) -> None:
    random = Random(1)
    for vector in vectors:
        ways = [[vector.data], vector.chunks, [bytes((byte,)) for byte in vector.data]]
        ways += [checks.cuts(vector.data, random) for _ in range(CUTS)]
        for chunks in ways:
            found = checks.events(vector, chunks or [vector.data])
            assert checks.is_right(vector, found), (vector, found)


def test_no_beginning_of_a_frame_is_published(vectors: list[Vector]) -> None:
    for vector in vectors:
        whole = checks.grams(checks.events(vector, [vector.data]))
        for end in range(len(vector.data)):
            assert checks.grams(checks.events(vector, [vector.data[:end]])) <= whole, (vector, end)


def test_a_frame_counts_after_any_tail_of_another(vectors: list[Vector]) -> None:
    for vector in vectors:
        for tail in checks.tails(vector):
            found = checks.events(vector, [tail, vector.data], checks.joined(vector))
            assert checks.is_right(vector, found), (vector, tail, found)


def test_damage_never_raises_and_never_makes_a_forbidden_weight(vectors: list[Vector]) -> None:
    random = Random(2)
    for vector in vectors:
        for damaged in checks.mutations(vector.data, random, MUTATIONS):
            weights = checks.grams(checks.events(vector, [damaged]))
            assert not any(checks.near(one, never) for one in weights for never in vector.never), (vector, damaged)


@pytest.mark.parametrize(
    "frame",
    [
        b"\x02-0 002375000000\r#",
        b"WG001.375kg32\r\n",
        b"\x02+001375318\x03",
        b"\x01\x02S 01.375kga\x03\x04",
    ],
)
def test_one_damaged_byte_of_a_checked_frame_never_makes_another_weight(frame: bytes) -> None:
    protocol = {b"\x02-": "toledo-continuous", b"\x01\x02": "cas-ecr"}.get(frame[:2], "yaohua")
    profile = Profile(unit_default="kg", checksum=True)
    vector = Vector("checked", protocol, frame, Weighing(), profile)
    right = checks.grams(checks.events(vector, [frame]))
    for damaged in checks.every_mutation(frame):
        assert checks.grams(checks.events(vector, [damaged])) <= right, damaged


def test_no_protocol_makes_a_stable_weight_of_another_ones_bytes() -> None:
    """What is published as stable is what the frame's own protocol reads in it."""
    for vector in VECTORS:
        own = checks.grams(checks.events(vector, [vector.data]))
        if vector.expect.error in ("malformed", "checksum"):
            continue  # only its own protocol knows what is wrong with it
        for name in PROTOCOLS:
            parser = Parser(PROTOCOLS[name], vector.profile)
            for found in parser.feed(vector.data):
                assert not found.stable or found.grams is None or found.grams in own, (vector, name, found)


@pytest.mark.parametrize("frame", [b"S S      57.25 g", b"S S 57.25 g", b"S S        5 g"])
def test_two_frames_in_one_line_are_none(frame: bytes) -> None:
    assert last_of(Parser(PROTOCOLS["mt-sics"]).feed(frame + frame + b"\r\n")) == refused("malformed")


def test_noise_is_survived_by_all() -> None:
    random = Random(3)
    noise = random.randbytes(1500) + bytes(500) + b"\xff" * 500 + bytes(range(32, 127)) * 4
    for name, protocol in PROTOCOLS.items():
        parser = Parser(protocol, Profile(unit_default="g", aligned=False))
        assert not any(found.stable and found.is_weight for found in parser.feed(noise)), name


def test_a_flood_without_an_end_is_bounded_and_told_once() -> None:
    parser = Parser(PROTOCOLS["and-standard"])
    found = parser.feed(b"z" * 20_000)
    assert found == [refused("oversize")]
    assert last_of(parser.feed(b"\r\nST,+00057.25  g\r\n")).grams == 57.25


def test_a_frame_that_never_ends_is_dropped_at_its_deadline_and_so_is_its_rest() -> None:
    parser = Parser(PROTOCOLS["hx711-line"], Profile(unit_default="g"))
    assert parser.feed(b"12", 0) == []
    assert parser.feed(b"3", DEADLINE_MS - 1) == []
    assert parser.tick(DEADLINE_MS) == [refused("incomplete")]
    assert parser.feed(b".5\r\n", DEADLINE_MS + 1) == []
    assert [found.grams for found in parser.feed(b"57.25\r\n", DEADLINE_MS + 2)] == [57.25]


def test_a_byte_now_and_then_is_no_frame() -> None:
    """One byte every 0.3 s, which a reader with a timeout for each byte would wait for for ever."""
    parser = Parser(PROTOCOLS["and-standard"])
    frame = b"ST,+00057.25  g\r\n" * 3
    found = [one for place, byte in enumerate(frame) for one in parser.feed(bytes((byte,)), 300 * place)]
    assert found
    assert not checks.grams(found)


@pytest.mark.parametrize(
    ("data", "protocol"),
    [(b"S S      57.25 g\r\n", "mt-sics"), (b"+    57.25 g  \r\n", "sartorius-sbi")],
)
def test_parity_kept_in_bit_seven_is_masked_where_the_profile_says_so(data: bytes, protocol: str) -> None:
    for odd in (0, 1):
        sent = bytes(byte | ((byte.bit_count() + odd) % 2) << 7 for byte in data)
        assert last_of(Parser(PROTOCOLS[protocol], Profile(strip_parity=True)).feed(sent)).grams == 57.25
        assert not checks.grams(Parser(PROTOCOLS[protocol]).feed(sent))


def test_the_answer_that_counts_is_the_last_about_the_load() -> None:
    weight, status = Weighing(5.0, "g", True), refused("status_only")
    assert last_of([]) == refused("incomplete")
    assert last_of([weight, NOT_WEIGHT]) == weight
    assert last_of([NOT_WEIGHT, refused("malformed")]) == refused("malformed")
    assert last_of([weight, status]) == status


def test_numbers() -> None:
    assert [str(number(text)) for text in ("1,5", " - 1.50 ", "+7", "007")] == ["1.5", "-1.50", "7", "7"]
    for text in ("", "-", "--1", "+-1", "1.2.3", "1 2", ".5", "5.", "1e3", "١", "9" * 20):
        assert number(text) is None


def test_a_setting_that_is_no_unit_is_refused() -> None:
    with pytest.raises(ValueError, match="unit_default"):
        Profile(unit_default="stone")


def test_no_reason_is_invented() -> None:
    with pytest.raises(ValueError, match="no such reason"):
        refused("tired")
