"""Writes pictures: PNG in sRGB, EXR in linear light."""

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

    from verdigris.core.base.array_types import Floats


SUFFIXES = (".png", ".exr")


def srgb_from_linear(linear: Floats) -> Floats:
    """The sRGB transfer function, clamped to 0 to 1."""
    value = np.clip(np.nan_to_num(linear), 0.0, 1.0)
    return np.where(
        value <= 0.0031308, 12.92 * value, 1.055 * np.power(value, 1 / 2.4) - 0.055
    ).astype(np.float32)


def resized(picture: Floats, height: int, width: int) -> Floats:
    """A picture (h, w, channels) in another size, by bilinear interpolation."""
    for axis, count in ((0, height), (1, width)):
        size = picture.shape[axis]
        at = np.clip((np.arange(count) + 0.5) * size / count - 0.5, 0, size - 1)
        low = np.minimum(at.astype(int), max(0, size - 2))
        high = np.minimum(low + 1, size - 1)
        part = (at - low).astype(np.float32).reshape((-1, 1, 1) if axis == 0 else (1, -1, 1))
        picture = picture.take(low, axis) * (1 - part) + picture.take(high, axis) * part
    return np.asarray(picture, np.float32)


def encode_png(linear: Floats) -> bytes:
    """The bytes of a PNG file of linear colours."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "picture.png"
        write_picture(path, linear)
        return path.read_bytes()


def encode_jpeg(linear: Floats, quality: int = 92) -> bytes:
    """The bytes of a JPEG file of linear colours."""
    texels = rounded(srgb_from_linear(linear))
    attributes = {"compression": f"jpeg:{quality}", "jpeg:subsampling": "4:4:4"}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "picture.jpg"
        write_image(path, texels, "uint8", attributes)
        return path.read_bytes()


def check_picture_path(path: str | Path) -> Path:
    """Checks, before any work, that a picture can be written to this path."""
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise VerdigrisError(
            f"{path}: pictures are written as {' or '.join(SUFFIXES)}: change the suffix"
        )
    if not path.parent.is_dir():
        raise VerdigrisError(f"{path}: the folder {path.parent} does not exist: create it")
    require_unicode(path)
    check_output(path)
    return path


def write_picture(path: str | Path, linear: Floats) -> None:
    """Writes linear colours (H, W, 3 or 4) as `.png` or `.exr`, by the suffix."""
    path = check_picture_path(path)
    if path.suffix.lower() == ".png":
        encoded = np.concatenate([srgb_from_linear(linear[..., :3]), linear[..., 3:]], axis=-1)
        _write(path, rounded(encoded), "uint8")
    else:
        # clipped to the largest half float; brighter highlights would become infinite
        held = np.minimum(linear, LARGEST_HALF)
        _write(path, np.ascontiguousarray(held, np.float32), "half", "lin_rec709")


def write_data(path: str | Path, values: Floats) -> None:
    """Writes values (H, W, channels) from 0 to 1 as an 8-bit PNG without a colour transform."""
    _write(check_picture_path(path), rounded(values), "uint8", is_data=True)


def rounded(values: Floats) -> NDArray[np.uint8]:
    """Values from 0 to 1 as bytes."""
    return (np.clip(values, 0, 1) * 255 + 0.5).astype(np.uint8)


def _write(
    path: Path, texels: NDArray[Any], kind: str, space: str = "", is_data: bool = False
) -> None:
    attributes: dict[str, Any] = {"oiio:ColorSpace": space} if space else {}
    if is_data:
        # the fourth channel is not coverage, by which the library would divide the others
        attributes["oiio:UnassociatedAlpha"] = 1
    write_image(path, texels, kind, attributes)
