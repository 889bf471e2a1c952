"""How a device is, as data for the health page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

State = Literal["starting", "up", "away", "closed"]

MESSAGE_CODES: Mapping[str, tuple[str, ...]] = {
    "camera_starting": ("camera",),
    "camera_up": ("camera",),
    "camera_pictures_skipped": ("camera", "names"),
    "camera_closed": ("camera",),
    "camera_silent": ("camera",),
    "camera_frozen": ("camera",),
    "camera_broken_frames": ("camera", "half_frames"),
    "camera_wrong_size": ("camera", "wrong_size_frames"),
    "camera_crashed": ("camera",),
    "camera_ended": ("camera",),
    "camera_missing": ("camera", "path"),
    "camera_forbidden": ("camera",),
    "camera_refused": ("camera", "reason"),
    "camera_http_status": ("camera", "status"),
    "camera_no_stream": ("camera", "content_type"),
    "camera_not_video": ("camera", "path"),
    "camera_folder_missing": ("camera", "path"),
    "camera_folder_empty": ("camera", "path"),
    "camera_picture_missing": ("camera", "name"),
    "camera_picamera2_missing": ("camera", "package"),
    "camera_module_failed": ("camera", "reason"),
}
"""Every message code of a camera's health, with the values its sentence can count on."""


@dataclass(frozen=True, slots=True)
class Health:
    """The state of a device, since when (monotonic ms), why, how often it was restarted and how old its news is."""

    state: State
    since_ms: int
    message_code: str
    values: Mapping[str, object]
    restarts: int
    frame_age_ms: int | None = None
