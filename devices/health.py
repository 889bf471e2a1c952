"""How a device is, as data for the health page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Condition = Literal["starting", "present", "busy", "gone", "wrong", "stale", "given_up", "closed"]
State = Literal["starting", "up", "away", "given_up", "closed"]

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
    "camera_busy": ("camera", "holders"),
    "camera_no_pictures": ("camera", "path"),
    "camera_twins": ("camera", "nodes"),
    "camera_given_up": ("camera", "crashes"),
    "camera_http_status": ("camera", "status"),
    "camera_no_stream": ("camera", "content_type"),
    "camera_not_video": ("camera", "path"),
    "camera_folder_missing": ("camera", "path"),
    "camera_folder_empty": ("camera", "path"),
    "camera_picture_missing": ("camera", "name"),
    "camera_picamera2_missing": ("camera", "package"),
    "camera_module_failed": ("camera", "reason"),
    "gpio_starting": (),
    "gpio_up": (),
    "gpio_partly": ("buttons", "lamps", "reason", "pin"),
    "gpio_closed": (),
    "gpio_unknown_factory": ("given", "valid"),
    "gpio_library_missing": ("reason",),
    "gpio_not_a_pi": ("reason",),
    "gpio_no_chip": ("reason",),
    "gpio_forbidden": ("reason",),
    "gpio_busy": ("reason", "pin", "holders"),
    "gpio_pin_in_use": ("reason", "pin"),
    "gpio_pin_unknown": ("pin",),
    "gpio_pin_twice": ("pin", "names"),
    "gpio_times": ("settle_ms", "hold_ms"),
    "gpio_failed": ("reason",),
    "scale_starting": ("scale",),
    "scale_up": ("scale", "protocol", "rejected"),
    "scale_waiting": ("scale", "protocol"),
    "scale_unconfirmed": ("scale", "candidates"),
    "scale_closed": ("scale",),
    "scale_silent": ("scale", "protocol"),
    "scale_unreadable": ("scale", "protocol"),
    "scale_missing": ("scale", "reason"),
    "scale_forbidden": ("scale", "reason", "group"),
    "scale_busy": ("scale", "reason", "holders"),
    "scale_taken": ("scale", "reason", "holders"),
    "scale_refused": ("scale", "reason"),
    "scale_gone": ("scale", "reason"),
}
"""Every message code of a device's health, with the values its sentence can count on."""

_CONDITIONS: Mapping[str, Condition] = {
    "camera_silent": "stale",
    "camera_frozen": "stale",
    "camera_broken_frames": "wrong",
    "camera_wrong_size": "wrong",
    "camera_forbidden": "wrong",
    "camera_busy": "busy",
    "camera_no_pictures": "wrong",
    "camera_twins": "wrong",
    "camera_http_status": "wrong",
    "camera_no_stream": "wrong",
    "camera_not_video": "wrong",
    "camera_folder_empty": "wrong",
    "camera_picture_missing": "wrong",
    "camera_picamera2_missing": "wrong",
    "gpio_library_missing": "wrong",
    "gpio_not_a_pi": "wrong",
    "gpio_forbidden": "wrong",
    "gpio_busy": "busy",
    "gpio_pin_in_use": "busy",
    "gpio_pin_unknown": "wrong",
    "gpio_failed": "wrong",
    "scale_silent": "stale",
    "scale_unreadable": "wrong",
    "scale_forbidden": "wrong",
    "scale_busy": "busy",
    "scale_taken": "busy",
    "scale_refused": "wrong",
}


@dataclass(frozen=True, slots=True)
class Health:
    """The state of a device, since when (monotonic ms), why, how often it was restarted and how old its news is."""

    state: State
    since_ms: int
    message_code: str
    values: Mapping[str, object]
    restarts: int
    frame_age_ms: int | None = None

    @property
    def condition(self) -> Condition:
        """What the device page shows in a word: a device that is away is busy, wrong, stale, or simply gone."""
        if self.state == "up":
            return "present"
        return _CONDITIONS.get(self.message_code, "gone") if self.state == "away" else self.state


def news(device: str, before: Health, after: Health) -> str | None:
    """Return the one calm line for the log when a device goes, when it is given up and when it returns, else None."""
    if after.state == before.state:
        return None
    if after.state == "away" and before.state != "given_up":
        return f"{device} is away: {after.message_code}"
    if after.state == "given_up":
        return f"{device} is given up: {after.message_code}"
    if after.state == "up" and before.state in ("away", "given_up"):
        return f"{device} is back after {(after.since_ms - before.since_ms) / 1000:.0f} s"
    return None
