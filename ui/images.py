"""Arrays of pixels as Qt has them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from PySide6.QtGui import QImage


def image_of(pixels: NDArray[np.uint8]) -> QImage:
    """(height, width, 3) or (height, width, 4) bytes, copied: the array may go."""
    height, width, channels = pixels.shape
    pixels = np.ascontiguousarray(pixels)
    kind = QImage.Format.Format_RGBA8888 if channels == 4 else QImage.Format.Format_RGB888
    return QImage(pixels.data, width, height, channels * width, kind).copy()
