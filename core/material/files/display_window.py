"""The part of an image that texture coordinates span. For OpenEXR that is the display window, which
may be smaller or larger than the stored pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import OpenImageIO as oiio
    from numpy.typing import NDArray


def shown_size(source: oiio.ImageInput) -> tuple[int, int]:
    """Width and height of the shown part. Offsets of other formats have other meanings."""
    spec = source.spec()
    if source.format_name() != "openexr":
        return spec.width, spec.height
    return spec.full_width, spec.full_height


def shown_texels(source: oiio.ImageInput, texels: NDArray[Any]) -> NDArray[Any]:
    """The shown texels [row, column, channel]: zero where the file has none."""
    spec = source.spec()
    held = texels.reshape(spec.height, spec.width, -1)
    if source.format_name() != "openexr" or spec.roi == spec.roi_full:
        return held
    width, height = shown_size(source)
    shown = np.zeros((height, width, held.shape[-1]), held.dtype)
    rows, held_rows = _overlap(spec.y - spec.full_y, spec.height, height)
    columns, held_columns = _overlap(spec.x - spec.full_x, spec.width, width)
    shown[rows, columns] = held[held_rows, held_columns]
    return shown


def _overlap(first: int, held: int, shown: int) -> tuple[slice, slice]:
    """The part of an axis that is shown and stored: as a slice of the shown, and of the stored."""
    start = max(first, 0)
    stop = max(min(first + held, shown), start)
    return slice(start, stop), slice(start - first, stop - first)
