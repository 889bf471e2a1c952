"""Three small nets that look at a patch of a board: is it covered, is a cross up, does a cube lie there.

Each has one hidden layer. `tests/bench/fit_market.py` trained them on rendered boards.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

Patches = NDArray[np.float32]
LEAKS = 0.1  # of what is below nothing gets through a hidden unit
NETS = ("covered", "crossed", "sold")


@dataclass(frozen=True, slots=True, eq=False)
class Net:
    """Weights of a net from n numbers to one log odds over h hidden units: (n x h), (h), (h), and a number."""

    inward: Patches
    bias: Patches
    outward: Patches
    offset: float

    def log_odds(self, patches: Patches) -> NDArray[np.float64]:
        """Return the log odds of each patch (m x n)."""
        hidden = patches @ self.inward + self.bias
        hidden = np.maximum(hidden, LEAKS * hidden)
        return np.asarray(hidden @ self.outward, np.float64) + self.offset


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """The three nets, what each log odds is divided by to hold, and the line that makes the whole picture's hold."""

    nets: tuple[Net, ...]
    temperatures: tuple[float, ...]
    whole: tuple[float, float]

    def log_odds(self, name: str, patches: Patches) -> NDArray[np.float64]:
        """Return what the net of that name says of each patch."""
        number = NETS.index(name)
        return self.nets[number].log_odds(patches) / self.temperatures[number]

    def dumps(self) -> bytes:
        """Write as NPZ."""
        arrays: dict[str, NDArray[np.generic]] = {"scales": np.array([*self.temperatures, *self.whole])}
        for name, net in zip(NETS, self.nets, strict=True):
            arrays[f"{name}_inward"] = net.inward.astype(np.float16)
            arrays[f"{name}_rest"] = np.concatenate([net.bias, net.outward, [net.offset]]).astype(np.float32)
        file = io.BytesIO()
        np.savez_compressed(file, allow_pickle=False, **arrays)
        return file.getvalue()


@lru_cache(maxsize=1)
def fitted() -> Fitted:
    """Return the nets that the package carries."""
    return loads(files("vision").joinpath("data", "market.npz").read_bytes())


def loads(data: bytes) -> Fitted:
    """Read what `Fitted.dumps` wrote."""
    with np.load(io.BytesIO(data), allow_pickle=False) as stored:
        scales = [float(v) for v in stored["scales"]]
        nets = tuple(_net(stored[f"{name}_inward"], stored[f"{name}_rest"]) for name in NETS)
    return Fitted(nets, tuple(scales[: len(NETS)]), (scales[-2], scales[-1]))


def _net(inward: NDArray[np.generic], rest: NDArray[np.generic]) -> Net:
    flat, hidden = np.asarray(rest, np.float32), inward.shape[1]
    return Net(np.asarray(inward, np.float32), flat[:hidden], flat[hidden : 2 * hidden], float(flat[-1]))
