"""The scale of the difference: its colours, its values, and the worst place."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QImage

from verdigris.core.pictures.compare.heat import (
    LOCKED_TOP,
    automatic_top,
    heat_colours,
)
from verdigris.core.pictures.picture_files import srgb_from_linear
from verdigris.ui.qt.drawing import image_of

LOCKED = LOCKED_TOP
# The value of a picture that is 100%.
WHOLE = 65_535
# A single pixel is no spot.
_SPOT_SHARE = 0.04


def scale_top(values: NDArray[np.uint16], is_locked: bool) -> float:
    """The difference at the end of the scale."""
    if is_locked:
        return LOCKED_TOP
    seen = values[values > 0]
    return automatic_top(seen.astype(np.float32) / WHOLE)


@lru_cache(8)
def _colours(top: float) -> Any:
    """The colour of each value of a picture."""
    share = np.arange(WHOLE + 1, dtype=np.float32) / WHOLE
    return (srgb_from_linear(heat_colours(share, top)) * 255 + 0.5).astype(np.uint8)


def heat_image(values: NDArray[np.uint16], top: float) -> QImage:
    """The difference in the colours of its scale."""
    return image_of(_colours(top)[values[..., 0]])


def value_at(values: NDArray[np.uint16], x: float, y: float) -> float | None:
    """The difference at a point of the picture, 0 to 1 to the right and downwards."""
    if not (0 <= x < 1 and 0 <= y < 1):
        return None
    height, width = values.shape[:2]
    return float(values[int(y * height), int(x * width), 0]) / WHOLE


def worst_spot(values: NDArray[np.uint16]) -> tuple[float, float]:
    """The place with the largest difference around it, 0 to 1 to the right and downwards."""
    height, width = values.shape[:2]
    side = max(1, round(_SPOT_SHARE * min(height, width)))
    sums = np.zeros((height + 1, width + 1))
    sums[1:, 1:] = values[..., 0].astype(np.float64).cumsum(0).cumsum(1)
    boxes = sums[side:, side:] - sums[:-side, side:] - sums[side:, :-side] + sums[:-side, :-side]
    row, column = np.unravel_index(int(boxes.argmax()), boxes.shape)
    return (float(column) + side / 2) / width, (float(row) + side / 2) / height
