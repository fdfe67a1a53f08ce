"""What a bake has chosen for its training, kept in checkpoints: the stage and the start.

A large texture is trained in two stages, with a small texture first. The start is the one with the
lowest loss among several; a resumed bake continues their comparison.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import SettingsError
from verdigris.core.network.losses import LIGHT_START
from verdigris.core.network.parameters import CheckpointError, Parameters
from verdigris.core.network.spec import LatentLayout
from verdigris.core.settings.bake_settings import HALF_FORMAT

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.baking.state.sizes import Size
    from verdigris.core.settings.bake_settings import BakeSettings
    from verdigris.core.settings.schedule import TrainingSettings

# A sample of the small texture averages at least this many places: its texels have more detail
# inside.
_SMALL_PLACES = 4
_BEST = "best_"
# Names of the decoders of both sides.
_DECODERS = "decoder", "transmitted_decoder"


@dataclass(frozen=True)
class Stage:
    """A stage of training, with a texture of its own size."""

    settings: BakeSettings
    """Resolution, steps and rates of this stage."""
    first_step: int = 0
    """Steps of the stages before it."""
    is_last: bool = True
    size: Size | None = None
    """The size of the texture, once the bake has chosen one."""

    def layout(self, materials: int = 1) -> LatentLayout:
        """The latent textures of this stage."""
        if self.size is None:
            return self.settings.layout(materials)
        width, height, _ = self.size
        return LatentLayout(width, height, max(width, height).bit_length(), materials)

    def with_size(self, size: Size) -> Stage:
        """The same stage with a chosen size."""
        channels = replace(self.settings.size, latent_channels=size.channels)
        return replace(self, settings=replace(self.settings, size=channels), size=size)

    def training(self) -> TrainingSettings:
        """Settings of its trainer. The light gradient counts in the last stage, which ends in the
        result."""
        settings = self.settings.training()
        if not self.is_last:
            return settings
        return replace(settings, light_step=round(LIGHT_START * self.settings.iterations))


def stages_of(settings: BakeSettings) -> tuple[Stage, ...]:
    """One stage, or two if an encoder initialises the texture."""
    if not settings.has_two_stages:
        return (Stage(settings),)
    before = settings.small_steps
    after = settings.iterations - before
    places = max(_SMALL_PLACES, settings.draw.finest_places)
    small = replace(
        settings,
        resolution=settings.small_resolution,
        iterations=before,
        latent_format=HALF_FORMAT,
        encode_from=0,
        draw=replace(settings.draw, finest_places=places),
    )
    large = replace(
        settings,
        encode_from=0,
        iterations=after,
        starts=1,
        latent_rate=settings.encoded_latent_rate,
        quantise_share=min(0.5, settings.quantise_share * settings.iterations / after),
    )
    return Stage(small, is_last=False), Stage(large, before)


def encoded_levels(settings: BakeSettings) -> int:
    """Number of the finest mip levels, which the encoder initialises."""
    if not settings.has_two_stages:
        return 0
    return (settings.resolution // settings.small_resolution).bit_length() - 1


@dataclass
class BestStart:
    """The best start so far."""

    loss: float
    parameters: Parameters
    state: dict[str, NDArray[Any]]


@dataclass
class StartChoice:
    """Progress of the comparison of starts."""

    number: int = 0
    """Number of the start that trains, from 0."""

    loss: float = 0.0
    """Its loss, summed over the steps that count."""

    best: BestStart | None = None
    """The best of the starts before it."""

    def facts(self) -> dict[str, Any]:
        """The facts for a checkpoint."""
        best = {"best_loss": self.best.loss} if self.best else {}
        return {"number": self.number, "loss": self.loss, **best}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays of the best start for a checkpoint."""
        if self.best is None:
            return {}
        return pack_student(_BEST, self.best.parameters, self.best.state)

    @classmethod
    def from_saved(
        cls, saved: dict[str, Any], arrays: dict[str, NDArray[Any]], like: Parameters, starts: int
    ) -> StartChoice | None:
        """The inverse of `facts` and `arrays`; None if the start is chosen. Raises CheckpointError
        for damaged facts."""
        if "start_choice" not in saved:
            return None
        facts = saved["start_choice"]
        number, loss = _number(facts, "number"), _number(facts, "loss")
        if not (number.is_integer() and 0 <= number < starts) or math.isnan(loss):
            raise CheckpointError(f"start {number} of {starts} has a loss of {loss}")
        choice = cls(int(number), loss)
        if "best_loss" in facts:
            best = unpack_student(_BEST, arrays, like, "the best start")
            if best is None:
                raise CheckpointError("the best start is missing")
            choice.best = BestStart(_number(facts, "best_loss"), *best)
        return choice


def pack_student(
    prefix: str, parameters: Parameters, state: dict[str, NDArray[Any]]
) -> dict[str, NDArray[Any]]:
    """Parameters and the state of their trainer as arrays of a checkpoint."""
    arrays = {"latents": parameters.latents, **state}
    arrays |= zip(_DECODERS, parameters.decoders, strict=False)
    return {f"{prefix}{name}": array for name, array in arrays.items()}


def unpack_student(
    prefix: str, arrays: dict[str, NDArray[Any]], like: Parameters, what: str
) -> tuple[Parameters, dict[str, NDArray[Any]]] | None:
    """The inverse of `pack_student`; None without such arrays. `what` names them in errors."""
    named = {
        name.removeprefix(prefix): array
        for name, array in arrays.items()
        if name.startswith(prefix)
    }
    if not named:
        return None
    try:
        decoders = [named.pop(name) for name, _ in zip(_DECODERS, like.sides, strict=False)]
        parameters = replace(like, latents=named.pop("latents")).with_decoders(*decoders)
    except (KeyError, SettingsError) as failure:
        raise CheckpointError(f"{what} is damaged: {failure}") from None
    return parameters, named


def _number(facts: Any, name: str) -> float:
    value = facts.get(name) if isinstance(facts, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise CheckpointError(f"{name} of the choice of starts is {value!r}: it must be a number")
    return float(value)
