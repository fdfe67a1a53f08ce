"""Decodes images, and builds their mip levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.images import ImageError, OpenImage, open_image, resized
from verdigris.core.material.files.image_headers import FORMATS, image_fault

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.material.files.image_headers import ImageInfo

_OIIO_KINDS: dict[type[np.generic], str] = {
    np.uint8: "uint8",
    np.uint16: "uint16",
    np.float16: "half",
    np.float32: "float",
}


@dataclass(frozen=True)
class Image:
    """Mip levels with four channels, row 0 at v = 0."""

    info: ImageInfo
    levels: tuple[NDArray[Any], ...]
    non_finite: Mapping[Path, int] = field(default_factory=dict)
    """By tile, the number of texels that are NaN or infinite. They read as 0."""


def read_image(info: ImageInfo, asker: str) -> Image:
    """Decodes an image and builds its mip levels. UDIM tiles become one atlas."""
    kind = FORMATS[info.kind][0]
    non_finite: dict[Path, int] = {}
    if not info.is_udim:
        texels = _read_numbers(info.tiles[0].path, kind, asker, non_finite)
        return Image(info, build_levels(texels), non_finite)
    shape = (info.height * info.rows, info.width * info.columns, 4)
    atlas = np.zeros(shape, kind)
    for tile in info.tiles:
        texels = _read_numbers(tile.path, kind, asker, non_finite)
        if texels.shape[:2] != (info.height, info.width):
            texels = resized(texels, info.width, info.height)
        top = (tile.row - info.first_row) * info.height
        left = (tile.column - info.first_column) * info.width
        atlas[top : top + info.height, left : left + info.width] = texels
    return Image(info, build_levels(atlas), non_finite)


def _read_numbers(
    path: Path, kind: type[np.generic], asker: str, non_finite: dict[Path, int]
) -> NDArray[Any]:
    """The texels of a tile, with 0 for values that are not finite: a NaN would spread to more
    texels with each coarser level."""
    texels = _read_tile(path, kind, asker)
    if issubclass(kind, np.floating):
        are_numbers = np.isfinite(texels)
        if not are_numbers.all():
            non_finite[path] = int((~are_numbers.all(-1)).sum())
            texels[~are_numbers] = 0
    return texels


def _read_tile(path: Path, kind: type[np.generic], asker: str) -> NDArray[Any]:
    try:
        # MaterialX samples colours without multiplying by alpha
        with open_image(path, straight_alpha=True) as image:
            texels = image.texels(_first_channels(image), _OIIO_KINDS[kind])
    except ImageError as failure:
        raise image_fault(path, asker, failure) from None
    # a copy, because numpy regards one row with any stride as contiguous
    return with_four_channels(texels, image.has_alpha)[::-1].copy()


def _first_channels(image: OpenImage) -> int:
    """The number of channels to read. In OpenEXR files a fourth channel that is a depth, or belongs
    to another layer, is not an alpha."""
    count = min(image.channels, 4)
    if count < 4 or image.has_alpha:
        return count
    names = image.channel_names[:4]
    layers = [name.rpartition(".")[0] for name in names]
    return 3 if layers[3] != layers[2] or names[3].endswith("Z") else 4


def with_four_channels(texels: NDArray[Any], has_alpha: bool) -> NDArray[Any]:
    """Expands texels to four channels: grey becomes a colour, and a missing alpha becomes one. Two
    channels without alpha are a vector."""
    height, width, channels = texels.shape
    kind = texels.dtype
    one = np.iinfo(kind).max if kind.kind == "u" else 1
    is_vector = channels == 2 and not has_alpha
    result = np.zeros((height, width, 4), kind)
    result[..., 3] = one if channels in (1, 3) or is_vector else texels[..., channels - 1]
    if is_vector:
        result[..., :2] = texels
    else:
        result[..., :3] = texels[..., :3] if channels >= 3 else texels[..., :1]
    return result


def build_levels(texels: NDArray[Any]) -> tuple[NDArray[Any], ...]:
    """The mip levels, by 2 x 2 averages of unrounded levels: averages of rounded averages drift."""
    levels, exact = [texels], texels
    while max(exact.shape[:2]) > 1:
        for axis in (0, 1):
            exact = _halved(exact, axis)
        rounded: NDArray[Any] = np.rint(exact) if texels.dtype.kind == "u" else exact
        levels.append(rounded.astype(texels.dtype))
    return tuple(levels)


def _halved(texels: NDArray[Any], axis: int) -> NDArray[np.float32]:
    """Half as many texels along an axis. With an odd number of texels, each new one covers slightly
    more than two."""
    size = texels.shape[axis]
    if size == 1:
        return texels.astype(np.float32)
    half = size // 2

    def every_other(first: int) -> NDArray[Any]:
        part = slice(first, first + 2 * half - 1, 2)
        return texels[part] if axis == 0 else texels[:, part]

    if size % 2 == 0:
        total = np.add(every_other(0), every_other(1), dtype=np.float32)
        total *= np.float32(0.5)
        return np.asarray(total, np.float32)
    place = np.arange(half, dtype=np.float32).reshape((half, 1, 1) if axis == 0 else (1, half, 1))
    weights = (half - place) / size, np.float32(half / size), (place + 1) / size
    first, second, third = (
        every_other(at).astype(np.float32) * weight for at, weight in enumerate(weights)
    )
    return np.asarray(first + second + third, np.float32)
