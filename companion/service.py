"""The service: one table, its journal, its camera and its clock, put together; every device is optional."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from companion import asking, settings, wizard
from companion.bots import Bots
from companion.corrections import CorrectionStore, Learner
from companion.errors import CompanionError, NoGame, Unreadable
from companion.evidence import EvidenceStore
from companion.glancing import FRESH_MS as FRESH_GLANCE_MS
from companion.glancing import Glance, Glancer, Kind
from companion.journal import Journal
from companion.proposal import Device, Proposal
from companion.refitting import School
from companion.refused import message_of
from companion.settings import Settings
from companion.sheets import SheetStore
from companion.snapshot import Snapshot
from companion.streak import Streak
from companion.table import Post, Table
from companion.watch import SENSE, Watch, WatchThread
from companion.wizard import Wizard
from devices.camera import Camera, Frame, open_camera
from devices.errors import DeviceError
from rules.core import TABLE, Message, Refused
from vision.calibration import GnomeCalibration
from vision.errors import VisionError
from vision.market_calibration import MarketCalibration
from vision.pictures import encode_jpeg

log = logging.getLogger(__name__)

TICK_S = 0.1
FRESH_MS = 3000
PRUNE_EVERY_S = 600.0
BOT_PACE_MS = 1500
MARKET = "market.npz"
EVENING_S = 12 * 3600.0
"""So far back the pictures are of this evening."""
SETTINGS = settings.NAME


def monotonic_ms() -> int:
    """Return a clock's milliseconds that never goes back."""
    return time.monotonic_ns() // 1_000_000


