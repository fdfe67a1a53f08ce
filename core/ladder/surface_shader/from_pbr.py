"""A Standard Surface made of fitted glTF textures. Scenes show it. The fit of a surface shader
begins with it if the material has layers, mixes or definitions of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.flatten.flat_model import LARGEST_SLANT
from verdigris.core.ladder.surface_shader.surface_shader import (
    Constant,
    SurfaceShader,
    TexturedInput,
    constant_of,
    is_constant,
)
from verdigris.core.ladder.texels import pbr_model
from verdigris.core.ladder.texels.grid import Grid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from verdigris.core.base.array_types import FloatArray
    from verdigris.core.ladder.surface_shader.passing_light import PassingTextures
    from verdigris.core.ladder.texels.pbr_model import PbrTextures


_CATEGORY = "standard_surface"
# Radians of a full turn.
_TURN = 2 * np.pi
# The surface's own normal. Bytes miss it by less than this tilt.
_FLAT, _LEAST_TILT = (0.0, 0.0, 1.0), 0.01


def start_from_pbr(
    grid: Grid, layers: Sequence[str], name: str, emission: FloatArray | None = None,
    opacity: FloatArray | None = None, passing: PassingTextures | None = None,
) -> tuple[SurfaceShader, Grid]:  # fmt: skip
    """The shader, and textures that look nearly like the glTF textures. Emission (texels, 3) is
    linear, and opacity (texels, 1) is from 0 to 1."""
    texels = pbr_model.decode(grid.values)
    count = len(texels)

    def column(channel: int) -> FloatArray:
        return texels[:, channel : channel + 1]

    full = np.ones((count, 1), np.float32)
    alpha = np.maximum(column(pbr_model.ROUGHNESS), 1e-3) ** 2
    strength = np.sqrt((texels[:, pbr_model.STRETCH] ** 2).sum(1, keepdims=True))
    along = alpha + (1 - alpha) * strength
    slant = texels[:, pbr_model.NORMAL]
    up = np.sqrt(1 - np.minimum((slant**2).sum(1, keepdims=True), LARGEST_SLANT**2))
    values: dict[tuple[str, str], FloatArray] = {
        ("base_color", "color3"): texels[:, pbr_model.BASE],
        ("metalness", "float"): column(pbr_model.METALNESS),
        ("specular", "float"): full,
        ("specular_color", "color3"): np.tile(full, (1, 3)),
        ("specular_roughness", "float"): (along * alpha) ** 0.25,
        ("normal", "vector3"): np.concatenate([slant, up], 1),
    }
    if "anisotropy" in layers:
        # in both, the ratio of the widths along and across
        values["specular_anisotropy", "float"] = 1 - alpha / along
        # the surface shader turns the other way
        cosine, sine = texels[:, pbr_model.STRETCH].T
        angle = 0.5 * np.arctan2(sine, cosine)[:, None]
        values["specular_rotation", "float"] = (-angle / _TURN) % 1
    if "coat" in layers:
        values["coat", "float"] = column(pbr_model.COAT)
        values["coat_color", "color3"] = np.tile(full, (1, 3))
        values["coat_roughness", "float"] = column(pbr_model.COAT_ROUGHNESS)
    if "sheen" in layers:
        values["sheen", "float"] = full
        values["sheen_color", "color3"] = texels[:, pbr_model.SHEEN]
        values["sheen_roughness", "float"] = column(pbr_model.SHEEN_ROUGHNESS)
    constants = [Constant("base", "float", "1")]
    if emission is not None:
        values["emission_color", "color3"] = emission
        constants.append(Constant("emission", "float", "1"))
    if opacity is not None:
        values["opacity", "color3"] = np.tile(opacity, (1, 3))
    if passing is not None:
        found, more = passing.inputs()
        values |= found
        constants += more
    inputs = tuple(TexturedInput(*each).fitting(found) for each, found in values.items())
    stored = [each.stored(found) for each, found in zip(inputs, values.values(), strict=True)]
    shader = SurfaceShader(_CATEGORY, name, inputs, tuple(constants))
    return shader, Grid(grid.width, grid.height, np.concatenate(stored, 1).astype(np.float32))


def surface_of_pbr(
    textures: PbrTextures,
    opacity: FloatArray | None,
    name: str,
    passing: PassingTextures | None = None,
) -> tuple[SurfaceShader, Grid]:
    """The shader and its textures, with numbers for inputs that are the same everywhere. Without a
    texture, the normal is the surface's own."""
    begun, grid = start_from_pbr(
        textures.grid, textures.layers, name, textures.linear_emission, opacity, passing
    )
    kept, columns, constants = [], [grid.values[:, :0]], list(begun.constants)
    for each in begun.inputs:
        first = begun.firsts[each.name]
        stored = grid.values[:, first : first + each.channels]
        values = each.decoded(stored)
        # a document has no number for a direction in the surface's frame
        is_flat = each.is_direction and np.abs(values - _FLAT).max() < _LEAST_TILT
        if is_flat:
            continue
        if each.is_direction or not is_constant(values):
            kept.append(each)
            columns.append(stored)
        else:
            constants.append(constant_of(each, values.mean(0)))
    shader = SurfaceShader(begun.category, name, tuple(kept), tuple(constants))
    return shader, Grid(grid.width, grid.height, np.concatenate(columns, 1))
