"""Grids of stored texels, and the soft quantisation through which a fit makes bytes of them.

Soft rounding (Agustsson and Theis, 2020) replaces a value by a smooth step between its neighbours,
m + tanh(h r) / (2 tanh(h / 2)) around the middle m of two steps, whose hardness h grows until
hardly a value between two steps is left. It has the fixed points and the order of rounding, and its
true derivative: unlike with a straight-through estimate, neighbours in a filter make up for what a
texel cannot store.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.network.latents.texels import corners, gather
from verdigris.core.network.spec import LatentLayout

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import FloatArray

    Ints = NDArray[np.integer]

STEPS = 255
# The last part of a fit, in which quantisation hardens.
_HARDENING = 0.4
HARDEST = 24.0
# Rates of Adam while quantisation hardens, in steps of a byte: a texel may still change its byte
# once or twice.
_HARD_RATE, _LAST_RATE = 0.45, 0.06
_END = 0.1


@dataclass
class Grid:
    """A texture of stored values, row 0 at v = 0."""

    width: int
    height: int
    values: FloatArray
    """(texels, channels)"""

    @classmethod
    def of(cls, width: int, height: int, start: FloatArray) -> Grid:
        """A grid with these values in each texel."""
        return cls(width, height, np.tile(np.asarray(start, np.float32), (width * height, 1)))

    @property
    def layout(self) -> LatentLayout:
        return LatentLayout(self.width, self.height)

    @property
    def channels(self) -> int:
        return int(self.values.shape[1])

    @property
    def image(self) -> FloatArray:
        """(height, width, channels)"""
        return self.values.reshape(self.height, self.width, self.channels)

    def corners(self, uv: FloatArray) -> tuple[Ints, FloatArray]:
        """Indices and weights (4, N) of the texels around each uv (2, N), with wrapping."""
        return corners(self.layout, uv, 0)

    def sample(self, uv: FloatArray) -> FloatArray:
        """Interpolated values (channels, N)."""
        return gather(self.values, *self.corners(uv))

    def resized(self, width: int, height: int) -> Grid:
        """The same picture with another size, by bilinear interpolation."""
        v, u = ((np.indices((height, width)) + 0.5) / [[[height]], [[width]]]).reshape(2, -1)
        values = self.sample(np.stack([u, v]).astype(self.values.dtype))
        return Grid(width, height, np.ascontiguousarray(values.T))


def fill_holes(grid: Grid, is_seen: NDArray[np.bool_], rounds: int = 64) -> None:
    """Fills texels that no pixel touched with the mean of their neighbours, ring by ring. Filters
    and coarser levels read them."""
    known = is_seen.copy()
    if not known.any():
        return
    values = grid.values
    ring = np.flatnonzero(~known & known[_beside(grid, np.arange(len(known)))].any(0))
    for _ in range(rounds):
        if not len(ring):
            break
        around = _beside(grid, ring)
        counts = known[around][..., None]
        values[ring] = (values[around] * counts).sum(0) / counts.sum(0)
        known[ring] = True
        ring = np.unique(around[~known[around]])
    values[~known] = values[known].mean(0)


def _beside(grid: Grid, texels: Ints) -> Ints:
    """The four neighbours (4, N) of texels, with wrapping."""
    row, column = np.divmod(texels, grid.width)
    left, right = (column - 1) % grid.width, (column + 1) % grid.width
    below, above = (row - 1) % grid.height, (row + 1) % grid.height
    start = row * grid.width
    return np.stack(
        [start + left, start + right, below * grid.width + column, above * grid.width + column]
    )


def layout_uniform(layout: LatentLayout) -> dict[str, int]:
    """A layout as shaders read it."""
    names = ("width", "height", "levels", "materials")
    return {name: getattr(layout, name) for name in names}


def softness_at(step: int, steps: int) -> float:
    """The softness at a step: 0 at first, and up to 1 in the last part of a fit."""
    done = step / max(1, steps - 1)
    return float(np.clip((done - 1 + _HARDENING) / _HARDENING, 0, 1))


def rate_at(step: int, steps: int, peak: float) -> float:
    """The learning rate at a step. It falls from the peak until quantisation hardens, and is small
    from then on."""
    hardness = softness_at(step, steps)
    if hardness > 0:
        return min(peak, (_HARD_RATE + (_LAST_RATE - _HARD_RATE) * hardness) / STEPS)
    done = step / max(1, steps - 1) / (1 - _HARDENING)
    return peak * (_END + (1 - _END) * 0.5 * (1 + float(np.cos(np.pi * done))))


def quantise(values: FloatArray, steps: int = STEPS) -> FloatArray:
    """Values rounded to the nearest step."""
    return np.asarray(np.rint(np.clip(values, 0, 1) * steps) / steps, values.dtype)
