"""Where one camera is now: remembered by its USB identity, so that another node or socket does not lose it."""

from __future__ import annotations

import os
from dataclasses import replace

from devices.address import Address
from devices.errors import CameraAway
from devices.found import FoundCamera, Registry, Twins, UsbIdentity, find_again, plugged_cameras


class Whereabouts:
    """The way to a camera whose address names a node; other addresses stay as they are."""

    def __init__(self, address: Address, present: Registry[FoundCamera] = plugged_cameras) -> None:
        self._address, self._present = address, present
        self._node = ""
        self._is_known = False
        self._usb: UsbIdentity | None = None
        self._twins: tuple[UsbIdentity, ...] = ()

    def address(self) -> Address:
        """Return the address to open now; CameraAway where it is not plugged in, or a person has to say which it is."""
        if self._address.scheme != "v4l2":
            return self._address
        self._node = self._address.target if self._usb is None else self._found(self._usb).node
        return replace(self._address, target=self._node)

    def _found(self, usb: UsbIdentity) -> FoundCamera:
        found = find_again(usb, self._present(), self._twins)
        if isinstance(found, Twins):
            raise CameraAway("camera_twins", nodes=tuple(camera.node for camera in found.candidates))
        if found is None:
            raise CameraAway("camera_missing", path=self._address.target)
        return found

    def remember(self) -> None:
        """Take the camera that sees first as the one that is meant, and those like it as others."""
        if self._address.scheme != "v4l2" or self._is_known:
            return
        self._is_known = True
        present, node = self._present(), os.path.realpath(self._node)
        self._usb = next((camera.usb for camera in present if os.path.realpath(camera.node) == node), None)
        self._twins = tuple(
            camera.usb
            for camera in present
            if camera.usb and camera.usb != self._usb and camera.usb.is_alike(self._usb)
        )
