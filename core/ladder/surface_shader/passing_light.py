"""Light that passes through a surface, as glTF states it.

glTF lets a part t of the light below the surface pass, tinted by a colour: by the base colour b of
KHR_materials_transmission, or by a colour of its own in KHR_materials_diffuse_transmission. The
rest of the light, 1 - t, is reflected diffusely by b. With what a fit found to be reflected, r, and
what passes, s, b = r + s and t = s / (r + s) keep both: b (1 - t) = r and b t = s. Where both have
different colours, glTF's one base colour keeps their means.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.colour import linear_from_srgb
from verdigris.core.ladder.surface_shader.surface_shader import Constant
from verdigris.core.ladder.surface_shader.texel_points import seen_by_texels
from verdigris.core.ladder.texels import pbr_model
from verdigris.core.ladder.texels.grid import Grid, fill_holes, quantise
from verdigris.core.ladder.texels.images import RungImage
from verdigris.core.ladder.texels.pbr_model import Passing
from verdigris.core.material.evaluator import Frames
from verdigris.core.material.sides import THIN, passes_diffusely
from verdigris.core.material.teacher.probe import mean_albedo, mean_transmitted, transmitted_at
from verdigris.core.pictures.picture_files import srgb_from_linear

if TYPE_CHECKING:
    from verdigris.core.base.array_types import FloatArray, Floats
    from verdigris.core.ladder.texels.pbr_model import PbrTextures
    from verdigris.core.ladder.views.scene import Scene
    from verdigris.core.material.evaluator import DeviceMaterial

FRONT, TRANSMISSION = "front_color", "transmission"
"""Uses of images: the base colour of glTF's material, and what passes."""
# Texels a side at most.
_MOST_TEXELS = 256
# Shares that differ by less are constant.
_LEAST_SPREAD = 0.01
_LEAST_PART = 0.02
# Of glTF without KHR_materials_ior.
_USUAL_INDEX = 1.5


@dataclass(frozen=True)
class PassingLight:
    """What a material lets pass."""

    share: Grid
    """The share (texels, 3) of white light from behind that reaches a viewer."""
    reflected: tuple[float, float, float]
    """The mean albedo."""
    index: float
    """The index of the solid behind; 1 for a thin wall."""
    is_diffuse: bool
    thickness: float
    """Of the mesh, in its own units."""

    @classmethod
    def of(cls, material: DeviceMaterial, thickness: float) -> PassingLight | None:
        """The mean over the unit square; None for an opaque material."""
        return cls._of(material, thickness, np.array(mean_transmitted(material), np.float32))

    @classmethod
    def on_mesh(cls, scene: Scene, size: int) -> PassingLight | None:
        """What passes at each texel of textures with this size; None for an opaque material."""
        material, thickness = scene.teacher, scene.surface.thickness
        side = min(size, _MOST_TEXELS)
        seen = seen_by_texels(scene, side, (0.0, 0.0)) if material.index_below else None
        if seen is None:
            return cls.of(material, thickness)
        views = [each.view.buffers for each in seen.parts()]
        uv, packed = (
            np.concatenate([each[name].to_numpy().view(np.float32) for each in views])
            for name in ("gUv", "gFrames")
        )
        places, frames = uv.reshape(-1, 2), Frames.unpacked(packed.reshape(-1, 12))
        mean = np.array(mean_transmitted(material, places, frames), np.float32)
        found = cls._of(material, thickness, mean)
        rough = transmitted_at(material, places, frames)
        # the few directions of a place estimate differences well, and the many of all places means
        shares = rough * mean / np.maximum(rough.mean(0), 1e-6)
        if found is None or np.ptp(shares, axis=0).max() < _LEAST_SPREAD:
            return found
        grid, covered = Grid.of(side, side, mean), np.zeros(side * side, bool)
        grid.values[seen.pixel], covered[seen.pixel] = np.clip(shares, 0, 1), True
        fill_holes(grid, covered)
        return replace(found, share=grid)

    @classmethod
    def _of(cls, material: DeviceMaterial, thickness: float, mean: Floats) -> PassingLight | None:
        if not mean.any():
            return None
        is_diffuse = passes_diffusely(material.response, float(mean.mean()))
        share, index = Grid.of(1, 1, mean), material.index_below
        return cls(share, mean_albedo(material), index, is_diffuse, thickness)

    @property
    def is_metal_free(self) -> bool:
        """Whether more light passes everywhere than is reflected: no place is metal."""
        return not self.is_diffuse and bool(self.share.values.max(1).min() >= max(self.reflected))

    @property
    def surface_share(self) -> float:
        """The mean share of light that glTF's dielectric layer reflects."""
        index = self.index if self.index != THIN and not self.is_diffuse else _USUAL_INDEX
        f0 = ((index - 1) / (index + 1)) ** 2
        return f0 + (1 - f0) / 21

    def textures(self, pbr: PbrTextures) -> PassingTextures:
        """The textures beside the fitted ones."""
        grid = pbr.grid
        texels = pbr_model.decode(grid.values)
        dielectric = 1 - texels[:, pbr_model.METALNESS, None]
        passing = self.share.resized(grid.width, grid.height).values
        # below the dielectric layer, and beside metal
        passing = passing / np.maximum((1 - self.surface_share) * dielectric, _LEAST_PART)
        passing = np.clip(passing, 0, 1)
        reflected = texels[:, pbr_model.BASE]
        # colours of their own must not exceed 1
        level = np.max if self.is_diffuse else np.mean
        lit, other = (level(each, axis=1, keepdims=True) for each in (passing, reflected))
        part = quantise(lit / np.maximum(lit + other, 1e-6))
        front = np.clip(reflected + passing, 0, 1)
        if self.is_diffuse:
            front = np.clip(reflected / np.maximum(1 - part, 1e-3), 0, 1)
        colour = np.clip(passing / np.maximum(part, 1e-3), 0, 1)
        stored = [quantise(srgb_from_linear(each)) for each in (front, colour)]
        return PassingTextures(self, grid.width, part, *stored)


