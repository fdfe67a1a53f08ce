"""In which stages a bake trains: a texture may begin as a small one, from which it is encoded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from verdigris.core.settings.bake_settings import BakeSettings


@dataclass(frozen=True)
class Stage:
    """Training of one size of texture."""

    settings: BakeSettings
    """Of this stage alone: its size, its steps, its rates."""
    first_step: int = 0
    """Of the bake's."""
    is_last: bool = True


def stages_of(settings: BakeSettings) -> tuple[Stage, ...]:
    """One, or two where the texture is encoded."""
    if not settings.is_encoded:
        return (Stage(settings),)
    before = settings.small_steps
    after = settings.iterations - before
    # a large texel holds many of what differs inside of it
    places = max(settings.most_places, settings.draw.finest_places)
    small = replace(
        settings,
        resolution=settings.small_resolution,
        iterations=before,
        latent_bits=0,
        # of both textures alike, however many places these take
        decoder_rate=settings.peak_rate,
        smooth_rate=0.0,
        encode_from=0,
        # a small texture does without directions near the horizon
        horizon_at=1.0 if settings.horizon_at else 0.0,
        draw=replace(settings.draw, finest_places=places),
    )
    large = replace(
        settings,
        encode_from=0,
        iterations=after,
        candidates=1,
        latent_rate=settings.large_latent_rate,
        quantise_share=min(0.5, settings.quantise_share * settings.iterations / after),
    )
    return Stage(small, is_last=False), Stage(large, before)


def encoded_levels(settings: BakeSettings) -> int:
    """Finest levels of the texture that an encoder makes."""
    if not settings.is_encoded:
        return 0
    return (settings.resolution // settings.small_resolution).bit_length() - 1
