"""The rung of the surface shader's own textures: baked, refined by the response, and drawn."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.ladder.maps.emission import emission_grid
from verdigris.core.ladder.maps.opacity import OPAQUE, coverage_at
from verdigris.core.ladder.pbr.fit_pbr import FitSettings, fit_pbr
from verdigris.core.ladder.rung import Rung
from verdigris.core.ladder.surface_shader.bake_inputs import bake_inputs
from verdigris.core.ladder.surface_shader.fit_surface import SurfaceFitSettings, fit_surface
from verdigris.core.ladder.surface_shader.from_pbr import start_from_pbr
from verdigris.core.ladder.surface_shader.inputs import (
    TexturedInput,
    fed_inputs,
    is_constant,
    is_plain_surface,
    shader_of,
)
from verdigris.core.ladder.surface_shader.mixed_surfaces import merge_mix
from verdigris.core.ladder.surface_shader.surface_document import (
    Constant,
    SurfaceShader,
    constant_of,
    constants_of,
)
from verdigris.core.ladder.surface_shader.texel_material import TexelMaterial
from verdigris.core.ladder.texels.grid import Grid
from verdigris.core.ladder.texels.soft_quantise import quantise
from verdigris.core.ladder.texels.tone_curve import CLAMP
from verdigris.core.ladder.unlit.mean_texture import mean_texture
from verdigris.core.ladder.unlit.records import records_of
from verdigris.core.ladder.views.lit_pixels import LitPixels
from verdigris.core.ladder.views.reference import draw_responses, light_of
from verdigris.core.ladder.views.scene import Scene
from verdigris.core.settings.rung_names import SURFACE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.ladder.views.visibility import Seen

    Floats = NDArray[np.float32]
    _Pixels = tuple[Sequence[Seen], Sequence[Floats] | None]
    Progress = Callable[[float], None]

# Of the pixels, that check a fit.
_APART = 0.15


def fit_surface_rung(
    scene: Scene,
    seen: Sequence[Seen],
    size: int,
    count: int,
    settings: SurfaceFitSettings,
    seed: int,
    weights: Sequence[Floats] | None,
    of_pbr: FitSettings,
    pbr: Rung | None,
    on_progress: Progress,
) -> Rung:  # fmt: skip
    begun = time.monotonic()
    size *= scene.tiles_a_side
    start, rate = start_from_graph(scene, size), settings.rate
    is_checked = start is not None
    on_progress(0.1)
    (fit_to, weights), (apart, apart_weights) = split(seen, weights, seed)
    samples = draw_responses(
        scene.teacher, fit_to, scene.first_set, count, seed, weights,
        lambda part: on_progress(0.1 + 0.2 * part),
    )  # fmt: skip
    pixels = LitPixels.draw(scene, fit_to, scene.first_set, seed, weights, True)
    if start is None:
        rate = settings.rate_of_layers
        if pbr is None:
            dark = LitPixels.draw(scene, fit_to, scene.first_set, seed, weights)
            found, layers = fit_pbr(samples, size, scene.teacher.device, of_pbr, dark)
        else:
            found, layers = pbr.stored["grid"], pbr.stored["layers"]
        unlit = _emission_and_opacity(scene, seen, size)
        start = start_from_pbr(found, layers, scene.teacher.material.file_name, *unlit)
    shader, grid = start
    material = TexelMaterial(shader, scene.teacher.device)
    fitted = shader.bits(lambda each: not each.is_opacity)
    kept = ""
    if fitted and settings.steps:
        check = None
        if is_checked:
            check = LitPixels.draw(scene, apart, scene.first_set, seed, apart_weights, True)
        kept = fit_surface(
            material, grid, fitted, samples, settings, pixels, check,
            rate, lambda part: on_progress(0.3 + 0.7 * part),
        )  # fmt: skip
    grid.values[:] = quantise(grid.values)
    material.show(grid)

    def draw(each: Seen, directions: int) -> Floats:
        light = light_of(material, each, scene.lighting, directions, scene.first_set)[:, :3]
        return np.asarray(light * scene.exposure, np.float32)

    seconds = time.monotonic() - begun
    stored = {"grid": grid, "shader": shader, "kept": kept}
    return Rung(SURFACE, size, grid.values.size, seconds, draw, stored, material=material)


def split(
    seen: Sequence[Seen], weights: Sequence[Floats] | None, seed: int
) -> tuple[_Pixels, _Pixels]:
    """Pixels of all views to fit to, and some to check a fit, with their painted weights."""
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(each.count) for each in seen]
    parts = []
    for is_apart in (False, True):
        chosen = [
            np.sort(
                order[: int(_APART * len(order))] if is_apart else order[int(_APART * len(order)) :]
            )
            for order in orders
        ]
        found = [each.take(some) for each, some in zip(seen, chosen, strict=True)]
        paint = weights and [each[some] for each, some in zip(weights, chosen, strict=True)]
        parts.append((found, paint))
    return parts[0], parts[1]


def _emission_and_opacity(
    scene: Scene, seen: Sequence[Seen], size: int
) -> tuple[Floats | None, Floats | None]:
    """Means at texels, of what there is."""
    if scene.teacher.is_dark_and_opaque:
        return None, None
    emission = emission_grid(scene, seen, size).values
    covers = [coverage_at(scene.teacher, each) for each in seen]
    opacity = None
    if min(each.min() for each in covers) < OPAQUE:
        thrice = [np.repeat(each[:, None], 3, 1) for each in covers]
        opacity = mean_texture(records_of(seen, thrice, scene.first_set), CLAMP, size).values
    return emission if emission.any() else None, None if opacity is None else opacity[:, :1]


def start_from_graph(scene: Scene, size: int) -> tuple[SurfaceShader, Grid] | None:
    """The shader of a document with textures of the inputs that vary; None if the material is not
    one shader, or a mix of shaders of one kind."""
    surface, merged = shader_of(scene.teacher.material), None
    if surface is not None and surface.getCategory() == "mix":
        # its document lives as long as this is kept
        merged = merge_mix(surface)
        surface = None if merged is None else merged[1]
    if surface is None or not is_plain_surface(surface):
        return None
    inputs = fed_inputs(surface)
    baked = bake_inputs(scene, surface, inputs, size)
    ends = np.cumsum([each.channels for each in inputs])
    channels = [slice(end - each.channels, end) for each, end in zip(inputs, ends, strict=True)]

    def texture_of(
        each: TexturedInput, channels: slice
    ) -> Constant | tuple[TexturedInput, Floats] | None:
        points = baked.of(channels)
        if is_constant(points):
            if not each.is_direction:
                return constant_of(each, points.mean(0))
            if points[0, 2] >= 1 - 1e-4:
                # the surface's own direction
                return None
        fitting = each.fitting(points)
        return fitting, baked.texture(channels, fitting.stored)

    with ThreadPoolExecutor() as threads:
        found = list(threads.map(texture_of, inputs, channels))
    textures = [each for each in found if isinstance(each, tuple)]
    constants = [each for each in found if isinstance(each, Constant)]
    kept, columns = zip(*textures, strict=True) if textures else ((), ())
    shader = SurfaceShader(
        surface.getCategory(), scene.teacher.material.file_name, kept,
        (*constants_of(surface, [each.name for each in inputs]), *constants),
    )  # fmt: skip
    values = np.concatenate(columns, 1) if columns else np.zeros((size * size, 0), np.float32)
    return shader, Grid(size, size, np.clip(values, 0, 1))
