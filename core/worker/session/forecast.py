"""Forecasts of size and cost of a result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verdigris.core.worker.protocol.worker_events import Forecast

if TYPE_CHECKING:
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.settings.bake_settings import BakeSettings


def estimate(settings: BakeSettings) -> Forecast:
    """The bytes of a result, which need no device."""
    from verdigris.core.bundle.files.ktx2 import FORMATS, TextureShape
    from verdigris.core.bundle.files.stored_textures import TEXEL_FORMATS
    from verdigris.core.bundle.files.weights import pack_weights
    from verdigris.core.network.parameters import initialise
    from verdigris.core.network.spec import LatentLayout

    spec = settings.spec
    layout, texel = settings.layout(), FORMATS[TEXEL_FORMATS[settings.latent_format]]
    layers = spec.latent_channels // 4
    shape = TextureShape(texel, layout.width, layout.height, layout.levels, layers)
    weights, _ = pack_weights(initialise(spec, LatentLayout(1, 1), settings.seed))
    return Forecast(
        texture_bytes=shape.texel_bytes,
        decoder_bytes=len(weights),
    )


def measure(teacher: Teacher, settings: BakeSettings) -> Forecast:
    """Bytes and times: untrained networks of these settings against the material's graph, on this
    device."""
    from verdigris.core.bundle.cost.cost import forecast

    cost = forecast(teacher, settings)
    return Forecast(
        texture_bytes=cost.latents_bytes,
        decoder_bytes=cost.weights_bytes,
        source_texture_bytes=cost.textures_bytes,
        nanoseconds=cost.nanoseconds.neural,
        source_nanoseconds=cost.nanoseconds.teacher,
        verdict=cost.verdict,
    )
