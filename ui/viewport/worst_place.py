"""Where two pictures differ most, without a map of their difference."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from verdigris.ui.model.parts.worker_pictures import Picture

# The side of the blocks over which a difference counts, as a part of the picture's shorter side: a
# single pixel is no place.
_BLOCK = 1 / 32


def pair_of(parts: Mapping[str, Picture]) -> tuple[NDArray[np.uint8], NDArray[np.uint8]] | None:
    """Reference and neural picture of one view in full size, if they are there."""
    reference, neural = parts.get("reference"), parts.get("neural")
    if reference is None or neural is None:
        return None
    is_same = reference.view == neural.view and reference.pixels.shape == neural.pixels.shape
    is_sharp = min(reference.sharp, neural.sharp) >= 1
    return (reference.pixels, neural.pixels) if is_same and is_sharp else None


def worst_of(parts: Mapping[str, Picture]) -> tuple[float, float] | None:
    """The worst place of the present pair; None without one."""
    if pair_of(parts) is None:
        return None
    return _worst_of(parts["reference"], parts["neural"])


# several widgets ask for the same pair
@lru_cache(maxsize=2)
def _worst_of(reference: Picture, neural: Picture) -> tuple[float, float] | None:
    return worst_place(reference.pixels, neural.pixels)


def worst_place(
    reference: NDArray[np.uint8], neural: NDArray[np.uint8]
) -> tuple[float, float] | None:
    """The middle of the block with the largest mean difference, 0 to 1 to the right and downwards;
    None if the pictures are the same."""
    height, width = reference.shape[:2]
    block = max(1, round(_BLOCK * min(height, width)))
    rows, columns = height // block, width // block
    apart = np.abs(reference[..., :3].astype(np.int16) - neural[..., :3]).max(-1)
    blocks = apart[: rows * block, : columns * block].reshape(rows, block, columns, block)
    means = blocks.mean((1, 3))
    row, column = np.unravel_index(means.argmax(), means.shape)
    if not means[row, column]:
        return None
    return (int(column) + 0.5) * block / width, (int(row) + 0.5) * block / height
