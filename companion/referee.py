"""The referee: turns what senses say into odds over the answers of a choice, and knows when to listen.

Nothing here reads a clock, a camera or a file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Literal, TypeAlias

from companion.proposal import Answer, SensorSays
from rules.core import Choice
from rules.forms import Count

FLOOR = 1e-4
"""No sensor makes an answer impossible."""
LEAST_OVERLAP = 0.05
"""Two sensors whose best answers differ contradict each other when their likelihoods overlap less than this."""
SURE = 0.97
"""Answers with at least this probability may be kept without a person, where the table's settings say so."""

Likelihood: TypeAlias = Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Said:
    """What one sensor says of a choice: its name and the likelihood of each answer, without a prior."""

    sensor: str
    likelihood: Likelihood

    @property
    def best(self) -> int:
        """Its most likely answer."""
        return max(self.likelihood, key=lambda answer: self.likelihood[answer])

    def says(self) -> SensorSays:
        """Return its answers, best first, to be shown beside another sensor's."""
        return SensorSays(self.sensor, _ranked(self.likelihood))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What all sensors together make of a choice: its answers, best first, and whether two of them contradict."""

    answers: tuple[Answer, ...]
    contradiction: bool

    @property
    def sure(self) -> bool:
        """Whether this may be kept without a person."""
        return not self.contradiction and bool(self.answers) and self.answers[0].probability >= SURE


def judge(choice: Choice, said: Sequence[Said]) -> Verdict:
    """Weigh every answer of a counting choice: its odds once, times what each sensor says."""
    weights = {answer: _prior(choice, answer) for answer in countable(choice)}
    for one in said:
        weights = {answer: weight * _floored(one, answer) for answer, weight in weights.items()}
    return Verdict(_ranked(weights), any(contradict(*pair) for pair in combinations(said, 2)))


def countable(choice: Choice) -> range:
    """Return the answers of a choice with one counting field; raises LookupError for any other."""
    for one in choice.fields.values():
        if isinstance(one, Count):
            return range(one.least, one.most + 1, one.step)
    raise LookupError(f"{choice.kind.__name__} asks for no count")


def contradict(one: Said, other: Said) -> bool:
    """Say whether two sensors cannot both be right: other best answers, and hardly any overlap."""
    shared = one.likelihood.keys() | other.likelihood.keys()
    totals = [sum(each.likelihood.values()) for each in (one, other)]
    pairs = ((one.likelihood.get(n, 0.0) / totals[0], other.likelihood.get(n, 0.0) / totals[1]) for n in shared)
    return one.best != other.best and sum(map(min, pairs)) < LEAST_OVERLAP


def _prior(choice: Choice, answer: int) -> float:
    return 1.0 if choice.odds is None else choice.odds.get(answer, 0.0)


def _floored(said: Said, answer: int) -> float:
    return max(FLOOR, said.likelihood.get(answer, 0.0))


def _ranked(weights: Likelihood) -> tuple[Answer, ...]:
    total = sum(weights.values()) or 1.0
    best = sorted(weights, key=lambda answer: -weights[answer])
    return tuple(Answer(answer, weights[answer] / total) for answer in best)


State: TypeAlias = Literal["deaf", "armed", "open", "gathered"]
What: TypeAlias = Literal["propose", "correct", "late", "ignore"]


@dataclass(slots=True)
class Listening:
    """Armed by emptiness: a new answer needs a new scene.

    deaf: an answer was kept, or nothing is known yet, and the scene was not seen empty since. armed: it was. open: an
    answer is proposed. gathered: pieces are taken away while it still waits for a person; emptiness may follow.
    Gnomes being gathered, a pause or a new turn never count; a late roller corrects the open proposal.
    """

    state: State = "deaf"
    count: int = 0
    _emptied: bool = field(default=False, repr=False)

    def saw_empty(self) -> None:
        """Nothing lies there."""
        if self.state == "deaf":
            self.state = "armed"
        elif self.state == "open":
            self.state = "gathered"
        self._emptied = self._emptied or self.state == "gathered"

    def read(self, count: int) -> What:
        """Say what to do with a count read in a still scene."""
        if self.state == "armed":
            self.state, self.count, self._emptied = "open", count, False
            return "propose"
        if self.state == "open" and count > self.count:
            self.count = count
            return "correct"
        if self.state == "open" and count < self.count:
            self.state = "gathered"
        if self.state == "deaf" and count > self.count > 0:
            self.count = count
            return "late"
        return "ignore"

    def again(self, count: int) -> None:
        """A person asked to look again: what is read now stands, whatever the scene was before."""
        self.state, self.count, self._emptied = "open", count, False

    def kept(self, count: int) -> None:
        """An answer was kept, this sense's or a person's: deaf until the scene is seen empty, or was already."""
        self.state = "armed" if self.state == "gathered" and self._emptied else "deaf"
        self.count, self._emptied = count, False

    @property
    def is_listening(self) -> bool:
        """Whether a still scene is worth reading now."""
        return self.state in ("armed", "open") or (self.state == "deaf" and self.count > 0)
