"""What settings of a bake may be: each error names the setting, its value and what would do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import SettingsError
from verdigris.core.network.quantise import BITS
from verdigris.core.network.spec import require_loss, require_preset
from verdigris.core.settings.schedule import require_rates

if TYPE_CHECKING:
    from verdigris.core.settings.bake_settings import BakeSettings

LARGEST_RESOLUTION = 8192
# Starts of a bake: each is a bake of its own for a while.
MOST_CANDIDATES = 64
# As readers of JSON keep whole numbers.
_SEED_BITS = 53
# Days of any device, and far below what floats hold.
_MOST_ITERATIONS = 1_000_000_000


def require_limits(settings: BakeSettings) -> None:
    """Refuses what no bake can have."""
    require_preset(settings.network)
    require_loss(settings.loss)
    if settings.uniform_loss:
        require_loss(settings.uniform_loss, "uniform_loss")
    for name in ("resolution", "small_resolution", "uniform_resolution"):
        size = getattr(settings, name)
        if name == "uniform_resolution" and size == 0:
            continue
        if not 4 <= size <= LARGEST_RESOLUTION or size & (size - 1):
            raise SettingsError(
                f"{name} is {size}: use a power of two from 4 to {LARGEST_RESOLUTION}"
            )
    if settings.encode_from and settings.encode_from <= settings.small_resolution:
        raise SettingsError(
            f"encode_from is {settings.encode_from}: use 0, or more than small_resolution, "
            f"{settings.small_resolution}"
        )
    require_rates(
        settings,
        "decoder_rate",
        "smooth_rate",
        "uniform_rate",
        "latent_rate",
        "encoded_latent_rate",
        "smooth_latent_rate",
    )
    for name in ("iterations", "batch", "candidates"):
        if getattr(settings, name) < 1:
            raise SettingsError(f"{name} is {getattr(settings, name)}: use at least 1")
    if settings.iterations > _MOST_ITERATIONS:
        # one of hundreds of digits cannot be told
        told = settings.iterations if settings.iterations < 10**18 else "beyond all bounds"
        raise SettingsError(f"iterations is {told}: use at most {_MOST_ITERATIONS:,}")
    if settings.candidates > MOST_CANDIDATES:
        raise SettingsError(f"candidates is {settings.candidates}: use 1 to {MOST_CANDIDATES}")
    if not 0 <= settings.uniform_starts <= MOST_CANDIDATES:
        raise SettingsError(
            f"uniform_starts is {settings.uniform_starts}: use 0 to {MOST_CANDIDATES}"
        )
    if settings.seed < 0:
        raise SettingsError(f"seed is {settings.seed}: use 0 or more")
    if settings.seed.bit_length() > _SEED_BITS:
        # one of thousands of digits cannot be told
        raise SettingsError(
            f"seed has {settings.seed.bit_length()} bits: use 0 to {(1 << _SEED_BITS) - 1}"
        )
    for name in ("uniform_share", "smooth_share"):
        if not 0 < getattr(settings, name) <= 1:
            raise SettingsError(f"{name} is {getattr(settings, name)}: use more than 0, at most 1")
    if not 0 < settings.candidate_share <= 0.5 and settings.candidate_share != 1:
        raise SettingsError(f"candidate_share is {settings.candidate_share}: use 0 to 0.5, or 1")
    if settings.latent_bits not in (0, *BITS):
        known = ", ".join(map(str, (0, *BITS)))
        raise SettingsError(f"latent_bits is {settings.latent_bits}: use one of {known}")
    if not 0 < settings.quantise_share <= 0.5:
        raise SettingsError(f"quantise_share is {settings.quantise_share}: use 0 to 0.5")
    if not 0 <= settings.latent_outliers < 0.5:
        raise SettingsError(
            f"latent_outliers is {settings.latent_outliers}: use 0 to less than 0.5"
        )
    if not 0 < settings.small_share < 1:
        raise SettingsError(f"small_share is {settings.small_share}: use more than 0, less than 1")
    for name in ("horizon_at", "uniform_horizon", "crowded_width"):
        if not 0 <= getattr(settings, name) <= 1:
            raise SettingsError(f"{name} is {getattr(settings, name)}: use 0 to 1")
    if not 0 <= settings.average_at < 1:
        raise SettingsError(f"average_at is {settings.average_at}: use 0 to less than 1")
    for name in ("batch", "uniform_batch", "smooth_batch"):
        if getattr(settings, name) < 0 or getattr(settings, name) % settings.draw.pairs:
            raise SettingsError(
                f"{name} is {getattr(settings, name)}: use a multiple of {settings.draw.pairs}"
            )


def require_shares(name: str, given: Any) -> tuple[float, ...]:
    """A list of parts of a whole, each between 0 and 1."""
    try:
        shares = tuple(map(float, given))
    except (TypeError, ValueError, OverflowError):
        shares = None
    if shares is None or not all(0 < share < 1 for share in shares):
        raise SettingsError(f"{name} is {given!r}: use numbers between 0 and 1, such as (0.5, 0.8)")
    return shares
