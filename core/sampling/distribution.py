"""The sampling distribution of an importance map, as cumulative sums for importance.slang.

The shader finds a row by the sums of the rows, then a column by the sums of that row. Unlike an
alias table, this keeps low-discrepancy points evenly spread, and two passes over the map build it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.errors import SettingsError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Floats


# Weights between 0 and this share of the mean are raised to it, so that every place gets samples.
LEAST_SHARE = 1.0 / 32.0


@dataclass(frozen=True)
class Distribution:
    """A piecewise constant density over the unit square; uniform if it has no cells."""

    height: int
    width: int
    sums: Floats
    """Cumulative shares of the rows, then of the columns of each row."""
    densities: Floats
    """Density of each cell, (height, width), with mean 1."""

    @property
    def peak(self) -> float:
        return float(self.densities.max(initial=1.0)) if self.width else 1.0

    def mean_power(self, exponent: float) -> float:
        """The expected value of the density to this power, at a drawn point."""
        if not self.width or exponent == 0:
            return 1.0
        return float(np.power(self.densities, 1.0 + exponent, dtype=np.float64).mean())


UNIFORM = Distribution(0, 0, np.zeros(1, np.float32), np.ones((0, 0), np.float32))


def distribution_of(weights: NDArray[Any] | None) -> Distribution:
    """The distribution of relative weights, row 0 at v = 0. A weight of 8 is drawn eight times as
    often as 1, and 0 never. Equal weights give exactly UNIFORM."""
    if weights is None:
        return UNIFORM
    weights = np.asarray(weights)
    if weights.ndim != 2 or not weights.size:
        raise SettingsError(
            f"the importance map has shape {weights.shape}: use one channel of weights"
        )
    least, most = float(weights.min()), float(weights.max())
    if not (least >= 0 and np.isfinite(most)):
        raise SettingsError(
            f"the importance map has weights from {least} to {most}: use finite numbers from 0 up"
        )
    if most == 0:
        raise SettingsError(
            "the importance map is zero everywhere: paint some weights, or leave the map out"
        )
    if least == most:
        return UNIFORM
    # scaled to 1, so that the sums cannot overflow
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
