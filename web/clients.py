"""The devices that came to the table: what each may do. Credentials are random, kept hashed, never shown again."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from companion.settings import write_atomically
from rules.messages import Seat
from web.sights import Role

CREDENTIAL_BYTES = 16
TOKEN_LIVES_S = 300
HOST_LIVES_S = 12 * 3600
TRIES = 5
TRIES_S = 60


def hashed(secret: str) -> str:
    """Return what is kept of a secret. Random ones of 128 bits need no salt."""
    return hashlib.sha256(secret.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Client:
    """One device: its role, and the game in which it holds a seat."""

    key: str
    role: Role
    seat: Seat | None = None
    game: str | None = None
    host: bool = False
    since: str = ""


class Clients:
    """All known devices, kept in one file that is written whole at each change."""

    def __init__(self, path: Path, wall: Callable[[], str]) -> None:
        self._path, self._wall = path, wall
        self._lock = threading.Lock()
        self._clients: dict[str, Client] = {}
        if path.exists():
            self._load(path.read_text(encoding="utf-8"))

    def _load(self, text: str) -> None:
        try:
            kept = json.loads(text)
            self._clients = {entry["key"]: Client(**entry) for entry in kept["clients"]}
        except (ValueError, KeyError, TypeError):
            self._clients = {}  # every device joins anew: worth less than a service that stands

    def admit(self, role: Role, *, seat: Seat | None = None, game: str | None = None, host: bool = False) -> str:
        """Take a device in and return its credential, which is nowhere else."""
        credential = secrets.token_hex(CREDENTIAL_BYTES)
        client = Client(hashed(credential), role, seat, game, host, self._wall())
        with self._lock:
            self._clients[client.key] = client
            self._keep()
        return credential

    def find(self, credential: str | None) -> Client | None:
        """Return the device with this credential."""
        return self._clients.get(hashed(credential)) if credential else None

    def all(self) -> tuple[Client, ...]:
        """Return every device, the oldest first."""
        return tuple(self._clients.values())

    def make_host(self, key: str) -> None:
        """Let a device act as host from now on."""
        with self._lock:
            self._clients[key] = replace(self._clients[key], host=True)
            self._keep()

    def remove(self, key: str) -> None:
        """Send a device away; it looks on from now on."""
        with self._lock:
            self._clients.pop(key, None)
            self._keep()

    def _keep(self) -> None:
        kept = {"clients": [asdict(client) for client in self._clients.values()]}
        write_atomically(self._path, json.dumps(kept, indent=1).encode())


@dataclass(frozen=True, slots=True)
class Invitation:
    """A way in for one device: a code of six digits to type, a token for a QR code."""

    role: Role
    seat: Seat | None
    code: str
    token: str
    until_ms: int
    host: bool = False


class Invitations:
    """Open invitations, in memory: each lets one device in, within five minutes."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._lock = threading.Lock()
        self._open: dict[tuple[Role, Seat | None, bool], Invitation] = {}

    def invite(self, role: Role, seat: Seat | None = None) -> Invitation:
        """Return the open invitation to this role, or a new one."""
        with self._lock:
            self._forget_old()
            found = self._open.get((role, seat, False))
            if found is None:
                until = self._now_ms() + TOKEN_LIVES_S * 1000
                found = Invitation(role, seat, self._free_code(), secrets.token_urlsafe(CREDENTIAL_BYTES), until)
                self._open[role, seat, False] = found
            return found

    def invite_host(self) -> Invitation:
        """Return an invitation to be shared screen and host, for an evening: by its token alone, no code to guess."""
        until = self._now_ms() + HOST_LIVES_S * 1000
        found = Invitation("table", None, "", secrets.token_urlsafe(CREDENTIAL_BYTES), until, host=True)
        with self._lock:
            self._open["table", None, True] = found
        return found

    def take(self, secret: str) -> Invitation | None:
        """Use up the invitation with this code or token."""
        with self._lock:
            self._forget_old()
            for key, one in self._open.items():
                if any(hmac.compare_digest(own.encode(), secret.encode()) for own in (one.code, one.token) if own):
                    return self._open.pop(key)
        return None

    def _free_code(self) -> str:
        taken = {one.code for one in self._open.values()}
        while (code := f"{secrets.randbelow(1_000_000):06}") in taken:
            pass
        return code

    def _forget_old(self) -> None:
        now = self._now_ms()
        self._open = {key: one for key, one in self._open.items() if one.until_ms > now}


class Tries:
    """Lets each address try a few times a minute."""

    def __init__(self, now_ms: Callable[[], int], *, most: int = TRIES, per_s: int = TRIES_S) -> None:
        self._now_ms, self._most, self._per_ms = now_ms, most, per_s * 1000
        self._lock = threading.Lock()
        self._tried: dict[str, deque[int]] = {}

    def may(self, address: str) -> bool:
        """Count one more try of this address and say whether it is within the limit."""
        now = self._now_ms()
        with self._lock:
            self._tried = {who: times for who, times in self._tried.items() if now - times[-1] < self._per_ms}
            tried = self._tried.setdefault(address, deque(maxlen=self._most))
            full = len(tried) == self._most and now - tried[0] < self._per_ms
            if not full:
                tried.append(now)
            return not full
