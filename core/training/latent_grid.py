"""The grid that latents are rounded to while they train; the twin of latent_grid.slang."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from verdigris.core.network.parameters import FloatArray
from verdigris.core.network.quantise import (
    LatentRange,
    codes_of,
    pack_ranges,
    soft_round,
    soft_round_derivative,
    unpack_ranges,
)
from verdigris.core.network.spec import LatentLayout
from verdigris.core.network.texels import IndexArray
from verdigris.core.settings.schedule import Rounding, TrainingSettings
from verdigris.core.training.trainer_state import require_array

# What checkpoints call the ranges.
RANGES = "latent_ranges"


class LatentGrid:
    """The ranges of all materials, as values of code 0 and of one code; [materials, channels]."""

    def __init__(self, layout: LatentLayout, ranges: Sequence[LatentRange], bits: int) -> None:
        self._layout, self.ranges, self.codes = layout, tuple(ranges), codes_of(bits)
        self.offset = np.stack([each.offset for each in ranges])
        self.unit = np.stack([each.scale for each in ranges]) / np.float32(self.codes)
        self.highest = self.offset + self.unit * np.float32(self.codes)

    def round(self, values: FloatArray, texels: IndexArray, rounding: Rounding) -> None:
        """Replaces the values [texels, channels] by what the network sees of them."""
        offset, unit = self._of(self.offset, texels), self._of(self.unit, texels)
        places = self._places(values, texels)
        np.multiply(soft_round(places, rounding.sharpness), unit, out=values)
        values += offset

    def derivative(self, values: FloatArray, texels: IndexArray, rounding: Rounding) -> FloatArray:
        """Of `round`, by the values."""
        if rounding.is_straight:
            return np.ones_like(values)
        return soft_round_derivative(self._places(values, texels), rounding.sharpness)

    def limit(self, values: FloatArray, texels: IndexArray) -> None:
        """Brings values that have left the range back to its border."""
        low, high = self._of(self.offset, texels), self._of(self.highest, texels)
        np.clip(values, low, high, out=values)

    def _places(self, values: FloatArray, texels: IndexArray) -> FloatArray:
        places: FloatArray = values - self._of(self.offset, texels)
        places /= self._of(self.unit, texels)
        return np.asarray(np.clip(places, 0, np.float32(self.codes), out=places))

    def _of(self, numbers: FloatArray, texels: IndexArray) -> FloatArray:
        layout = self._layout
        if layout.materials == 1:
            return numbers
        offsets = np.array(layout.level_offsets)
        level = np.searchsorted(offsets, texels, side="right") - 1
        sizes = np.diff(offsets) // layout.materials
        return np.asarray(numbers[(texels - offsets[level]) // sizes[level]])


def find_grid(
    state: dict[str, NDArray[Any]], layout: LatentLayout, channels: int, settings: TrainingSettings
) -> LatentGrid | None:
    """The grid that a trainer's state holds; None before the phase that uses it."""
    quantisation = settings.quantisation
    if quantisation is None or int(state["step"]) <= quantisation.first_step:
        return None
    packed = require_array(state, RANGES, (layout.materials, 2, channels))
    return LatentGrid(layout, unpack_ranges(packed), quantisation.bits)


def pack_grid(grid: LatentGrid | None) -> dict[str, NDArray[Any]]:
    """What a trainer's state says of its grid."""
    return {RANGES: pack_ranges(grid.ranges)} if grid else {}
