"""Time and progress of a bake, and a watch for a loss that rises: training diverges."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from verdigris.core.progress import Pace

if TYPE_CHECKING:
    from verdigris.core.baking.state.options import BakeOptions

# Length of a window, as a part of the steps, and its least steps: shorter ones have noisy means.
_WINDOW_SHARE, _LEAST_STEPS = 0.02, 100
# Why training ended before its last step was due.
TARGET_ERROR, QUALITY = "target error", "quality"


class Rise(NamedTuple):
    """The lowest and the last mean of the loss."""

    lowest: float
    last: float

    @property
    def factor(self) -> float:
        """The last mean divided by the lowest; 1 while there are too few windows."""
        return self.last / self.lowest if 0 < self.lowest < math.inf else 1.0


class LossWatch:
    """Means of the loss over windows of many steps."""

    def __init__(self, steps: int) -> None:
        """`steps` is the number of steps in the stage."""
        self._before: list[Rise] = []
        self.lowest = self.last = math.inf
        self._begin(steps)

    def begin_again(self, steps: int) -> None:
        """Starts again for another distribution of samples, or for another stage with `steps`."""
        self._before = self.rises
        self._begin(steps)

    def _begin(self, steps: int) -> None:
        self._window = max(_LEAST_STEPS, round(_WINDOW_SHARE * steps))
        self._sum, self._steps = 0.0, 0
        self.lowest = self.last = math.inf

    def add(self, loss: float, steps: int) -> None:
        """Adds the mean loss over some steps; NaN if all of them were skipped."""
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
        """The rise in each part of training with comparable losses, the present part last."""
        return [*self._before, Rise(self.lowest, self.last)]


@dataclass
class Clock:
    """Seconds of training, the loss, and how the bake ended."""

    watch: LossWatch
    """Finds a loss that rises, until latents are rounded."""
    metrics: Pace
    """When errors are measured for the artist to see, pictures drawn, checkpoints written."""
    previews: Pace
    checkpoints: Pace
    loss: float = float("nan")
    """Mean loss of the last run of steps."""
    skipped: int = 0
    """Steps that were skipped, since the bake began or resumed."""
    seconds_before: float = 0.0
    """Seconds of the runs that this one resumes."""
    started: float = field(default_factory=time.monotonic)
    ended: float | None = None
    stopped_by: str = ""
    """`steps`, `time limit`, `target error`, `quality` or `request`; empty while it trains."""

    @property
    def seconds(self) -> float:
        """Seconds of training, over all runs."""
        return self.seconds_before + (self.ended or time.monotonic()) - self.started

    def pause(self, seconds: float) -> None:
        """Leaves out some seconds, in which training stood still."""
        self.started += seconds


def start_clock(steps: int, options: BakeOptions) -> Clock:
    """The clock of a bake whose first stage has `steps`."""
    return Clock(
        watch=LossWatch(steps),
        metrics=Pace(options.metrics_seconds),
        previews=Pace(options.preview_seconds or 0.0),
        checkpoints=Pace(options.checkpoint_seconds),
    )
