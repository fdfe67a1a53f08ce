"""Rounding of latents in training; the same functions as in latent_grid.slang."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from verdigris.core.network.latents.quantise import (
    BYTE,
    LatentRange,
    soft_round,
    soft_round_derivative,
)
from verdigris.core.network.latents.texels import IndexArray
from verdigris.core.network.parameters import FloatArray
from verdigris.core.network.spec import LatentLayout
from verdigris.core.settings.schedule import Rounding


class LatentGrid:
    """The ranges of all materials: the value of code 0 and the step between codes, as arrays
    [materials, channels]."""

    def __init__(self, layout: LatentLayout, ranges: Sequence[LatentRange]) -> None:
        self._layout, self.ranges = layout, tuple(ranges)
        self.offset = np.stack([each.offset for each in ranges])
        self.unit = np.stack([each.scale for each in ranges]) / np.float32(BYTE)
        self.highest = self.offset + self.unit * np.float32(BYTE)

    def round(self, values: FloatArray, texels: IndexArray, rounding: Rounding) -> None:
        """Rounds values [texels, channels] in place."""
        offset, unit = self._of_texels(self.offset, texels), self._of_texels(self.unit, texels)
        codes = self._fractional_codes(values, texels)
        np.multiply(soft_round(codes, rounding.sharpness), unit, out=values)
        values += offset

    def backward(
        self, gradient: FloatArray, values: FloatArray, texels: IndexArray, rounding: Rounding
    ) -> None:
        """Converts the gradient by rounded values to the gradient by the values, in place."""
        if not rounding.is_straight:
            codes = self._fractional_codes(values, texels)
            gradient *= soft_round_derivative(codes, rounding.sharpness)

    def limit(self, values: FloatArray, texels: IndexArray) -> None:
        """Clips values to the range, in place."""
        low, high = self._of_texels(self.offset, texels), self._of_texels(self.highest, texels)
        np.clip(values, low, high, out=values)

    def _fractional_codes(self, values: FloatArray, texels: IndexArray) -> FloatArray:
        codes: FloatArray = values - self._of_texels(self.offset, texels)
        codes /= self._of_texels(self.unit, texels)
        return np.asarray(np.clip(codes, 0, np.float32(BYTE), out=codes))

    def _of_texels(self, numbers: FloatArray, texels: IndexArray) -> FloatArray:
        """The rows of [materials, channels] that belong to the texels."""
        layout = self._layout
        if layout.materials == 1:
            return numbers
        offsets = np.array(layout.level_offsets)
        level = np.searchsorted(offsets, texels, side="right") - 1
        sizes = np.diff(offsets) // layout.materials
        return np.asarray(numbers[(texels - offsets[level]) // sizes[level]])