class Service:
    """What runs beside a board game. Every method may be called from any thread.

    `camera_url` comes before the settings' camera. `now_ms` is a clock that does not go back. `shaker`, where there is
    one, shakes a simulated cup.
    """

    shaker: Callable[[], None] | None = None

    def __init__(
        self,
        own: Settings,
        data: Path,
        *,
        camera_url: str | None = None,
        now_ms: Callable[[], int] = monotonic_ms,
        bot_pace_ms: int = BOT_PACE_MS,
    ) -> None:
        self.settings, self.data, self.now_ms = own, data, now_ms
        data.mkdir(parents=True, exist_ok=True)
        self.table = Table(Journal(data), now_ms=now_ms, wall=_wall, store=SheetStore(data))
        self.evidence = EvidenceStore(data, most_mb=own.evidence_most_mb, most_days=own.evidence_most_days)
        self.corrections = CorrectionStore(data, own)
        self._learner = Learner(self.evidence, self.corrections, lambda: self.settings.keep_corrections)
        self.watch = Watch(self.table, self.evidence, auto_at_ms=self._auto_for_sure)
        self._camera: Camera | None = None
        self.wizard = Wizard(wizard.GNOMES, data, lambda: self.fresh().picture, self.watch.use)
        self.gem_wizard = Wizard(wizard.GEMS, data, lambda: self.fresh().picture)
        self.school = School(self.wizard, self.corrections)
        self._market = _market_of(data / MARKET)
        self._glancer = Glancer(lambda: self.gem_wizard.calibration, lambda: self._market)
        self._glances: dict[Kind, Glance] = {}
        self._camera_note: Message | None = None
        self._thread: WatchThread | None = None
        self._streak = Streak(self.evidence)
        self._bots = Bots(bot_pace_ms)
        self._pruned_s = 0.0
        self._ticking = threading.Lock()
        self.open_camera(own.camera if camera_url is None else camera_url)
        self._closing = threading.Event()
        self._ticker = threading.Thread(target=self._run, name="ticker", daemon=True)
        self._ticker.start()

    # --- the shake ------------------------------------------------------------------------------

    def look_again(self) -> None:
        """Read a picture taken after this call; raises CompanionError saying why it cannot be read."""
        if self._camera is None or self.watch.calibration is None:
            raise NoGame("no_camera" if self._camera is None else "not_calibrated")
        try:
            self.watch.look_again(self.fresh)
        except VisionError as error:
            raise CompanionError(error.code, **message_of(error).values) from error

    def type_count(self, count: int) -> None:
        """Propose a count that a person typed; raises Refused, NoGame."""
        self.table.propose(asking.typed(self.table.snapshot, SENSE, count, auto_at_ms=self._soon_ms()))

    def hold(self) -> None:
        """Let the open proposal wait for a tap: somebody is about to say something else."""
        proposal = self.table.snapshot.proposal
        if proposal is not None and proposal.auto_at_ms is not None:
            self.table.propose(replace(proposal, auto_at_ms=None))

    def left_in_cup(self, left: int) -> None:
        """Propose all gnomes but those left in the cup, whatever the camera sees; raises Refused, NoGame."""
        snapshot = self.table.snapshot
        fell = asking.left_behind(snapshot, SENSE, left)
        self.table.propose(asking.typed(snapshot, SENSE, fell, auto_at_ms=self._soon_ms(), corrects=False))

    def shake(self) -> None:
        """Shake the simulated cup; raises NoGame at a real table."""
        if self.shaker is None:
            raise NoGame("no_simulated_cup")
        self.shaker()

    def look_away(self, away: bool) -> None:
        """Close the camera's eyes, or open them again."""
        self.watch.away = away

    # --- a glance, where no game asks -------------------------------------------------------------

    def glance(self, kind: Kind) -> Glance:
        """Look at what lies there now and answer one kind of question; raises CompanionError."""
        if self.watch.away:
            raise NoGame("looking_away")
        frame = self.fresh()
        self._glances[kind] = self._glancer.glance(kind, frame.picture, self.now_ms(), str(frame.number))
        return self._glances[kind]

    def glanced(self, kind: Kind) -> Glance | None:
        """Return the newest answer of a kind while it is fresh."""
        found = self._glances.get(kind)
        return found if found is not None and self.now_ms() - found.at_ms < FRESH_GLANCE_MS else None

    def knows(self, kind: Kind) -> bool:
        """Say whether this kind of question can be answered at this table."""
        return self._glancer.knows(kind)

    # --- pictures ---------------------------------------------------------------------------------

    def crop(self, evidence: str) -> bytes | None:
        """Return a stored crop as JPEG, None where there is none of this id."""
        return self.evidence.get(evidence)

    def forget(self, since_s: float | None = None) -> int:
        """Delete this evening's crops, or those since a time of the wall clock: evidence and corrections alike.

        Returns how many pictures there were; one that was kept as both is one picture.
        """
        since_s = time.time() - EVENING_S if since_s is None else since_s
        self._glances.clear()
        return len(self.evidence.forget(since_s) | self.corrections.forget(since_s))

    # --- the camera and its calibration -----------------------------------------------------------

    @property
    def has_camera(self) -> bool:
        """Whether a camera is set."""
        return self._camera is not None

    def open_camera(self, url: str) -> None:
        """Watch through this camera from now on; empty: none. An address that does not read is said, not raised."""
        self._close_camera()
        self._camera_note = None
        if not url:
            return
        try:
            self._camera = open_camera(url)
        except DeviceError as error:
            self._camera_note = message_of(error)
            return
        self._thread = WatchThread(self.watch, self._camera)

    def use_calibration(self, calibration: GnomeCalibration) -> None:
        """Keep a calibration of the gnomes' table and read against it from now on."""
        self.wizard.use(calibration)

    def fresh(self) -> Frame:
        """Return a picture taken after this call; raises CompanionError where no camera gives one."""
        if self._camera is None:
            raise NoGame("no_camera")
        try:
            return self._camera.fresh(FRESH_MS)
        except DeviceError as error:
            reason = error.values.get("reason")  # a silent camera says why: it may show the same picture all the time
            code = reason if reason == "camera_frozen" else error.code
            raise CompanionError(code, **message_of(error).values) from error

    def picture(self) -> Frame | None:
        """Return the newest frame for the wizard's page, None where there is none."""
        return None if self._camera is None else self._camera.latest()

    def preview(self) -> bytes | None:
        """Return the newest frame as JPEG for the wizard's page; None without one, and where the camera looks away."""
        frame = None if self.watch.away else self.picture()
        return None if frame is None else encode_jpeg(frame.picture)

    # --- settings -----------------------------------------------------------------------------------

    def set_confirm(self, confirm: Literal["always", "sure"]) -> None:
        """Confirm every count, or keep sure ones by themselves; kept in the settings file."""
        self._set(confirm=confirm)
        self._streak.length = 0
        self.table.notice(())

    def keep_corrections(self, keep: bool) -> None:
        """Learn from taps from now on, or keep nothing of them; what is kept stays until it is forgotten."""
        self._set(keep_corrections=keep)

    def close(self) -> None:
        """Stop every thread and child, and close the journal."""
        self._closing.set()
        self._ticker.join()
        self.school.close()
        self._close_camera()
        self.watch.close()
        self.table.close()

    # --- inside -------------------------------------------------------------------------------------

    def _set(self, **changed: Any) -> None:
        self.settings = replace(self.settings, **changed)
        settings.write_atomically(self.data / SETTINGS, settings.dump(self.settings).encode())

    def _close_camera(self) -> None:
        if self._thread is not None:
            self._thread.close()
        if self._camera is not None:
            self._camera.close()
        self._thread = self._camera = None

    def _soon_ms(self) -> int:
        return self.now_ms() + round(self.settings.carry_out_after_s * 1000)

    def _auto_for_sure(self) -> int | None:
        return self._soon_ms() if self.settings.confirm == "sure" else None

    def _run(self) -> None:
        while not self._closing.wait(TICK_S):
            try:
                self.tick()
            except Exception:
                log.exception("a tick was passed over")

    def tick(self) -> None:
        """Do what is due: carry out a place without a choice, let simulated players act, say how the devices are."""
        with self._ticking:
            self.table.set_devices(self.devices())
            snapshot = self.table.snapshot
            self._offer_to_keep_sure(snapshot)
            self._learner.follow(snapshot)
            self._carry_out(snapshot.proposal)
            self._bots.act(self.table, self.now_ms())
            self._prune()

    def _prune(self) -> None:
        now_s = time.time()
        if now_s - self._pruned_s > PRUNE_EVERY_S:
            self._pruned_s = now_s
            self.evidence.prune(now_s)
            self.corrections.prune(now_s)

    def _carry_out(self, proposal: Proposal | None) -> None:
        if proposal is None or proposal.auto_at_ms is None or self.now_ms() < proposal.auto_at_ms:
            return
        crop = None if proposal.evidence is None else proposal.evidence.crop
        action = {"do": proposal.do, proposal.field: proposal.answers[0].value}
        try:
            self.table.submit([Post(TABLE, action, evidence=crop)], key=f"auto {proposal.id}", by="companion")
        except (Refused, CompanionError) as error:
            log.info("a proposal was not carried out: %s", error)
            self.table.propose(None)

    def _offer_to_keep_sure(self, snapshot: Snapshot) -> None:
        """After enough camera answers in a row without a correction, offer to keep sure ones."""
        if self.settings.confirm == "sure" or not self._streak.follow(snapshot):
            return
        if self._streak.length >= self.settings.ask_after and not snapshot.notices:
            self.table.notice((Message("offer_keep_sure", {"n": self._streak.length}),))

    def devices(self) -> tuple[Device, ...]:
        """Return one calm line for each device: what it is and what to do about it."""
        if self._camera_note is not None:
            return (Device("camera", False, self._camera_note),)
        if self._camera is None:
            return ()
        health = self._camera.health()
        if health.state != "up":
            return (Device("camera", False, Message(health.message_code, _plain(health.values))),)
        if self.watch.away:
            return (Device("camera", True, Message("looks_away")),)
        if self.watch.calibration is None:
            return (Device("camera", False, self.wizard.note or Message("not_calibrated")),)
        if self.watch.trouble is not None:
            return (Device("camera", False, self.watch.trouble),)
        return (Device("camera", True, self.watch.says),)


def _market_of(path: Path) -> MarketCalibration | None:
    """Return the market board that is known; one that does not read is said by the doctor."""
    try:
        return MarketCalibration.load(path) if path.exists() else None
    except VisionError as error:
        log.warning("the calibration %s does not read: %s", path.name, error.code)
        return None


def _plain(values: Mapping[str, object]) -> dict[str, str | int]:
    return {name: value if isinstance(value, str | int) else str(value) for name, value in values.items()}


def _wall() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def load_settings(path: Path) -> Settings:
    """Read a settings file that was named: it has to be there; raises Unreadable."""
    if not path.exists():
        raise Unreadable("no_such_file", file=str(path))
    return settings.load(path)
