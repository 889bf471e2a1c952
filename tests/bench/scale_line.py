"""A simulated scale over a real line, counted: how soon a weighing is there, what idling costs, 200 unplug cycles.

`python -m tests.bench.scale_line [--weighings 200] [--cycles 200] [--idle 20]`

Soon: from a stable frame's writing at the scale's end to the reader's having it. Wall times; on a busy machine they say
what they say. Idle: CPU of this process, reader and simulated scale together.
"""

from __future__ import annotations

import argparse
import logging
import os
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from statistics import median, quantiles

from devices.fake_scale import FakeScale
from devices.scale import Scale, open_scale


def now_ms() -> float:
    """Return the monotonic time."""
    return time.monotonic_ns() / 1e6


def soon(weighings: int) -> None:
    """Measure a frame's way from the line to the reader, and that of the second one that settles it."""
    first_ms, settled_ms = list[float](), list[float]()
    fake = FakeScale("st-gs", settle_ms=0, rate_hz=0.1)
    with fake, open_scale(fake.url, "st-gs", replace(fake.config, asks=False)) as scale:
        _until(lambda: scale.health().state == "up")
        for step in range(weighings):
            fake.put(100.0 + step)
            first_ms.append(_heard_after(fake, scale))
            settled_ms.append(_heard_after(fake, scale))
            reading = scale.latest()
            assert reading is not None
            assert reading.is_settled
            assert reading.weighing.grams == 100.0 + step
    for name, times in {"first frame": first_ms, "second, settled": settled_ms}.items():
        print(f"  {name:16} n {len(times)}  median {median(times):6.2f} ms  p95 {quantiles(times, n=20)[-1]:6.2f} ms")


def _heard_after(fake: FakeScale, scale: Scale) -> float:
    """Have the scale send its display once; return after how many ms the reader has it."""
    before, began_ms = scale.latest(), now_ms()
    fake.press_print()
    scale.next(before.number if before else 0, 2.0)
    return now_ms() - began_ms


def unplug(cycles: int) -> None:
    """Unplug and plug in again, and count what is left open."""
    back_ms = list[float]()
    with FakeScale("st-gs", load_g=500.0) as fake, open_scale(fake.url, "st-gs", fake.config) as scale:
        scale.settled()
        before = _held()
        for _ in range(cycles):
            fake.unplug()
            _until(lambda: scale.health().state == "away")
            began_ms = now_ms()
            fake.replug()
            _until(lambda: _weighs(scale))
            back_ms.append(now_ms() - began_ms)
        print(f"  {cycles} cycles, {scale.health().restarts} losses; threads and descriptors {before} -> {_held()}")
        print(f"  back after median {median(back_ms):.0f} ms, worst {max(back_ms):.0f} ms")


def _weighs(scale: Scale) -> bool:
    return scale.health().state == "up" and scale.latest() is not None


def _until(is_so: Callable[[], bool]) -> None:
    while not is_so():
        time.sleep(0.005)


def _held() -> tuple[int, int]:
    return threading.active_count(), len(os.listdir("/proc/self/fd"))


def idle(seconds: float) -> None:
    """Measure the CPU of a scale that is read ten times a second."""
    with FakeScale("st-gs", load_g=500.0) as fake, open_scale(fake.url, "st-gs", fake.config) as scale:
        scale.settled()
        began_s = time.process_time()
        time.sleep(seconds)
        share = 100 * (time.process_time() - began_s) / seconds
        print(f"  {share:.2f} % of one core over {seconds:.0f} s at 10 frames a second")


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weighings", type=int, default=200)
    parser.add_argument("--cycles", type=int, default=200)
    parser.add_argument("--idle", type=float, default=20)
    given = parser.parse_args()
    logging.disable()  # a line each time it goes and returns
    print("soon")
    soon(given.weighings)
    print("unplugged")
    unplug(given.cycles)
    print("idle")
    idle(given.idle)


if __name__ == "__main__":
    main()
