"""The service: one table, its journal, its camera and its clock, put together; every device is optional."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any, Literal

from companion import asking, players, settings
from companion.entries import Act, Amend, Body, Undo
from companion.errors import CompanionError, NoGame, Unreadable
from companion.evidence import EvidenceStore
from companion.journal import Journal
from companion.proposal import Device, Proposal
from companion.settings import Settings
from companion.sheets import SheetStore
from companion.table import Post, Table
from companion.watch import SENSE, Watch, WatchThread, vision_message
from devices.camera import Camera, Frame, open_camera
from devices.errors import DeviceError
from rules.core import TABLE, Message, Refused
from vision.calibration import GnomeCalibration, calibrate
from vision.errors import VisionError
from vision.pictures import encode_jpeg

log = logging.getLogger(__name__)

TICK_S = 0.1
FRESH_MS = 3000
PRUNE_EVERY_S = 600.0
BOT_PACE_MS = 1500
CALIBRATION = "gnomes.npz"
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
        self.watch = Watch(self.table, self.evidence, auto_at_ms=self._auto_for_sure)
        self._calibration_note: Message | None = self._load_calibration()
        self._empty: Frame | None = None
        self._camera: Camera | None = None
        self._camera_note: Message | None = None
        self._thread: WatchThread | None = None
        self._streak = 0
        self._judged: tuple[str | None, int] = (None, 0)
        self._bots = _Bots(bot_pace_ms)
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
            self.watch.look_again(self._camera.fresh(FRESH_MS))
        except DeviceError as error:
            raise CompanionError(error.code, **_plain(error.values)) from error
        except VisionError as error:
            raise CompanionError(error.code, **vision_message(error).values) from error

    def type_count(self, count: int) -> None:
        """Propose a count that a person typed; raises Refused, NoGame."""
        snapshot = self.table.snapshot
        self.table.propose(asking.typed(snapshot, SENSE, count, auto_at_ms=self._soon_ms()))

    def hold(self) -> None:
        """Let the open proposal wait for a tap: somebody is about to say something else."""
        proposal = self.table.snapshot.proposal
        if proposal is not None and proposal.auto_at_ms is not None:
            self.table.propose(replace(proposal, auto_at_ms=None))

    def left_in_cup(self, left: int) -> None:
        """Propose all gnomes but those left in the cup; raises Refused, NoGame."""
        self.type_count(asking.left_behind(self.table.snapshot, SENSE, left))

    def shake(self) -> None:
        """Shake the simulated cup; raises NoGame at a real table."""
        if self.shaker is None:
            raise NoGame("no_simulated_cup")
        self.shaker()

    def look_away(self, away: bool) -> None:
        """Close the camera's eyes, or open them again."""
        self.watch.away = away

    def crop(self, evidence: str) -> bytes | None:
        """Return a stored crop as JPEG, None where there is none of this id."""
        return self.evidence.get(evidence)

    def forget_pictures(self) -> int:
        """Delete every stored crop and return how many there were."""
        return self.evidence.forget()

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
            self._camera_note = Message(error.code, _plain(error.values))
            return
        self._thread = WatchThread(self.watch, self._camera)

    def calibration_status(self) -> Mapping[str, Any]:
        """Return how far the wizard is: camera, empty picture taken, calibrated, and what it has to say."""
        return {
            "camera": self.has_camera,
            "empty": self._empty is not None,
            "calibrated": self.watch.calibration is not None,
            "note": self._calibration_note,
        }

    def calibrate_empty(self) -> None:
        """Wizard, first step: take the picture of the empty tray; raises CompanionError."""
        self._empty = self._fresh()
        self._calibration_note = None

    def calibrate_pieces(self) -> None:
        """Wizard, second step: take the picture of all pieces apart, learn the table and keep it.

        Raises CompanionError naming what is wrong and with what; the calibration before stays in use.
        """
        if self._empty is None:
            raise NoGame("empty_first")
        pieces = self._fresh()
        try:
            learned = calibrate(self._empty.picture, pieces.picture)
        except VisionError as error:
            self._calibration_note = vision_message(error)
            raise CompanionError(error.code, **self._calibration_note.values) from error
        self.use_calibration(learned)

    def use_calibration(self, calibration: GnomeCalibration) -> None:
        """Keep a calibration in the data directory and read against it from now on."""
        calibration.save(self.data / CALIBRATION)
        self._empty, self._calibration_note = None, None
        self.watch.use(calibration)

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
        self.settings = replace(self.settings, confirm=confirm)
        settings.write_atomically(self.data / SETTINGS, settings.dump(self.settings).encode())
        self._streak = 0
        self.table.notice(())

    def close(self) -> None:
        """Stop every thread and child, and close the journal."""
        self._closing.set()
        self._ticker.join()
        self._close_camera()
        self.watch.close()
        self.table.close()

    # --- inside -------------------------------------------------------------------------------------

    def _fresh(self) -> Frame:
        if self._camera is None:
            raise NoGame("no_camera")
        try:
            return self._camera.fresh(FRESH_MS)
        except DeviceError as error:
            raise CompanionError(error.code, **_plain(error.values)) from error

    def _close_camera(self) -> None:
        if self._thread is not None:
            self._thread.close()
        if self._camera is not None:
            self._camera.close()
        self._thread = self._camera = None

    def _load_calibration(self) -> Message | None:
        path = self.data / CALIBRATION
        if not path.exists():
            return None
        try:
            self.watch.use(GnomeCalibration.load(path))
        except VisionError as error:
            log.warning("the calibration %s does not read: %s", path.name, error.code)
            return vision_message(error)
        return None

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
            self._judge_streak()
            self._carry_out(self.table.snapshot.proposal)
            self._bots.act(self.table, self.now_ms())
            self._prune()

    def _prune(self) -> None:
        now_s = time.time()
        if now_s - self._pruned_s > PRUNE_EVERY_S:
            self._pruned_s = now_s
            self.evidence.prune(now_s)

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

    def _judge_streak(self) -> None:
        """Count kept camera answers without a correction; after enough of them, offer to keep sure ones."""
        snapshot = self.table.snapshot
        at = (snapshot.game_id, len(snapshot.entries))
        if at == self._judged or self.settings.confirm == "sure":
            return
        new = snapshot.entries[self._judged[1] if at[0] == self._judged[0] else 0 :]
        self._judged = at
        for entry in new:
            self._streak = self._after(entry.body)
        if self._streak >= self.settings.ask_after and not snapshot.notices:
            self.table.notice((Message("offer_keep_sure", {"n": self._streak}),))

    def _after(self, body: Body) -> int:
        """Return how many camera answers in a row were right, after this entry."""
        if isinstance(body, Amend | Undo):
            return 0
        if not isinstance(body, Act) or body.evidence is None:
            return self._streak
        best = self.watch.proposed.get(body.evidence)
        return self._streak + 1 if best is not None and best in body.action.values() else 0

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
            return (Device("camera", False, self._calibration_note or Message("not_calibrated")),)
        if self.watch.refused is not None:
            return (Device("camera", False, self.watch.refused),)
        return (Device("camera", True, self.watch.says),)


