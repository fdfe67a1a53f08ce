"""The time that is left, as a range that does not wander.

The rate of steps changes with the phase: time left that follows it jumps up and down. Here the
prediction counts until the bake itself has shown more, and what is on the screen changes only if it
has become wrong, or much too wide.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from verdigris.core.settings.bake_settings import BakeSettings
from verdigris.ui.estimates.predictions import Prediction, Predictions

# A narrower range replaces the shown one from this share of its width on.
_NARROWER = 0.5
_LEAST_SPREAD = 1.15


class BakeClock:
    """Seconds of a bake, without its pauses."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._since: float | None = None
        self._before = 0.0

    def start(self) -> None:
        self._since, self._before = self._clock(), 0.0

    def pause(self, is_paused: bool) -> None:
        """Stops or continues. Does nothing if the clock is in that state."""
        if is_paused and self._since is not None:
            self._before, self._since = self.seconds, None
        elif not is_paused and self._since is None:
            self._since = self._clock()

    @property
    def seconds(self) -> float:
        return self._before + (self._clock() - self._since if self._since is not None else 0.0)


class TimeLeft:
    """The range of the end, in seconds since the start of a bake."""

    def __init__(self) -> None:
        self._predicted: Prediction | None = None
        self._ends: tuple[float, float] | None = None
        self._begun: float | None = 0.0
        """The share at the start. None until a bake that is resumed reports it."""

    def start(self, predicted: Prediction | None, is_resumed: bool = False) -> None:
        """Begins a bake. Without a prediction, only its progress counts."""
        self._predicted, self._ends = predicted, None
        self._begun = None if is_resumed else 0.0

    def update(self, elapsed: float, share: float) -> tuple[float, float] | None:
        """The least and the most seconds left; None while nothing is known."""
        if self._begun is None and share > 0:
            self._begun = share
        begun = self._begun or 0.0
        found = self._estimate(elapsed, (share - begun) / max(1 - begun, 1e-6))
        if found is None:
            return None
        total, spread = found
        low, high = max(elapsed, total / spread), max(elapsed, total * spread)
        shown = self._ends
        is_wrong = shown is not None and not shown[0] <= total <= shown[1]
        if shown is None or is_wrong or high - low < _NARROWER * (shown[1] - shown[0]):
            shown = self._ends = low, high
        return max(0.0, shown[0] - elapsed), max(0.0, shown[1] - elapsed)

    def _estimate(self, elapsed: float, share: float) -> tuple[float, float] | None:
        predicted = self._predicted
        if predicted is None and share < 0.02:
            return None
        own = elapsed / share if share > 0 else 0.0
        if predicted is None:
            return own, 1.5 - 0.4 * share
        # more than a third of a bake predicts better than any estimate
        weight = min(1.0, max(0.0, 3 * share - 0.1)) if share > 0.05 else 0.0
        total = own**weight * predicted.seconds ** (1 - weight) if own > 0 else predicted.seconds
        spread = predicted.spread ** (1 - share)
        return max(total, elapsed), max(_LEAST_SPREAD, spread)


class BakeTimes:
    """The time of the current or the last bake, as predicted and as it was."""

    def __init__(self) -> None:
        self.predictions = Predictions()
        self.predicted: Prediction | None = None
        """What was predicted of the bake."""
        self.took = 0.0
        """Seconds of the bake, if it was not stopped, resumed or limited."""
        self.left = TimeLeft()
        self.clock = BakeClock()

    def start(self, predicted: Prediction | None, is_resumed: bool) -> None:
        """Begins a bake."""
        self.predicted, self.took = predicted, 0.0
        self.left.start(None if is_resumed else predicted, is_resumed)
        self.clock.start()

    def learn(self, settings: BakeSettings, trainer: str) -> None:
        """Takes the time of a bake that has ended for later predictions."""
        self.took = self.clock.seconds
        self.predictions.learn(settings, trainer, self.took)
