"""The rung of the surface shader's own textures: baked, refined by the response, and drawn."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.ladder.maps.emission import emission_grid
from verdigris.core.ladder.maps.opacity import OPAQUE, coverage_at
from verdigris.core.ladder.pbr.fit_pbr import fit_pbr
from verdigris.core.ladder.rung import Rung
from verdigris.core.ladder.surface_shader.fit_surface import (
    SurfaceFitSettings,
    TexelMaterial,
    fit_surface,
)
from verdigris.core.ladder.surface_shader.from_graph import start_from_graph
from verdigris.core.ladder.surface_shader.from_pbr import start_from_pbr
from verdigris.core.ladder.surface_shader.surface_shader import SurfaceShader
from verdigris.core.ladder.texels.grid import Grid, quantise
from verdigris.core.ladder.texels.pbr_model import PbrTextures
from verdigris.core.ladder.texels.tone_curve import CLAMP
from verdigris.core.ladder.unlit.records import mean_texture, records_of
from verdigris.core.ladder.views.lit_pixels import LitPixels
from verdigris.core.ladder.views.reference import draw_responses, draws_with
from verdigris.core.ladder.views.scene import FitViews
from verdigris.core.settings.rung_names import SURFACE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


@dataclass(frozen=True)
class ShaderTextures:
    """What the rung stores."""

    shader: SurfaceShader
    grid: Grid
    """The channels of all textured inputs."""


def fit_surface_rung(
    views: FitViews,
    size: int,
    samples: int,
    settings: SurfaceFitSettings,
    pbr: PbrTextures | None,
    on_progress: Callable[[float], None],
) -> Rung:
    """Fits textures of this size to so many samples of the response. Materials of several shaders
    become one that starts as glTF textures: these, or ones that are fitted here."""
    begun = time.monotonic()
    scene, device, seed = views.scene, views.scene.teacher.device, settings.pbr.seed
    size *= scene.tiles_a_side
    start, rate = start_from_graph(scene, size), settings.rate
    has_own_shader = start is not None
    on_progress(0.1)
    fit_to, apart = views.split(seed)
    responses = draw_responses(
        scene.teacher, fit_to.seen, scene.first_set, samples, seed, fit_to.weights,
        lambda part: on_progress(0.1 + 0.2 * part),
    )  # fmt: skip
    pixels = LitPixels.draw(fit_to, seed, has_emission=True)
    if start is None:
        rate = settings.rate_of_layers
        if pbr is None:
            dark = LitPixels.draw(fit_to, seed)
            pbr = PbrTextures(*fit_pbr(responses, size, device, settings.pbr, dark))
        start = start_from_pbr(
            pbr.grid, pbr.layers, scene.teacher.material.file_name,
            *_emission_and_opacity(views, size),
        )  # fmt: skip
    shader, grid = start
    material = TexelMaterial(shader, device)
    fitted = shader.bits(lambda each: not each.is_opacity)
    if fitted and settings.steps:
        check = LitPixels.draw(apart, seed, has_emission=True) if has_own_shader else None
        fit_surface(
            material, grid, fitted, responses, settings, pixels, check, rate,
            lambda part: on_progress(0.3 + 0.7 * part),
        )  # fmt: skip
    grid.values[:] = quantise(grid.values)
    material.show(grid)
    draw = draws_with(material, scene, scene.first_set)
    stored = ShaderTextures(shader, grid)
    seconds = time.monotonic() - begun
    return Rung(SURFACE, size, grid.values.size, seconds, draw, stored, material=material)


def _emission_and_opacity(views: FitViews, size: int) -> tuple[Floats | None, Floats | None]:
    """Means at texels, of what there is."""
    scene, seen = views.scene, views.seen
    if scene.teacher.is_dark_and_opaque:
        return None, None
    emission = emission_grid(scene, seen, size).values
    covers = [coverage_at(scene.teacher, each) for each in seen]
    opacity = None
    if min(each.min() for each in covers) < OPAQUE:
        thrice = [np.repeat(each[:, None], 3, 1) for each in covers]
        opacity = mean_texture(records_of(seen, thrice, scene.first_set), CLAMP, size).values
    return emission if emission.any() else None, None if opacity is None else opacity[:, :1]
