"""Predicts seconds, bytes and quality of bakes, and corrects itself by those that ended here."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from statistics import median
from typing import Any

from verdigris.core.batch.plan.estimate import Estimate, bundle_bytes
from verdigris.core.settings.bake_settings import BakeSettings

# Dots of the middle half of the materials in docs/BENCHMARKS.md, by trainer and preset. `final` on
# a processor was not measured.
_DOTS = {
    "tensor": {"draft": (3, 4), "standard": (4, 4), "final": (4, 5)},
    "numpy": {"draft": (2, 3), "standard": (3, 3), "final": (3, 4)},
}
_ANY_DOTS = (2, 4)
# A machine is not known before its first bake: up to so many times faster or slower.
_UNKNOWN = 2.0
_LEAST_SPREAD, _MOST_SPREAD = 1.15, 2.0
_MOST_OUTCOMES, _MOST_LIKE = 30, 5


@dataclass(frozen=True)
class Prediction:
    """What is expected of a bake."""

    seconds: float
    spread: float
    """The time is expected between seconds / spread and seconds * spread."""
    loaded_bytes: int
    dots: tuple[int, int]
    is_learnt: bool
    """Whether bakes on this machine are behind the time."""
    is_size_open: bool = False
    """Whether the bake may choose a smaller texture."""

    @property
    def low(self) -> float:
        return self.seconds / self.spread

    @property
    def high(self) -> float:
        return self.seconds * self.spread


@dataclass(frozen=True)
class Outcome:
    """A bake that has ended: its time without a correction, and the real one."""

    trainer: str
    network: str
    estimated: float
    seconds: float

    @property
    def ratio(self) -> float:
        return self.seconds / self.estimated


class Predictions:
    """The outcomes of bakes on this machine, and what they tell of the next one."""

    def __init__(self) -> None:
        self.outcomes: list[Outcome] = []

    def predict(
        self,
        settings: BakeSettings,
        trainer: str,
        preset: str = "",
        time_limit: float | None = None,
    ) -> Prediction:
        """The prediction for a bake with these settings."""
        raw = Estimate().seconds(settings, trainer, time_limit)
        ratios = self._ratios(trainer, settings.network, raw)
        factor, spread = 1.0, _UNKNOWN
        if ratios:
            factor = median(ratios)
            off = [max(each / factor, factor / each) for each in ratios]
            # one bake says little of how much they vary
            spread = 1.5 if len(ratios) == 1 else max(off)
            spread = min(_MOST_SPREAD, max(_LEAST_SPREAD, spread))
        dots = _DOTS.get(trainer, {}).get(preset, _ANY_DOTS)
        is_open = settings.size.is_open
        loaded = bundle_bytes(settings)[0]
        return Prediction(factor * raw, spread, loaded, dots, bool(ratios), is_open)

    def learn(self, settings: BakeSettings, trainer: str, seconds: float) -> None:
        """Adds a bake that was not stopped, resumed or limited."""
        estimated = Estimate().seconds(settings, trainer, None)
        if seconds > 0:
            self.outcomes.append(Outcome(trainer, settings.network, estimated, seconds))
            del self.outcomes[:-_MOST_OUTCOMES]

    def _ratios(self, trainer: str, network: str, estimated: float) -> list[float]:
        """Real by estimated times of bakes that are most like this one: of the same decoder, if
        there are any, and as long. Short ones tell of the time besides training."""
        own = [each for each in self.outcomes if each.trainer == trainer]
        same = [each for each in own if each.network == network] or own
        # the newest first, where they are as long
        like = same[::-1]
        like.sort(key=lambda each: abs(math.log(each.estimated / estimated)))
        return [each.ratio for each in like[:_MOST_LIKE]]

    # in the settings of the panel

    def as_json(self) -> list[list[Any]]:
        return [[*astuple(each)] for each in self.outcomes]

    def read_json(self, values: Iterable[Any]) -> None:
        """Takes stored outcomes. Damaged ones are left out."""
        for each in values:
            try:
                trainer, network, estimated, seconds = each
                outcome = Outcome(str(trainer), str(network), float(estimated), float(seconds))
            except (TypeError, ValueError):
                continue
            if outcome.estimated > 0 and outcome.seconds > 0:
                self.outcomes.append(outcome)


def compare(predicted: Prediction, seconds: float) -> str:
    """How far off a prediction was: `12% longer than predicted`."""
    off = seconds / predicted.seconds - 1
    if abs(off) < 0.05:
        return "as predicted"
    if off >= 1:
        return f"{seconds / predicted.seconds:.1f} times as long as predicted"
    return f"{abs(off):.0%} {'longer' if off > 0 else 'shorter'} than predicted"
