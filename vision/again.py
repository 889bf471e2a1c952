"""Several looks at one still scene, as one reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vision.readings import GnomeReading, normalised


def together(looks: Sequence[GnomeReading]) -> GnomeReading:
    """Combine readings of one still scene: the surest look, with the geometric mean of all likelihoods.

    Looks at one scene share what hides in it, so they are never taken for more evidence than the average of them.
    """
    logs = np.mean([np.log(one.likelihood) for one in looks], axis=0)
    surest = max(looks, key=lambda one: one.confidence)
    return replace(surest, likelihood=normalised(np.exp(logs).tolist()))
