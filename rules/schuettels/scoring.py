"""Scoring of Schüttel's: takes amounts, not a state, so that every depth scores by one code."""

from __future__ import annotations

from collections.abc import Sequence

from rules.messages import Seat


def winners(money: Sequence[int]) -> tuple[Seat, ...]:
    """Return who has the most value in bills; several where they tie (reading 22)."""
    return tuple(seat for seat, amount in enumerate(money) if amount == max(money))
