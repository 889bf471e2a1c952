"""What a simulated scale sends: each protocol's frame for what its display shows, written from the layouts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from operator import xor
from typing import Literal

CRLF = b"\r\n"

_CAPITALS = {"g": " G", "kg": "KG", "lb": "LB", "oz": "OZ"}
_HID_UNITS = {"g": 2, "kg": 3, "oz": 11, "lb": 12}


@dataclass(frozen=True, slots=True)
class Display:
    """What stands on a scale's display: a value in a unit, at rest or not, net or gross, or out of range."""

    value: Decimal
    unit: str
    is_stable: bool = True
    is_net: bool = False
    state: Literal["load", "over", "under"] = "load"

    @property
    def sign(self) -> str:
        """The sign of the value where plus is printed as a plus."""
        return "-" if self.value < 0 else "+"

    @property
    def minus(self) -> str:
        """The sign of the value where plus is a blank."""
        return "-" if self.value < 0 else " "

    @property
    def digits(self) -> str:
        """The value without its sign."""
        return str(abs(self.value))


Encode = Callable[[Display], bytes]


def _line(text: str) -> bytes:
    return text.encode() + CRLF


def _summed(data: bytes) -> bytes:
    """Return the XOR of bytes as two hex digits."""
    return f"{reduce(xor, data):02X}".encode()


def _mt_sics(shown: Display) -> bytes:
    if shown.state != "load":
        return _line("S +" if shown.state == "over" else "S -")
    return _line(f"S {'S' if shown.is_stable else 'D'} {shown.value:>10} {shown.unit}")


def _toledo_8217(shown: Display) -> bytes:
    status = {"over": "B", "under": "D", "load": "" if shown.is_stable else "A"}[shown.state]
    if status or shown.value < 0:
        return b"\x02?" + (status or "D").encode() + b"\r"
    places = 3 if shown.unit == "kg" else 2
    return f"\x02{shown.value:0{places + 3}.{places}f}{'N' if shown.is_net else ''}\r".encode()


def _toledo_continuous(shown: Display) -> bytes:
    places = -int(shown.value.as_tuple().exponent)
    is_out = shown.state != "load"
    a = 0x28 | (2 + places)
    b = (
        0x20
        | shown.is_net
        | (shown.value < 0 or shown.state == "under") << 1
        | is_out << 2
        | (not shown.is_stable) << 3
    )
    b |= (shown.unit == "kg") << 4
    frame = bytes((2, a, b, 0x20 | (shown.unit == "g")))
    frame += f"{shown.digits.replace('.', ''):0>6}".encode()[:6] + b"000000\r"
    return frame + bytes((-sum(frame) & 0x7F,))


def _and_standard(shown: Display) -> bytes:
    if shown.state != "load":
        return _line("OL,+9999999E+19" if shown.state == "over" else "OL,-9999999E+19")
    return _line(f"{'ST' if shown.is_stable else 'US'},{shown.sign}{shown.digits:0>8}{shown.unit:>3}")


def _st_head(shown: Display) -> str:
    status = "OL" if shown.state != "load" else "ST" if shown.is_stable else "US"
    return f"{status},{'NT' if shown.is_net else 'GS'},"


def _st_sign(shown: Display) -> str:
    return "-" if shown.state == "under" else shown.sign


def _st_gs(shown: Display) -> bytes:
    return _line(f"{_st_head(shown)}{_st_sign(shown)}{shown.digits:>7}{shown.unit}")


def _cas_22(shown: Display) -> bytes:
    lamps = 0x84 | shown.is_stable << 6
    rest = f",{'-' if shown.state == 'under' else shown.minus}{shown.digits:0>7} {shown.unit:<2}"
    return _st_head(shown).encode() + b"1" + bytes((lamps,)) + _line(rest)


def _cas_18(shown: Display) -> bytes:
    return _line(f"{_st_head(shown)}{_st_sign(shown)}{shown.digits:0>7}{shown.unit:>2}")


