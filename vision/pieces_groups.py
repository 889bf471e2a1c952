"""Pieces of one colour belong together: groups by their own medians, named in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vision import names

APART = 24.0  # of two groups' means, in CIELAB with lightness counting half
LIGHTNESS_SHARE = 0.5
SAME_NAME_APART = 60.0


def grouped(colours: NDArray[np.float64], ground: NDArray[np.float64]) -> tuple[str, ...]:
    """Name the group of each colour (n x 3, BGR) of pieces on a ground (BGR); alike ones share a group.

    Two groups of one name that nobody would take for one get numbers: `green`, `green 2`.
    """
    if not len(colours):
        return ()
    white = _white(colours, ground)
    points = names.under(colours, white) * [LIGHTNESS_SHARE, 1.0, 1.0]
    labels = _merged(points)
    means = {g: colours[labels == g].mean(axis=0) for g in np.unique(labels)}
    called = {g: names.chances(mean, white)[0][0] for g, mean in means.items()}
    final = _numbered(called, {g: points[labels == g].mean(axis=0) for g in means}, Counter(labels.tolist()))
    return tuple(final[g] for g in labels)


def _white(colours: NDArray[np.float64], ground: NDArray[np.float64]) -> NDArray[np.float64]:
    brightest = float(np.quantile(colours.max(axis=1), 0.95))
    if names.neutral(ground):
        return names.white_under(ground, brightest)
    level = max(brightest, float(ground.max()), 150.0)
    return np.full(3, level / names.SHEETS["white"])


def _merged(points: NDArray[np.float64]) -> NDArray[np.int64]:
    """Put the two nearest groups together, by the distance of their means, until all are APART."""
    labels = np.arange(len(points))
    means, sizes = points.copy(), np.ones(len(points))
    alive = list(range(len(points)))
    while len(alive) > 1:
        apart = np.linalg.norm(means[alive][:, None] - means[alive][None], axis=2) + np.eye(len(alive)) * 1e9
        first, second = np.unravel_index(int(apart.argmin()), apart.shape)
        if apart[first, second] > APART:
            break
        one, two = alive[int(min(first, second))], alive[int(max(first, second))]
        means[one] = (means[one] * sizes[one] + means[two] * sizes[two]) / (sizes[one] + sizes[two])
        sizes[one] += sizes[two]
        labels[labels == two] = one
        alive.remove(two)
    return labels


def _numbered(
    called: dict[np.int64, str], means: dict[np.int64, NDArray[np.float64]], sizes: Counter[int]
) -> dict[np.int64, str]:
    """Give groups of one name a number where they are far apart, the largest first; the others become one."""
    final: dict[np.int64, str] = {}
    for name in dict.fromkeys(called.values()):
        kinds: list[NDArray[np.float64]] = []
        for group in sorted((g for g in called if called[g] == name), key=lambda g: (-sizes[int(g)], g)):
            far = [float(np.linalg.norm(means[group] - kind)) for kind in kinds]
            number = int(np.argmin(far)) if far and min(far) < SAME_NAME_APART else len(kinds)
            if number == len(kinds):
                kinds.append(means[group])
            final[group] = name if number == 0 else f"{name} {number + 1}"
    return final


def counted(groups: Sequence[str]) -> dict[str, int]:
    """Count the pieces of each group, the most frequent first."""
    return dict(Counter(groups).most_common())
