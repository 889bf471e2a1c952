"""Patterns of light: pure, the time is passed in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class Pattern:
    """Lit and dark times in ms by turns, lit first, over and over. A single time is steady light, none is darkness."""

    steps_ms: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if any(step_ms <= 0 for step_ms in self.steps_ms) or (len(self.steps_ms) > 1 and len(self.steps_ms) % 2):
            raise ValueError(f"no pattern: {self.steps_ms}")

    def is_lit(self, passed_ms: int) -> bool:
        """Tell whether there is light this long after the pattern began."""
        return bool(self.steps_ms) and (len(self.steps_ms) == 1 or self._step(passed_ms)[0] % 2 == 0)

    def change_ms(self, passed_ms: int) -> int | None:
        """Return in how many ms the light changes, None where it never does."""
        return self._step(passed_ms)[1] if len(self.steps_ms) > 1 else None

    def _step(self, passed_ms: int) -> tuple[int, int]:
        """Return which step it is and how much of it is left."""
        ends_ms = tuple(accumulate(self.steps_ms))
        at_ms = passed_ms % ends_ms[-1]
        return next((step, end_ms - at_ms) for step, end_ms in enumerate(ends_ms) if at_ms < end_ms)


OFF = Pattern()
ON = Pattern((1000,))
BLINK = Pattern((500, 500))
FLASH = Pattern((100, 1400))
TWICE = Pattern((120, 180, 120, 1080))
PATTERNS: Mapping[str, Pattern] = {"off": OFF, "on": ON, "blink": BLINK, "flash": FLASH, "twice": TWICE}
"""The patterns by the names that settings and pages use."""


class Lights:
    """What each named lamp is to show. A pattern begins anew when it is set, and goes on when it is set again."""

    def __init__(self) -> None:
        self._wanted: dict[str, tuple[Pattern, int]] = {}

    def set(self, name: str, pattern: Pattern, now_ms: int) -> None:
        """Show a pattern from now on."""
        if self.pattern(name) != pattern:
            self._wanted[name] = (pattern, now_ms)

    def pattern(self, name: str) -> Pattern:
        """Return the pattern a lamp shows, darkness where none was set."""
        return self._wanted.get(name, (OFF, 0))[0]

    def is_lit(self, name: str, now_ms: int) -> bool:
        """Tell whether a lamp is to be lit now."""
        pattern, since_ms = self._wanted.get(name, (OFF, 0))
        return pattern.is_lit(now_ms - since_ms)

    def change_ms(self, now_ms: int) -> int | None:
        """Return in how many ms the first lamp changes, None where none will."""
        waits = (pattern.change_ms(now_ms - since_ms) for pattern, since_ms in tuple(self._wanted.values()))
        return min((wait_ms for wait_ms in waits if wait_ms is not None), default=None)
