"""Seconds, bytes and quality of a bake: predicted before it, and corrected while it runs.

Predictions learn from the bakes that ended here, in seconds of an otherwise idle machine. The
worker reports how much slower the machine is now, and what is shown is in proportion to that. The
time that is left is a range that does not wander: the rate of steps changes with the phase, and a
time that followed it would jump. So the prediction counts until the bake itself has shown more, and
what is on the screen changes only if it is wrong, or much too wide.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass
from statistics import median
from typing import Any

from verdigris.core.batch.plan.estimate import Estimate, bundle_bytes
from verdigris.core.settings.bake_settings import BakeSettings

# Dots before a bake here has shown others, by trainer and preset, from docs/BENCHMARKS.md and from
# drafts on a CPU. `final` on a CPU was not measured.
_DOTS = {
    "tensor": {"draft": (3, 4), "standard": (4, 4), "final": (4, 5)},
    "numpy": {"draft": (3, 4), "standard": (3, 4), "final": (3, 4)},
}
# Of shiny materials with many images, and of bumps under a coat: a draft on a CPU loses 6 to 10% of
# their light.
_DOTS_OF_HARD = {
    "tensor": {"draft": (3, 3), "standard": (3, 4), "final": (4, 5)},
    "numpy": {"draft": (1, 2), "standard": (2, 3), "final": (3, 4)},
}
_CONSTANT_DOTS, _ANY_DOTS = (4, 5), (2, 4)
CONSTANT, HARD, EASY = "constant", "hard", "easy"
_COAT = "coat"
_SHINY = {"metal", _COAT, "conductor_bsdf"}
_HARD_IMAGES = 3
# Before its first bake a machine may be this many times faster or slower.
_UNKNOWN = 2.0
_LEAST_SPREAD, _MOST_SPREAD = 1.15, 2.0
_MOST_OUTCOMES, _MOST_LIKE = 30, 5
# From this share on, the progress of a bake says how long it takes.
_EARLIEST = 0.02
# A narrower range replaces the shown one from this share of its width on.
_NARROWER = 0.5


@dataclass(frozen=True)
class Prediction:
    """What is expected of a bake."""

    seconds: float
    spread: float
    """The time is expected between seconds / spread and seconds * spread."""
    loaded_bytes: int
    dots: tuple[int, int]
    is_learnt: bool
    """Whether the time comes from bakes on this machine."""
    is_size_open: bool = False
    """Whether the bake may choose a smaller texture."""
    slower: float = 1.0
    """How many times slower the machine is than without other work, which is in `seconds`."""

    @property
    def low(self) -> float:
        return self.seconds / self.spread

    @property
    def high(self) -> float:
        return self.seconds * self.spread


@dataclass(frozen=True)
class Outcome:
    """A bake that has ended: its time without a correction, the real one on an idle machine, and
    its dots."""

    trainer: str
    network: str
    estimated: float
    seconds: float
    preset: str = ""
    difficulty: str = ""
    dots: int = 0
    """0 if it was not measured."""

    @property
    def ratio(self) -> float:
        return self.seconds / self.estimated


class Predictions:
    """The outcomes of bakes on this machine, which predict the next one."""

    def __init__(self) -> None:
        self.outcomes: list[Outcome] = []

    def predict(
        self,
        settings: BakeSettings,
        trainer: str,
        preset: str = "",
        time_limit: float | None = None,
        difficulty: str = "",
        slower: float = 1.0,
    ) -> Prediction:
        """The prediction for a bake with these settings, on a machine that is so busy."""
        raw = Estimate().seconds(settings, trainer, time_limit)
        ratios = self._ratios(trainer, settings.network, raw)
        factor, spread = 1.0, _UNKNOWN
        if ratios:
            factor = median(ratios)
            off = [max(each / factor, factor / each) for each in ratios]
            # one bake says little of how much they vary
            spread = 1.5 if len(ratios) == 1 else max(off)
            spread = min(_MOST_SPREAD, max(_LEAST_SPREAD, spread))
        dots = self._dots(trainer, preset, difficulty)
        is_open = settings.size.is_open
        loaded = bundle_bytes(settings)[0]
        slower = slower if time_limit is None else 1.0
        seconds = slower * factor * raw
        return Prediction(seconds, spread, loaded, dots, bool(ratios), is_open, slower)

    def _dots(self, trainer: str, preset: str, difficulty: str) -> tuple[int, int]:
        """The dots of the last bakes like this one: as hard, and with its preset."""
        wanted = trainer, preset, difficulty
        like = [
            each.dots
            for each in self.outcomes
            if each.dots and (each.trainer, each.preset, each.difficulty) == wanted
        ][-_MOST_LIKE:]
        if like:
            middle = round(median(like))
            return max(min(like), middle - 1), min(max(like), middle + 1)
        if difficulty == CONSTANT:
            return _CONSTANT_DOTS
        table = _DOTS_OF_HARD if difficulty == HARD else _DOTS
        return table.get(trainer, {}).get(preset, _ANY_DOTS)

    def learn(
        self,
        settings: BakeSettings,
        trainer: str,
        seconds: float,
        preset: str = "",
        difficulty: str = "",
        dots: int = 0,
    ) -> None:
        """Adds a bake that was not stopped, resumed or limited."""
        estimated = Estimate().seconds(settings, trainer, None)
        if seconds > 0:
            figures = settings.network, estimated, seconds, preset, difficulty, dots
            self.outcomes.append(Outcome(trainer, *figures))
            del self.outcomes[:-_MOST_OUTCOMES]

    def _ratios(self, trainer: str, network: str, estimated: float) -> list[float]:
        """Real times over estimated times, of the bakes that are most like this one: as long, and
        with the same decoder if there are any. Short bakes show the time besides training."""
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
                # memories of before have no dots
                trainer, network, estimated, seconds, *more = each
                preset, difficulty, dots = more or ("", "", 0)
                names = str(trainer), str(network)
                times = float(estimated), float(seconds)
                outcome = Outcome(*names, *times, str(preset), str(difficulty), int(dots))
            except (TypeError, ValueError):
                continue
            if outcome.estimated > 0 and outcome.seconds > 0:
                self.outcomes.append(outcome)


def difficulty_of(report: Mapping[str, Any] | None, is_constant: bool) -> str:
    """How hard a material is to bake, from its report: narrow highlights that many images or bumps
    move are."""
    if is_constant:
        return CONSTANT
    found = report or {}
    parts = {part.get("name") for part in found.get("parts", ())}
    has_bumps = any("normal" in str(name) for name in found.get("varying_inputs", ()))
    has_many = len(found.get("textures", ())) >= _HARD_IMAGES
    is_hard = (parts & _SHINY and has_many) or (_COAT in parts and has_bumps)
    return HARD if is_hard else EASY


def compare(predicted: Prediction, seconds: float) -> str:
    """How wrong a prediction was: `12% longer than predicted`."""
    off = seconds / predicted.seconds - 1
    if abs(off) < 0.05:
        return "as predicted"
    if off >= 1:
        return f"{seconds / predicted.seconds:.1f} times as long as predicted"
    return f"{abs(off):.0%} {'longer' if off > 0 else 'shorter'} than predicted"


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
    """The range in which a bake ends, in seconds since its start."""

    def __init__(self) -> None:
        self._predicted: Prediction | None = None
        self._ends: tuple[float, float] | None = None
        self._begun: float | None = 0.0
        """The share at the start. None until a bake that is resumed reports it."""

    def start(self, predicted: Prediction | None, is_resumed: bool = False) -> None:
        """Begins a bake. Without a prediction, only its progress counts."""
        self._predicted, self._ends = predicted, None
        self._begun = None if is_resumed else 0.0

    def update(
        self, elapsed: float, share: float, slower: float | None = None
    ) -> tuple[float, float] | None:
        """The least and the most seconds left; None while nothing is known. `slower`: how many
        times slower the bake has been than on an idle machine, if that is known."""
        if self._begun is None and share > 0:
            self._begun = share
        begun = self._begun or 0.0
        done = (share - begun) / max(1 - begun, 1e-6)
        found = self._estimate(elapsed, done, slower)
        if found is None:
            return None
        total, spread = found
        low, high = max(elapsed, total / spread), max(elapsed, total * spread)
        shown = self._ends
        is_wrong = shown is not None and not shown[0] <= total <= shown[1]
        if shown is None or is_wrong or high - low < _NARROWER * (shown[1] - shown[0]):
            shown = self._ends = low, high
        return max(0.0, shown[0] - elapsed), max(0.0, shown[1] - elapsed)

    def _estimate(
        self, elapsed: float, share: float, slower: float | None
    ) -> tuple[float, float] | None:
        predicted = self._predicted
        if predicted is None and share < _EARLIEST:
            return None
        own = elapsed / share if share > 0 else 0.0
        if predicted is None:
            return own, 1.5 - 0.4 * share
        expected = predicted.seconds * (slower or predicted.slower) / predicted.slower
        # more than a third of a bake predicts better than any estimate
        weight = min(1.0, max(0.0, 3 * share - 0.1)) if share > 0.05 else 0.0
        if elapsed > expected * predicted.spread and share > _EARLIEST:
            # the prediction was wrong
            weight = 1.0
        total = own**weight * expected ** (1 - weight) if own > 0 else expected
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
        self.slower = 1.0
        """How many times slower the machine is now than without other work."""
        self._paces: list[tuple[float, float]] = []

    def start(self, predicted: Prediction | None, is_resumed: bool) -> None:
        """Begins a bake."""
        self.predicted, self.took = predicted, 0.0
        self.left.start(None if is_resumed else predicted, is_resumed)
        self.clock.start()
        self._paces.clear()

    def note_pace(self, seconds: float, idle: float) -> None:
        """Takes the time of work in the worker, and that of an idle machine."""
        if seconds > 0 and idle > 0:
            self.slower = max(1.0, seconds / idle)
            self._paces.append((seconds, idle))

    @property
    def bake_slower(self) -> float | None:
        """How many times slower the bake has been than on an idle machine, if that is known."""
        seconds, idle = (sum(times) for times in zip((0.0, 0.0), *self._paces, strict=True))
        return max(1.0, seconds / idle) if idle else None

    def range_left(self, share: float) -> tuple[float, float] | None:
        """The least and the most seconds that are left; None while nothing is known."""
        return self.left.update(self.clock.seconds, share, self.bake_slower)

    def learn(
        self, settings: BakeSettings, trainer: str, preset: str, difficulty: str, dots: int
    ) -> None:
        """Takes the time and the dots of a bake that has ended for later predictions."""
        self.took = self.clock.seconds
        own = self.took / (self.bake_slower or 1.0)
        self.predictions.learn(settings, trainer, own, preset, difficulty, dots)
