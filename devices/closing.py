"""What is opened is closed, at the end of a `with` at the latest."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self


class Closing(ABC):
    """Something that is closed at the end of its `with`."""

    @abstractmethod
    def close(self) -> None:
        """Give back what was taken."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
