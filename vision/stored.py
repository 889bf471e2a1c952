"""Calibrations on disc: one small NPZ file each, written whole or not at all."""

from __future__ import annotations

import io
import os
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vision.errors import CalibrationRefused

Arrays = Mapping[str, NDArray[np.generic]]


def save_npz(path: Path | str, arrays: Arrays, number: int) -> None:
    """Write arrays and the number of their format to an NPZ file, whole or not at all."""
    path = Path(path)
    handle, scratch = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(file, allow_pickle=False, format=np.array(number), **arrays)
            file.flush()
            os.fsync(file.fileno())
        os.replace(scratch, path)
    except BaseException:
        Path(scratch).unlink(missing_ok=True)
        raise


def load_npz(path: Path | str, number: int) -> dict[str, NDArray[np.generic]]:
    """Read what `save_npz` wrote; raise CalibrationRefused: `no_file`, `broken_file` or `other_format`."""
    name = Path(path).name
    try:
        with np.load(io.BytesIO(Path(path).read_bytes()), allow_pickle=False) as stored:
            arrays = {key: stored[key] for key in stored.files}
        found = int(np.int64(arrays.pop("format")))
    except OSError as error:
        raise CalibrationRefused("no_file", {"file": name}) from error
    except (zipfile.BadZipFile, ValueError, KeyError, TypeError, EOFError) as error:
        raise broken(path) from error
    if found != number:
        raise CalibrationRefused("other_format", {"format": found, "known": number})
    return arrays


def broken(path: Path | str) -> CalibrationRefused:
    """Return the refusal of a file that lacks something or holds something else."""
    return CalibrationRefused("broken_file", {"file": Path(path).name})
