"""The rung of glTF textures."""

from __future__ import annotations

import time
from collections.abc import Callable

from verdigris.core.ladder.maps.emission import emission_grid
from verdigris.core.ladder.pbr.fit_pbr import FitSettings, fit_pbr
from verdigris.core.ladder.rung import Rung
from verdigris.core.ladder.texels.grid import quantise
from verdigris.core.ladder.texels.pbr_model import PbrMaterial, PbrTextures
from verdigris.core.ladder.views.lit_pixels import LitPixels
from verdigris.core.ladder.views.reference import draw_responses, draws_with
from verdigris.core.ladder.views.scene import FitViews
from verdigris.core.pictures.picture_files import srgb_from_linear
from verdigris.core.settings.rung_names import PBR

# Bytes of a texel: base colour; occlusion, roughness and metalness; normal; emission.
_BYTES, _EMISSION_BYTES = 3 + 3 + 2, 3
_LAYER_BYTES = {"coat": 2, "anisotropy": 3, "sheen": 4}


def fit_pbr_rung(
    views: FitViews,
    size: int,
    samples: int,
    settings: FitSettings,
    on_progress: Callable[[float], None],
) -> Rung:
    """Fits textures of this size to so many samples of the response."""
    begun = time.monotonic()
    scene, device = views.scene, views.scene.teacher.device
    responses = draw_responses(
        scene.teacher, views.seen, scene.first_set, samples, settings.seed, views.weights,
        lambda part: on_progress(0.3 * part),
    )  # fmt: skip
    size *= scene.tiles_a_side
    pixels = LitPixels.draw(views, settings.seed)
    on_progress(0.4)
    textures = PbrTextures(
        *fit_pbr(
            responses, size, device, settings, pixels,
            lambda part: on_progress(0.4 + 0.6 * part),
        )
    )  # fmt: skip
    byte_size = _BYTES + sum(_LAYER_BYTES[each] for each in textures.layers)
    if scene.has_emission:
        emission = emission_grid(scene, views.seen, size)
        # a graph that can glow may still be dark everywhere
        if emission.values.any():
            textures.emission = emission
            textures.strength = max(1.0, float(emission.values.max()))
            emission.values[:] = quantise(srgb_from_linear(emission.values / textures.strength))
            byte_size += _EMISSION_BYTES
    material = PbrMaterial(textures.grid, device, textures.linear_emission)
    draw = draws_with(material, scene, scene.first_set)
    seconds = time.monotonic() - begun
    return Rung(PBR, size, size * size * byte_size, seconds, draw, textures, material=material)
