"""Watches the loss of a bake, to tell one that has gone astray."""

from __future__ import annotations

import math
from typing import NamedTuple

# A window is so large a part of the steps, but no fewer than these: so its mean holds still.
_WINDOW_SHARE, _LEAST_STEPS = 0.02, 100


class Rise(NamedTuple):
    """From the lowest mean to the last."""

    lowest: float
    last: float

    @property
    def factor(self) -> float:
        """How many times the lowest the last one is; 1 where too little was seen."""
        return self.last / self.lowest if 0 < self.lowest < math.inf else 1.0


class LossWatch:
    """Means of the loss over windows of many steps: the lowest so far, and the last."""

    def __init__(self, steps: int) -> None:
        """`steps` of the stage that is watched."""
        self._before: list[Rise] = []
        self.lowest = self.last = math.inf
        self._begin(steps)

    def begin_again(self, steps: int) -> None:
        """From now on the loss is of other samples, or of another stage with so many steps."""
        self._before = self.rises
        self._begin(steps)

    def _begin(self, steps: int) -> None:
        self._window = max(_LEAST_STEPS, round(_WINDOW_SHARE * steps))
        self._sum, self._steps = 0.0, 0
        self.lowest = self.last = math.inf

    def add(self, loss: float, steps: int) -> None:
        """`loss` is the mean over so many steps; not a number where all of them were skipped."""
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
        """Of each part in which losses can be compared, the present one last."""
        return [*self._before, Rise(self.lowest, self.last)]
