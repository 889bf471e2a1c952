"""Under which addresses this machine is called: by itself, and by the phones around it."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Collection
from urllib.parse import urlsplit

EVERYWHERE = ("0.0.0.0", "::")
DOCUMENTATION = ("192.0.2.1", 9)
"""An address that is nobody's: no packet goes there, asking the way to it names our own one."""


def shown_host(host: str) -> str:
    """Return the address that others can type: of a server on all addresses, the one towards the home network."""
    if host not in EVERYWHERE:
        return f"[{host}]" if ":" in host else host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(DOCUMENTATION)
            return str(probe.getsockname()[0])
        except OSError:
            return "127.0.0.1"


def name_in(host: str) -> str:
    """Return the name or address of a Host header, empty where it does not read."""
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def is_loopback(name: str) -> bool:
    """Say whether a name or an address leads from a machine to itself alone."""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def is_own(address: str) -> bool:
    """Say whether an address is one of this machine's own: what can be bound to is."""
    try:
        family = socket.AF_INET6 if ipaddress.ip_address(address).version == 6 else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except (ValueError, OSError):
        return False
    return True


def is_from_here(remote: str, host: str, names: Collection[str]) -> bool:
    """Say whether a request comes from this machine itself and asks for it by one of its own names or addresses."""
    name = name_in(host)
    return is_own(remote) and (name in names or is_loopback(name) or is_own(name))


def for_others(scheme: str, host: str, listens: str) -> str | None:
    """Return the address under which phones reach what this request reached as `host`; None where they cannot.

    `listens` is the address the server listens on, empty where nobody said.
    """
    if not listens or not is_loopback(name_in(host)):
        return f"{scheme}://{host}"
    shown = shown_host(listens)
    if is_loopback(shown.strip("[]")):
        return None
    port = urlsplit(f"//{host}").port
    return f"{scheme}://{shown}" + (f":{port}" if port else "")
