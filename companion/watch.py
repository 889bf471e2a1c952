"""Watches one camera for gnomes: waits until the scene is still, reads it once, and offers what it read.

`Watch` decides; `WatchThread` feeds it. The watch never touches the game: it proposes, late evidence asks quietly.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from companion import asking, cropping, looking
from companion.errors import NoGame
from companion.evidence import EvidenceStore, Note
from companion.looking import Looked, Newest
from companion.proposal import Evidence
from companion.referee import Listening, Said
from companion.refused import message_of
from companion.snapshot import Snapshot
from companion.table import Table
from devices.camera import Camera, Frame
from rules.core import Message
from vision import gnomes, refit
from vision.calibration import GnomeCalibration
from vision.errors import VisionError
from vision.readings import GnomeReading
from vision.settle import Settle

log = logging.getLogger(__name__)

SENSE = "gnomes"
CAMERA = "camera"
STEP_S = 0.1
AGAIN_MS = 1000
PASSING = ("hand",)
"""What is in the way and goes by itself: the watch waits in silence, and says why when somebody asks."""


@dataclass(frozen=True, slots=True)
class _Look:
    """A reading under way: what it will say, and since which kept answer and emptiness it runs."""

    reading: Future[Looked]
    kept: int
    emptied: int


class Watch:
    """What is made of each frame. One thread feeds it, any thread may ask it to look again or look away.

    A reading runs beside it (`reader`), so that a tray emptied meanwhile is seen. `auto_at_ms` says when a sure answer
    may keep itself, None: never.
    """

    def __init__(
        self,
        table: Table,
        evidence: EvidenceStore,
        *,
        calibration: GnomeCalibration | None = None,
        auto_at_ms: Callable[[], int | None] = lambda: None,
        reader: Executor | None = None,
        wall_s: Callable[[], float] = time.time,
    ) -> None:
        self._table, self._evidence, self._wall_s = table, evidence, wall_s
        self._auto_at_ms = auto_at_ms
        self._calibration = calibration
        self._reader = reader or ThreadPoolExecutor(1, "reader")
        self._settle = Settle()
        self._listening = Listening()
        self._scene = self._read_scene = self._kept = self._emptied = self._left = 0
        self._was_still = self._was_asked = False
        self._done: tuple[object, ...] = ()
        self._entries: tuple[str | None, int] = (None, 0)
        self._look: _Look | None = None
        self._lock = threading.RLock()
        self._newest = Newest()
        self._frame_ms = self._not_before_ms = 0
        self.away = False
        self.refused: Message | None = None

    @property
    def calibration(self) -> GnomeCalibration | None:
        """What the pictures are read against; None until the wizard was done."""
        return self._calibration

    @property
    def says(self) -> Message:
        """Return what the camera waits for, in one sentence: a shake, a tap, the last gnomes still lying there."""
        state = self._listening.state
        if state == "deaf" and self._left:
            return Message("gnomes_left", {"n": self._left})
        return Message({"armed": "ready", "deaf": "wait_for_empty"}.get(state, "counted"))

    def use(self, calibration: GnomeCalibration) -> None:
        """Read against another calibration from now on; what lies there now is no shake."""
        with self._lock:
            self._calibration, self._listening, self._done, self._look = calibration, Listening(), (), None

    def step(self, frame: Frame | None) -> None:
        """Look at the newest frame, if there is one: cheap while something moves or nothing is new."""
        with self._lock:
            snapshot = self._table.snapshot
            self._follow(snapshot)
            self._collect(snapshot)
            if frame is None or self.away or self._calibration is None:
                return
            self._frame_ms = frame.taken_ms
            still = self._settle.feed(frame.picture, frame.taken_ms)
            self._scene += still and not self._was_still
            self._was_still = still
            self._newest.show(self._scene, frame if still else None)
            if still and self._key(snapshot) != self._done and frame.taken_ms >= self._not_before_ms:
                self._see(frame, snapshot, self._calibration)
                self._done = self._key(snapshot) if self.refused is None else ()

    def look_again(self, take: Callable[[], Frame]) -> None:
        """Read fresh frames because a person asked for it; raises VisionError why not, NoGame for an empty tray."""
        calibration = self._calibration
        if calibration is None:
            return
        looked = looking.look(take(), calibration, lambda _: take())
        if not looked.reading.count:
            raise NoGame("tray_empty")
        with self._lock:
            self._listening.again(looked.reading.count)
            self._offer(self._table.snapshot, looked)

    @property
    def trouble(self) -> Message | None:
        """Why nothing can be read, where somebody has to do something about it: a hand goes away by itself."""
        return None if self.refused is None or self.refused.key in PASSING else self.refused

    def close(self) -> None:
        """Stop reading."""
        self._reader.shutdown(cancel_futures=True)

    def _key(self, snapshot: Snapshot) -> tuple[object, ...]:
        """What a scene has to be looked at again for: another stillness, or somebody wants to know something else."""
        return self._scene, self._listening.state, asking.question(snapshot, SENSE) is not None, snapshot.game_id

    def _follow(self, snapshot: Snapshot) -> None:
        """A gesture kept while the table was asked for a shake took that shake, whoever said how many it was."""
        entries = (snapshot.game_id, len(snapshot.entries))
        if entries != self._entries and self._was_asked:
            self._keep()
        self._entries = entries
        self._was_asked = asking.question(snapshot, SENSE) is not None

    def _keep(self) -> None:
        self._kept += 1
        self._left = 0
        self._listening.kept(self._listening.count)

    def _see(self, frame: Frame, snapshot: Snapshot, calibration: GnomeCalibration) -> None:
        """Note an empty scene, or begin to read one that somebody wants to know."""
        try:
            empty = gnomes.is_empty(frame.picture, calibration)
        except VisionError as error:
            self._wait(error)
            return
        if empty:
            self._emptied += 1
            self._left = 0
            self._listening.saw_empty()
        elif self._look is not None:
            return
        elif self._listening.is_listening and self._is_wanted(snapshot):
            reading = self._reader.submit(looking.look, frame, calibration, partial(self._newest.later, self._scene))
            self._look = _Look(reading, self._kept, self._emptied)
            self._read_scene = self._scene
            return
        self.refused = None

    def _is_wanted(self, snapshot: Snapshot) -> bool:
        """Whether somebody waits for what lies there; a scene that was read is read again only for a new shake."""
        if self._listening.state != "armed" and self._scene == self._read_scene:
            return False
        deaf = self._listening.state == "deaf"
        return deaf or asking.is_counting(snapshot) or asking.question(snapshot, SENSE) is not None

    def _collect(self, snapshot: Snapshot) -> None:
        """Take what the reader has read; a reading from before the last kept answer is of no use any more."""
        look = self._look
        if look is None or not look.reading.done():
            return
        self._look = None
        self._done = ()
        try:
            looked = look.reading.result()
        except VisionError as error:
            self._wait(error)
            return
        self.refused = None
        if look.kept == self._kept and looked.reading.count:
            self._take(snapshot, looked)
            if look.emptied != self._emptied:
                self._listening.saw_empty()

    def _wait(self, error: VisionError) -> None:
        """Remember why nothing was read, and try again in a while: a hand goes, a lamp is put on."""
        self.refused = message_of(error)
        self._not_before_ms = self._frame_ms + AGAIN_MS
        self._done = ()

    def _take(self, snapshot: Snapshot, looked: Looked) -> None:
        reading = looked.reading
        self._left = reading.count
        what = self._listening.read(reading.count)
        counting = asking.is_counting(snapshot)
        if what in ("propose", "correct") or (what == "late" and counting):
            self._offer(snapshot, looked)
        elif what == "late" and reading.sure:
            self._table.notice((Message("late_evidence", {"n": reading.count}),))

    def _offer(self, snapshot: Snapshot, looked: Looked) -> None:
        said = Said(CAMERA, dict(enumerate(looked.reading.likelihood)))
        evidence = self._crop(looked.frame, looked.reading)
        if asking.is_counting(snapshot):
            self._table.counted(asking.counted(said, snapshot.number, evidence))
            self._keep()
            return
        asked = asking.question(snapshot, SENSE)
        if asked is not None:
            auto = self._auto_at_ms()
            self._table.propose(asking.proposed(asked, snapshot, [said], evidence=evidence, auto_at_ms=auto))

    def _crop(self, frame: Frame, reading: GnomeReading) -> Evidence:
        box = reading.box
        place = (box.x, box.y, box.width, box.height)
        table = "" if self._calibration is None else refit.identity(self._calibration)
        note = Note(SENSE, table, place, reading.count, self._wall_s())
        name = self._evidence.keep(cropping.jpeg(frame.picture, box), note)
        return Evidence(name, tuple(cropping.shifted(one, box) for one in reading.outlines))


class WatchThread:
    """Feeds a watch from a camera until it is closed; a frame that cannot be handled is logged and passed over."""

    def __init__(self, watch: Watch, camera: Camera) -> None:
        self._watch, self._camera = watch, camera
        self._closing = threading.Event()
        self._number = -1
        self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop watching; the camera stays open."""
        self._closing.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._closing.wait(STEP_S):
            try:
                self._watch.step(self._newest())
            except Exception:
                log.exception("a frame was passed over")

    def _newest(self) -> Frame | None:
        """Return the newest frame if it was not looked at before."""
        frame = self._camera.latest()
        if frame is None or frame.number == self._number:
            return None
        self._number = frame.number
        return frame
