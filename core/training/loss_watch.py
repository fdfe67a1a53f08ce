"""Watches the loss of a bake, to tell one that has gone astray."""

from __future__ import annotations

import math

# A window is so large a part of the steps, but no fewer than these: so its mean holds still.
_WINDOW_SHARE, _LEAST_STEPS = 0.02, 100


class LossWatch:
    """Means of the loss over windows of many steps: the lowest so far, and the last."""

    def __init__(self, steps: int) -> None:
        """`steps` of the stage that is watched."""
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
    def rise(self) -> float:
        """How many times its lowest mean the last one is; 1 where too little was seen."""
        return self.last / self.lowest if 0 < self.lowest < math.inf else 1.0
