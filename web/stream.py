"""Server-sent events: every pair of eyes gets its own regions, rendered once for each kind of eyes, changed ones only.

A listener gets `snapshot` first and `view` from then on; `id` is the table's number. A comment every ten seconds
keeps the line open. Who does not read fast enough is dropped: the browser comes back and gets a snapshot.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from queue import Empty, Full, Queue

from companion.stream import Subscription
from web.sights import Sight

HEARTBEAT_S = 10.0
QUEUE = 64
RETRY_MS = 1000
WAIT_S = 0.5
SPARE_THREADS = 16
"""Threads that streams never take: posts and pages go on being answered however many look on."""

WATCH_ONE_PLACE = 12
"""Streams for those who only look on from one address."""

log = logging.getLogger(__name__)

Regions = Mapping[str, str]


class TooManyStreams(RuntimeError):
    """No thread is left for another stream."""


def message(event: str, number: int, data: Mapping[str, object]) -> bytes:
    """Return one event as it goes over the line."""
    body = json.dumps({"number": number, **data}, ensure_ascii=False, separators=(",", ":"))
    return f"id: {number}\nevent: {event}\ndata: {body}\n\n".encode()


@dataclass(eq=False)
class Listener:
    """One open stream: a bounded queue of messages."""

    sight: Sight
    first: bytes
    address: str = ""
    queue: Queue[bytes | None] = field(default_factory=lambda: Queue(QUEUE))
    dropped: bool = False

    def offer(self, sent: bytes | None) -> bool:
        """Put a message in the queue (None closes the stream); say whether there was room."""
        try:
            self.queue.put_nowait(sent)
        except Full:
            self.dropped = True
        return not self.dropped

    def messages(self, heartbeat_s: float = HEARTBEAT_S) -> Iterator[bytes]:
        """Yield what goes over the line until the stream is closed or dropped."""
        yield f"retry: {RETRY_MS}\n\n".encode() + self.first
        while not self.dropped:
            try:
                sent = self.queue.get(timeout=heartbeat_s)
            except Empty:
                sent = b": still here\n\n"
            if sent is None:
                return
            yield sent


@dataclass
class _Kind:
    """One kind of eyes: what it was shown last, and who looks through it."""

    number: int
    regions: Regions
    listeners: set[Listener] = field(default_factory=set)


class Stream:
    """Shows every new number of the table to all listeners."""

    def __init__(
        self,
        subscribe: Callable[[], Subscription],
        render: Callable[[Sight], tuple[int, Regions] | None],
        *,
        most: int,
    ) -> None:
        self._numbers = subscribe()
        self._render = render
        self._most = most
        self._kinds: dict[Sight, _Kind] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="stream", daemon=True)

    def start(self) -> None:
        """Begin to wait for new numbers."""
        self._thread.start()

    def close(self) -> None:
        """Close every stream and stop."""
        self._closed.set()
        self._numbers.close()
        with self._lock:
            for kind in self._kinds.values():
                _tell(kind, None)
            self._kinds.clear()
        if self._thread.is_alive():
            self._thread.join(2)

    def __len__(self) -> int:
        with self._lock:
            return sum(len(kind.listeners) for kind in self._kinds.values())

    def join(self, sight: Sight, address: str = "") -> Listener:
        """Add a listener, whose first message is a snapshot; raises TooManyStreams.

        Who only looks on gets no more than a few streams from one address, and never the last quarter of all.
        """
        with self._lock:
            if not self._has_room(sight, address):
                raise TooManyStreams(str(self._most))
            kind = self._kinds.get(sight) or self._new_kind(sight)
            listener = Listener(sight, message("snapshot", kind.number, {"regions": kind.regions}), address)
            kind.listeners.add(listener)
            return listener

    def _has_room(self, sight: Sight, address: str) -> bool:
        everyone = [one for kind in self._kinds.values() for one in kind.listeners]
        if sight.role != "watch":
            return len(everyone) < self._most
        watching = [one.address for one in everyone if one.sight.role == "watch"]
        return len(everyone) < self._most - self._most // 4 and watching.count(address) < WATCH_ONE_PLACE

    def _new_kind(self, sight: Sight) -> _Kind:
        number, regions = self._render(sight) or (0, {})
        kind = self._kinds[sight] = _Kind(number, regions)
        return kind

    def leave(self, listener: Listener) -> None:
        """Forget a listener, and its kind of eyes with the last one."""
        with self._lock:
            kind = self._kinds.get(listener.sight)
            if kind is not None:
                kind.listeners.discard(listener)
                if not kind.listeners:
                    del self._kinds[listener.sight]

    def reload(self, leaves: Callable[[Sight], bool]) -> None:
        """Have the pages of these eyes loaded anew: their device may do something else from now on."""
        with self._lock:
            for sight in [sight for sight in self._kinds if leaves(sight)]:
                self._send_away(sight)

    def show(self) -> None:
        """Render for each kind of eyes that looks on, and send what changed."""
        with self._lock:
            for sight in list(self._kinds):
                self._show(sight)

    def _show(self, sight: Sight) -> None:
        kind, shown = self._kinds[sight], self._render(sight)
        if shown is None:
            self._send_away(sight)
            return
        number, regions = shown
        changed = {name: html for name, html in regions.items() if kind.regions.get(name) != html}
        kind.number, kind.regions = number, regions
        if changed:
            _tell(kind, message("view", number, {"regions": changed}))

    def _send_away(self, sight: Sight) -> None:
        kind = self._kinds.pop(sight)
        _tell(kind, message("reload", kind.number, {}))
        _tell(kind, None)

    def _run(self) -> None:
        while not self._closed.is_set():
            if self._numbers.next(WAIT_S) is not None:
                self._show_safely()

    def _show_safely(self) -> None:
        try:
            self.show()
        except Exception:  # one view that cannot be drawn must not end the stream of all others
            log.exception("A view could not be shown")


def _tell(kind: _Kind, sent: bytes | None) -> None:
    for listener in list(kind.listeners):
        if not listener.offer(sent):
            kind.listeners.discard(listener)
