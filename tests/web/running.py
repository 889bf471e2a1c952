"""A companion in a process of its own, as its owner starts it; it can be asked to end, or killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
END_S = 10


class Running:
    """One started command and the address it printed."""

    def __init__(self, *arguments: str) -> None:
        command = [sys.executable, "-m", "web.cli", *arguments]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        assert line.startswith("http://"), (line, self.process.stderr and self.process.stderr.read())
        self.address = line

    def end(self) -> int:
        """Ask it to end and return its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self._gone()

    def kill(self) -> None:
        """Pull the plug."""
        self.process.kill()
        self._gone()

    def _gone(self) -> int:
        code = self.process.wait(END_S)
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()
        return code


@contextmanager
def running(*arguments: str) -> Iterator[Running]:
    """Run a command until the block ends."""
    started = Running(*arguments)
    try:
        yield started
    finally:
        if started.process.poll() is None:
            started.end()
