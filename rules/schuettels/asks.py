"""What a form has to ask because this box has not told it yet: number of spaces, values, size of the storage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rules.forms import Count
from rules.messages import Message, Noun, Refusal, Value
from rules.schuettels.state import FEWEST_SPACES, HOUSES, State

MOST_SPACES, MOST_STORAGE = 8, 60
PRICES = Count(10, 990, 10)
LIMITS: Mapping[str, Count] = {
    **{f"{side}.spaces": Count(FEWEST_SPACES, MOST_SPACES) for side in ("small", "large")},
    **{f"{side}.storage": Count(1, MOST_STORAGE) for side in ("small", "large")},
    **{f"{side}.{house}.{space}": PRICES for side in ("small", "large") for house in HOUSES
       for space in range(1, MOST_SPACES + 1)},
}  # fmt: skip
"""Every value that a board may tell."""


def of_storage(state: State) -> dict[str, Count]:
    """Return the question for the storage's size, where it is unknown."""
    least = 1 + sum(state.stored)  # one is free before any deed (reading 29)
    return {} if state.storage is not None else {f"{state.side}.storage": Count(least, MOST_STORAGE)}


def of_spaces(state: State, houses: Iterable[str]) -> dict[str, Count]:
    """Return the question for the number of goods spaces, where one of these houses may be full."""
    goods = [len(state.houses[house]) for house in houses]
    if state.spaces is not None or max(goods) < FEWEST_SPACES:
        return {}
    return {f"{state.side}.spaces": Count(max(map(len, state.houses.values())) + state.risky, MOST_SPACES)}


def of_values(state: State, house: str, spaces: Iterable[int]) -> dict[str, Count]:
    """Return the questions for the values of these spaces, where they are unknown."""
    return {state.value_name(house, space): PRICES for space in spaces if state.value(house, space) is None}


def missing(says: Mapping[str, int], *questions: Mapping[str, Count]) -> Refusal | None:
    """Refuse a form that leaves one of these questions open."""
    open_ones: tuple[Value, ...] = tuple(question(name) for asked in questions for name in asked if name not in says)
    return Refusal("say_first", "set-up", {"what": open_ones}) if open_ones else None


def question(name: str) -> Message:
    """Return in which words one of these values is asked for."""
    _, what, *space = name.split(".")
    if not space:
        return Message(f"ask_{what}")
    return Message("ask_value", {"where": Noun(what), "space": int(space[0])})
