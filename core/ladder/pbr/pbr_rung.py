"""The rung of glTF textures."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.colour import linear_from_srgb
from verdigris.core.ladder.maps.emission import emission_grid
from verdigris.core.ladder.pbr.fit_pbr import FitSettings, fit_pbr
from verdigris.core.ladder.pbr.pbr_material import PbrMaterial
from verdigris.core.ladder.rung import Rung
from verdigris.core.ladder.texels.soft_quantise import quantise
from verdigris.core.ladder.views.lit_pixels import LitPixels
from verdigris.core.ladder.views.reference import draw_responses, light_of
from verdigris.core.ladder.views.scene import Scene
from verdigris.core.pictures.picture_files import srgb_from_linear
from verdigris.core.settings.rung_names import PBR

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.ladder.views.visibility import Seen

    Floats = NDArray[np.float32]
    Progress = Callable[[float], None]

# Bytes of a texel of each layer of an extension.
_LAYER_BYTES = {"coat": 2, "anisotropy": 3, "sheen": 4}


def fit_pbr_rung(
    scene: Scene,
    seen: Sequence[Seen],
    size: int,
    count: int,
    settings: FitSettings,
    weights: Sequence[Floats] | None,
    on_progress: Progress,
) -> Rung:  # fmt: skip
    begun = time.monotonic()
    samples = draw_responses(
        scene.teacher, seen, scene.first_set, count, settings.seed, weights,
        lambda part: on_progress(0.3 * part),
    )  # fmt: skip
    size *= scene.tiles_a_side
    pixels = LitPixels.draw(scene, seen, scene.first_set, settings.seed, weights)
    on_progress(0.4)
    grid, layers = fit_pbr(
        samples, size, scene.teacher.device, settings, pixels,
        lambda part: on_progress(0.4 + 0.6 * part),
    )  # fmt: skip
    emission = emission_grid(scene, seen, size) if scene.has_emission else None
    linear = None
    if emission is not None:
        strength = max(1.0, float(emission.values.max()))
        emission.values[:] = quantise(srgb_from_linear(emission.values / strength))
        linear = linear_from_srgb(emission.values) * strength
    material = PbrMaterial(grid, scene.teacher.device, linear)

    def draw(each: Seen, directions: int) -> Floats:
        light = light_of(material, each, scene.lighting, directions, scene.first_set)[:, :3]
        return np.asarray(light * scene.exposure, np.float32)

    stored: dict[str, Any] = {"grid": grid, "layers": layers}
    # base colour, occlusion-roughness-metalness, normal
    channels = 3 + 3 + 2 + sum(_LAYER_BYTES[each] for each in layers)
    if emission is not None:
        stored |= {"emission": emission, "strength": strength}
        channels += 3
    seconds = time.monotonic() - begun
    return Rung(PBR, size, size * size * channels, seconds, draw, stored, material=material)
