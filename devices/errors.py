"""What can go wrong with a device, as data: a code and its values; the words are made elsewhere."""

from __future__ import annotations

from collections.abc import Mapping


class DeviceError(OSError):
    """A device did not do what was asked of it; `code` names the reason, `values` fill the sentence about it."""

    code: str = "device_error"

    def __init__(self, code: str | None = None, **values: object) -> None:
        super().__init__(code or self.code)
        self.code = code or self.code
        self.values: Mapping[str, object] = values

    def __str__(self) -> str:
        return ", ".join([self.code, *(f"{name}={value!r}" for name, value in self.values.items())])


class CameraUnknown(DeviceError, ValueError):
    """The camera's address cannot be understood; `values` say what was wrong and what would be right."""

    code = "camera_unknown"


class CameraSilent(DeviceError, TimeoutError):
    """No picture taken after the question came in time."""

    code = "camera_silent"


class CameraClosed(DeviceError, ValueError):
    """The camera was closed; open another one."""

    code = "camera_closed"


class CameraAway(DeviceError, ConnectionError):
    """The camera cannot be opened or has ended; the code says which of the reasons it is."""

    code = "camera_away"


class WiringRefused(DeviceError, ValueError):
    """Buttons and lamps cannot be wired so; the code and `values` say what is wrong and where."""

    code = "gpio_pin_unknown"


class GpioAway(DeviceError, ConnectionError):
    """The header, or a pin of it, cannot be used; the code says why, and `reason` what was raised."""

    code = "gpio_failed"


class ScaleUnknown(DeviceError, ValueError):
    """The scale's address, its protocol or a setting makes no sense; `values` say what would."""

    code = "scale_unknown"


class ScaleAway(DeviceError, ConnectionError):
    """The scale's port cannot be opened or was lost; the code says which of the reasons it is."""

    code = "scale_gone"


class ScaleSilent(DeviceError, TimeoutError):
    """No weight came to rest after the question in time."""

    code = "scale_not_settled"


class ScaleCannot(DeviceError, ValueError):
    """The scale's protocol has no such command."""

    code = "scale_cannot"


class ScaleNotConfirmed(DeviceError, ValueError):
    """No candidate reads the known weight."""

    code = "scale_not_confirmed"
