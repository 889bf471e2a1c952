"""Camera addresses: what may be written in the settings, and what it means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

from devices.errors import CameraUnknown

Option = int | bool | str | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Address:
    """A camera's address, understood: its kind, what it points at, and its options."""

    url: str
    scheme: str
    target: str
    options: Mapping[str, Option] = field(default_factory=dict)

    @property
    def is_live(self) -> bool:
        """Whether pictures come from a sensor, so that equal ones mean a frozen source."""
        return self.scheme in LIVE

    @property
    def shown(self) -> str:
        """The address without a password, for logs and pages."""
        return without_password(self.url)

    def number(self, name: str) -> int | None:
        """Return a whole-number option, or None where it was not given."""
        value = self.options.get(name)
        return value if isinstance(value, int) else None

    def text(self, name: str) -> str:
        """Return a text option, empty where it was not given."""
        value = self.options.get(name, "")
        return value if isinstance(value, str) else ""

    def names(self, name: str) -> tuple[str, ...]:
        """Return an option that is a list of names, empty where it was not given."""
        value = self.options.get(name, ())
        return value if isinstance(value, tuple) else ()


def _between(low: int, high: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not (text.isascii() and text.isdigit() and low <= int(text) <= high):
            raise ValueError(f"{low}..{high}")
        return int(text)

    return read


def _flag(text: str) -> bool:
    if text not in ("0", "1"):
        raise ValueError("0, 1")
    return text == "1"


def _file_name(text: str) -> str:
    if not text or "/" in text:
        raise ValueError("a file name")
    return text


def _file_names(text: str) -> tuple[str, ...]:
    return tuple(_file_name(name) for name in text.split(","))


_PIXELS, _RATE, _HOLD_MS = _between(16, 8192), _between(1, 120), _between(100, 600_000)
_SENSOR: Mapping[str, Callable[[str], Option]] = {"width": _PIXELS, "height": _PIXELS, "fps": _RATE}
OPTIONS: Mapping[str, Mapping[str, Callable[[str], Option]]] = {
    "v4l2": _SENSOR,
    "picamera2": _SENSOR,
    "file": {"loop": _flag, "fps": _RATE},
    "folder": {
        "hold_ms": _HOLD_MS,
        "between": _file_name,
        "between_ms": _HOLD_MS,
        "skip": _file_names,
        "loop": _flag,
        "fps": _RATE,
    },
    "http": {},
    "https": {},
    "rtsp": {},
}
NETWORK = frozenset({"http", "https", "rtsp"})
LIVE = frozenset({"v4l2", "picamera2", *NETWORK})


def parse_address(url: str) -> Address:
    """Read a camera address; CameraUnknown names what is wrong with it and what would be right."""
    if url.isascii() and url.isdigit():
        return Address(url, "v4l2", f"/dev/video{int(url)}")
    scheme = url.partition(":")[0]
    if scheme not in OPTIONS or ":" not in url:
        raise CameraUnknown(url=without_password(url), what="scheme", given=scheme, valid=tuple(OPTIONS))
    if scheme in NETWORK:
        return _network_address(url, scheme)
    target, _, query = url.partition(":")[2].partition("?")
    if not target and scheme != "picamera2":
        raise CameraUnknown(url=url, what="path", given="", valid=(f"{scheme}:/path",))
    return Address(url, scheme, unquote(target), _options(url, scheme, query))


def _network_address(url: str, scheme: str) -> Address:
    """Pass the whole address on: its query belongs to the camera at the other end."""
    try:
        parts = urlsplit(url)
        valid = bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        shown = without_password(url)
        raise CameraUnknown(url=shown, what="host", given=shown, valid=(f"{scheme}://host:port/path",))
    return Address(url, scheme, url)


def _options(url: str, scheme: str, query: str) -> dict[str, Option]:
    readers, options = OPTIONS[scheme], dict[str, Option]()
    for name, text in parse_qsl(query, keep_blank_values=True):
        if name not in readers:
            raise CameraUnknown(url=url, what="option", given=name, valid=tuple(readers))
        try:
            options[name] = readers[name](text)
        except ValueError as error:
            raise CameraUnknown(url=url, what=name, given=text, valid=(str(error),)) from None
    return options


def without_password(url: str) -> str:
    """Return the address with its user and password, if any, replaced by stars."""
    head, slashes, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    at, bare = host.rpartition("@")[1:]
    return f"{head}{slashes}***@{bare}{slash}{path}" if at else url
