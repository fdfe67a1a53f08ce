"""Returns to the least loss: the repair of a bake whose training diverges in the middle.

Some bakes of near-mirrors fail so: within a few thousand steps the loss rises to several times its
lowest value, and stays there. From time to time the guard keeps the parameters and the state of the
optimiser. When the loss has risen for good, training continues from these, at the step that it has
reached: the samples are new ones, and the rates lower. A bake whose loss does not rise is not
changed.

All decisions are made at fixed steps, from means over the steps between, so that equal bakes return
equally, and resumed ones, too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.baking.state.choices import pack_student, unpack_student
from verdigris.core.network.parameters import CheckpointError, Parameters
from verdigris.core.training.trainer import RATE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from verdigris.core.baking.state.choices import Stage
    from verdigris.core.training.trainer import Trainer

# Windows of a stage, and the fewest steps of one: stages with shorter ones are not guarded.
_WINDOWS, _LEAST_STEPS = 40, 32
# Diverged: so many windows in a row have a mean of this multiple of the lowest, and this much more.
# Means of good bakes rise to at most 1.05 times the lowest, those of failed ones to 4.8 and more.
_HIGH_WINDOWS, _HIGH, _LEAST_RISE = 2, 1.5, 0.004
# A state is kept if the mean of its window is at most this multiple of the lowest.
_LOW = 1.05
# The first states: after the rotation of latents, at 5% of the steps.
_FIRST = 0.06
# Steps from one kept state to the next: a part of the stage, but so many that copies take less than
# a hundredth of the time. The least steps are for a texture of 512 x 512 texels with its levels.
_KEEP_SHARE = 1 / 16
_STEPS_OF_A_COPY = {"tensor": 8_000, "numpy": 200}
_TEXELS = 512 * 512 * 4 / 3
# Each return multiplies the rates by this.
_SLOWER = 0.5
_MOST_RETURNS = 3
_KEPT = "kept_"


@dataclass(frozen=True)
class KeptState:
    """Parameters and state of a trainer."""

    parameters: Parameters
    state: dict[str, NDArray[Any]]

    @property
    def step(self) -> int:
        return int(self.state["step"])


class LossGuard:
    """Watches the loss of a stage until its last phase, and returns to a kept state."""

    def __init__(self, trainer_kind: str, stage: Stage, materials: int = 1) -> None:
        self._trainer_kind = trainer_kind
        self.returns: list[dict[str, Any]] = []
        """The returns of all stages: steps of the bake at which and to which, and the multiple of
        the lowest loss."""
        self.begin_stage(stage, materials)

    def begin_stage(self, stage: Stage, materials: int = 1) -> None:
        """Starts with another stage, whose rates are whole."""
        self._rate = 1.0
        self.resize(stage, materials)

    def resize(self, stage: Stage, materials: int = 1) -> None:
        """Continues with another size of the texture, which has another loss."""
        steps = stage.settings.iterations
        copies = stage.layout(materials).texel_count / _TEXELS
        self._window = steps // _WINDOWS
        self._first, self._end = _FIRST * steps, stage.settings.last_phase_step
        self._interval = max(_KEEP_SHARE * steps, _STEPS_OF_A_COPY[self._trainer_kind] * copies)
        self._before = stage.first_step
        self.forget()

    def forget(self) -> None:
        """Forgets the losses: they change with the distribution of the samples."""
        self._kept: KeptState | None = None
        self._lowest = math.inf
        self._sum, self._steps, self._high = 0.0, 0, 0

    def window_at(self, step: int) -> int | None:
        """Steps whose multiples end a run of steps, so that the guard can decide; None where it
        does nothing."""
        return self._window if self._window >= _LEAST_STEPS and step < self._end else None

    def watch(self, trainer: Trainer, loss: float, steps: int) -> str:
        """Takes the mean loss of the last steps. Returns to the kept state if training has diverged
        and says so; otherwise an empty text."""
        window = self.window_at(trainer.step - steps)
        if window is None:
            return ""
        if math.isfinite(loss):
            self._sum += loss * steps
            self._steps += steps
        if trainer.step % window:
            return ""
        # the first window may be cut, and steps may have been skipped
        mean = self._sum / self._steps if 2 * self._steps > window else None
        self._sum, self._steps = 0.0, 0
        if mean is None:
            return ""
        self._lowest = min(self._lowest, mean)
        is_high = mean > _HIGH * self._lowest and mean - self._lowest > _LEAST_RISE
        self._high = self._high + 1 if is_high else 0
        if trainer.step < self._first:
            return ""
        if self._high >= _HIGH_WINDOWS and self._kept and len(self.returns) < _MOST_RETURNS:
            return self._return(trainer, self._kept, mean / self._lowest)
        is_due = self._kept is None or trainer.step - self._kept.step >= self._interval
        if is_due and mean <= _LOW * self._lowest:
            self._kept = KeptState(trainer.parameters(), trainer.state())
        return ""

    def _return(self, trainer: Trainer, kept: KeptState, factor: float) -> str:
        """Continues from the kept state at the present step."""
        self._rate *= _SLOWER
        self._high = 0
        changed = {"step": np.array(trainer.step), RATE: np.array(self._rate)}
        now, then = self._before + trainer.step, self._before + kept.step
        trainer.restore(kept.parameters, {**kept.state, **changed})
        self.returns.append({"step": now, "to": then, "factor": factor})
        return (
            f"step {now:,}: the loss rose to {factor:.3g} times its lowest value: training "
            f"continues from its state of step {then:,}, with {self._rate:g} of the learning rate"
        )

    def facts(self) -> dict[str, Any]:
        """The facts for a checkpoint."""
        return {
            "lowest": self._lowest if math.isfinite(self._lowest) else None,
            "sum": self._sum,
            "steps": self._steps,
            "high": self._high,
            "rate": self._rate,
            "returns": self.returns,
        }

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays of the kept state for a checkpoint."""
        return pack_student(_KEPT, self._kept.parameters, self._kept.state) if self._kept else {}

    def restore(
        self, facts: Mapping[str, Any], arrays: dict[str, NDArray[Any]], like: Parameters
    ) -> None:
        """The inverse of `facts` and `arrays`. Raises CheckpointError for damaged ones. Earlier
        versions stored none."""
        if not facts:
            return
        try:
            lowest = facts["lowest"]
            self._lowest = math.inf if lowest is None else float(lowest)
            self._sum, self._rate = float(facts["sum"]), float(facts["rate"])
            self._steps, self._high = int(facts["steps"]), int(facts["high"])
            self.returns = [dict(each) for each in facts["returns"]]
        except (LookupError, TypeError, ValueError, OverflowError) as failure:
            raise CheckpointError(f"the state of the loss is damaged: {failure!r}") from None
        found = unpack_student(_KEPT, arrays, like, "the kept state")
        self._kept = KeptState(*found) if found else None
