"""What a reader did on some pictures, whatever it reads: how often right, how often sure, how quick."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from vision.readings import SURE

BANDS = (0.0, 0.5, 0.7, 0.8, 0.9, SURE, 0.99, 0.999, 1.0 + 1e-9)


@dataclass(frozen=True)
class Answer:
    """One picture: whether the whole answer was right, by how much it was off, what it said of itself, its time."""

    picture: str
    right: bool
    off: float
    confidence: float
    ms: float
    says: str = ""

    @property
    def sure(self) -> bool:
        """Whether it would have been kept without a person."""
        return self.confidence >= SURE


@dataclass
class Score:
    """The answers of one method."""

    answers: list[Answer] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def exact(self) -> int:
        """How many were right."""
        return sum(answer.right for answer in self.answers)

    @property
    def unsure(self) -> int:
        """How many ask for a person."""
        return sum(not answer.sure for answer in self.answers)

    @property
    def wrong_and_sure(self) -> int:
        """How many would have been kept, and are wrong."""
        return sum(answer.sure and not answer.right for answer in self.answers)

    @property
    def median_ms(self) -> float:
        """The median time of a picture."""
        return float(np.median([answer.ms for answer in self.answers])) if self.answers else 0.0

    def line(self, name: str) -> str:
        """Say it in one line."""
        n = max(len(self), 1)
        slow = float(np.quantile([a.ms for a in self.answers], 0.95)) if self.answers else 0.0
        off = float(np.mean([a.off for a in self.answers])) if self.answers else 0.0
        return (
            f"{name:24} exact {self.exact:4}/{len(self):<4} {100 * self.exact / n:5.1f} %  "
            f"unsure {100 * self.unsure / n:5.1f} %  wrong and sure {100 * self.wrong_and_sure / n:5.2f} %  "
            f"mean error {off:5.2f}  {self.median_ms:6.1f} ms median {slow:6.1f} p95"
        )

    def counting_line(self, name: str) -> str:
        """Say it of a method that knows no doubt."""
        return self.line(name).replace(f"unsure {0:5.1f} %  wrong and sure", "always sure      wrong")

    def wrong(self) -> list[str]:
        """List what was misread, the wrong and sure first."""
        missed = sorted((a for a in self.answers if not a.right), key=lambda a: -a.confidence)
        return [f"{a.picture} {a.says} said with {a.confidence:.3f}" for a in missed]


def together(scores: Iterable[Score]) -> Score:
    """Put several scores into one."""
    return Score([answer for score in scores for answer in score.answers])


def reliability(score: Score) -> list[str]:
    """Say for each band of confidence how many readings lie in it, what they claimed and how many were right."""
    lines = []
    for low, high in pairwise(BANDS):
        here = [a for a in score.answers if low <= a.confidence < high]
        if here:
            said, right = np.mean([a.confidence for a in here]), np.mean([a.right for a in here])
            lines.append(
                f"said {low:.3f} to {min(high, 1):.3f}: {len(here):5} readings, mean {said:.3f}, right {right:.3f}"
            )
    return lines
