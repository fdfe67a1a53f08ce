"""Writes arrays as image files, in several formats and bit depths to exercise the readers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import OpenImageIO as oiio
from patterns import Image

# PNG's row filters, by libpng's numbers, with zlib's strategies: only a trial shows which makes an
# image small. Chosen for each row, none, Up, Paeth.
ROW_FILTERS = {0: "filtered", 8: "default", 32: "filtered", 128: "filtered"}
SMALLEST = 9


def save(
    path: Path,
    image: Image,
    *,
    depth: str = "uint8",
    srgb: bool = False,
    quality: int = 92,
    effort: int = SMALLEST,
) -> None:
    """Write values in [0, 1] (any value for EXR). Colours arrive as they are to be stored.

    `quality` is that of a JPEG, `effort` the compression level of a PNG.
    """
    rows, columns = image.shape[:2]
    channels = 1 if image.ndim == 2 else image.shape[2]
    pixels = np.ascontiguousarray(quantised(image, depth).reshape(rows, columns, channels))
    spec = oiio.ImageSpec(columns, rows, channels, depth)
    spec.attribute("oiio:ColorSpace", "srgb_rec709_scene" if srgb else "lin_rec709_scene")
    if path.suffix == ".jpg":
        spec.attribute("compression", f"jpeg:{quality}")
        spec.attribute("jpeg:subsampling", "4:4:4")
        spec.attribute("jpeg:progressive", 1)  # the same pixels in fewer bytes
    elif path.suffix == ".png":
        spec.attribute("png:compressionLevel", effort)
    elif path.suffix == ".exr":
        spec.attribute("compression", "piz")
        # The writer would put the time of day into the header, and no two runs would agree.
        spec.attribute("DateTime", "2026:01:01 00:00:00")
    if path.suffix == ".png" and effort == SMALLEST:
        write_smallest(path, pixels, spec)
    else:
        write(path, pixels, spec)


def write_smallest(path: Path, pixels: np.ndarray, spec: oiio.ImageSpec) -> None:
    written = []
    for number, strategy in ROW_FILTERS.items():
        spec.attribute("png:filter", number)
        spec.attribute("compression", strategy)
        write(path, pixels, spec)
        written.append(path.read_bytes())
    path.write_bytes(min(written, key=len))


def write(path: Path, pixels: np.ndarray, spec: oiio.ImageSpec) -> None:
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
