"""What the `companion` script starts: all commands of companion, and the two that open a page."""

from __future__ import annotations

import errno
import logging
import os
import signal
import socket
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import click
import segno
from flask import Flask
from waitress.server import create_server  # type: ignore[import-untyped]

from companion import cli
from companion.cli_group import data_option
from companion.errors import Unreadable
from companion.service import SETTINGS, Service, load_settings
from companion.settings import load
from companion.simulated.demo import Demo
from rules.registry import GAMES
from web.addresses import is_loopback, shown_host
from web.app import THREADS, close, create_app
from web.desk import desk_of
from web.speech import Speech

main = cli.companion
EVERYWHERE = "0.0.0.0"  # a demo shows nothing private, and tablets have to reach it
SEED = 1


@main.command()
@click.option("--config", type=click.Path(path_type=Path), help="Settings file; else the data directory's.")
@data_option
@click.option("--host", help="Address to listen on; else the settings' address.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port; 0 takes a free one; else the settings' port.")
@click.option("--camera", help="Camera address, before the settings' one.")
def serve(config: Path | None, data: Path, host: str | None, port: int | None, camera: str | None) -> None:
    """Run the service beside a real table; every device is optional."""
    settings = load_settings(config) if config else load(data / SETTINGS)
    service = Service(settings, data, camera_url=camera)
    listen(
        service,
        host=host or settings.address,
        port=settings.port if port is None else port,
        is_open=False,
        end=service.close,
    )


@main.command()
@click.argument("game", default=next(iter(GAMES)))
@click.option("--count", is_flag=True, help="Play no game: only count what is shaken.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes a free one.")
@click.option("--host", default=EVERYWHERE, show_default=True, help="Address to listen on.")
@click.option("--autoplay", is_flag=True, help="All seats play by themselves.")
@click.option("--seats", type=int, default=3, show_default=True, help="How many play.")
@click.option("--seed", type=int, default=SEED, show_default=True, help="Of the simulated table.")
@click.option("--pace", type=click.IntRange(1), default=1500, show_default=True, help="Milliseconds between two steps.")
@click.option("--data", type=click.Path(path_type=Path), help="Keep the games here; else none is kept.")
@click.option("--no-browser", is_flag=True, help="Open no page.")
def demo(
    game: str,
    count: bool,
    port: int,
    host: str,
    autoplay: bool,
    seats: int,
    seed: int,
    pace: int,
    data: Path | None,
    no_browser: bool,
) -> None:
    """Show a whole simulated table: camera, cup, players."""
    if game not in GAMES:
        raise click.BadParameter(f"known games: {', '.join(GAMES)}", param_hint="GAME")
    takes = GAMES[game].seats
    if seats not in takes:
        raise click.BadParameter(f"{game} takes {takes[0]} to {takes[-1]}", param_hint="--seats")
    with tempfile.TemporaryDirectory(prefix="companion-") as scratch:
        played = None if count else game
        shown = Demo(data or Path(scratch), game=played, autoplay=autoplay, seats=seats, seed=seed, pace_ms=pace)
        opens = None if no_browser else "/count" if count else "/table" if autoplay else "/"
        listen(shown.service, host=host, port=port, is_open=True, end=shown.close, opens=opens)


def listen(
    service: Service, *, host: str, port: int, is_open: bool, end: Callable[[], None], opens: str | None = None
) -> None:
    """Serve one service's pages until the process is asked to end; prints the address and its QR code."""
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)  # streams hold threads; a waiting post is no news
    try:
        refuse_taken(host, port)
    except Unreadable:
        end()
        raise
    app = create_app(service, is_open=is_open, listens=host)
    server = create_server(app, host=host, port=port, threads=THREADS, clear_untrusted_proxy_headers=True)
    address = f"http://{shown_host(host)}:{port_of(server)}"
    announce(address)
    if not is_open and not is_loopback(host):
        announce_host(app, address)
    if opens is not None and has_screen():
        threading.Timer(0.5, webbrowser.open, [address + opens]).start()
    signal.signal(signal.SIGTERM, _interrupted)
    try:
        with suppress(KeyboardInterrupt):
            server.run()
    finally:
        close(app)
        server.close()
        end()


def refuse_taken(host: str, port: int) -> None:
    """Raise Unreadable naming the port where another program holds it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise Unreadable("port_taken", port=str(port)) from error
            raise


def _interrupted(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt


def port_of(server: Any) -> int:
    """Return the port that a server listens on, its first one where it listens on several addresses."""
    several = getattr(server, "effective_listen", None)
    return int(several[0][1] if several else server.effective_port)


def announce(address: str) -> None:
    """Print the address and, for a phone's camera, its QR code."""
    if sys.stdout.isatty():
        segno.make(address, error="l").terminal(compact=True)
    click.echo(address)
    sys.stdout.flush()


def announce_host(app: Flask, address: str) -> None:
    """Print the link that makes one other device the shared screen and host; this machine itself needs none."""
    parts = desk_of(app)
    link = f"{address}/join#{parts.invitations.invite_host().token}"
    speech = Speech(parts.service.settings.language)
    click.echo(speech.text("host_link", link=link))
    sys.stdout.flush()


def has_screen() -> bool:
    """Say whether a browser could open a page here."""
    return sys.platform in ("win32", "darwin") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


if __name__ == "__main__":
    main()
