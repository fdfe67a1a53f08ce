"""The losses and errors of a bake, as a plot wants them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]

_MOST_POINTS = 2000
# Of the smoothed line: what a new point counts.
_SMOOTHING = 0.25


class History:
    """Losses by step, thinned as they get many: a plot has no more pixels than that."""

    def __init__(self) -> None:
        self._losses: list[tuple[float, float, float]] = []
        self._errors: list[tuple[float, float]] = []

    def clear(self) -> None:
        self._losses.clear()
        self._errors.clear()

    def add_loss(self, step: int, loss: float | None) -> None:
        """A loss; one that is no number is left out."""
        if loss is None or not loss > 0:
            return
        before = self._losses[-1][2] if self._losses else loss
        # in log space, where the plot is: one spike does not lift the line for long
        smooth = float(np.exp(np.log(before) + _SMOOTHING * (np.log(loss) - np.log(before))))
        self._losses.append((step, loss, smooth))
        if len(self._losses) > _MOST_POINTS:
            self._losses = self._losses[::2]

    def add_error(self, step: int, error: float | None) -> None:
        if error is not None and error > 0:
            self._errors.append((step, error))

    def losses(self) -> tuple[Doubles, Doubles, Doubles]:
        """Steps, losses, and losses smoothed."""
        table = np.array(self._losses, np.float64).reshape(-1, 3)
        return table[:, 0], table[:, 1], table[:, 2]

    def errors(self) -> tuple[Doubles, Doubles]:
        """Steps, and mean log errors on held-out samples."""
        table = np.array(self._errors, np.float64).reshape(-1, 2)
        return table[:, 0], table[:, 1]
