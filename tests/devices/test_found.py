"""What is plugged in, and where a device went that the system gave another name."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from devices.address import parse_address
from devices.camera import FoundCamera, list_cameras
from devices.errors import CameraAway
from devices.found import FoundPort, Twins, UsbIdentity, find_again, list_ports, plugged_cameras
from devices.whereabouts import Whereabouts

WEBCAM = UsbIdentity(0x046D, 0x0825, "", "1-1.2")
OWN = UsbIdentity(0x046D, 0x0825, "A41C", "1-1.2")


def at(location: str, serial: str = "", number: int = 0) -> FoundCamera:
    return FoundCamera(
        f"v4l2:/dev/video{number}", f"/dev/video{number}", "C270", UsbIdentity(0x046D, 0x0825, serial, location)
    )


def plug_in(root: Path, number: int, name: str, link: str = "", usb: UsbIdentity | None = None, index: int = 0) -> None:
    entry = root / "sys/class/video4linux" / f"video{number}"
    entry.mkdir(parents=True)
    (entry / "name").write_text(f"{name}\n")
    (entry / "index").write_text(f"{index}\n")
    if usb is not None:
        device = root / "sys/devices" / usb.location
        (device / f"{usb.location}:1.0").mkdir(parents=True, exist_ok=True)
        (device / "idVendor").write_text(f"{usb.vid:04x}\n")
        (device / "idProduct").write_text(f"{usb.pid:04x}\n")
        if usb.serial:
            (device / "serial").write_text(f"{usb.serial}\n")
        (entry / "device").symlink_to(device / f"{usb.location}:1.0")
    node = root / "dev" / f"video{number}"
    node.parent.mkdir(exist_ok=True)
    node.touch()
    for kind, text in (("by-id", link), ("by-path", f"socket-{number}")):
        folder = root / "dev/v4l" / kind
        folder.mkdir(parents=True, exist_ok=True)
        if text:
            (folder / text).unlink(missing_ok=True)
            (folder / text).symlink_to(node)


def test_cameras_are_listed_by_names_that_survive_a_restart(tmp_path: Path) -> None:
    plug_in(tmp_path, 10, "Second camera")
    plug_in(tmp_path, 2, "First camera", link="usb-First")
    plug_in(tmp_path, 3, "First camera's data")
    plug_in(tmp_path, 0, "bcm2835-codec-decode")
    plug_in(tmp_path, 1, "unicam")
    found = list_cameras(tmp_path, lambda node: node.name != "video3")
    dev = tmp_path / "dev"
    assert found == [
        FoundCamera(f"v4l2:{dev}/v4l/by-id/usb-First", f"{dev}/video2", "First camera"),
        FoundCamera(f"v4l2:{dev}/v4l/by-path/socket-10", f"{dev}/video10", "Second camera"),
    ]


def test_twins_are_told_apart_by_their_sockets(tmp_path: Path) -> None:
    plug_in(tmp_path, 0, "Twin", link="usb-Twin")
    plug_in(tmp_path, 1, "Twin", link="usb-Twin")
    urls = [camera.url for camera in list_cameras(tmp_path, lambda node: True)]
    assert urls == [f"v4l2:{tmp_path}/dev/v4l/by-path/socket-{number}" for number in (0, 1)]


def test_a_machine_without_cameras_has_an_empty_list(tmp_path: Path) -> None:
    assert list_cameras(tmp_path) == []
    plug_in(tmp_path, 0, "a file that is no device")
    assert list_cameras(tmp_path) == []


def test_a_camera_says_what_it_is_and_its_other_nodes_are_left_alone(tmp_path: Path) -> None:
    plug_in(tmp_path, 0, "C270", usb=OWN)
    plug_in(tmp_path, 1, "C270", usb=OWN, index=1)
    plug_in(tmp_path, 2, "a camera of the board")
    assert [(camera.node, camera.usb) for camera in plugged_cameras(tmp_path)] == [
        (f"{tmp_path}/dev/video0", OWN),
        (f"{tmp_path}/dev/video2", None),
    ]


@pytest.mark.parametrize(
    ("wanted", "present", "found"),
    [
        (OWN, [at("1-1.4", "B"), at("1-1.3", "A41C")], at("1-1.3", "A41C")),  # its serial number tells, wherever it is
        (OWN, [at("1-1.2", "B")], None),  # another piece in its socket
        (OWN, [at("1-1.2")], None),
        (WEBCAM, [at("1-1.4"), at("1-1.2")], at("1-1.2")),  # twins stay in their sockets
        (WEBCAM, [at("1-1.3")], at("1-1.3")),  # moved, and there is only one
        (WEBCAM, [at("1-1.3"), at("1-1.4")], Twins((at("1-1.3"), at("1-1.4")))),
        (WEBCAM, [], None),
    ],
)
def test_a_device_is_found_again_by_what_it_is_and_twins_are_asked_about(
    wanted: UsbIdentity, present: list[FoundCamera], found: object
) -> None:
    assert find_again(wanted, present) == found
    assert find_again(wanted, present[::-1]) in (found, Twins(tuple(present[::-1])))


def test_a_twin_that_was_there_before_is_not_taken_for_the_one_that_is_gone() -> None:
    other = UsbIdentity(0x046D, 0x0825, "", "1-1.4")
    assert find_again(WEBCAM, [at("1-1.4")], others=[other]) is None
    assert find_again(WEBCAM, [at("1-1.4"), at("1-1.3")], others=[other]) == at("1-1.3")


class Hub:
    """Cameras plugged in and out by the test."""

    def __init__(self, *cameras: FoundCamera) -> None:
        self.cameras: Sequence[FoundCamera] = cameras

    def __call__(self) -> Sequence[FoundCamera]:
        return self.cameras


def test_a_camera_that_comes_back_as_another_node_is_opened_there() -> None:
    hub = Hub(at("1-1.2", "A41C", 0))
    way = Whereabouts(parse_address("v4l2:/dev/video0?width=640"), hub)
    assert way.address().target == "/dev/video0"
    way.remember()
    hub.cameras = []
    with pytest.raises(CameraAway, match="camera_missing"):
        way.address()
    hub.cameras = [
        FoundCamera("v4l2:/dev/video0", "/dev/video0", "another make", UsbIdentity(1, 2)),
        at("1-1.4", "A41C", 2),
    ]
    assert way.address().target == "/dev/video2"
    assert way.address().number("width") == 640


def test_of_two_strangers_that_may_each_be_the_camera_a_person_says_which() -> None:
    hub = Hub(at("1-1.2", number=0))
    way = Whereabouts(parse_address("0"), hub)
    way.address()
    way.remember()
    hub.cameras = [at("1-1.3", number=0), at("1-1.4", number=1)]
    with pytest.raises(CameraAway) as raised:
        way.address()
    assert (raised.value.code, raised.value.values) == ("camera_twins", {"nodes": ("/dev/video0", "/dev/video1")})


def test_a_twin_of_the_camera_goes_on_as_the_other_one() -> None:
    hub = Hub(at("1-1.2", number=0), at("1-1.4", number=1))
    way = Whereabouts(parse_address("0"), hub)
    way.address()
    way.remember()
    hub.cameras = [at("1-1.4", number=0)]  # ours was pulled out, and its twin took its number
    with pytest.raises(CameraAway, match="camera_missing"):
        way.address()


def test_addresses_that_name_no_node_stay_as_they_are() -> None:
    address = parse_address("http://pi/stream")
    way = Whereabouts(address, Hub())
    way.remember()
    assert way.address() is address


def port(device: str, vid: int | None = None, serial: str | None = None, location: str = "1-1.2:1.0") -> Any:
    identity = {"vid": vid, "pid": 0x6001, "serial_number": serial, "location": location}
    return SimpleNamespace(device=device, description=f"{device} n/a", **identity)


def test_serial_ports_are_listed_by_names_that_survive_a_restart(tmp_path: Path) -> None:
    nodes = [tmp_path / "dev" / name for name in ("ttyUSB1", "ttyS0", "ttyUSB0")]
    for kind, target in (("by-id", nodes[2]), ("by-path", nodes[1])):
        folder = tmp_path / "dev/serial" / kind
        folder.mkdir(parents=True)
        (folder / "name").symlink_to(target)
    usb1, console, usb0 = map(str, nodes)
    found = list_ports(tmp_path, lambda: [port(usb1, 0x0403), port(console), port(usb0, 0x0403, "A1")])
    assert found == [
        FoundPort(f"{tmp_path}/dev/serial/by-id/name", usb0, f"{usb0} n/a", UsbIdentity(0x0403, 0x6001, "A1", "1-1.2")),
        FoundPort(usb1, usb1, f"{usb1} n/a", UsbIdentity(0x0403, 0x6001, "", "1-1.2")),
        FoundPort(f"{tmp_path}/dev/serial/by-path/name", console, f"{console} n/a", None),
    ]


def test_ports_found_and_lost_are_those_of_pyserial(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = SimpleNamespace(comports=lambda: [port("/dev/ttyACM0", 0x1A86)])
    monkeypatch.setitem(sys.modules, "serial.tools.list_ports", stand_in)
    assert [found.node for found in list_ports()] == ["/dev/ttyACM0"]
