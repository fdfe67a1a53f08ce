"""Importance sampling of a map of weights: a distribution over rows, and one over each row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Distribution:
    """A piecewise constant density on the unit square, by inverted cumulative distributions.

    The same numbers are on the device, so that the density is exactly that of what is drawn.
    """

    rows: Floats
    """Cumulative distribution of the rows, (height + 1)."""
    columns: Floats
    """Cumulative distribution in each row, (height, width + 1)."""

    @classmethod
    def of(cls, weights: NDArray[np.float64]) -> Distribution:
        """In proportion to weights (height, width), whose sum is positive."""
        in_row = weights.sum(1)
        return cls(_cumulative(in_row), _cumulative(weights))

    @property
    def density(self) -> Floats:
        """Per area of the unit square, for each texel, (height, width)."""
        height, width = self.columns.shape[0], self.columns.shape[1] - 1
        rows = np.diff(self.rows.astype(np.float64))[:, None]
        return np.asarray(np.diff(self.columns.astype(np.float64)) * rows * height * width, "f4")

    def draw(self, xi: Floats) -> Floats:
        """Places (N, 2) on the unit square, by random numbers in [0, 1)."""
        height, width = self.columns.shape[0], self.columns.shape[1] - 1
        row, down = _inverted(np.broadcast_to(self.rows, (len(xi), height + 1)), xi[:, 1])
        column, right = _inverted(self.columns[row], xi[:, 0])
        return np.stack([(column + right) / width, (row + down) / height], 1).astype(np.float32)


def _cumulative(weights: NDArray[np.float64]) -> Floats:
    """From 0 to 1 along the last axis; uniform where all weights are 0."""
    total = weights.sum(-1, keepdims=True)
    share = np.divide(weights, total, out=np.ones_like(weights), where=total > 0)
    sums = np.cumsum(share, axis=-1)
    sums /= sums[..., -1:]
    return np.concatenate([np.zeros_like(sums[..., :1]), sums], axis=-1).astype(np.float32)


def _inverted(cumulative: Floats, xi: Floats) -> tuple[NDArray[np.int64], Floats]:
    """The interval of each number, and the place in it."""
    at = (cumulative[:, 1:] <= xi[:, None]).sum(1)
    which = np.arange(len(xi))
    low, high = cumulative[which, at], cumulative[which, at + 1]
    return at, (xi - low) / (high - low)
