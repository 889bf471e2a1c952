"""An app on a real server, and its end without anything left open."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from flask import Flask
from waitress.server import create_server

from web.app import THREADS, close

END_S = 5


@contextmanager
def served(app: Flask) -> Iterator[str]:
    """Serve an app on a free port; yield its address. Its streams end first, then its connections."""
    server = create_server(app, host="127.0.0.1", port=0, threads=THREADS)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()

    def end() -> None:
        for channel in list(server.active_channels.values()):
            channel.handle_close()
        server.close()

    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        close(app)
        server.task_dispatcher.shutdown(timeout=END_S)
        with suppress(OSError):  # a worker pulled it in between: `end` ran already and closed the trigger
            server.trigger.pull_trigger(end)
        thread.join(END_S)
