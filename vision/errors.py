"""What can be wrong with a picture, as data: the words are made elsewhere, in the reader's language."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType


class VisionError(ValueError):
    """Say that a picture cannot be used: `code` names the reason, `values` carry its numbers."""

    def __init__(self, code: str, values: Mapping[str, object] | None = None) -> None:
        self.code = code
        self.values: Mapping[str, object] = MappingProxyType(dict(values or {}))
        super().__init__(f"{code} {dict(self.values)}" if self.values else code)

    def __reduce__(self) -> tuple[type[VisionError], tuple[str, dict[str, object]]]:
        """Survive the way between processes: pictures are read in children."""
        return type(self), (self.code, dict(self.values))


class PictureRefused(VisionError):
    """A picture that cannot be read at all."""


class CalibrationRefused(VisionError):
    """A calibration picture, or a stored calibration, that would give wrong readings."""