def _cas_10(shown: Display) -> bytes:
    return _line(f"{shown.minus}{shown.digits:>7}") if shown.state == "load" else b""


def _cas_dh(shown: Display) -> bytes:
    mode = "wn" if shown.is_net else "ww"
    return _line(f"{mode}{shown.value:07.3f}{shown.unit}") if shown.state == "load" else b""


def _cas_ecr(shown: Display) -> bytes:
    digits = "FFFFFFF" if shown.state == "over" else f"{shown.minus}{shown.digits:0>6}"
    inner = f"{'S' if shown.is_stable else 'U'}{digits}{shown.unit:>2}".encode()
    return b"\x01\x02" + inner + bytes((reduce(xor, inner),)) + b"\x03\x04" if shown.state != "under" else b""


def _yaohua(shown: Display) -> bytes:
    if shown.state != "load":
        inner = b"         " + (b"OL" if shown.state == "over" else b"LO")
    else:
        inner = f"{'WN' if shown.is_net else 'WG'}{shown.value:07.3f}{shown.unit}".encode()
    return inner + _summed(inner) + CRLF


def _ohaus(shown: Display) -> bytes:
    if shown.state != "load":
        return _line("Err 8.3" if shown.state == "over" else "Err 8.4")
    legend = "NET" if shown.is_net else ""
    return _line(f"{shown.value:>11} {shown.unit:<5}{' ' if shown.is_stable else '?'}{legend}")


def _sartorius(shown: Display) -> bytes:
    if shown.state != "load":
        return _line(f"      {'High' if shown.state == 'over' else 'Low':<8}")
    return _line(f"{shown.sign} {shown.digits:>8} {shown.unit if shown.is_stable else '':<3}")


def _kern_ew(shown: Display) -> bytes:
    status = "E" if shown.state != "load" else "S" if shown.is_stable else "U"
    return _line(f"{shown.sign}{shown.digits:0>7}{_CAPITALS[shown.unit]} {status}")


def _kern_pcb(shown: Display) -> bytes:
    if shown.state != "load":
        return _line(f"{'Error':>16}")
    return _line(f" {shown.minus}{shown.digits:>10} {shown.unit if shown.is_stable else '':<3}")


def _adam(shown: Display) -> bytes:
    return _line(f"{shown.minus}{shown.digits:>12} {shown.unit:<2}") if shown.state == "load" else b""


def _nci_ecr(shown: Display) -> bytes:
    fill = {"over": "^" * 9, "under": "_" * 9}.get(shown.state, f"{shown.value:0>7}")
    weight = f"\n{fill}{shown.unit}\r".encode() if shown.is_stable or shown.state != "load" else b""
    return weight + (b"\nS00\r\x03" if shown.is_stable else b"\nS10\r\x03")


def _sma(shown: Display) -> bytes:
    status = {"over": "O", "under": "U"}.get(shown.state, " ")
    mode, motion = "N" if shown.is_net else "G", " " if shown.is_stable else "M"
    return f"\n{status}1{mode}{motion} {shown.value:>10}{shown.unit:<3}\r".encode()


def _radwag(shown: Display) -> bytes:
    rest = {"over": "^", "under": "v"}.get(shown.state, " " if shown.is_stable else "?")
    return _line(f"SI {rest} {shown.minus}{shown.digits:>9} {shown.unit:<3}")


def _gram(shown: Display) -> bytes:
    status = 0x20 | (0x02 if shown.is_net else 0x01) | shown.is_stable << 6
    frame = f"\x02{chr(status)}{shown.minus}{shown.digits:>7}{shown.unit:>2}\r\x03"
    return frame.encode() if shown.state == "load" else b""


def _us_solid(shown: Display) -> bytes:
    digits = f"{shown.digits:>8}" if shown.state == "load" else "~" * 8
    return _line(f"{'-' if shown.state == 'under' else shown.sign} {digits}{shown.unit:<3}")


def _creedmoor(shown: Display) -> bytes:
    return _line(f"{shown.sign}{shown.digits:0>7} {shown.unit:<2} ") if shown.state == "load" else b""


