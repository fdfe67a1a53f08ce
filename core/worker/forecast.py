"""What a result will weigh and cost, before it is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verdigris.core.worker.events import Forecast

if TYPE_CHECKING:
    from verdigris.core.settings import BakeSettings

_LATENT_BYTES = 1
_DECODER_BYTES = 2


def forecast(settings: BakeSettings) -> Forecast:
    """One byte for each latent channel of each texel, two for each number of the decoder."""
    spec, layout = settings.spec, settings.layout()
    return Forecast(
        texture_bytes=layout.texel_count * spec.latent_channels * _LATENT_BYTES,
        decoder_bytes=spec.parameter_count * _DECODER_BYTES,
    )
