"""Writes arrays as image files, in several formats and bit depths to exercise the readers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import OpenImageIO as oiio
from patterns import Image


def save(
    path: Path,
    image: Image,
    *,
    depth: str = "uint8",
    srgb: bool = False,
    quality: int = 92,
    effort: int = 9,
) -> None:
    """Write values in [0, 1] (any value for EXR). Colours arrive as they are to be stored.

    `quality` is that of a JPEG, `effort` the compression level of a PNG.
    """
    rows, columns = image.shape[:2]
    channels = 1 if image.ndim == 2 else image.shape[2]
    spec = oiio.ImageSpec(columns, rows, channels, depth)
    spec.attribute("oiio:ColorSpace", "srgb_rec709_scene" if srgb else "lin_rec709_scene")
    if path.suffix == ".jpg":
        spec.attribute("compression", f"jpeg:{quality}")
        spec.attribute("jpeg:subsampling", "4:4:4")
    elif path.suffix == ".png":
        spec.attribute("png:compressionLevel", effort)
    elif path.suffix == ".exr":
        spec.attribute("compression", "piz")
        # The writer would put the time of day into the header, and no two runs would agree.
        spec.attribute("DateTime", "2026:01:01 00:00:00")
    pixels = np.ascontiguousarray(quantised(image, depth).reshape(rows, columns, channels))
    output = oiio.ImageOutput.create(str(path))
    if output is None or not output.open(str(path), spec):
        raise OSError(
            f"cannot write {path}: {oiio.geterror() if output is None else output.geterror()}"
        )
    if not output.write_image(pixels):
        raise OSError(f"cannot write {path}: {output.geterror()}")
    output.close()


def quantised(image: Image, depth: str) -> np.ndarray:
    if depth == "half":
        return image.astype(np.float16)
    levels = {"uint8": (255, np.uint8), "uint16": (65535, np.uint16)}[depth]
    return np.round(np.clip(image, 0.0, 1.0) * levels[0]).astype(levels[1])