def _steinberg(shown: Display) -> bytes:
    rest = " " if shown.is_stable else "D"
    return _line(f"S{rest}{shown.value:>10} {shown.unit}") if shown.state == "load" else b""


def _gng(shown: Display) -> bytes:
    return _line(f"{shown.minus}{shown.digits:>8} {shown.unit:<2}") if shown.state == "load" else b""


def _hx711(shown: Display) -> bytes:
    return _line(f"Weight: {shown.value} {shown.unit}") if shown.state == "load" else _line("ovf")


def _open_scale(shown: Display) -> bytes:
    unit = "lbs" if shown.unit == "lb" else "kg"
    return _line(f"1000,{shown.value},{unit},") if shown.state == "load" else b""


def _hid(shown: Display) -> bytes:
    places = -int(shown.value.as_tuple().exponent)
    status = {"over": 6, "under": 5}.get(shown.state, 4 if shown.is_stable else 3)
    status = 5 if shown.value < 0 and status in (3, 4) else status
    whole = int(abs(shown.value).scaleb(places)) & 0xFFFF
    return bytes((3, status, _HID_UNITS[shown.unit], -places & 0xFF)) + whole.to_bytes(2, "little")


@dataclass(frozen=True, slots=True)
class Speech:
    """How a simulated scale speaks: its frames, the units of its key with their decimals, and whether unasked."""

    encode: Encode
    units: Mapping[str, int]
    is_continuous: bool = False


_FINE: Mapping[str, int] = {"g": 1, "kg": 4, "oz": 2}
_COARSE: Mapping[str, int] = {"kg": 3, "lb": 3}

SPEECHES: Mapping[str, Speech] = {
    "mt-sics": Speech(_mt_sics, _FINE),
    "kern-kcp": Speech(_mt_sics, _FINE),
    "toledo-8217": Speech(_toledo_8217, {"kg": 3}),
    "toledo-continuous": Speech(_toledo_continuous, {"kg": 3, "lb": 3, "g": 0}, is_continuous=True),
    "and-standard": Speech(_and_standard, _FINE),
    "st-gs": Speech(_st_gs, _COARSE, is_continuous=True),
    "cas-22": Speech(_cas_22, _COARSE, is_continuous=True),
    "cas-18": Speech(_cas_18, _COARSE, is_continuous=True),
    "cas-10": Speech(_cas_10, {"kg": 3}, is_continuous=True),
    "cas-dh": Speech(_cas_dh, _COARSE, is_continuous=True),
    "cas-ecr": Speech(_cas_ecr, _COARSE),
    "yaohua": Speech(_yaohua, _COARSE, is_continuous=True),
    "ohaus": Speech(_ohaus, _FINE),
    "sartorius-sbi": Speech(_sartorius, _FINE),
    "kern-ew": Speech(_kern_ew, {"g": 1, "oz": 2}, is_continuous=True),
    "kern-pcb": Speech(_kern_pcb, _FINE),
    "adam": Speech(_adam, _FINE),
    "nci-ecr": Speech(_nci_ecr, _COARSE),
    "sma": Speech(_sma, _COARSE),
    "radwag": Speech(_radwag, _FINE),
    "gram-pc0": Speech(_gram, _COARSE),
    "us-solid": Speech(_us_solid, {"g": 2, "oz": 3}, is_continuous=True),
    "creedmoor": Speech(_creedmoor, {"oz": 3}, is_continuous=True),
    "steinberg-sbs": Speech(_steinberg, {"g": 1}, is_continuous=True),
    "gng-jjb": Speech(_gng, {"g": 2, "oz": 3}),
    "hx711-line": Speech(_hx711, {"g": 1}, is_continuous=True),
    "openscale": Speech(_open_scale, {"kg": 4, "lb": 4}, is_continuous=True),
    "usb-hid-scale": Speech(_hid, {"g": 0, "oz": 1}, is_continuous=True),
}
"""Every protocol's way of speaking. Tests hold these frames against the readers, which were written apart."""
