"""Time and progress of a bake."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from verdigris.core.baking.measure.loss_watch import LossWatch
from verdigris.core.progress import Pace

if TYPE_CHECKING:
    from verdigris.core.baking.state.options import BakeOptions

# Why training ended before its last step was due.
TARGET_ERROR, QUALITY = "target error", "quality"


@dataclass
class Clock:
    """Seconds of training, the loss, and how the bake ended."""

    watch: LossWatch
    """Finds a loss that rises; until latents are rounded."""
    metrics: Pace
    """When errors are measured for the artist to see, pictures drawn, checkpoints written."""
    previews: Pace
    checkpoints: Pace
    loss: float = float("nan")
    """Mean loss of the last run of steps."""
    skipped: int = 0
    """Steps without effect, since the start or since the bake resumed."""
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
        """Leaves out so many seconds, in which training stood still."""
        self.started += seconds


def start_clock(steps: int, options: BakeOptions) -> Clock:
    """The clock of a bake whose first stage has so many steps."""
    return Clock(
        watch=LossWatch(steps),
        metrics=Pace(options.metrics_seconds),
        previews=Pace(options.preview_seconds or 0.0),
        checkpoints=Pace(options.checkpoint_seconds),
    )
