"""Forecasts of size and cost of a result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from verdigris.core.worker.protocol.worker_events import Forecast

if TYPE_CHECKING:
    from verdigris.core.baking.bake_request import BakeRequest
    from verdigris.core.material.teacher.teacher import Teacher
    from verdigris.core.settings.bake_settings import BakeSettings
    from verdigris.core.settings.presets import Recipe


def estimate(
    settings: BakeSettings, textures: Sequence[Mapping[str, Any]] = (), transmits: bool = False
) -> Forecast:
    """The bytes of a result, which need no device, and those of the images in a report's
    `textures`. A surface that transmits has two decoders."""
    from verdigris.core.bundle.cost.source_bytes import images_on_gpu
    from verdigris.core.bundle.files.stored_textures import latent_bytes
    from verdigris.core.bundle.files.weights import pack_weights
    from verdigris.core.network.parameters import initialise
    from verdigris.core.network.spec import LatentLayout

    spec = settings.spec
    plain, compressed = images_on_gpu(
        each for each in textures if not each.get("problem") and each.get("width")
    )
    weights, _ = pack_weights(initialise(spec, LatentLayout(1, 1), settings.seed))
    return Forecast(
        texture_bytes=latent_bytes(
            settings.latent_format, spec.latent_layers, *(settings.resolution,) * 2
        ),
        decoder_bytes=(2 if transmits else 1) * len(weights),
        may_be_smaller=settings.size.is_open,
        source_texture_bytes=plain or None,
        source_compressed_bytes=compressed or None,
    )


def recipe_for(teacher: Teacher, request: BakeRequest | None = None) -> Recipe:
    """The recipe of a bake that has not begun; by default the recipe of the preset."""
    from verdigris.core.baking.bake_request import BakeRequest
    from verdigris.core.baking.state.trainers import choose_trainer

    trainer, live = choose_trainer(teacher.device), len(teacher.live_inputs)
    return (request or BakeRequest()).recipe(trainer, 1, live)


def measure(teacher: Teacher, request: BakeRequest) -> Forecast:
    """Bytes and times of a requested bake: untrained networks against the material's graph, on this
    device."""
    from verdigris.core.baking.measure.measure import classify
    from verdigris.core.bundle.cost.cost import forecast

    recipe = recipe_for(teacher, request)
    cost = forecast(teacher, recipe[classify([teacher], recipe)])
    return Forecast(
        texture_bytes=cost.latents_bytes,
        decoder_bytes=cost.weights_bytes,
        may_be_smaller=cost.may_be_smaller,
        source_texture_bytes=cost.textures_bytes,
        source_compressed_bytes=cost.textures_compressed_bytes,
        nanoseconds=cost.nanoseconds.neural,
        source_nanoseconds=cost.nanoseconds.teacher,
        verdict=cost.verdict,
        answer=cost.answer,
    )
