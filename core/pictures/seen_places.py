"""The uv of the pixels of a view, and whether its texels are drawn as squares."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.pictures.view import PIXELATED_FROM

if TYPE_CHECKING:
    from verdigris.core.base.array_types import Floats
    from verdigris.core.pictures.canvas import Raster
    from verdigris.core.pictures.gbuffer import GBuffer
    from verdigris.core.pictures.view import View

# uv by pixel is not needed any finer.
PLACES_SIDE = 320
# Pixels per texel from which a texel is drawn as a square.
_PIXELS_A_TEXEL = 36


class SeenPlaces:
    """Places in sight, in a raster that may be smaller than the picture."""

    def __init__(self, raster: Raster, pixels: int, view: View, resolution: int) -> None:
        """`pixels` is the number of those of the picture, and `resolution` that of the texture; 0
        for none."""
        self._raster = raster
        self.texels = 0
        """Texels per side if each is drawn as a square; otherwise 0."""
        if view.zoom >= PIXELATED_FROM and resolution:
            self.texels = self._count_texels(pixels, max(1, resolution >> int(view.level)))

    @cached_property
    def gbuffer(self) -> GBuffer:
        return self._raster.gbuffer(self._raster.whole())

    def places(self) -> Floats:
        """The uv of the pixels, (height, width, 2)."""
        uv = np.full((self._raster.count, 2), np.nan, np.float32)
        uv[self.gbuffer.pixel] = self.gbuffer.uv
        return uv.reshape(self._raster.height, self._raster.width, 2)

    def _count_texels(self, pixels: int, texels: int) -> int:
        uv = self.gbuffer.uv
        if not len(uv):
            return 0
        shown = np.unique(np.floor(uv * texels), axis=0)
        seen = len(uv) * (pixels / self._raster.count)
        return texels if seen >= _PIXELS_A_TEXEL * len(shown) else 0
