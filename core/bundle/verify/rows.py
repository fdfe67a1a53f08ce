"""Rows of a verification."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Row:
    """One comparison."""

    what: str
    """The two sides of the comparison."""
    count: int
    """Compared values, three for each point."""
    measure: str
    """How the difference is measured."""
    found: float
    """The difference; not finite if a response is not."""
    bound: float
    """The largest allowed difference."""

    @property
    def holds(self) -> bool:
        return bool(self.found <= self.bound)


def largest(values: NDArray[np.float64]) -> float:
    """The largest difference; 0 if nothing is compared."""
    return float(values.max()) if values.size else 0.0
