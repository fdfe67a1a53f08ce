"""Stages of training: a large texture is trained in two, with a small texture first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from verdigris.core.network.losses import LIGHT_START
from verdigris.core.network.spec import LatentLayout
from verdigris.core.settings.limits import HALF_FORMAT

if TYPE_CHECKING:
    from verdigris.core.baking.state.size_choice import Size
    from verdigris.core.settings.bake_settings import BakeSettings
    from verdigris.core.settings.schedule import TrainingSettings

# Places that a sample of the small texture averages at least: its texels have more detail inside.
_SMALL_PLACES = 4


@dataclass(frozen=True)
class Stage:
    """Training of one size of texture."""

    settings: BakeSettings
    """Resolution, steps and rates of this stage."""
    first_step: int = 0
    """Steps of the stages before."""
    is_last: bool = True
    size: Size | None = None
    """Of the texture, once the bake has chosen one."""

    def layout(self, materials: int = 1) -> LatentLayout:
        """The latent textures of this stage."""
        if self.size is None:
            return self.settings.layout(materials)
        width, height, _ = self.size
        return LatentLayout(width, height, max(width, height).bit_length(), materials)

    def with_size(self, size: Size) -> Stage:
        """The same with a chosen size."""
        channels = replace(self.settings.size, latent_channels=size.channels)
        return replace(self, settings=replace(self.settings, size=channels), size=size)

    def training(self) -> TrainingSettings:
        """Settings of its trainer. Light counts in the last stage, which ends in the result."""
        settings = self.settings.training()
        if not self.is_last:
            return settings
        return replace(settings, light_step=round(LIGHT_START * self.settings.iterations))


def stages_of(settings: BakeSettings) -> tuple[Stage, ...]:
    """One stage, or two where an encoder initialises the texture."""
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
    """Finest mip levels, which the encoder initialises."""
    if not settings.has_two_stages:
        return 0
    return (settings.resolution // settings.small_resolution).bit_length() - 1
