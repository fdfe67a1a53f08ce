"""The rung of the surface shader's own textures: baked, refined by the response, and drawn."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

from verdigris.core.ladder.fitting.fit_pbr import fit_pbr
from verdigris.core.ladder.fitting.maps import emission_grid, mean_coverage
from verdigris.core.ladder.rungs.pbr import PbrRung, fit_settings
from verdigris.core.ladder.rungs.rung import Rung, RungFits, Written
from verdigris.core.ladder.surface_shader import fit_surface
from verdigris.core.ladder.surface_shader.fit_surface import SurfaceFitSettings, TexelMaterial
from verdigris.core.ladder.surface_shader.from_graph import start_from_graph
from verdigris.core.ladder.surface_shader.from_pbr import start_from_pbr
from verdigris.core.ladder.surface_shader.passing_light import PassingLight
from verdigris.core.ladder.surface_shader.surface_shader import SurfaceShader, write_surface
from verdigris.core.ladder.texels.grid import Grid, quantise
from verdigris.core.ladder.texels.pbr_model import PbrTextures
from verdigris.core.ladder.views.lit_pixels import LitPixels
from verdigris.core.ladder.views.reference import Responses, draw_responses, draws_with

if TYPE_CHECKING:
    from verdigris.core.base.array_types import Floats
    from verdigris.core.ladder.mesh.mesh_surface import Atlas
    from verdigris.core.ladder.views.scene import FitViews
    from verdigris.core.material.teacher.teacher import Teacher


@dataclass
class SurfaceRung(Rung):
    """Textures of the inputs of the material's surface shader."""

    name = "surface"
    title = "Textures of the surface shader"
    use = "Renderer"
    stores = "textures of the surface shader, as a MaterialX document"
    cost = "a texture read for each input that varies, one light loop of the shader"
    snippet: ClassVar[
        str
    ] = """# surface.mtlx is the whole material, for renderers that read MaterialX; in Python:
document = MaterialX.createDocument()
MaterialX.readFromXmlFile(document, "surface.mtlx")
"""
    is_lit = True
    is_fitted_last = True
    is_on_material_set = True
    opacity_place = None
    borrows_look = True

    shader: SurfaceShader
    grid: Grid
    """The channels of all textured inputs."""

    @classmethod
    def compile(cls, teacher: Teacher) -> None:
        PbrRung.compile(teacher)

    @classmethod
    def fit(cls, fits: RungFits) -> Self:
        """A material with several shaders becomes one that starts as glTF textures: those of an
        earlier rung, or new ones."""
        begun = time.monotonic()
        views, scene, settings = fits.views, fits.views.scene, _settings(fits)
        show, seed = partial(fits.on_progress, cls.name), settings.pbr.seed
        device, size = scene.teacher.device, fits.settings.size * scene.tiles_a_side
        start, rate = start_from_graph(scene, size), settings.rate
        has_own_shader = start is not None
        show(0.1)
        fit_to, apart = views.split(seed)
        responses = draw_responses(
            scene.teacher, fit_to.seen, scene.first_set, fits.settings.responses, seed,
            fit_to.weights, lambda part: show(0.1 + 0.2 * part),
        )  # fmt: skip
        pixels = LitPixels.draw(fit_to, seed, has_emission=True)
        if start is None:
            rate = settings.rate_of_layers
            pbr = _pbr_textures(fits, fit_to, responses, size)
            light = PassingLight.on_mesh(scene, size)
            start = start_from_pbr(
                pbr.grid, pbr.layers, scene.teacher.material.file_name,
                *_emission_and_opacity(views, size),
                None if light is None else light.textures(pbr),
            )  # fmt: skip
        shader, grid = start
        material = TexelMaterial(shader, device)
        is_opaque = not scene.teacher.index_below
        fitted = shader.bits(
            lambda each: not each.is_opacity and (is_opaque or not each.lets_light_pass)
        )
        if fitted and settings.steps:
            check = LitPixels.draw(apart, seed, has_emission=True) if has_own_shader else None
            fit_surface.fit_surface(
                material, grid, fitted, responses, settings, pixels, check, rate,
                lambda part: show(0.3 + 0.7 * part),
            )  # fmt: skip
        grid.values[:] = quantise(grid.values)
        material.show(grid)
        return cls(
            shader, grid, size=size, byte_size=grid.values.size,
            draw=draws_with(material, scene, scene.first_set), material=material,
            seconds=time.monotonic() - begun,
        )  # fmt: skip

    def write_files(
        self, folder: Path, has_ktx: bool = True, atlas: Atlas | None = None
    ) -> Written:
        """Writes `surface.mtlx` and its images; names of UDIM tiles contain <UDIM>."""
        shader = replace(self.shader, displacement=self.displacement)
        document, files = write_surface(shader, self.grid, folder, self.name, atlas)
        written = Written({"document": document, **files}, self.numbers())
        if atlas is None:
            written.shader, written.shader_files = shader, files
        return written


def _settings(fits: RungFits) -> SurfaceFitSettings:
    found = SurfaceFitSettings(is_soft=fits.settings.is_soft, pbr=fit_settings(fits))
    return found if fits.is_software else fit_surface.on_gpu(found)


def _pbr_textures(fits: RungFits, fit_to: FitViews, responses: Responses, size: int) -> PbrTextures:
    """The glTF textures of an earlier rung, or new ones."""
    before = fits.fitted.get(PbrRung.name)
    if isinstance(before, PbrRung):
        return before.textures
    settings = fit_settings(fits)
    dark = LitPixels.draw(fit_to, settings.seed)
    return PbrTextures(*fit_pbr(responses, size, fit_to.scene.teacher.device, settings, dark))


def _emission_and_opacity(views: FitViews, size: int) -> tuple[Floats | None, Floats | None]:
    """Means at texels; None for what the material does not have."""
    scene, seen = views.scene, views.seen
    if scene.teacher.is_dark_and_opaque:
        return None, None
    emission = emission_grid(scene, seen, size).values
    return emission if emission.any() else None, mean_coverage(scene, seen, size)
