"""Valid values of bake settings. Each error names the setting, its value and a valid range."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verdigris.core.base.errors import SettingsError
from verdigris.core.network.spec import require_loss, require_preset
from verdigris.core.settings.schedule import require_rates

if TYPE_CHECKING:
    from verdigris.core.settings.bake_settings import BakeSettings

LARGEST_RESOLUTION = 8192
# How a bundle stores latents.
BC7_FORMAT, RGBA8_FORMAT, HALF_FORMAT = LATENT_FORMATS = ("bc7", "rgba8", "half")
MOST_STARTS = 64
# JSON readers keep whole numbers up to this size.
_SEED_BITS = 53
# Days of training on any device, and exact in floats.
_MOST_ITERATIONS = 1_000_000_000


def require_limits(settings: BakeSettings) -> None:
    """Refuses values that no bake can have."""
    require_preset(settings.network)
    require_loss(settings.loss)
    for name in ("resolution", "small_resolution"):
        size = getattr(settings, name)
        if not 4 <= size <= LARGEST_RESOLUTION or size & (size - 1):
            raise SettingsError(
                f"{name} is {size}: use a power of two from 4 to {LARGEST_RESOLUTION}"
            )
    if settings.encode_from and settings.encode_from <= settings.small_resolution:
        raise SettingsError(
            f"encode_from is {settings.encode_from}: use 0, or more than small_resolution, "
            f"{settings.small_resolution}"
        )
    require_rates(settings, "decoder_rate", "latent_rate", "encoded_latent_rate")
    for name in ("iterations", "batch", "starts"):
        if getattr(settings, name) < 1:
            raise SettingsError(f"{name} is {getattr(settings, name)}: use at least 1")
    if settings.iterations > _MOST_ITERATIONS:
        # a number of hundreds of digits does not fit a line
        shown = settings.iterations if settings.iterations < 10**18 else "beyond all bounds"
        raise SettingsError(f"iterations is {shown}: use at most {_MOST_ITERATIONS:,}")
    if settings.starts > MOST_STARTS:
        raise SettingsError(f"starts is {settings.starts}: use 1 to {MOST_STARTS}")
    if settings.seed < 0:
        raise SettingsError(f"seed is {settings.seed}: use 0 or more")
    if settings.seed.bit_length() > _SEED_BITS:
        raise SettingsError(
            f"seed has {settings.seed.bit_length()} bits: use 0 to {(1 << _SEED_BITS) - 1}"
        )
    if settings.latent_format not in LATENT_FORMATS:
        known = ", ".join(LATENT_FORMATS)
        raise SettingsError(f"latent_format is {settings.latent_format!r}: use one of {known}")
    for name in ("start_share", "quantise_share"):
        if not 0 < getattr(settings, name) <= 0.5:
            raise SettingsError(
                f"{name} is {getattr(settings, name)}: use more than 0, at most 0.5"
            )
    if not 0 <= settings.latent_outliers < 0.5:
        raise SettingsError(
            f"latent_outliers is {settings.latent_outliers}: use 0 to less than 0.5"
        )
    if not 0 < settings.small_share < 1:
        raise SettingsError(f"small_share is {settings.small_share}: use more than 0, less than 1")
    if settings.batch % settings.draw.pairs:
        raise SettingsError(f"batch is {settings.batch}: use a multiple of {settings.draw.pairs}")
