"""How far the choice among several starts is, so that a bake that is cut off goes on with it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import SettingsError
from verdigris.core.network.parameters import CheckpointError, Parameters

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BEST = "best_"


@dataclass
class Best:
    """The best start so far."""

    loss: float
    parameters: Parameters
    state: dict[str, NDArray[Any]]


@dataclass
class Trial:
    """Of the start that is being tried."""

    number: int = 0
    """The first is 0; of those that train side by side, the first of these."""

    losses: list[float] = field(default_factory=lambda: [0.0])
    """Of each of these, summed over those of its steps that count."""

    best: Best | None = None
    """Of those before it."""

    @property
    def abreast(self) -> int:
        """How many train side by side now."""
        return len(self.losses)

    def facts(self) -> dict[str, Any]:
        """What is no array."""
        best = {"best_loss": self.best.loss} if self.best else {}
        return {"number": self.number, "loss": self.losses[0], **best}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Of the best start, beside those of the present one."""
        if self.best is None:
            return {}
        parameters = self.best.parameters
        arrays = {"decoder": parameters.decoder, "latents": parameters.latents, **self.best.state}
        return {f"{_BEST}{name}": array for name, array in arrays.items()}

    @classmethod
    def from_saved(
        cls,
        saved: dict[str, Any],
        arrays: dict[str, NDArray[Any]],
        like: Parameters,
        starts: int,
    ) -> Trial | None:
        """None for a bake that was past it; raises CheckpointError for what no bake has written."""
        if "trial" not in saved:
            return None
        facts = saved["trial"]
        number, loss = _number(facts, "number"), _number(facts, "loss")
        if not (number.is_integer() and 0 <= number < starts) or math.isnan(loss):
            raise CheckpointError(f"start {number} of {starts} has a loss of {loss}")
        trial = cls(int(number), losses=[loss])
        if "best_loss" in facts:
            named = {
                name.removeprefix(_BEST): array
                for name, array in arrays.items()
                if name.startswith(_BEST)
            }
            try:
                decoder, latents = named.pop("decoder"), named.pop("latents")
                parameters = Parameters(like.spec, like.layout, decoder, latents)
            except (KeyError, SettingsError) as failure:
                raise CheckpointError(f"the best start is damaged: {failure}") from None
            trial.best = Best(_number(facts, "best_loss"), parameters, named)
        return trial


def _number(facts: Any, name: str) -> float:
    value = facts.get(name) if isinstance(facts, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise CheckpointError(f"{name} of the trial of starts is {value!r}: it must be a number")
    return float(value)
