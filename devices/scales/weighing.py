"""What a scale's answer means: a weight in grams, or the reason why it is none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

WEAK = frozenset({"not_weight", "malformed", "checksum", "oversize", "incomplete"})
"""Answers that say nothing about the load, so that a weight before them still counts."""

ERRORS = WEAK | {
    "unit_missing",
    "unit_ambiguous",
    "not_mass",
    "underload",
    "motion",
    "no_change",
    "status_only",
    "busy",
    "stability_timeout",
    "syntax_error",
    "logical_error",
    "transmission_error",
    "unknown_command",
    "device_error",
    "zero_error",
    "tare_error",
    "calibrating",
    "raw_counts",
    "nak",
}
"""Every word that can stand in the place of a weight."""


@dataclass(frozen=True, slots=True)
class Weighing:
    """One complete answer of a scale.

    `grams` is a number only where the answer is a weight on the pan: never with `overload` or an `error`. `unit` is the
    one the scale showed, `stable` and `is_net` are None where the protocol does not say. `error` is one of `ERRORS`;
    too little load is the error `underload`.
    """

    grams: float | None = None
    unit: str | None = None
    stable: bool | None = None
    is_net: bool | None = None
    overload: bool = False
    error: str | None = None

    @property
    def is_weight(self) -> bool:
        """Whether this is a weight."""
        return self.grams is not None

    @property
    def is_weak(self) -> bool:
        """Whether this says nothing about the load."""
        return self.error in WEAK


OVERLOAD = Weighing(overload=True)
UNDERLOAD = Weighing(error="underload")
MALFORMED = Weighing(error="malformed")
NOT_WEIGHT = Weighing(error="not_weight")
INCOMPLETE = Weighing(error="incomplete")
MOTION = Weighing(stable=False, error="motion")


def refused(error: str) -> Weighing:
    """Return an answer that is no weight, for this reason."""
    if error not in ERRORS:
        raise ValueError(f"no such reason: {error!r}")
    return Weighing(error=error)


def last_of(weighings: Iterable[Weighing]) -> Weighing:
    """Return what counts of several answers: the last one about the load, else the last one, else `incomplete`."""
    last = INCOMPLETE
    for weighing in weighings:
        if last.is_weak or not weighing.is_weak:
            last = weighing
    return last
