"""The document's own surface shader with textures of its inputs.

A texel is the mean of the graph over the part of the mesh that the texel covers. To evaluate it, an
unlit shader that emits three numbers of the inputs at a time replaces the surface shader. It is
compiled once: a live input chooses what it emits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.geometry.raster import rasterize
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
from verdigris.core.ladder.texels.grid import Grid, fill_holes
from verdigris.core.ladder.views.reference import emissions_at
from verdigris.core.ladder.views.visibility import Seen
from verdigris.core.material.graph.library import standard_library
from verdigris.core.material.graph.traversal import counterpart
from verdigris.core.material.live_inputs.live_input import WantedInput
from verdigris.core.material.teacher.teacher import Teacher

if TYPE_CHECKING:
    import MaterialX as mx
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Floats
    from verdigris.core.ladder.views.scene import Scene


# Added to the values, because emission is not negative.
_ABOVE_ZERO = 16.0
# The number of inputs of a switch.
_MOST_PACKS = 10
_AXES = ("tangent", "bitangent", "normal")
# Points along a side of a texel, and the most along a side of the texture.
_POINTS, _MOST_POINTS = 4, 2048
_RASTERISERS = 4
# Iterations that solve the normal equations.
_ROUNDS = 8
# The most copies of a triangle whose uv cover several unit squares.
_MOST_COPIES = 16


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
) -> _Baked:
    """The values of the inputs, channel by channel."""
    teachers = _emitting(scene.teacher, surface, inputs)
    channels = sum(each.channels for each in inputs)
    points = max(1, min(_POINTS, _MOST_POINTS // size))
    places = (np.arange(points) + 0.5) / points - 0.5
    offsets = [(float(x), float(y)) for y in places for x in places]
    found = _Baked(size, [], [], [], scene.atlas.side if scene.atlas else None)
    with ThreadPoolExecutor(_RASTERISERS) as threads:
        parts = threads.map(lambda offset: _seen_by_texels(scene, size, offset), offsets)
        for offset, seen in zip(offsets, parts, strict=True):
            values = np.zeros((size * size, channels), np.float32)
            covered = np.zeros(size * size, bool)
            if seen is not None and teachers:
                emitted = [each[:, :3] for each in emissions_at(lambda: _each(teachers), seen)]
                values[seen.pixel] = np.concatenate(emitted, 1)[:, :channels] - _ABOVE_ZERO
                covered[seen.pixel] = True
            found.values.append(values)
            found.covered.append(covered)
            found.offsets.append(offset)
    return found


def _each(teachers: Sequence[tuple[Teacher, int]]) -> Iterator[Teacher]:
    """The teachers, set to emit one pack after the other."""
    for teacher, packs in teachers:
        for number in range(packs):
            teacher.live = ((number + 0.5) / _MOST_PACKS,)
            yield teacher


def _seen_by_texels(scene: Scene, size: int, offset: tuple[float, float]) -> Seen | None:
    """The surface at a point of each texel, as if a camera saw the texture."""
    uv = scene.surface.sets[scene.first_set]
    uv, owner = _in_unit_square(uv)
    corners = np.asarray(uv * size - np.array(offset), np.float32)
    cover = rasterize(corners, np.zeros(corners.shape[:2], np.float32), size, size)
    triangle = cover.triangle.reshape(-1)
    pixel = np.flatnonzero(triangle >= 0)
    if not len(pixel):
        return None
    above = np.array([0, 0, 4 * scene.surface.radius])
    weights = cover.weights.reshape(-1, 3)[pixel]
    return Seen(
        scene.geometry, scene.surface.centre + above, size, pixel, owner[triangle[pixel]], weights,
        1.0,
    )  # fmt: skip


def _in_unit_square(uv: Floats) -> tuple[Floats, NDArray[np.int64]]:
    """Copies of triangles, moved by whole units to wherever they reach into the unit square; and
    the number of the triangle of each copy."""
    low = np.floor(uv.min(1)).astype(int)
    spread = np.clip(np.ceil(uv.max(1)).astype(int) - low, 1, _MOST_COPIES)
    copies = spread.prod(1)
    owner = np.repeat(np.arange(len(uv)), copies)
    number = np.arange(len(owner)) - np.repeat(np.cumsum(copies) - copies, copies)
    across = spread[owner, 0]
    shift = low[owner] + np.stack([number % across, number // across], 1)
    return np.asarray(uv[owner] - shift[:, None], np.float32), owner


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


@dataclass(frozen=True)
class _Baked:
    """Values of inputs at points of a regular grid in each texel."""

    size: int
    values: list[Floats]
    """For each offset, the values (texels, channels) of all inputs; 0 beside the mesh."""
    covered: list[NDArray[np.bool_]]
    offsets: list[tuple[float, float]]
    """The offsets of points from the centre of a texel."""
    tiles: int | None = None
    """UDIM tiles along a side, each an image of its own; None for a texture that repeats."""

    def of(self, channels: slice) -> Floats:
        """The values (points, channels) of all points on the mesh."""
        pairs = zip(self.values, self.covered, strict=True)
        return np.concatenate([values[covered, channels] for values, covered in pairs])

    def texture(self, channels: slice, store: Callable[[Floats], Floats]) -> Floats:
        """The texels whose bilinear interpolation is nearest to the stored values of the points, by
        least squares."""
        count, width = self.size**2, channels.stop - channels.start
        means, weight = np.zeros((count, width), np.float32), np.zeros(count, np.float32)
        stored = []
        for values, covered in zip(self.values, self.covered, strict=True):
            stored.append(store(values[:, channels]))
            means += np.where(covered[:, None], stored[-1], 0)
            weight += covered
        means /= np.maximum(weight, 1)[:, None]
        start = Grid(self.size, self.size, means)
        fill_holes(start, weight > 0)
        # the normal equations: points that no triangle covers count as the mean of their texel
        right = np.zeros_like(start.image)
        for found, covered, offset in zip(stored, self.covered, self.offsets, strict=True):
            points = np.where(covered[:, None], found, start.values).reshape(start.image.shape)
            right += self._spread(points, offset)
        right /= len(stored)
        beside = sum(abs(x) * (1 - abs(x)) for x, _ in self.offsets) / len(self.offsets)
        texels = start.image
        for _ in range(_ROUNDS):
            texels = texels + right - self._blurred(texels, beside)
        return np.asarray(texels, np.float32).reshape(count, width)

    def _spread(self, points: Floats, offset: tuple[float, float]) -> Floats:
        """The points of one offset, added by their weights to the texels that interpolate them."""
        for axis, aside in ((1, offset[0]), (0, offset[1])):
            moved = self._moved(points, 1 if aside > 0 else -1, axis)
            points = (1 - abs(aside)) * points + abs(aside) * moved
        return points

    def _blurred(self, texels: Floats, beside: float) -> Floats:
        """Interpolates at the points, and applies the transpose."""
        for axis in (0, 1):
            both = self._moved(texels, 1, axis) + self._moved(texels, -1, axis)
            texels = (1 - 2 * beside) * texels + beside * both
        return texels

    def _moved(self, texels: Floats, by: int, axis: int) -> Floats:
        """An image (size, size, channels) moved by a texel, with its own texels behind an edge of a
        tile."""
        found = np.roll(texels, by, axis)
        if self.tiles is not None:
            side = self.size // self.tiles
            edge = np.arange(0 if by > 0 else side - 1, self.size, side)
            at = (slice(None),) * axis + (edge,)
            found[at] = texels[at]
        return found
