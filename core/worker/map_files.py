"""Writes importance maps, for the panel, whose Python may have no library for images."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.errors import SettingsError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def write_map(path: str, weights: NDArray[np.float32]) -> None:
    """One channel of floats, row 0 at v = 0 in the array and at the bottom of the image."""
    import OpenImageIO as oiio

    target = Path(path)
    if not target.parent.is_dir():
        raise SettingsError(f"{path}: the folder {target.parent} is not there: make it first")
    height, width = weights.shape
    spec = oiio.ImageSpec(width, height, 1, "float")
    handle, temporary = tempfile.mkstemp(
        suffix=target.suffix, prefix=f".{target.stem}", dir=target.parent
    )
    os.close(handle)
    try:
        image = oiio.ImageOutput.create(temporary)
        texels = np.ascontiguousarray(weights[::-1, :, None], np.float32)
        if image is None or not (
            image.open(temporary, spec) and image.write_image(texels) and image.close()
        ):
            why = image.geterror() if image else oiio.geterror()
            raise SettingsError(f"{path}: cannot be written: {why}")
        Path(temporary).chmod(0o644)
        Path(temporary).replace(target)
    except OSError as failure:
        raise SettingsError(f"{path}: cannot be written: {failure.strerror}") from None
    finally:
        Path(temporary).unlink(missing_ok=True)