@dataclass(frozen=True)
class PassingTextures:
    """Textures of light that passes, in steps of a byte."""

    light: PassingLight
    size: int
    part: Floats
    """(texels, 1): t above."""
    front: Floats
    """(texels, 3) in sRGB: the base colour b above."""
    colour: Floats
    """(texels, 3) in sRGB: what light is tinted by that passes diffusely."""

    @property
    def tint(self) -> Floats:
        """(texels, 3): the share of light that passes below the surface."""
        colour = self.colour if self.light.is_diffuse else self.front
        return np.asarray(self.part * linear_from_srgb(colour), np.float32)

    @property
    def on_device(self) -> Passing:
        """What is drawn of it."""
        return Passing(self.tint, self.light.index, self.light.is_diffuse)

    @property
    def varies(self) -> bool:
        """Whether a texture has what factors state otherwise."""
        maps = (self.part, self.colour) if self.light.is_diffuse else (self.part,)
        return any(np.ptp(each, axis=0).max() > _LEAST_SPREAD for each in maps)

    @property
    def texel_bytes(self) -> int:
        """Bytes of a texel beside those of the fitted textures."""
        return 3 + (4 if self.light.is_diffuse else 1) * self.varies

    def images(self) -> list[RungImage]:
        """The base colour, and the texture of what passes, if it varies: its part in the red
        channel, or behind its colour."""

        def image(*columns: Floats) -> FloatArray:
            return np.concatenate(columns, 1).reshape(self.size, self.size, -1)

        found = [RungImage(image(self.front), is_srgb=True)]
        if self.varies and self.light.is_diffuse:
            found.append(RungImage(image(self.colour, self.part), is_srgb=True))
        elif self.varies:
            found.append(RungImage(image(self.part)))
        return found

    def inputs(self) -> tuple[dict[tuple[str, str], FloatArray], list[Constant]]:
        """The inputs of a Standard Surface that lets the same light pass: values (texels, channels)
        by name and type, and constants."""
        light, front = self.light, linear_from_srgb(self.front)
        values: dict[tuple[str, str], FloatArray] = {("base_color", "color3"): front}
        thin = [Constant("thin_walled", "boolean", "true")]
        if light.is_diffuse:
            values["subsurface", "float"] = self.part
            values["subsurface_color", "color3"] = linear_from_srgb(self.colour)
            return values, thin
        values["transmission", "float"] = self.part
        values["transmission_color", "color3"] = front
        if light.index == THIN:
            # a wall has two interfaces, and glTF draws one
            values["transmission_color", "color3"] = np.clip(
                front / (1 - light.surface_share), 0, 1
            )
            return values, thin
        return values, [Constant("specular_IOR", "float", f"{light.index:.6g}")]

    def extensions(self, texture: dict[str, int] | None) -> dict[str, Any]:
        """The extensions of glTF's material."""
        light, part = self.light, round(float(self.part.mean()), 4)
        if light.is_diffuse:
            colour = linear_from_srgb(self.colour).mean(0)
            name = "diffuseTransmission"
            given: dict[str, Any] = {
                f"{name}Factor": part, f"{name}ColorFactor": np.round(colour, 4).tolist()
            }  # fmt: skip
            if texture is not None:
                given = {f"{name}Factor": 1.0, f"{name}Texture": texture}
                given[f"{name}ColorTexture"] = texture
            return {"KHR_materials_diffuse_transmission": given}
        given = {"transmissionFactor": part}
        if texture is not None:
            given = {"transmissionFactor": 1.0, "transmissionTexture": texture}
        found: dict[str, Any] = {"KHR_materials_transmission": given}
        if light.index != THIN:
            found["KHR_materials_ior"] = {"ior": max(1.0, round(light.index, 4))}
            found["KHR_materials_volume"] = {"thicknessFactor": round(light.thickness, 6)}
        return found
