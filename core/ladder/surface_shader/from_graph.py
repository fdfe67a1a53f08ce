"""The document's own surface shader with textures of its inputs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.ladder.surface_shader.bake_inputs import bake_inputs
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
from verdigris.core.ladder.texels.grid import Grid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.ladder.views.scene import Scene

    Floats = NDArray[np.float32]


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
