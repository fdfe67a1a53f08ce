"""Learning rates, rounding of latents, and the settings of a trainer."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from verdigris.core.base.errors import SettingsError
from verdigris.core.network.losses import LIGHT_SHARE
from verdigris.core.network.spec import require_loss

# So sharp that soft rounding equals hard rounding in fp32.
_HARD = 1e3


def require_rates(settings: object, *names: str) -> None:
    """Refuses fields that are not learning rates."""
    for name in names:
        rate = getattr(settings, name)
        # also refuses NaN
        if not 0 <= rate <= 1:
            raise SettingsError(f"{name} is {rate}: use 0 to 1")


@dataclass(frozen=True)
class Schedule:
    """Warm-up, then a cosine from the peak rates to a fraction of them."""

    steps: int = 10_000
    """The number of steps; beyond them the rates stay at their lowest."""

    decoder_rate: float = 3e-3
    """Peak learning rate of decoder and frames."""

    latent_rate: float = 1e-2
    """Peak learning rate of the latents."""

    final_fraction: float = 0.01
    """Rates at the end, as a part of the peak rates."""

    warm_up: int = 0
    """Steps over which the rates rise linearly at the start."""

    first: int = 0
    """The step at which the cosine begins."""

    def __post_init__(self) -> None:
        if self.steps < 1:
            raise SettingsError(f"steps is {self.steps}: use at least 1")
        require_rates(self, "decoder_rate", "latent_rate")
        if not 0 <= self.final_fraction <= 1:
            raise SettingsError(f"final_fraction is {self.final_fraction}: use 0 to 1")
        if not 0 <= self.warm_up <= self.steps:
            raise SettingsError(f"warm_up is {self.warm_up}: use 0 to {self.steps} (the steps)")
        if not 0 <= self.first < self.steps:
            raise SettingsError(f"first is {self.first}: use 0 to less than {self.steps}")

    def factor(self, step: int) -> float:
        """The factor of the peak rates in a step, where the first step is 0."""
        rise = min(1.0, (step + 1) / (self.warm_up + 1))
        last = max(1, self.steps - 1 - self.first)
        done = min(1.0, max(0, step - self.first) / last)
        cosine = 0.5 + 0.5 * math.cos(math.pi * done)
        return rise * (self.final_fraction + (1 - self.final_fraction) * cosine)


@dataclass(frozen=True)
class Rounding:
    """How latents are rounded in a step."""

    sharpness: float
    """The sharpness of soft rounding. Near 0 latents stay as they are; towards infinity rounding is
    hard."""

    is_straight: bool = False
    """Whether gradients ignore the rounding (straight-through estimator)."""


HARD = Rounding(_HARD)


@dataclass(frozen=True)
class BlockLines:
    """Moves the latents of each block towards a line, which a block of BC7 can hold: slightly at
    first, then all the way."""

    first_step: int
    """The first step at which latents may move."""

    last_step: int
    """From this step on they move all the way."""

    interval: int = 16
    """Steps from one move to the next."""

    def __post_init__(self) -> None:
        if not 0 <= self.first_step <= self.last_step or self.interval < 1:
            raise SettingsError(
                f"lines of blocks begin at step {self.first_step}, are complete at step "
                f"{self.last_step} and have {self.interval} steps between: use 0 or more, no "
                "less, and 1 or more"
            )

    def strength(self, step: int) -> float:
        """The part of the way to the line that a latent moves at this step."""
        done = (step - self.first_step + 1) / (self.last_step - self.first_step + 1)
        return min(1.0, max(0.0, done))


@dataclass(frozen=True)
class Quantisation:
    """The last phase: rounding-aware training, softly at first, then ever harder."""

    first_step: int
    """The first step with rounded latents; their ranges are fixed before it."""

    steps: int
    """Steps of the phase; beyond them rounding stays at its hardest."""

    lines: BlockLines | None = None
    """The lines of blocks of BC7; None rounds each latent to a byte."""

    softest: float = 1.0
    """The sharpness in the first step."""

    hardest: float = 16.0
    """The sharpness in the last step. It grows by a constant factor per step."""

    is_straight: bool = False
    """Whether rounding is hard, with straight-through gradients: for comparisons."""

    outliers: float = 0.0
    """The part of a channel's values that the range clips at each end."""

    def __post_init__(self) -> None:
        if self.first_step < 0 or self.steps < 1:
            raise SettingsError(
                f"quantisation begins at step {self.first_step} and takes {self.steps}: "
                "use 0 or more, and 1 or more"
            )
        if not 0 <= self.outliers < 0.5:
            raise SettingsError(f"outliers is {self.outliers}: use 0 to less than 0.5")
        if not 0 < self.softest <= self.hardest <= _HARD:
            raise SettingsError(
                f"sharpness goes from {self.softest} to {self.hardest}: use more than 0, growing"
            )

    def line_strength(self, step: int) -> float:
        """The part of its way to the line of its block that a latent moves before this step. All
        the way before the phase's first step."""
        if self.lines is None or (step - self.first_step) % self.lines.interval:
            return 0.0
        return 1.0 if step >= self.first_step else self.lines.strength(step)

    def rounding(self, step: int) -> Rounding | None:
        """None before the phase."""
        if step < self.first_step:
            return None
        if self.is_straight:
            return Rounding(_HARD, True)
        done = min(1.0, (step - self.first_step) / max(1, self.steps - 1))
        sharpness = self.softest * (self.hardest / self.softest) ** done
        return Rounding(sharpness)


@dataclass(frozen=True)
class TrainingSettings:
    """The settings of a trainer, apart from the network and the samples."""

    batch: int = 4096
    """Samples per step."""

    loss: str = "cbrt_log"
    """A key of LOSSES."""

    schedule: Schedule = field(default_factory=Schedule)
    """Learning rates."""

    quantisation: Quantisation | None = None
    """Rounding of latents; None trains them for half floats."""

    light_step: int | None = None
    """The first step with the light gradient; None trains without it."""

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise SettingsError(f"batch is {self.batch}: use at least 1")
        require_loss(self.loss)

    def rounding(self, step: int) -> Rounding | None:
        """How latents are rounded in this step; None if they are not rounded."""
        return self.quantisation.rounding(step) if self.quantisation else None

    @property
    def borders(self) -> tuple[int, ...]:
        """Steps before which all texels change: they are rotated, or their ranges are fitted."""
        found = self.quantisation
        if found is None:
            return ()
        return (found.first_step, *((found.lines.first_step,) if found.lines else ()))

    def rotates(self, step: int) -> bool:
        """Whether the channels of latents are rotated before this step."""
        lines = self.quantisation.lines if self.quantisation else None
        return lines is not None and step == lines.first_step

    def line_strength(self, step: int) -> float:
        """The part of its way to its block's line that a latent moves before this step."""
        return self.quantisation.line_strength(step) if self.quantisation else 0.0

    def light_share(self, step: int) -> float:
        """Share of the light gradient in this step."""
        has_light = self.light_step is not None and step >= self.light_step
        return LIGHT_SHARE if has_light else 0.0
