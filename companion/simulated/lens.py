"""From linear light to the picture of a cheap camera."""

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from companion.simulated.solids import Floats, f32

Picture = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Lens:
    """What a camera does to a picture.

    `noise` is in grey levels, `cast` a factor for each of linear B, G and R, `shoulder` the light from which on it
    presses highlights together, `white` what it then makes of a burnt-out B, G and R, in shares of 255.
    """

    blur_px: float = 0.6
    noise: float = 2.0
    jpeg: int = 90
    cast: tuple[float, float, float] = (1.0, 1.0, 1.0)
    exposure: float = 1.0
    gamma: float = 2.2
    vignette: float = 0.1
    saturation: float = 1.0
    shoulder: float = 0.7
    white: tuple[float, float, float] = (1.0, 1.0, 1.0)


def develop(light: Floats, lens: Lens, rng: np.random.Generator) -> Picture:
    """Linear BGR light (rows, columns, 3) to a picture as the camera hands it over."""
    seen = light * f32(np.array(lens.cast) * lens.exposure)
    if lens.vignette:
        seen *= _vignette(seen.shape[:2], lens.vignette)[..., None]
    if lens.blur_px > 0.2:
        seen = f32(cv2.GaussianBlur(seen, (0, 0), lens.blur_px))
    grey = seen.mean(axis=2, keepdims=True)
    seen = np.maximum(grey + (seen - grey) * f32(lens.saturation), 0.0)
    return _quantise(_tone(seen, lens.gamma, lens.shoulder) * f32(lens.white), lens, rng)


def _tone(light: Floats, gamma: float, shoulder: float) -> Floats:
    """Gamma with a soft shoulder, in grey levels."""
    left = np.float32(1 - shoulder)
    pressed = np.float32(shoulder) + left * np.tanh((light - np.float32(shoulder)) / (np.float32(1.5) * left))
    soft = np.where(light > shoulder, pressed, light).astype(np.float32)
    out: Floats = cv2.pow(soft, 1.0 / gamma) * np.float32(255.0)
    return out


def _quantise(levels: Floats, lens: Lens, rng: np.random.Generator) -> Picture:
    rows, columns = levels.shape[:2]
    noise = rng.standard_normal((rows, columns, 3), np.float32) * f32(lens.noise)
    raw = np.clip(levels + noise, 0, 255).astype(np.uint8)
    if lens.jpeg >= 100:
        return raw
    _, data = cv2.imencode(".jpg", raw, [cv2.IMWRITE_JPEG_QUALITY, lens.jpeg])
    return np.asarray(cv2.imdecode(data, cv2.IMREAD_COLOR), np.uint8)


def _vignette(shape: tuple[int, ...], strength: float) -> Floats:
    y = np.linspace(-1, 1, shape[0], dtype=np.float32)[:, None]
    x = np.linspace(-1, 1, shape[1], dtype=np.float32)[None]
    return f32(1 - np.float32(strength) * (x * x + y * y) / 2)
