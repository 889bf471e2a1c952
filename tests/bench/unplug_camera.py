"""Takes a camera away and gives it back, again and again; nothing of it may stay behind in the service.

python -m tests.bench.unplug_camera [--cycles 200]

Cycles go by turns: the stream ends, the server closes its port and opens it again, the capture child is killed, the
child stands still. After each the camera must see again; threads and descriptors are counted while it does.
"""

from __future__ import annotations

import argparse
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from devices.camera import Camera, open_camera
from devices.fakes import FakeCamera
from devices.presence import Backoff, CrashLoop

WITHIN_S = 20.0


@dataclass(frozen=True, slots=True)
class Footprint:
    """What the service holds: threads (the fake's streams left out), its descriptors, and its children's."""

    threads: int
    descriptors: int
    child_descriptors: int


def noise() -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """Return a picture that no other one equals."""
    return np.random.default_rng().integers(0, 255, (48, 64, 3), np.uint8)


def until(is_so: Callable[[], bool], what: str) -> None:
    """Wait for a condition; raise TimeoutError naming it when the time is over."""
    deadline = time.monotonic() + WITHIN_S
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError(what)
        time.sleep(0.005)


class Table:
    """One camera of the service and the fake it looks through."""

    def __init__(self) -> None:
        self.fake = FakeCamera(fps=30)
        self.fake.show(noise)
        self.camera: Camera = open_camera(self.fake.url)
        self.camera.fresh(20_000)

    @property
    def child(self) -> int:
        """The capture child's process number."""
        link = self.camera._link
        if link is None:
            raise RuntimeError("there is no child")
        return link.pid

    def cycle(self, number: int, ways: int) -> None:
        """Take the camera away in one of the first ways, see it go, give it back and see it return."""
        (self._end_stream, self._close_port, self._kill_child, self._stop_child)[number % ways]()
        self.camera.fresh(20_000)
        until(lambda: self.camera.health().state == "up", "the camera does not return")

    def _gone(self) -> None:
        until(lambda: self.camera.health().state != "up", "the camera does not go")

    def _end_stream(self) -> None:
        self.fake.set_mode("drop")
        self._gone()
        self.fake.set_mode("run")

    def _close_port(self) -> None:
        port = self.fake.port
        self.fake.close()
        self._gone()
        self.fake = FakeCamera(port, fps=30)
        self.fake.show(noise)

    def _kill_child(self) -> None:
        os.kill(self.child, signal.SIGKILL)
        self._gone()

    def _stop_child(self) -> None:
        os.kill(self.child, signal.SIGSTOP)
        self._gone()

    def footprint(self) -> Footprint:
        """Count what is held now."""
        until(lambda: self.fake.streams == 1, "the fake has more than one reader")
        threads = [thread for thread in threading.enumerate() if "process_request" not in thread.name]
        descriptors, theirs = (len(os.listdir(f"/proc/{pid}/fd")) for pid in ("self", self.child))
        return Footprint(len(threads), descriptors, theirs)

    def close(self) -> None:
        """Let both go."""
        self.camera.close()
        self.fake.close()


def run(cycles: int, ways: int = 4) -> list[Footprint]:
    """Return what was held after each cycle; tries follow each other quickly, and crashes are meant.

    Of the four ways the last, a child that stands still, takes as long as the service is patient.
    """
    Backoff.first_ms = Backoff.longest_ms = 50
    CrashLoop.most = cycles + 1
    table = Table()
    try:
        footprints = [table.footprint()]
        for number in range(cycles):
            table.cycle(number, ways)
            footprints.append(table.footprint())
        return footprints
    finally:
        table.close()


def main() -> None:
    """Run the cycles and print what was held at the beginning, at the most and at the end."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cycles", type=int, default=200)
    begun = time.monotonic()
    footprints = run(parser.parse_args().cycles)
    most = Footprint(*(max(getattr(one, name) for one in footprints) for name in Footprint.__slots__))
    print(f"{len(footprints) - 1} cycles in {time.monotonic() - begun:.0f} s")
    for what, footprint in (("first", footprints[0]), ("most", most), ("last", footprints[-1])):
        print(f"{what:>5}: {footprint}")


if __name__ == "__main__":
    main()
