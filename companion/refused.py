"""What a picture or a device refused, as a message for words: outlines are for drawing and stay behind."""

from __future__ import annotations

from devices.errors import DeviceError
from rules.core import Message, Noun, Value
from vision.errors import VisionError

NAMES = ("first", "second")
"""Values that name colours."""


def message_of(error: VisionError | DeviceError) -> Message:
    """Return the code with those values that words can say; measures are rounded."""
    return Message(error.code, {name: _plain(name, value) for name, value in error.values.items() if _is_said(value)})


def _is_said(value: object) -> bool:
    return isinstance(value, str | int | float)


def _plain(name: str, value: object) -> Value:
    if isinstance(value, float):
        return round(value)
    if isinstance(value, int):
        return value
    return Noun(str(value)) if name in NAMES else str(value)
