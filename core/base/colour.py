"""Linear Rec.709, and the curve of sRGB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Luminance of red, green and blue.
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


def linear_from_srgb(stored: NDArray[Any]) -> NDArray[Any]:
    """Linear values of sRGB values; 1 is white in both."""
    high = ((np.maximum(stored, 0) + 0.055) / 1.055) ** 2.4
    return np.where(stored <= 0.04045, stored / 12.92, high)


def srgb_from_linear(linear: NDArray[Any]) -> NDArray[Any]:
    """The inverse of linear_from_srgb."""
    high = 1.055 * np.maximum(linear, 0) ** (1 / 2.4) - 0.055
    return np.where(linear <= 0.0031308, 12.92 * linear, high)
