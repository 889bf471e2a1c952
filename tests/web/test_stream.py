"""The stream of server-sent events: a snapshot first, changed regions from then on, over a real server."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from typing import Any

import pytest

from companion.stream import Bell, Subscription
from tests.web.house import Device, House
from tests.web.serving import served
from web.desk import desk_of
from web.sights import Sight
from web.stream import QUEUE, WATCH_ONE_PLACE, Listener, Stream, TooManyStreams

SIGHT = Sight("table", "watch", "en", None, "1")


@pytest.fixture
def port(home: House) -> Iterator[int]:
    with served(home.app) as address:
        yield int(address.rpartition(":")[2])


@contextmanager
def opened(port: int, page: str = "table", **headers: str) -> Iterator[HTTPResponse]:
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", f"/stream/{page}", headers=headers)
    response = connection.getresponse()
    yield response
    response.close()
    connection.close()


def event(stream: HTTPResponse) -> dict[str, Any]:
    """Read one event; a comment or a retry alone is passed over."""
    found: dict[str, Any] = {}
    while True:
        line = stream.readline().decode().rstrip("\n")
        if not line and "data" in found:
            return {**found, "data": json.loads(found["data"])}
        name, _, value = line.partition(": ")
        if name:
            found[name] = value


def test_a_stream_begins_with_a_snapshot_and_goes_on_with_what_changed(home: House, tablet: Device, port: int) -> None:
    with opened(port) as stream:
        assert stream.headers["Content-Type"].startswith("text/event-stream")
        assert stream.headers["Cache-Control"] == "no-store"
        assert stream.headers["X-Accel-Buffering"] == "no"
        first = event(stream)
        assert (first["event"], first["retry"]) == ("snapshot", "1000")
        assert set(first["data"]["regions"]) == {"line", "seats", "board", "answer", "log", "bar"}
        tablet.post("/table/count", {"n": 8})
        second = event(stream)
    assert second["event"] == "view"
    assert int(second["id"]) == second["data"]["number"] > int(first["id"])
    assert "board" in second["data"]["regions"]
    assert "log" not in second["data"]["regions"]


def test_a_spectators_stream_never_holds_anything_to_tap(home: House, tablet: Device, port: int) -> None:
    with opened(port, **{"Last-Event-ID": "3"}) as stream:
        event(stream)
        tablet.post("/table/count", {"n": 8})
        assert "hx-post" not in json.dumps(event(stream))


def test_a_tap_reaches_another_screen_within_a_tenth_of_a_second(home: House, tablet: Device, port: int) -> None:
    with opened(port) as stream:
        event(stream)
        took = []
        for count in (8, 9, 8, 9, 8):
            start = time.perf_counter()
            tablet.post("/table/count", {"n": count})
            event(stream)
            took.append(time.perf_counter() - start)
    assert sorted(took)[2] < 0.1


def test_the_count_page_has_a_stream_of_its_own(home: House, port: int) -> None:
    with opened(port, "count") as stream:
        assert set(event(stream)["data"]["regions"]) == {"figure", "state", "tools"}


def test_who_joins_a_seat_is_shown_the_page_anew(home: House, tablet: Device, port: int) -> None:
    with opened(port) as stream:
        event(stream)
        home.begin()
        assert event(stream)["event"] == "reload"


@pytest.mark.parametrize("page", ["log", "table/x", ".."])
def test_there_is_no_other_stream(tablet: Device, page: str) -> None:
    assert tablet.get(f"/stream/{page}").status_code == 404


def rendering(pages: list[dict[str, str]]) -> Stream:
    """Return a stream that renders the newest of these pages."""
    return Stream(lambda: Subscription(Bell(), after=0), lambda _: (len(pages), pages[-1]), most=2)


def sent(listener: Listener) -> list[bytes]:
    listener.offer(None)
    return list(listener.messages())


def test_only_changed_regions_are_sent_and_nothing_where_nothing_changed() -> None:
    pages = [{"line": "a", "board": "b"}]
    stream = rendering(pages)
    listener = stream.join(SIGHT)
    stream.show()
    pages.append({"line": "a", "board": "c"})
    stream.show()
    first, view = sent(listener)
    assert b'"line":"a"' in first
    assert b'"board":"c"' in view
    assert b"line" not in view


def test_silence_is_filled_with_a_comment() -> None:
    listener = rendering([{}]).join(SIGHT)
    lines = listener.messages(heartbeat_s=0.01)
    assert next(lines).startswith(b"retry: 1000")
    assert next(lines) == b": still here\n\n"


def test_who_does_not_read_is_dropped_and_gets_a_snapshot_next_time() -> None:
    pages = [{"line": "0"}]
    stream = rendering(pages)
    listener = stream.join(SIGHT)
    for n in range(1, QUEUE + 2):
        pages.append({"line": str(n)})
        stream.show()
    assert listener.dropped
    assert len(stream) == 0
    assert f'"line":"{QUEUE + 1}"'.encode() in next(stream.join(SIGHT).messages())


def test_streams_never_take_the_last_threads() -> None:
    stream = rendering([{}])
    listeners = [stream.join(SIGHT), stream.join(SIGHT)]
    with pytest.raises(TooManyStreams):
        stream.join(SIGHT)
    stream.leave(listeners[0])
    stream.join(SIGHT)


def test_a_view_is_rendered_once_for_all_who_look_through_the_same_eyes(home: House, tablet: Device) -> None:
    stream = desk_of(home.app).stream
    rendered = []
    render = stream._render
    stream._render = lambda sight: rendered.append(sight) or render(sight)  # type: ignore[func-returns-value]
    sight = Sight("table", "watch", "en", None, home.service.table.snapshot.game_id)
    listeners = [stream.join(sight) for _ in range(5)]
    stream.show()
    assert rendered.count(sight) <= 3  # the first join, the show, and one that the service may have rung for
    for listener in listeners:
        stream.leave(listener)


def test_who_only_looks_on_leaves_room_for_the_table(home: House, tablet: Device) -> None:
    stream = desk_of(home.app).stream
    watch, table = Sight("table", "watch", "en"), Sight("table", "table", "en")
    for _ in range(WATCH_ONE_PLACE):
        stream.join(watch, "192.0.2.7")
    with pytest.raises(TooManyStreams):
        stream.join(watch, "192.0.2.7")
    for n in range(stream._most - stream._most // 4 - WATCH_ONE_PLACE):
        stream.join(watch, f"192.0.2.{100 + n}")
    with pytest.raises(TooManyStreams):
        stream.join(watch, "192.0.2.99")
    for _ in range(stream._most // 4):
        stream.join(table, "192.0.2.7")
