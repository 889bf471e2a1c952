"""What is said to a scale and what is made of its answers: pure, the time is passed in."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import Literal

from devices.scales.parser import Parser
from devices.scales.profile import PLAIN, Profile
from devices.scales.protocol import Line, Protocol
from devices.scales.settling import Settling, SpikeFilter
from devices.scales.weighing import Weighing

Verdict = Literal["scale_up", "scale_waiting", "scale_silent", "scale_unreadable"]

SILENT_MS = 3000
"""A scale that was asked, or that sent by itself, is silent after this time."""

_UNREADABLE = frozenset({"malformed", "checksum", "oversize", "incomplete"})
_STREAM_COUNT, _STREAM_MS = 5, 3000
_UNREADABLE_MS = 1000


@dataclass(frozen=True, slots=True)
class ScaleConfig:
    """How one scale is read: its profile, its line (None: as its maker sets it), and what counts as still.

    `still_g` is how far apart weights at rest may lie; a sample of a load cell's board further than `window_g` from
    its neighbours is a spike. `asks` False: only listen.
    """

    profile: Profile = PLAIN
    line: Line | None = None
    still_g: float = 0.5
    window_g: float = 50.0
    asks: bool = True


@dataclass(frozen=True, slots=True)
class Heard:
    """An answer about the load, the frame it came in, and whether its weight is at rest."""

    weighing: Weighing
    frame: bytes
    is_settled: bool


class Conversation:
    """One opening of a scale's port, in one protocol."""

    def __init__(self, protocol: Protocol, config: ScaleConfig, now_ms: int) -> None:
        is_aligned = protocol.has_header and config.profile.aligned
        self._talk = protocol.talk
        self._polls = bool(config.asks and self._talk.ask and not self._talk.is_shy)
        self._parser = Parser(protocol, replace(config.profile, aligned=is_aligned))
        self._settling = Settling(config.still_g, frames=1 if protocol.is_checked else 2)
        self._spikes = SpikeFilter(config.window_g) if protocol.has_spikes else None
        self._began_ms = self._good_ms = now_ms
        self._heard_ms: int | None = None
        self._asked_ms: int | None = None
        self._arrivals: deque[int] = deque(maxlen=_STREAM_COUNT)
        self._good = 0
        self._is_streaming = self._is_wanted = False
        self._to_say: list[bytes] = []
        self._last: Heard | None = None

    @property
    def rejected(self) -> int:
        """How many samples were spikes."""
        return self._spikes.rejected if self._spikes else 0

    def hear(self, data: bytes, now_ms: int) -> list[Heard]:
        """Take what came; return the answers about the load."""
        if data:
            self._heard_ms = now_ms
        heard = [self._judge(weighing, now_ms) for weighing in self._parser.read(data, now_ms)]
        return [one for one in heard if one is not None]

    def _judge(self, weighing: Weighing, now_ms: int) -> Heard | None:
        if weighing.error in _UNREADABLE:
            return None
        self._note_good(now_ms)
        if (answer := self._talk.answers.get(self._parser.frame)) is not None:
            self._to_say.append(answer)
        if weighing.is_weak:
            return None
        kept = self._spikes.see(weighing) if self._spikes else weighing
        return None if kept is None else self._settled(kept, now_ms)

    def _settled(self, weighing: Weighing, now_ms: int) -> Heard | None:
        is_settled = self._settling.see(weighing, now_ms)
        if weighing.error == "no_change":  # the last reading stands
            if self._last is not None:
                self._last = replace(self._last, is_settled=is_settled)
            return self._last
        heard = Heard(weighing, self._parser.frame, is_settled)
        self._last = heard if weighing.is_weight else None
        return heard

    def _note_good(self, now_ms: int) -> None:
        self._good += 1
        self._good_ms = now_ms
        self._arrivals.append(now_ms)
        was_asked = self._asked_ms is not None and self._asked_ms >= self._arrivals[0]
        if len(self._arrivals) == _STREAM_COUNT and now_ms - self._arrivals[0] <= _STREAM_MS and not was_asked:
            self._is_streaming = True

    def want(self) -> None:
        """Have the scale asked at the next turn, also where it does not like to be asked."""
        self._is_wanted = True

    def say(self, now_ms: int) -> list[bytes]:
        """Return what is due to be said: answers to its signals, and the next question where it has been quiet."""
        said, self._to_say = self._to_say, []
        if self._talk.ask and self._is_due(now_ms):
            self._asked_ms, self._is_wanted = now_ms, False
            said.append(self._talk.ask)
        return said

    def _is_due(self, now_ms: int) -> bool:
        if self._asked_ms is None:
            return self._polls or self._is_wanted
        if self._is_streaming or now_ms - self._asked_ms < self._talk.every_ms:
            return False
        return self._is_wanted or (self._polls and now_ms - self._good_ms >= self._talk.every_ms)

    def verdict(self, now_ms: int) -> Verdict | None:
        """Say how the talk goes; None while nobody can know."""
        quiet_ms = now_ms - self._good_ms
        heard_ms = self._began_ms if self._heard_ms is None else self._heard_ms
        is_heard = now_ms - heard_ms < SILENT_MS and heard_ms - self._good_ms >= _UNREADABLE_MS
        if is_heard and quiet_ms >= SILENT_MS:
            return "scale_unreadable"
        if (self._polls or self._is_streaming) and quiet_ms >= SILENT_MS:
            return "scale_silent"
        if self._good:
            return "scale_up"
        return None if self._polls else "scale_waiting"
