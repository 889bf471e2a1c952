"""Which protocol a scale may speak, told from its bytes with reasons; a guess until a known weight confirms it.

Listens first. Then asks, politely: only with questions that change nothing on any scale.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from devices.scales.parser import Parser
from devices.scales.profile import PLAIN, Profile
from devices.scales.protocol import Line, Protocol
from devices.scales.registry import PROTOCOLS
from devices.scales.weighing import Weighing

LINES = (
    Line(9600),
    Line(2400, 7, "E"),
    Line(4800),
    Line(19200),
    Line(115200),
    Line(9600, 7, "E"),
    Line(9600, 8, "O"),
    Line(1200, 7, "O"),
)
"""Settings to try, the commonest first."""

LISTEN_MS, ANSWER_MS = 2000, 600

_KEPT_BYTES = 1024
_ENOUGH_BYTES = 8
_FITS = 0.6
_ASSUMED_UNITS = ("kg", "g", "lb", "oz")
_REPLIES = {(one.talk.ask, signal): reply for one in PROTOCOLS.values() for signal, reply in one.talk.answers.items()}
_UNREADABLE = frozenset({"malformed", "checksum", "oversize", "incomplete"})


@dataclass(frozen=True, slots=True)
class Candidate:
    """A protocol that fits what was heard.

    `reasons` are codes: `frames_fit`, `own_header`, `checksum_fits`, `says_stable`, `parity_even`, `parity_odd`,
    `by_pattern` (fields are not at fixed places), `order_unknown` (of its digits), `unit_assumed`. `reading` is its
    newest answer about the load.
    """

    protocol: Protocol
    profile: Profile
    fitting: int
    broken: int
    reasons: tuple[str, ...]
    reading: Weighing

    @property
    def rank(self) -> tuple[int, int, int]:
        """How well it fits: those with marks of their own before those that read nearly anything."""
        marks = {
            "checksum_fits": 4,
            "own_header": 2,
            "says_stable": 1,
            "by_pattern": -3,
            "order_unknown": -2,
            "unit_assumed": -1,
        }
        return (-self.broken, sum(marks.get(reason, 0) for reason in self.reasons), self.fitting)


class Search:
    """Listens to one line setting, then asks on it; names what it could be. Never publishes a weight."""

    def __init__(self, line: Line, now_ms: int, *, asks: bool = True) -> None:
        self.line = line
        self._began_ms = now_ms
        self._data = b""
        self._questions = list(questions(line)) if asks else []
        self._asked_ms = now_ms
        self._question = b""

    def hear(self, data: bytes) -> None:
        """Take what came; the newest kilobyte is kept."""
        self._data = (self._data + data)[-_KEPT_BYTES:]

    def say(self, now_ms: int) -> list[bytes]:
        """Return the next question where listening alone did not help, or again the one that did."""
        if (reply := _REPLIES.get((self._question, self._data))) is not None:
            self._data = b""
            return [reply]
        if now_ms - self._began_ms < LISTEN_MS or now_ms - self._asked_ms < ANSWER_MS:
            return []
        is_found = bool(self.candidates())
        if not is_found and self._questions:
            self._question, self._data = self._questions.pop(0), b""
        elif not is_found or not self._question:
            return []
        self._asked_ms = now_ms
        return [self._question]

    def is_over(self, now_ms: int) -> bool:
        """Tell whether this setting has been tried to its end without a result."""
        is_late = now_ms - self._began_ms >= LISTEN_MS and now_ms - self._asked_ms >= ANSWER_MS
        return is_late and not self._questions and not self.candidates()

    def candidates(self) -> list[Candidate]:
        """Return what it could be, the likeliest first."""
        return candidates(self._data)

    def confirmed(self, known_g: float, tolerance_g: float) -> list[Candidate]:
        """Return the candidates that read this known weight now."""
        return confirmed(self._data, known_g, tolerance_g)


def questions(line: Line) -> Iterator[bytes]:
    """Return the questions of all who speak at this setting and do not mind being asked, each once."""
    asked = (one.talk.ask for one in PROTOCOLS.values() if one.line == line and not one.talk.is_shy)
    yield from dict.fromkeys(ask for ask in asked if ask)


def parity_of(data: bytes) -> str | None:
    """Tell the parity that a 7-bit line left in bit 7: `even`, `odd`, or None where it left none."""
    if len(data) < _ENOUGH_BYTES or not 0.2 < sum(byte >= 0x80 for byte in data) / len(data) < 0.8:
        return None
    is_text = all((byte & 0x7F) in b"\r\n\t\x02\x03\x06" or 0x20 <= byte & 0x7F <= 0x7E for byte in data)
    ones = {byte.bit_count() % 2 for byte in data}
    return ("odd" if ones == {1} else "even") if is_text and len(ones) == 1 else None


def candidates(data: bytes) -> list[Candidate]:
    """Return the protocols that read most of these bytes, the likeliest first; empty where none does."""
    parity = parity_of(data)
    found = [
        candidate
        for protocol in PROTOCOLS.values()
        for profile, reasons in _profiles(protocol)
        if (candidate := _try(protocol, replace(profile, strip_parity=parity is not None), data, reasons))
    ]
    if parity is not None:
        found = [replace(one, reasons=(*one.reasons, f"parity_{parity}")) for one in found]
    best: dict[str, Candidate] = {}
    for one in sorted(found, key=lambda one: one.rank, reverse=True):
        best.setdefault(f"{one.protocol.name} {one.profile.reversed}", one)
    return [
        one for one in best.values() if "order_unknown" not in one.reasons or f"{one.protocol.name} None" not in best
    ]


def _profiles(protocol: Protocol) -> Iterator[tuple[Profile, tuple[str, ...]]]:
    if protocol.name == "toledo-continuous":
        yield Profile(checksum=True), ("checksum_fits",)
        yield Profile(short=True), ()
    if protocol.name == "yaohua":
        yield Profile(reversed=True), ("order_unknown",)
        yield Profile(reversed=False), ("order_unknown",)
    yield PLAIN, ("checksum_fits",) if protocol.is_checked else ()


def _try(protocol: Protocol, profile: Profile, data: bytes, reasons: Sequence[str]) -> Candidate | None:
    """Read the bytes in one way; the first line of a protocol without headers is not counted."""
    parser = Parser(protocol, replace(profile, aligned=protocol.has_header))
    answers = parser.feed(data)
    loads = [one for one in answers if not one.is_weak]
    broken = sum(one.error in _UNREADABLE for one in answers)
    if not loads or len(loads) < _FITS * (len(loads) + broken):
        return None
    last = loads[-1]
    marks = ["frames_fit", *reasons]
    marks += ["own_header"] if protocol.has_header else []
    marks += [] if protocol.has_columns else ["by_pattern"]
    marks += ["says_stable"] if last.stable is not None else []
    if last.error == "unit_missing":
        marks.append("unit_assumed")
    return Candidate(protocol, profile, len(loads), broken, tuple(marks), last)


def confirmed(data: bytes, known_g: float, tolerance_g: float) -> list[Candidate]:
    """Return the candidates that read a known weight in these bytes; a unit that no frame says is tried out."""
    return [
        fitted
        for one in candidates(data)
        for fitted in _with_units(one, data)
        if fitted.reading.grams is not None and abs(fitted.reading.grams - known_g) <= tolerance_g
    ]


def _with_units(candidate: Candidate, data: bytes) -> Iterator[Candidate]:
    yield candidate
    if candidate.reading.error != "unit_missing":
        return
    for unit in _ASSUMED_UNITS:
        profile = replace(candidate.profile, unit_default=unit)
        if (tried := _try(candidate.protocol, profile, data, ())) is not None:
            yield replace(tried, reasons=candidate.reasons)
