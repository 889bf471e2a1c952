"""Which picture of a folder is shown when: pure, the time is passed in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


class FolderPlay:
    """Shows names in order, each for `hold_ms`, with the `between` picture before, between and after them.

    After the end the last name stays, or the play begins again. It begins when first watched.
    """

    def __init__(
        self, names: Sequence[str], *, hold_ms: int, between: str = "", between_ms: int = 1000, loops: bool = False
    ) -> None:
        self._names = list(names)
        self._hold_ms, self._between, self._between_ms, self._loops = hold_ms, between, between_ms, loops
        self._steps = self._script()
        self._shown, self._length_ms = next(self._steps, ("", 0))
        self._until_ms: int | None = None

    def _script(self) -> Iterator[tuple[str, int]]:
        while True:
            for name in tuple(self._names):
                if self._between:
                    yield self._between, self._between_ms
                if name in self._names:
                    yield name, self._hold_ms
            if not self._loops or not self._names:
                break
        if self._between:
            yield self._between, self._between_ms

    def at(self, now_ms: int, is_watched: bool = True) -> str:
        """Return the name to show now; empty where the folder holds no picture at all."""
        if not self._names:
            return ""
        if self._until_ms is None and is_watched:
            self._until_ms = now_ms + self._length_ms
        while self._until_ms is not None and now_ms >= self._until_ms and self._step():
            self._until_ms += self._length_ms
        return self._shown

    def _step(self) -> bool:
        step = next(self._steps, None)
        if step is not None:
            self._shown, self._length_ms = step
        return step is not None

    def drop(self, name: str) -> None:
        """Leave out a name that is no picture, at once if it is the one shown."""
        if name == self._between:
            self._between = ""
        if name in self._names:
            self._names.remove(name)
        if name == self._shown and not self._step() and self._names:
            self._shown = self._names[-1]
