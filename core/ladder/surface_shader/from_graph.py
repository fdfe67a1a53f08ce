"""The document's own surface shader with textures of its inputs.

A texel is the mean of the graph over the part of the mesh that the texel covers. To evaluate it, an
unlit shader that emits three numbers of the inputs at a time replaces the surface shader. It is
compiled once: a live input chooses what it emits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.ladder.surface_shader.mixed_surfaces import connect, merge_mix
from verdigris.core.ladder.surface_shader.surface_shader import (
    Constant,
    SurfaceShader,
    TexturedInput,
    constant_of,
    constants_of,
    fed_inputs,
    is_constant,
    is_plain_surface,
    shader_of,
)
from verdigris.core.ladder.surface_shader.texel_points import TexelPoints
from verdigris.core.ladder.texels.grid import Grid
from verdigris.core.ladder.views.reference import emissions_at
from verdigris.core.material.graph.library import standard_library
from verdigris.core.material.graph.traversal import counterpart
from verdigris.core.material.live_inputs.live_input import WantedInput
from verdigris.core.material.teacher.teacher import Teacher

if TYPE_CHECKING:
    import MaterialX as mx

    from verdigris.core.base.array_types import Floats
    from verdigris.core.ladder.views.scene import Scene
    from verdigris.core.ladder.views.visibility import Seen


# Added to the values, because emission is not negative.
_ABOVE_ZERO = 16.0
# The number of inputs of a switch.
_MOST_PACKS = 10
_AXES = ("tangent", "bitangent", "normal")


def start_from_graph(scene: Scene, size: int) -> tuple[SurfaceShader, Grid] | None:
    """The shader of a document with textures of the inputs that vary. None if the material is
    neither one shader nor a mix of shaders of one kind."""
    surface, merged = shader_of(scene.teacher.material), None
    if surface is not None and surface.getCategory() == "mix":
        # keeps the document of the merged shader alive
        merged = merge_mix(surface)
        surface = None if merged is None else merged[1]
    if surface is None or not is_plain_surface(surface):
        return None
    inputs = fed_inputs(surface)
    baked = _bake_inputs(scene, surface, inputs, size)
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


def _bake_inputs(
    scene: Scene, surface: mx.Node, inputs: Sequence[TexturedInput], size: int
) -> TexelPoints:
    """The values of the inputs, channel by channel."""
    teachers = _emitting(scene.teacher, surface, inputs)
    channels = sum(each.channels for each in inputs)

    def values_at(seen: Seen) -> Floats:
        emitted = [each[:, :3] for each in emissions_at(lambda: _each(teachers), seen)]
        return np.asarray(np.concatenate(emitted, 1)[:, :channels] - _ABOVE_ZERO, np.float32)

    return TexelPoints.evaluate(scene, size, channels, values_at)


def _each(teachers: Sequence[tuple[Teacher, int]]) -> Iterator[Teacher]:
    """The teachers, set to emit one pack after the other."""
    for teacher, packs in teachers:
        for number in range(packs):
            teacher.live = ((number + 0.5) / _MOST_PACKS,)
            yield teacher


def _emitting(
    teacher: Teacher, surface: mx.Node, inputs: Sequence[TexturedInput]
) -> list[tuple[Teacher, int]]:
    """Teachers that emit the inputs, each with its number of packs. A pack is three numbers, and a
    teacher has at most _MOST_PACKS of them."""
    packs = _packs(inputs)
    parts = [packs[first : first + _MOST_PACKS] for first in range(0, len(packs), _MOST_PACKS)]
    return [(_emit(teacher, surface, each), len(each)) for each in parts]


def _packs(inputs: Sequence[TexturedInput]) -> list[list[tuple[TexturedInput, int]]]:
    """The channels of inputs in packs of three."""
    flat = [(each, channel) for each in inputs for channel in range(each.channels)]
    return [flat[first : first + 3] for first in range(0, len(flat), 3)]


def _emit(
    teacher: Teacher, surface: mx.Node, packs: Sequence[Sequence[tuple[TexturedInput, int]]]
) -> Teacher:
    document, material = teacher.document, teacher.material
    root = surface.getDocument().copy()
    root.setDataLibrary(standard_library())
    node = counterpart(surface, root)
    scope = node.getParent()

    def add(category: str, kind: str, **given: object) -> mx.Node:
        new = scope.addNode(category, scope.createValidChildName("verdigris_1"), kind)
        for name, value in given.items():
            port = new.addInput(name, "float")
            if isinstance(value, float):
                port.setValue(value)
            else:
                connect(port, value)
        return new

    def channel_of(each: TexturedInput, channel: int) -> mx.Node:
        port = node.getInput(each.name)
        if each.kind == "float":
            return add("add", "float", in1=port, in2=_ABOVE_ZERO)
        if each.is_direction:
            axis = add(_AXES[channel], "vector3")
            axis.setInputValue("space", "world", "string")
            part = add("dotproduct", "float", in1=port, in2=axis)
        else:
            part = add("extract", "float")
            part.setInputValue("index", channel, "integer")
            connect(part.addInput("in", each.kind), port)
        return add("add", "float", in1=part, in2=_ABOVE_ZERO)

    chosen = add("switch", "color3", which=0.5)
    for number, pack in enumerate(packs, 1):
        parts = [channel_of(*each) for each in pack]
        parts += [add("constant", "float", value=0.0)] * (3 - len(parts))
        joined = add("combine3", "color3", in1=parts[0], in2=parts[1], in3=parts[2])
        connect(chosen.addInput(f"in{number}", "color3"), joined)
    for port in node.getInputs():
        node.removeInput(port.getName())
    node.setCategory("surface_unlit")
    node.removeAttribute("nodedef")
    connect(node.addInput("emission_color", "color3"), chosen)
    wanted = WantedInput(f"{chosen.getNamePath()}/which", (0.0,), (float(_MOST_PACKS),))
    emitting = replace(document, root=root)
    found = replace(material, element=counterpart(material.element, root))
    return Teacher(emitting, found, teacher.device, teacher.mesh, (wanted,), has_atlas=False)
