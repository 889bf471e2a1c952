"""Forms: what may be filled in, within which limits, and how a form fills itself in by chance.

A `Choice` is one form: the action it makes and a field for each of the action's values. Nothing here enumerates a
product; a choice samples itself.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any, Protocol

from rules.messages import Refusal, Value

if TYPE_CHECKING:
    from rules.core import Action

SAMPLE_TRIES = 200
MOST_SHOWN = 40
"""Letters of a refused value that are shown again."""


class Field(Protocol):
    """One value of an action: which answers it takes."""

    def holds(self, value: object) -> bool:
        """Say whether the value is within the limits; never raises, whatever the value."""

    def sample(self, random: Random) -> object:
        """Return one value within the limits."""

    @property
    def sole(self) -> tuple[object, ...]:
        """Return the one value there is, as a tuple of one; empty where there are several or none."""


@dataclass(frozen=True, slots=True)
class Pick:
    """`least` to `most` different ones of `among`, as a tuple."""

    among: tuple[Hashable, ...]
    least: int = 1
    most: int = 1

    def holds(self, value: object) -> bool:
        if not isinstance(value, tuple) or not self.least <= len(value) <= self.most:
            return False
        return all(one in self.among for one in value) and len(set(value)) == len(value)

    def sample(self, random: Random) -> tuple[Hashable, ...]:
        return tuple(random.sample(self.among, random.randint(self.least, self.most)))

    @property
    def sole(self) -> tuple[object, ...]:
        if self.most == 0:
            return ((),)
        return (self.among,) if len(self.among) == self.least == 1 else ()


@dataclass(frozen=True, slots=True)
class Count:
    """A whole number from `least` to `most`, in steps of `step` from `least`."""

    least: int
    most: int
    step: int = 1

    def holds(self, value: object) -> bool:
        if not isinstance(value, int) or isinstance(value, bool):
            return False
        return self.least <= value <= self.most and (value - self.least) % self.step == 0

    def sample(self, random: Random) -> int:
        return random.randrange(self.least, self.most + 1, self.step)

    @property
    def sole(self) -> tuple[object, ...]:
        return (self.least,) if 0 <= self.most - self.least < self.step else ()


@dataclass(frozen=True, slots=True)
class Amounts:
    """A table of counts: a limit for each cell, a total (least, most) for each row."""

    most: Mapping[Hashable, Mapping[Hashable, int]]
    total: Mapping[Hashable, tuple[int, int]]

    def holds(self, value: object) -> bool:
        if not isinstance(value, Mapping) or value.keys() != self.most.keys():
            return False
        return all(isinstance(row, Mapping) and self._row_holds(name, row) for name, row in value.items())

    def _row_holds(self, name: Hashable, row: Mapping[Hashable, object]) -> bool:
        limits, (least, most) = self.most[name], self.total[name]
        numbers = [n for n in row.values() if isinstance(n, int) and not isinstance(n, bool)]
        if len(numbers) != len(row) or not least <= sum(numbers) <= most:
            return False
        return all(0 <= n <= limits.get(cell, 0) for cell, n in zip(row, numbers, strict=True))

    def sample(self, random: Random) -> dict[Hashable, dict[Hashable, int]]:
        return {name: self._sample_row(name, random) for name in self.most}

    def _sample_row(self, name: Hashable, random: Random) -> dict[Hashable, int]:
        pool = [cell for cell, n in self.most[name].items() for _ in range(n)]
        least, most = self.total[name]
        drawn = random.sample(pool, random.randint(least, min(most, len(pool))))
        return {cell: drawn.count(cell) for cell in self.most[name] if cell in drawn}

    @property
    def sole(self) -> tuple[object, ...]:
        nothing = all(most == 0 for _, most in self.total.values())
        return ({name: {} for name in self.most},) if nothing else ()


@dataclass(frozen=True, slots=True)
class Assign:
    """A different one of `values` for each of `keys`."""

    keys: tuple[Hashable, ...]
    values: tuple[Hashable, ...]

    def holds(self, value: object) -> bool:
        if not isinstance(value, Mapping) or set(value) != set(self.keys):
            return False
        given = list(value.values())
        return all(one in self.values for one in given) and len(set(given)) == len(given)

    def sample(self, random: Random) -> dict[Hashable, Hashable]:
        return dict(zip(self.keys, random.sample(self.values, len(self.keys)), strict=True))

    @property
    def sole(self) -> tuple[object, ...]:
        if self.keys and not len(self.keys) == len(self.values) == 1:
            return ()
        return (dict(zip(self.keys, self.values, strict=False)),)


@dataclass(frozen=True, slots=True)
class Order:
    """All of `things`, each once, in any order, as a tuple."""

    things: tuple[Hashable, ...]

    def holds(self, value: object) -> bool:
        if not isinstance(value, tuple) or len(value) != len(self.things):
            return False
        return all(one in self.things for one in value) and len(set(value)) == len(value)

    def sample(self, random: Random) -> tuple[Hashable, ...]:
        return tuple(random.sample(self.things, len(self.things)))

    @property
    def sole(self) -> tuple[object, ...]:
        return (self.things,) if len(self.things) < 2 else ()


@dataclass(frozen=True, slots=True)
class Values:
    """Any of these named numbers, each within its own limits; a name left out is left as it is."""

    limits: Mapping[str, Count]

    def holds(self, value: object) -> bool:
        if not isinstance(value, Mapping):
            return False
        return all(name in self.limits and self.limits[name].holds(n) for name, n in value.items())

    def sample(self, random: Random) -> dict[str, int]:
        most = random.choice(
            (min(2, len(self.limits)), len(self.limits))
        )  # few to change some, all to answer questions
        some = random.sample(sorted(self.limits), random.randint(0, most) if random.random() < 0.5 else most)
        return {name: self.limits[name].sample(random) for name in some}

    @property
    def sole(self) -> tuple[object, ...]:
        return () if self.limits else ({},)


@dataclass(frozen=True, slots=True)
class Text:
    """A short line of words, `most` characters at most."""

    most: int = 200

    def holds(self, value: object) -> bool:
        return isinstance(value, str) and len(value) <= self.most and value.isprintable()

    def sample(self, random: Random) -> str:
        return random.choice(("", "counted again", "forgotten"))

    @property
    def sole(self) -> tuple[object, ...]:
        return ()


def _fits_always(_: Action[Any]) -> Refusal | None:
    return None


@dataclass(frozen=True, slots=True)
class Choice:
    """One form: the kind of action it makes, a field for each of its values, and what a sense may fill in.

    `fits` says what no single field can say. `about` holds the facts the form is offered with (the place, the
    values at stake): a form is stale when they changed. `sense` and `zones` name what a reader may fill in, `odds`
    gives the chance of each answer of a table's choice where the rules know it.
    """

    kind: type[Action[Any]]
    fields: Mapping[str, Field] = field(default_factory=dict)
    fits: Callable[[Action[Any]], Refusal | None] = _fits_always
    about: Mapping[str, Value] = field(default_factory=dict)
    sense: str | None = None
    zones: tuple[str, ...] = ()
    odds: Mapping[Hashable, float] | None = None

    def why_not(self, action: Action[Any]) -> Refusal | None:
        """Say why this filled form is not what was offered, or None."""
        for name, one in self.fields.items():
            value = getattr(action, name)
            if not one.holds(value):
                return _out_of_limits(name, one, value)
        return self.fits(action)

    def sample(self, random: Random) -> Action[Any]:
        """Fill the form in by chance; raises LookupError where 200 tries do not find an answer that fits."""
        for _ in range(SAMPLE_TRIES):
            action = self.kind(**{name: one.sample(random) for name, one in self.fields.items()})
            if self.fits(action) is None:
                return action
        raise LookupError(f"no answer to {self.kind.__name__} in {SAMPLE_TRIES} tries")

    @property
    def forced(self) -> Action[Any] | None:
        """The one action this form can make, where nothing is left to fill in."""
        sole = {name: one.sole for name, one in self.fields.items()}
        if not all(sole.values()):
            return None
        action = self.kind(**{name: value for name, (value,) in sole.items()})
        return action if self.fits(action) is None else None


def _out_of_limits(name: str, one: Field, value: object) -> Refusal:
    if isinstance(one, Values) and isinstance(value, Mapping):
        for key, number in value.items():
            if key in one.limits and not one.limits[key].holds(number):
                return _out_of_limits(key, one.limits[key], number)
    got = value if isinstance(value, int) else str(value)[:MOST_SHOWN]
    if isinstance(one, Count):
        limits: dict[str, Value] = {"least": one.least, "most": one.most, "step": one.step}
        stepped = isinstance(value, int) and one.least <= value <= one.most and one.step > 1
        return Refusal("out_of_step" if stepped else "out_of_range", name, {"field": name, "got": got, **limits})
    if isinstance(one, Text) and isinstance(value, str) and len(value) > one.most:
        return Refusal("text_too_long", name, {"field": name, "most": one.most})
    return Refusal("not_offered", name, {"field": name, "got": got})
