"""The rung of glTF textures: metallic-roughness with coat, anisotropy and sheen."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from verdigris.core.hosts import host
from verdigris.core.ladder.fitting import fit_pbr
from verdigris.core.ladder.fitting.image_fit import BY_FIRST_UV
from verdigris.core.ladder.fitting.maps import bake_occlusion
from verdigris.core.ladder.rungs.rung import (
    AddTexture,
    Preview,
    PreviewTexture,
    Rung,
    RungFits,
    Timing,
    Written,
)
from verdigris.core.ladder.surface_shader.from_pbr import surface_of_pbr
from verdigris.core.ladder.surface_shader.passing_light import (
    FRONT,
    TRANSMISSION,
    PassingLight,
    PassingTextures,
)
from verdigris.core.ladder.surface_shader.surface_shader import write_images
from verdigris.core.ladder.texels import pbr_model
from verdigris.core.ladder.texels.images import RungImage, write_png
from verdigris.core.ladder.texels.pbr_model import (
    ANISOTROPY_MAP,
    BASE_COLOUR,
    COAT_MAP,
    EMISSIVE,
    NORMAL_MAP,
    ORM,
    SHEEN_MAP,
    PbrMaterial,
    PbrTextures,
)
from verdigris.core.ladder.views.reference import draws_with
from verdigris.core.material.evaluator import compile_material

if TYPE_CHECKING:
    from verdigris.core.base.array_types import FloatArray
    from verdigris.core.ladder.mesh.mesh_surface import Atlas
    from verdigris.core.ladder.views.scene import Scene
    from verdigris.core.material.teacher.teacher import Teacher


_STRENGTH = "emissive_strength"
# Inputs of a surface shader that read glTF's textures as they are.
_SHARED = {"base_color": BASE_COLOUR, "normal": NORMAL_MAP, "emission_color": EMISSIVE}


def fit_settings(fits: RungFits) -> fit_pbr.FitSettings:
    """The work of a fit of glTF textures."""
    given = fits.settings
    found = fit_pbr.FitSettings(steps=given.steps, is_soft=given.is_soft, seed=given.seed)
    return found if fits.is_software else fit_pbr.on_gpu(found)


@dataclass
class PbrRung(Rung):
    """Textures of glTF's material, fitted to responses and pictures."""

    name = "pbr"
    title = "glTF textures"
    use = "Every engine"
    stores = "textures of a glTF material"
    cost = "3 texture reads (5 with coat and emission), one light loop"
    snippet = """// glTF's own shading: load NAME.gltf, or bind the textures
vec4 base = texture(baseColor, uv0); // sRGB
vec3 orm = texture(ormMap, uv0).rgb; // occlusion, roughness, metalness
vec3 normal = 2.0 * texture(normalMap, uv0).xyz - 1.0;
"""
    is_lit = True
    is_on_material_set = True
    opacity_place = BY_FIRST_UV
    lends_look = True
    tiled = (
        BASE_COLOUR, ORM, NORMAL_MAP, EMISSIVE, COAT_MAP, ANISOTROPY_MAP, SHEEN_MAP, FRONT,
        TRANSMISSION,
    )  # fmt: skip

    textures: PbrTextures
    passing: PassingTextures | None = None
    """Light from behind, which only glTF's own material shows."""

    @classmethod
    def compile(cls, teacher: Teacher) -> None:
        compile_material(teacher)
        fit_pbr.compiled(teacher.device)

    @classmethod
    def fit(cls, fits: RungFits) -> Self:
        begun = time.monotonic()
        views, scene = fits.views, fits.views.scene
        light = PassingLight.on_mesh(scene, fits.settings.size * scene.tiles_a_side)
        settings = fit_settings(fits)
        if light is not None and light.is_metal_free:
            settings = replace(settings, has_metal=False)
        textures = fit_pbr.fit_textures(
            views, fits.settings.size, fits.settings.responses, settings,
            partial(fits.on_progress, cls.name),
        )  # fmt: skip
        size = textures.grid.width
        passing = None if light is None else light.textures(textures)
        material = PbrMaterial(
            textures.grid, scene.teacher.device, textures.linear_emission,
            None if passing is None else passing.on_device,
        )  # fmt: skip
        texel_bytes = textures.texel_bytes + (0 if passing is None else passing.texel_bytes)
        return cls(
            textures, size=size, byte_size=size * size * texel_bytes,
            draw=draws_with(material, scene, scene.first_set), material=material,
            seconds=time.monotonic() - begun, passing=passing,
        )  # fmt: skip

    def add_maps(self, scene: Scene) -> None:
        """Adds occlusion. Pictures do not read it, because their shadows are traced."""
        self.textures.occlusion = bake_occlusion(
            scene.surface, scene.first_set, self.size, scene.teacher.device,
            scene.lighting.occluders,
        )  # fmt: skip

    def images(self) -> dict[str, RungImage]:
        found = self.textures.images(None if self.opacity is None else self.opacity.grid.image)
        if self.passing is not None:
            front, *maps = self.passing.images()
            found[FRONT] = replace(front, pixels=self.with_alpha(front.pixels))
            found |= dict(zip((TRANSMISSION,), maps, strict=False))
        return found

    def numbers(self) -> dict[str, Any]:
        strength = {} if self.textures.emission is None else {_STRENGTH: self.textures.strength}
        return {**super().numbers(), **strength}

    def replace_texels(self, decoded: Mapping[str, FloatArray]) -> None:
        self.textures.replace(decoded)
        assert isinstance(self.material, PbrMaterial)
        if self.passing is not None:
            self.passing = self.passing.light.textures(self.textures)
        passing = None if self.passing is None else self.passing.on_device
        self.material.show(self.textures.grid, self.textures.linear_emission, passing)
        self.replace_opacity(decoded[BASE_COLOUR])

    def write_files(
        self, folder: Path, has_ktx: bool = True, atlas: Atlas | None = None
    ) -> Written:
        """Also writes the other images that a Standard Surface in a scene reads."""
        written = super().write_files(folder, has_ktx, atlas)
        if atlas is None:
            opacity = None if self.opacity is None else self.opacity.grid.values
            files, stem = written.files, f"{self.name}_surface"
            there = {port: files[use] for port, use in _SHARED.items() if use in files}
            shader, grid = surface_of_pbr(self.textures, opacity, self.name)
            written.shader = replace(shader, displacement=self.displacement)
            written.shader_files = write_images(shader, grid, folder, stem, there=there)
            if self.passing is not None:
                there = {**written.shader_files, "base_color": files[FRONT]}
                shader, grid = surface_of_pbr(self.textures, opacity, self.name, self.passing)
                written.network = replace(shader, displacement=self.displacement)
                written.network_files = write_images(shader, grid, folder, stem, there=there)
        return written

    def write_viewport_textures(self, written: Written, folder: Path) -> dict[str, str]:
        files, image = written.files, self.textures.grid.image
        found = {host.BASE_COLOR: files[BASE_COLOUR], host.NORMAL_MAP: files[NORMAL_MAP]}
        if EMISSIVE in files:
            found[host.EMISSION] = files[EMISSIVE]
        single = {
            host.ROUGHNESS: image[..., pbr_model.ROUGHNESS, None],
            host.METALNESS: image[..., pbr_model.METALNESS, None],
        }
        if self.opacity is not None:
            single = {host.OPACITY: self.opacity.grid.image, **single}
        for kind, pixels in single.items():
            found[kind] = f"{self.name}_{kind}.png"
            write_png(folder / found[kind], pixels)
        return found

    def gltf_shading(self, written: Written, add: AddTexture) -> dict[str, Any] | None:
        files = written.files
        extensions: dict[str, Any] = {}
        orm = add(files[ORM], 0)
        found: dict[str, Any] = {
            "pbrMetallicRoughness": {
                "baseColorTexture": add(files[FRONT if FRONT in files else BASE_COLOUR], 0),
                "metallicRoughnessTexture": orm,
            },
            "normalTexture": add(files[NORMAL_MAP], 0),
            "occlusionTexture": orm,
        }
        if self.passing is not None:
            texture = add(files[TRANSMISSION], 0) if TRANSMISSION in files else None
            extensions |= self.passing.extensions(texture)
        if COAT_MAP in files:
            coat = add(files[COAT_MAP], 0)
            extensions["KHR_materials_clearcoat"] = {
                "clearcoatFactor": 1.0, "clearcoatTexture": coat,
                "clearcoatRoughnessFactor": 1.0, "clearcoatRoughnessTexture": coat,
            }  # fmt: skip
        if ANISOTROPY_MAP in files:
            extensions["KHR_materials_anisotropy"] = {
                "anisotropyStrength": 1.0, "anisotropyTexture": add(files[ANISOTROPY_MAP], 0),
            }  # fmt: skip
        if SHEEN_MAP in files:
            sheen = add(files[SHEEN_MAP], 0)
            extensions["KHR_materials_sheen"] = {
                "sheenColorFactor": [1.0, 1.0, 1.0], "sheenColorTexture": sheen,
                "sheenRoughnessFactor": 1.0, "sheenRoughnessTexture": sheen,
            }  # fmt: skip
        if EMISSIVE in files:
            found["emissiveTexture"] = add(files[EMISSIVE], 0)
            found["emissiveFactor"] = [1.0, 1.0, 1.0]
            strength = written.numbers[_STRENGTH]
            extensions["KHR_materials_emissive_strength"] = {"emissiveStrength": strength}
        return {**found, "extensions": extensions} if extensions else found

    def preview(self, written: Written) -> Preview:
        files = written.files
        orm = PreviewTexture("occlusion", files[ORM], "r", "Float", is_srgb=False)
        lit = [
            PreviewTexture("diffuseColor", files[BASE_COLOUR]),
            orm,
            replace(orm, port="roughness", channel="g"),
            replace(orm, port="metallic", channel="b"),
            PreviewTexture(
                "normal", files[NORMAL_MAP], "rgb", "Normal3f", is_srgb=False, is_normal=True
            ),
        ]
        if EMISSIVE in files:
            strength = written.numbers.get(_STRENGTH, 1.0)
            lit.append(PreviewTexture("emissiveColor", files[EMISSIVE], scale=strength))
        if COAT_MAP in files:
            coat = PreviewTexture("clearcoat", files[COAT_MAP], "r", "Float", is_srgb=False)
            lit += [coat, replace(coat, port="clearcoatRoughness", channel="g")]
        alpha = PreviewTexture("opacity", files[BASE_COLOUR], "a", "Float")
        opacity = alpha if written.has_alpha else None
        return Preview(tuple(lit), opacity, displacement=self.displacement)

    def timing(self) -> Timing:
        maps = BASE_COLOUR, ORM, NORMAL_MAP, COAT_MAP, ANISOTROPY_MAP, SHEEN_MAP
        used = (each in self.textures.layers for each in pbr_model.LAYERS)
        layers = sum(is_used << bit for bit, is_used in enumerate(used))
        return Timing("timeGltf", maps, layers=layers)
