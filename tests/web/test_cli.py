"""`companion serve` and `companion demo`: they print their address, answer, and end when they are asked to."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from urllib.request import urlopen

import pytest
from click.testing import CliRunner

from tests.web.running import running
from web.addresses import shown_host
from web.cli import main


def health(address: str) -> dict[str, object]:
    with urlopen(f"{address}/api/health", timeout=5) as answer:
        found: dict[str, object] = json.load(answer)
    return found


def test_serve_answers_on_a_free_port_and_ends_in_order(tmp_path: Path) -> None:
    with running("serve", "--port", "0", "--data", str(tmp_path)) as service:
        assert health(service.address)["ok"]
        assert service.end() == 0
    assert (tmp_path / "journal.sqlite").exists()


def test_demo_sees_its_simulated_table(tmp_path: Path) -> None:
    arguments = ("demo", "schuettels", "--host", "127.0.0.1", "--port", "0", "--no-browser", "--data", str(tmp_path))
    with running(*arguments) as demo:
        devices = health(demo.address)["devices"]
        assert isinstance(devices, list)
        assert [one["name"] for one in devices] == ["camera"]
        assert demo.end() == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["demo", "chess"], "schuettels"),
        (["demo", "--seats", "9"], "2 to 6"),
        (["serve", "--config", "/nowhere/settings.toml"], "settings.toml"),
        (["serve", "--port", "99999"], "99999"),
    ],
)
def test_what_cannot_be_started_is_said_in_one_sentence(arguments: list[str], says: str) -> None:
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert says in result.output
    assert "Traceback" not in result.output


def test_a_port_that_another_program_holds_is_named(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        arguments = ["serve", "--host", "127.0.0.1", "--port", str(port), "--data", str(tmp_path)]
        result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 2
    assert f"Port {port}" in result.output


@pytest.mark.parametrize(("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("::1", "[::1]")])
def test_the_printed_address_can_be_typed(host: str, shown: str) -> None:
    assert shown_host(host) == shown


def test_on_all_addresses_the_one_towards_the_home_network_is_printed() -> None:
    assert shown_host("0.0.0.0") not in ("0.0.0.0", "")
