"""When a camera counts as up, away, frozen or due for another try: pure decisions, the time is passed in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import Enum, auto

from devices.health import Health, State
from devices.messages import Beat
from devices.presence import Backoff, CrashLoop

FRESH_MS = 1000
"""No frame older than this is ever used."""

_SPAWN_MS = 20_000
_OPEN_MS = 8000
_SILENT_MS = 2500
_START_PATIENCE_MS, _OPEN_PATIENCE_MS = 5000, 3000


class FrozenDetector:
    """Tells a source that repeats itself: enough equal pictures for long enough. A sensor's noise never repeats."""

    equal_count, equal_ms = 5, 2500

    def __init__(self) -> None:
        self._digest: int | None = None
        self._number = self._count = self._since_ms = 0

    def see(self, number: int, digest: int, now_ms: int) -> bool:
        """Take note of frame `number` with this digest; True when the source is frozen."""
        if digest != self._digest:
            self._digest, self._count, self._since_ms = digest, 0, now_ms
        if number != self._number:
            self._number = number
            self._count += 1
        return self.is_frozen(digest, now_ms)

    def is_frozen(self, digest: int, now_ms: int) -> bool:
        """Tell whether a picture with this digest is one of the repeated ones."""
        return digest == self._digest and self._count >= self.equal_count and now_ms - self._since_ms >= self.equal_ms


def is_fresh(taken_ms: int, now_ms: int) -> bool:
    """Tell whether a picture taken then may still be used now."""
    return now_ms - taken_ms < FRESH_MS


class Deed(Enum):
    """What the supervisor has to do now."""

    NOTHING = auto()
    TRY = auto()
    KILL = auto()


class Upkeep:
    """The life of one camera: takes what was heard and the time, says what to do and how the camera is."""

    def __init__(self, camera: str, *, is_live: bool, now_ms: int) -> None:
        self._camera = camera
        self._is_live = is_live
        self._backoff = Backoff()
        self._crashes = CrashLoop()
        self._frozen = FrozenDetector()
        self._state: State = "starting"
        self._since_ms = now_ms
        self._code = "camera_starting"
        self._values: Mapping[str, object] = {}
        self._retry_ms: int | None = now_ms
        self._deadline_ms = now_ms
        self._patience_ms = now_ms + _START_PATIENCE_MS
        self._tries = 0
        self._beat = Beat()
        self._good_beat = Beat()
        self._half_before = self._wrong_size_before = 0

    def tick(self, now_ms: int) -> Deed:
        """Return what is due: another try, the end of a child that hangs, or nothing."""
        if self._retry_ms is not None:
            return self._try(now_ms) if now_ms >= self._retry_ms else Deed.NOTHING
        if self._state == "starting" and now_ms >= self._patience_ms:
            self._enter("away", "camera_silent", {}, now_ms)
        if now_ms < self._deadline_ms:
            return Deed.NOTHING
        self.gone(self._silence(), {}, now_ms)
        return Deed.KILL

    def _try(self, now_ms: int) -> Deed:
        self._retry_ms = None
        self._tries += 1
        self._deadline_ms = now_ms + _OPEN_MS
        return Deed.TRY

    def spawned(self, now_ms: int) -> None:
        """Allow for the start of a child process, which takes seconds on a small machine and counts from zero."""
        self._half_before += self._beat.half_frames
        self._wrong_size_before += self._beat.wrong_size_frames
        self._beat = self._good_beat = replace(self._beat, half_frames=0, wrong_size_frames=0)
        self._deadline_ms = now_ms + _SPAWN_MS

    def ready(self, now_ms: int) -> None:
        """Note that the child has started and is opening the source."""
        self._deadline_ms = now_ms + _OPEN_MS
        self._patience_ms = min(self._patience_ms, now_ms + _OPEN_PATIENCE_MS)

    def beat(self, beat: Beat, now_ms: int) -> None:
        """Take the child's word on its newest frame."""
        old = self._beat
        if beat.number <= old.number:
            self._beat = replace(beat, number=old.number, taken_ms=old.taken_ms, digest=old.digest)
            return
        self._beat = beat
        if is_fresh(beat.taken_ms, now_ms):
            self._frame(beat, now_ms)

    def _frame(self, beat: Beat, now_ms: int) -> None:
        self._deadline_ms = now_ms + _SILENT_MS
        if self._is_live and beat.digest is not None and self._frozen.see(beat.number, beat.digest, now_ms):
            if self._code != "camera_frozen" or self._retry_ms is None:
                self.gone("camera_frozen", {}, now_ms)
            return
        self._good_beat = beat
        self._retry_ms = None
        code = "camera_pictures_skipped" if beat.skipped else "camera_up"
        self._enter("up", code, {"names": beat.skipped} if beat.skipped else {}, now_ms)

    def gone(self, code: str, values: Mapping[str, object], now_ms: int) -> None:
        """Note that the source ended or was given up, and plan the next try; far off where the child keeps crashing."""
        up_for_ms = now_ms - self._since_ms if self._state == "up" else 0
        if code == "camera_crashed" and self._crashes.crashed(up_for_ms):
            self._retry_ms = now_ms + self._crashes.rest_ms
            self._enter("given_up", "camera_given_up", {"crashes": self._crashes.count}, now_ms)
            return
        self._retry_ms = now_ms + self._backoff.wait_ms(up_for_ms)
        if self._state != "given_up":
            self._enter("away", code, values, now_ms)

    def hurry(self, now_ms: int) -> None:
        """Make the next try due now, if there is one to come, and forget the crashes."""
        self._crashes = CrashLoop()
        if self._retry_ms is not None:
            self._retry_ms = now_ms

    def close(self, now_ms: int) -> None:
        """Note that the owner is done with the camera."""
        self._enter("closed", "camera_closed", {}, now_ms)

    def is_frozen(self, digest: int | None, now_ms: int) -> bool:
        """Tell whether a picture with this digest is a frozen one."""
        return self._is_live and digest is not None and self._frozen.is_frozen(digest, now_ms)

    def health(self, now_ms: int) -> Health:
        """Return how the camera is now."""
        counts = {
            "half_frames": self._half_before + self._beat.half_frames,
            "wrong_size_frames": self._wrong_size_before + self._beat.wrong_size_frames,
        }
        values = {"camera": self._camera, **counts, **self._values}
        age_ms = now_ms - self._beat.taken_ms if self._beat.number else None
        return Health(self._state, self._since_ms, self._code, values, max(0, self._tries - 1), age_ms)

    @property
    def number(self) -> int:
        """The number of the newest frame known."""
        return self._beat.number

    def _silence(self) -> str:
        """Say why nothing usable came: broken frames, frames of another size, or none at all."""
        if self._beat.wrong_size_frames > self._good_beat.wrong_size_frames:
            return "camera_wrong_size"
        if self._beat.half_frames > self._good_beat.half_frames:
            return "camera_broken_frames"
        return "camera_silent"

    def _enter(self, state: State, code: str, values: Mapping[str, object], now_ms: int) -> None:
        if state != self._state:
            self._state, self._since_ms = state, now_ms
        self._code, self._values = code, values
