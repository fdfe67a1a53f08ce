"""Finds a loss that rises, which means that training diverges."""

from __future__ import annotations

import math
from typing import NamedTuple

# Length of a window, as a part of the steps and at least: shorter ones have noisy means.
_WINDOW_SHARE, _LEAST_STEPS = 0.02, 100


class Rise(NamedTuple):
    """The lowest and the last mean of the loss."""

    lowest: float
    last: float

    @property
    def factor(self) -> float:
        """The last mean by the lowest; 1 while there are too few windows."""
        return self.last / self.lowest if 0 < self.lowest < math.inf else 1.0


class LossWatch:
    """Means of the loss over windows of many steps."""

    def __init__(self, steps: int) -> None:
        """`steps` is the number of steps of the stage."""
        self._before: list[Rise] = []
        self.lowest = self.last = math.inf
        self._begin(steps)

    def begin_again(self, steps: int) -> None:
        """Starts again for another distribution of samples, or another stage of so many steps."""
        self._before = self.rises
        self._begin(steps)

    def _begin(self, steps: int) -> None:
        self._window = max(_LEAST_STEPS, round(_WINDOW_SHARE * steps))
        self._sum, self._steps = 0.0, 0
        self.lowest = self.last = math.inf

    def add(self, loss: float, steps: int) -> None:
        """Adds the mean loss over so many steps; NaN if all of them were skipped."""
        if not math.isfinite(loss):
            return
        self._sum += loss * steps
        self._steps += steps
        if self._steps >= self._window:
            self.last = self._sum / self._steps
            self.lowest = min(self.last, self.lowest)
            self._sum, self._steps = 0.0, 0

    @property
    def rises(self) -> list[Rise]:
        """One for each part in which losses are comparable, the present one last."""
        return [*self._before, Rise(self.lowest, self.last)]
