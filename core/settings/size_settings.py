"""Settings of the choice of a size for the latent texture: part of the settings of a bake."""

from __future__ import annotations

from dataclasses import dataclass

from verdigris.core.base.errors import SettingsError
from verdigris.core.base.plain_values import convert_numbers

# Latent channels of a texel: one or two layers of four.
FEWER_LATENTS, MORE_LATENTS = LATENT_CHANNELS = (4, 8)


@dataclass(frozen=True)
class SizeSettings:
    """The target of a size, and its limit."""

    tolerance: float = 0.0
    """A smaller texture is chosen if its log MAE is at most this much above that of the largest, as
    a part of it, or below the error that no eye sees. 0 keeps the resolution."""

    most_bytes: int = 0
    """Most bytes of a bundle on a GPU: weights, latents and maps; 0 for no limit."""

    latent_channels: int = 0
    """Latent channels of a texel: 8, or 4 for half of the bytes; 0 for 8, or 4 where these keep
    `most_bytes` with less error."""

    def __post_init__(self) -> None:
        convert_numbers(self)
        if not 0 <= self.tolerance <= 1:
            raise SettingsError(f"tolerance is {self.tolerance}: use 0 to 1")
        if self.most_bytes < 0:
            raise SettingsError(f"most_bytes is {self.most_bytes}: use 0 or more")
        if self.latent_channels not in (0, *LATENT_CHANNELS):
            raise SettingsError(f"latent_channels is {self.latent_channels}: use 0, 4 or 8")

    @property
    def channels(self) -> tuple[int, ...]:
        """The numbers of channels that a bake may choose from, the first unless it does. Without a
        limit all materials have one decoder shape, so that any of them can be packed together."""
        may_choose = self.most_bytes and not self.latent_channels
        return LATENT_CHANNELS[::-1] if may_choose else (self.latent_channels or MORE_LATENTS,)

    @property
    def is_open(self) -> bool:
        """Whether the bake may choose another size than its resolution."""
        return self.tolerance > 0 or self.most_bytes > 0
