"""The choice among starts, kept in checkpoints so that a resumed bake continues with it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import SettingsError
from verdigris.core.network.parameters import CheckpointError, Parameters

if TYPE_CHECKING:
    from numpy.typing import NDArray

_BEST = "best_"


@dataclass
class BestStart:
    """The best start so far."""

    loss: float
    parameters: Parameters
    state: dict[str, NDArray[Any]]


@dataclass
class StartChoice:
    """Progress of the comparison."""

    number: int = 0
    """The start that trains; the first is 0."""

    loss: float = 0.0
    """Its loss, summed over the steps that count."""

    best: BestStart | None = None
    """The best of those before it."""

    def facts(self) -> dict[str, Any]:
        """The numbers for a checkpoint."""
        best = {"best_loss": self.best.loss} if self.best else {}
        return {"number": self.number, "loss": self.loss, **best}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays of the best start for a checkpoint."""
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
    ) -> StartChoice | None:
        """None for a bake whose start is chosen; raises CheckpointError for damaged facts."""
        if "start_choice" not in saved:
            return None
        facts = saved["start_choice"]
        number, loss = _number(facts, "number"), _number(facts, "loss")
        if not (number.is_integer() and 0 <= number < starts) or math.isnan(loss):
            raise CheckpointError(f"start {number} of {starts} has a loss of {loss}")
        choice = cls(int(number), loss)
        if "best_loss" in facts:
            named = {
                name.removeprefix(_BEST): array
                for name, array in arrays.items()
                if name.startswith(_BEST)
            }
            try:
                decoder, latents = named.pop("decoder"), named.pop("latents")
                parameters = replace(like, decoder=decoder, latents=latents)
            except (KeyError, SettingsError) as failure:
                raise CheckpointError(f"the best start is damaged: {failure}") from None
            choice.best = BestStart(_number(facts, "best_loss"), parameters, named)
        return choice


def _number(facts: Any, name: str) -> float:
    value = facts.get(name) if isinstance(facts, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise CheckpointError(f"{name} of the choice of starts is {value!r}: it must be a number")
    return float(value)
