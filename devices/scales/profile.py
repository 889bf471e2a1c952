"""What a person knows about their scale and its bytes do not say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from devices.scales.units import GRAMS, SPELLINGS


@dataclass(frozen=True, slots=True)
class Profile:
    """Settings of one scale; each default is the one that publishes less.

    unit_default    unit of frames that carry none; a unit in the frame comes first
    strip_parity    the port keeps the parity of a 7-bit line in bit 7: mask it
    aligned         False: the port was opened in mid-stream, so the first line is not trusted
    checksum        Toledo continuous: a checksum follows each frame
    short           Toledo continuous: frames without the tare
    zeros_outside   Toledo continuous: the dummy zeros of decimal codes 0 and 1 are not among the six digits
    clone_unit_bit  Toledo continuous: bit 0 of status C means kg 0 and lb 1, as some clones have it
    reversed        Yaohua `=` frames: lowest digit first; None: nobody has said, so only a sign can tell
    timestamp       OpenScale: a time stamp leads each line; None: told by the line's shape
    """

    unit_default: str | None = None
    strip_parity: bool = False
    aligned: bool = True
    checksum: bool = False
    short: bool = False
    zeros_outside: bool = False
    clone_unit_bit: bool = False
    reversed: bool | None = None
    timestamp: bool | None = None

    def __post_init__(self) -> None:
        if self.unit_default is not None and self.unit_default not in GRAMS:
            raise ValueError(f"unit_default is one of {', '.join(GRAMS)}, not {self.unit_default!r}")


PLAIN = Profile()


def profile_of(config: Mapping[str, object]) -> Profile:
    """Return the profile of plain settings; those that no profile has are passed over. ValueError names a wrong one."""
    given = {one.name: config[one.name] for one in fields(Profile) if config.get(one.name) is not None}
    unit = given.pop("unit_default", None)
    for name, value in given.items():
        if not isinstance(value, bool):
            raise ValueError(f"{name} is true or false, not {value!r}")
    meant = None if unit is None else SPELLINGS.get(str(unit), str(unit))
    return replace(Profile(unit_default=meant), **given)  # type: ignore[arg-type]
