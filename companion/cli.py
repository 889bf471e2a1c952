"""What the command line offers without a page: the `companion` group with all commands but `serve` and `demo`."""

from __future__ import annotations

from companion import cli_devices, cli_games, cli_read, cli_scale
from companion.cli_group import companion

__all__ = ["cli_devices", "cli_games", "cli_read", "cli_scale", "companion"]
