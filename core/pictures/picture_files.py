"""Writes pictures: PNG in sRGB, EXR in linear light, whole or not at all."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.errors import VerdigrisError
from verdigris.core.base.outputs import check_output, write_image
from verdigris.core.base.text import require_unicode
from verdigris.core.network.spec import LARGEST_HALF

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

SUFFIXES = (".png", ".exr")


def srgb_from_linear(linear: Floats) -> Floats:
    """The sRGB transfer function, clamped to what a display shows."""
    value = np.clip(np.nan_to_num(linear), 0.0, 1.0)
    return np.where(
        value <= 0.0031308, 12.92 * value, 1.055 * np.power(value, 1 / 2.4) - 0.055
    ).astype(np.float32)


def encode_png(linear: Floats) -> bytes:
    """The bytes of a PNG."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "picture.png"
        write_picture(path, linear)
        return path.read_bytes()


def check_picture_path(path: str | Path) -> Path:
    """Refuses, before any work, a name that no picture can be written to."""
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise VerdigrisError(f"{path}: pictures are written as {' or '.join(SUFFIXES)}")
    if not path.parent.is_dir():
        raise VerdigrisError(f"{path}: the folder {path.parent} is not there: make it first")
    require_unicode(path)
    check_output(path)
    return path


def write_picture(path: str | Path, linear: Floats) -> None:
    """Writes linear colours (H, W, 3 or 4) by the extension: `.png` or `.exr`."""
    path = check_picture_path(path)
    if path.suffix.lower() == ".png":
        encoded = np.concatenate([srgb_from_linear(linear[..., :3]), linear[..., 3:]], axis=-1)
        _write(path, rounded(encoded), "uint8")
    else:
        # a highlight beyond half floats is the brightest that they hold, not infinite
        held = np.minimum(linear, LARGEST_HALF)
        _write(path, np.ascontiguousarray(held, np.float32), "half", "lin_rec709")


def write_data(path: str | Path, values: Floats) -> None:
    """Writes numbers (H, W, channels) from 0 to 1 as a PNG of bytes, whatever they mean."""
    _write(check_picture_path(path), rounded(values), "uint8")


def rounded(values: Floats) -> NDArray[np.uint8]:
    """Numbers from 0 to 1 as bytes."""
    return (np.clip(values, 0, 1) * 255 + 0.5).astype(np.uint8)


def _write(path: Path, texels: NDArray[Any], kind: str, space: str = "") -> None:
    import OpenImageIO as oiio

    height, width, channels = texels.shape
    spec = oiio.ImageSpec(width, height, channels, kind)
    if space:
        spec.attribute("oiio:ColorSpace", space)
    write_image(path, spec, texels)
