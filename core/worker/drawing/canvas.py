"""Pictures that are drawn in parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.pictures.heat import heat_colours
from verdigris.core.pictures.picture_files import srgb_from_linear
from verdigris.core.pictures.render import over_backdrop

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Bytes = NDArray[np.uint8]
    Pixels = NDArray[np.int64]

# Values of the brightest colour of heat maps: few, so that the scale rarely changes.
_TOPS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
_PERCENTILE = 99.0


class Canvas:
    """Light by pixel, and its display values."""

    def __init__(self, size: int, exposure: float) -> None:
        self.size = size
        self._light = np.zeros((size * size, 4), np.float32)
        self._backdrop = over_backdrop(np.zeros((size, size, 4), np.float32)).reshape(-1, 3)
        self.shown = srgb_from_linear(self._backdrop)
        self._gain = np.float32(2.0**exposure)

    def put(self, pixels: Pixels, light: Floats) -> None:
        self._light[pixels] = light
        self._show(pixels)

    def fill_from(self, coarse: Floats) -> None:
        """Fills the canvas from a smaller picture."""
        index = np.arange(self.size) * len(coarse) // self.size
        self._light[:] = coarse[index][:, index].reshape(-1, 4)
        self._show(np.arange(self.size**2))

    def expose(self, exposure: float) -> None:
        self._gain = np.float32(2.0**exposure)
        self._show(np.arange(self.size**2))

    def _show(self, pixels: Pixels) -> None:
        light = self._light[pixels]
        seen = light[:, :3] * self._gain + (1.0 - light[:, 3:]) * self._backdrop[pixels]
        self.shown[pixels] = srgb_from_linear(seen)

    @property
    def covered(self) -> Floats:
        """Coverage of the pixels."""
        return np.asarray(self._light[:, 3])

    def pixels(self) -> Bytes:
        return as_bytes(self.shown, self.size)


def as_bytes(shown: Floats, size: int) -> Bytes:
    return (shown * 255 + 0.5).astype(np.uint8).reshape(size, size, 3)


def heat_of(reference: Canvas, neural: Canvas) -> tuple[Bytes, float]:
    """A heat map of the mean difference of two canvases, and the value of its brightest colour."""
    seen = np.flatnonzero((reference.covered > 0) | (neural.covered > 0))
    error = np.abs(reference.shown[seen] - neural.shown[seen]).mean(1)
    largest = float(np.percentile(error, _PERCENTILE)) if len(error) else 0.0
    top = next((step for step in _TOPS if largest <= step), _TOPS[-1])
    colours = np.empty((reference.size**2, 3), np.float32)
    colours[:] = srgb_from_linear(heat_colours(np.zeros(1, np.float32), top))
    colours[seen] = srgb_from_linear(heat_colours(error, top))
    return as_bytes(colours, reference.size), top