class _Bots:
    """Acts for the seats that simulated players take, not faster than people can follow."""

    def __init__(self, pace_ms: int) -> None:
        self._pace_ms = pace_ms
        self._random = Random()
        self._seen: tuple[int, int] = (-1, 0)

    def act(self, table: Table, now_ms: int) -> None:
        snapshot = table.snapshot
        entries = len(snapshot.entries)
        if self._seen[0] != entries:
            self._seen = (entries, now_ms)
        if snapshot.game is None or snapshot.header is None or snapshot.open or now_ms < self._seen[1] + self._pace_ms:
            return
        if snapshot.header.depth != "referee":
            return
        movers = snapshot.game.turn(snapshot.state).movers
        seats = snapshot.header.seats
        bots = [seat for seat in sorted(movers) if seat != TABLE and seats[seat].player != "person"]
        for seat in bots[:1]:
            player = players.make(snapshot.header.seats[seat].player, self._random)
            action = player.act(snapshot.game, snapshot.state, seat)
            table.submit([Post(seat, action)], key=asking.new_id(), by="companion", eyes=seat)


def _plain(values: Mapping[str, object]) -> dict[str, str | int]:
    return {name: value if isinstance(value, str | int) else str(value) for name, value in values.items()}


def _wall() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def load_settings(path: Path) -> Settings:
    """Read a settings file that was named: it has to be there; raises Unreadable."""
    if not path.exists():
        raise Unreadable("no_such_file", file=str(path))
    return settings.load(path)
