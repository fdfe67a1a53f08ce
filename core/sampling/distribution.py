"""The distribution that a map of weights stands for, as the sums that importance.slang searches.

Two levels: a row is found by the cumulative shares of the rows, then a column by those of its row.
Unlike an alias table it keeps points that are spread evenly spread evenly, and it is two passes
over the map to rebuild.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

# Of the mean weight: what is painted less than this, but not 0, is still visited this often.
LEAST_SHARE = 1.0 / 32.0


@dataclass(frozen=True)
class Distribution:
    """Densities over the unit square by cells; without cells it is uniform."""

    height: int
    width: int
    sums: Floats
    """Cumulative shares of the rows, then of the columns of each row."""
    densities: Floats
    """By cell, (height, width); their mean is 1."""

    @property
    def peak(self) -> float:
        return float(self.densities.max(initial=1.0)) if self.width else 1.0

    def mean_power(self, exponent: float) -> float:
        """Mean of the densities to this power, over points that are drawn."""
        if not self.width or exponent == 0:
            return 1.0
        return float(np.power(self.densities, 1.0 + exponent, dtype=np.float64).mean())


UNIFORM = Distribution(0, 0, np.zeros(1, np.float32), np.ones((0, 0), np.float32))


def distribution_of(weights: NDArray[Any] | None) -> Distribution:
    """Of relative weights, row 0 at v = 0: 8 is drawn eight times as often as 1, and 0 never.

    The same weight everywhere is uniform, to the bit.
    """
    if weights is None:
        return UNIFORM
    weights = np.asarray(weights)
    if weights.ndim != 2 or not weights.size:
        raise SettingsError("the importance map must be one channel of finite numbers from 0 up")
    least, most = float(weights.min()), float(weights.max())
    if not (least >= 0 and np.isfinite(most)):
        raise SettingsError("the importance map must be one channel of finite numbers from 0 up")
    if most == 0:
        raise SettingsError(
            "the importance map is zero everywhere: paint something or leave it out"
        )
    if least == most:
        return UNIFORM
    # the largest as 1: sums of any weights are finite
    shares = weights.astype(np.float64) / most
    floor = LEAST_SHARE * float(shares.mean())
    np.maximum(shares, floor, out=shares, where=shares > 0)
    sums = shares.cumsum(1)
    totals = sums[:, -1].copy()
    sums /= np.where(totals > 0, totals, 1.0)[:, None]
    rows = totals.cumsum()
    height, width = shares.shape
    shares *= shares.size / rows[-1]
    return Distribution(
        height,
        width,
        np.concatenate([rows / rows[-1], sums.ravel()], dtype=np.float32),
        shares.astype(np.float32),
    )


def product(painted: NDArray[Any], weights: NDArray[Any]) -> NDArray[Any]:
    """Both maps together, in cells that divide those of the first: what it leaves out stays so to
    its very edge."""
    size = [
        cells * max(1, round(other / cells))
        for cells, other in zip(painted.shape, weights.shape, strict=True)
    ]
    return np.asarray(_in_cells(painted, size) * _in_cells(weights, size))


def _in_cells(weights: NDArray[Any], size: Sequence[int]) -> NDArray[Any]:
    """The map with so many rows and columns, each cell as its middle was."""
    rows, columns = (
        (2 * np.arange(count) + 1) * cells // (2 * count)
        for count, cells in zip(size, weights.shape, strict=True)
    )
    return np.asarray(weights[rows][:, columns])
