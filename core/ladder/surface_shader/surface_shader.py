"""A surface shader with images in place of the nodes that fed it: its document and its files.

A channel is a byte of an image, and the document decodes it: colours from sRGB, numbers by a range,
normals by a `normalmap`. A fit changes bytes and does not know what they mean. It evaluates the
same document, in which the numbers of each sample replace the images.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.colour import linear_from_srgb
from verdigris.core.base.outputs import write_own_file
from verdigris.core.ladder.texels.displacement import DISPLACEMENT
from verdigris.core.ladder.texels.images import write_png
from verdigris.core.material.codegen.geometry_values import texel_property
from verdigris.core.material.graph.library import standard_library
from verdigris.core.material.graph.traversal import is_of_document, own_graph, source_of
from verdigris.core.pictures.picture_files import srgb_from_linear

if TYPE_CHECKING:
    import MaterialX as mx

    from verdigris.core.base.array_types import FloatArray
    from verdigris.core.ladder.mesh.mesh_surface import Atlas
    from verdigris.core.ladder.texels.displacement import Displacement
    from verdigris.core.ladder.texels.grid import Grid
    from verdigris.core.material.load.mtlx_document import Material

_GRAPH, _SURFACE = "textures", "surface"
_DISPLACEMENT_SHADER = "displacementshader"
_DECODE = "srgb_texture_to_lin_rec709"
COUNTS = {"float": 1, "color3": 3, "vector3": 3}
_CLOSURES = ("BSDF", "EDF", "VDF", "surfaceshader", "volumeshader")
# Parts of names of inputs that let light pass: fits compare reflected light, which hardly tells.
_PASSING = ("transmission", "specTrans", "subsurface")
# An input that varies less than this over the surface is constant.
_LEAST_SPREAD = 1e-3
# Parts of names of inputs that emit light or make holes.
_GLOW, _HOLES = ("emission", "emissive"), ("opacity", "alpha")


@dataclass(frozen=True)
class TexturedInput:
    """An input of the surface shader that an image feeds."""

    name: str
    kind: str
    """`float`, `color3` or `vector3`: a direction, in the frame of the surface."""
    low: float = 0.0
    high: float = 1.0
    """The values of the bytes 0 and 255."""

    @property
    def channels(self) -> int:
        return COUNTS[self.kind]

    @property
    def is_direction(self) -> bool:
        return self.kind == "vector3"

    @property
    def is_colour(self) -> bool:
        """Whether bytes are in sRGB."""
        return self.kind == "color3" and self.low == 0

    @property
    def is_glow(self) -> bool:
        return any(part in self.name for part in _GLOW)

    @property
    def is_opacity(self) -> bool:
        return any(part in self.name for part in _HOLES)

    @property
    def lets_light_pass(self) -> bool:
        return any(part in self.name for part in _PASSING)

    def stored(self, values: FloatArray) -> FloatArray:
        """Values (texels, channels) of the input as numbers from 0 to 1."""
        if self.is_direction:
            return np.asarray(np.clip(0.5 + 0.5 * values, 0, 1), np.float32)
        part = np.clip((values - self.low) / (self.high - self.low), 0, 1)
        return np.asarray(srgb_from_linear(part) if self.is_colour else part, np.float32)

    def decoded(self, stored: FloatArray) -> FloatArray:
        """Stored numbers as the document decodes them. Directions are not normalised."""
        if self.is_direction:
            return 2 * stored - 1
        part = linear_from_srgb(stored) if self.is_colour else stored
        return np.asarray(self.low + (self.high - self.low) * part)

    def fitting(self, values: FloatArray) -> TexturedInput:
        """The input with a range that holds these values."""
        if self.is_direction:
            return self
        low, high = float(values.min()), float(values.max())
        if low >= -_LEAST_SPREAD and high <= 1 + _LEAST_SPREAD:
            return self
        # colours begin at black, because of the curve of sRGB
        if self.kind == "color3" or high - low < _LEAST_SPREAD:
            low = min(low, 0.0)
        return replace(self, low=low, high=max(high, low + _LEAST_SPREAD))


@dataclass(frozen=True)
class Constant:
    """An input that is the same everywhere."""

    name: str
    kind: str
    value: str
    colour_space: str = ""
    unit: tuple[str, str] = ("", "")
    """The type and the name of its unit."""


@dataclass(frozen=True)
class SurfaceShader:
    """A surface shader with its inputs."""

    category: str
    name: str
    """The name of the material."""
    inputs: tuple[TexturedInput, ...]
    constants: tuple[Constant, ...] = ()
    displacement: Displacement | None = None

    @property
    def channels(self) -> int:
        return sum(each.channels for each in self.inputs)

    @property
    def firsts(self) -> dict[str, int]:
        """The first channel of each input."""
        found, first = {}, 0
        for each in self.inputs:
            found[each.name] = first
            first += each.channels
        return found

    def bits(self, is_chosen: Callable[[TexturedInput], bool]) -> int:
        """A bit for each channel of the inputs that are chosen."""
        return sum(
            1 << self.firsts[each.name] + channel
            for each in self.inputs
            if is_chosen(each)
            for channel in range(each.channels)
        )

    def write(self, files: Mapping[str, str] | None = None) -> str:
        """The document as text. With `files` by the names of inputs, it reads images; without, it
        reads the numbers of each sample."""
        import MaterialX as mx

        root = mx.createDocument()
        root.setColorSpace("lin_rec709")
        graph = root.addNodeGraph(_GRAPH)
        surface = root.addNode(self.category, _SURFACE, "surfaceshader")
        for constant in self.constants:
            _set_constant(surface.addInput(constant.name, constant.kind), constant)
        for each in self.inputs:
            if files is None:
                node = _add_reader(graph, each, self.firsts[each.name])
            else:
                node = _add_image(graph, each, files[each.name])
            node = _add_decoding(graph, each, node)
            output = graph.addOutput(f"{each.name}_out", each.kind)
            output.setNodeName(node.getName())
            port = surface.addInput(each.name, each.kind)
            port.setNodeGraphString(_GRAPH)
            port.setOutputString(output.getName())
        material = root.addNode("surfacematerial", mx.createValidName(self.name), "material")
        material.addInput("surfaceshader", "surfaceshader").setNodeName(_SURFACE)
        if files is not None and self.displacement is not None:
            _add_displacement(root, graph, self.displacement)
            terminal = material.addInput(_DISPLACEMENT_SHADER, _DISPLACEMENT_SHADER)
            terminal.setNodeName(DISPLACEMENT)
        elif not self.inputs:
            root.removeNodeGraph(_GRAPH)
        return str(mx.writeToXmlString(root))


def _add_displacement(root: mx.Document, graph: mx.NodeGraph, given: Displacement) -> None:
    """Adds a displacement that reads the image of heights."""
    image = graph.addNode("image", graph.createValidChildName("height"), "float")
    image.addInput("file", "filename").setValueString(given.tiles or given.file)
    above = graph.addNode("subtract", graph.createValidChildName("above_mesh"), "float")
    above.addInput("in1", "float").setNodeName(image.getName())
    above.setInputValue("in2", given.midlevel, "float")
    output = graph.addOutput(graph.createValidChildName("height_out"), "float")
    output.setNodeName(above.getName())
    shader = root.addNode(DISPLACEMENT, DISPLACEMENT, _DISPLACEMENT_SHADER)
    port = shader.addInput("displacement", "float")
    port.setNodeGraphString(_GRAPH)
    port.setOutputString(output.getName())
    shader.setInputValue("scale", given.scale, "float")


def _set_constant(port: mx.Input, constant: Constant) -> None:
    port.setValueString(constant.value)
    if constant.colour_space:
        port.setColorSpace(constant.colour_space)
    if all(constant.unit):
        port.setUnitType(constant.unit[0])
        port.setUnit(constant.unit[1])


def _add_image(graph: mx.NodeGraph, each: TexturedInput, file: str) -> mx.Node:
    node = graph.addNode("image", each.name, each.kind)
    port = node.addInput("file", "filename")
    port.setValueString(file)
    if each.is_colour:
        port.setColorSpace("srgb_texture")
    return node


def _add_reader(graph: mx.NodeGraph, each: TexturedInput, first: int) -> mx.Node:
    node = graph.addNode("geompropvalue", each.name, each.kind)
    node.setInputValue("geomprop", texel_property(first), "string")
    return _feed(graph, _DECODE, node, each) if each.is_colour else node


def _add_decoding(graph: mx.NodeGraph, each: TexturedInput, node: mx.Node) -> mx.Node:
    if each.is_direction:
        return _feed(graph, "normalmap", node, each)
    if each.high - each.low != 1:
        node = _feed(graph, "multiply", node, each, each.high - each.low)
    if each.low != 0:
        node = _feed(graph, "add", node, each, each.low)
    return node


def _feed(
    graph: mx.NodeGraph, category: str, source: mx.Node, each: TexturedInput,
    number: float | None = None,
) -> mx.Node:  # fmt: skip
    """Adds a node behind another one."""
    node = graph.addNode(category, f"{each.name}_{category}", each.kind)
    port = node.addInput("in" if number is None else "in1", each.kind)
    port.setNodeName(source.getName())
    if number is not None:
        # one number for all channels of a colour
        node.addInput("in2", "float").setValue(number)
    return node


def shader_of(material: Material) -> mx.Node | None:
    """The node of the surface shader of a material."""
    import MaterialX as mx

    node = material.element
    if node.getType() == "material":
        node = node.getInput("surfaceshader")
    return node if node is None or isinstance(node, mx.Node) else source_of(node)


def is_plain_surface(node: mx.Node) -> bool:
    """Whether a node is a surface shader of the library, fed only by numbers, colours and
    directions. Definitions of the document, layers and mixes are not."""
    definition = node.getNodeDef()
    if definition is None or is_of_document(definition, node) or own_graph(node):
        return False
    if any(port.getType() in _CLOSURES for port in definition.getActiveInputs()):
        return False
    fed = [port for port in node.getInputs() if source_of(port) is not None]
    return node.getType() == "surfaceshader" and all(port.getType() in COUNTS for port in fed)


def fed_inputs(surface: mx.Node) -> list[TexturedInput]:
    """The inputs of a surface shader that nodes feed."""
    return [
        TexturedInput(port.getName(), port.getType())
        for port in surface.getInputs()
        if source_of(port) is not None
    ]


def constants_of(surface: mx.Node, left_out: Sequence[str] = ()) -> tuple[Constant, ...]:
    """The inputs of a surface shader that have a value."""
    found = []
    for port in surface.getInputs():
        value = port.getResolvedValueString()
        if not value or port.getName() in left_out:
            continue
        space = port.getActiveColorSpace() if port.getType() == "color3" else ""
        unit = port.getUnitType(), port.getUnit()
        found.append(Constant(port.getName(), port.getType(), value, space, unit))
    return tuple(found)


def constant_of(each: TexturedInput, value: Sequence[float]) -> Constant:
    """The constant in place of an input that is the same everywhere."""
    text = ", ".join(f"{number:.6g}" for number in value)
    return Constant(each.name, each.kind, text)


def is_constant(values: FloatArray) -> bool:
    """Whether values (texels, channels) are the same all over the surface."""
    return bool((np.ptp(values, axis=0) < _LEAST_SPREAD).all())


def write_surface(
    shader: SurfaceShader, grid: Grid, folder: Path, name: str, atlas: Atlas | None = None
) -> tuple[str, dict[str, str]]:
    """Writes the document `NAME.mtlx` and its images. Returns the name of the document, and the
    file names by the inputs that they feed. Names of UDIM tiles contain <UDIM>."""
    files = write_images(shader, grid, folder, name, atlas)
    document = f"{name}.mtlx"
    write_own_file(folder / document, shader.write(files).encode())
    return document, files


def write_images(
    shader: SurfaceShader, grid: Grid, folder: Path, name: str, atlas: Atlas | None = None,
    there: Mapping[str, str] = MappingProxyType({}),
) -> dict[str, str]:  # fmt: skip
    """Writes an image `NAME_INPUT.png` for each input that has no file in `there`. Returns the file
    names by input."""
    files = {}
    for each in shader.inputs:
        if each.name in there:
            files[each.name] = there[each.name]
            continue
        first = shader.firsts[each.name]
        image = grid.image[..., first : first + each.channels]
        stem = f"{name}_{each.name}"
        if atlas is None:
            files[each.name] = f"{stem}.png"
            write_png(folder / files[each.name], image)
        else:
            files[each.name] = write_tiles(folder, stem, image, atlas)
    return files


def write_tiles(folder: Path, stem: str, pixels: FloatArray, atlas: Atlas) -> str:
    """Writes each UDIM tile of an image (height, width, channels) as a file. Returns the name of
    the files, which contains <UDIM>."""
    for number, (left, bottom, side) in atlas.parts(len(pixels)).items():
        tile = pixels[bottom : bottom + side, left : left + side]
        write_png(folder / f"{stem}.{number}.png", tile)
    return f"{stem}.<UDIM>.png"


def describe_shader(shader: SurfaceShader, files: Mapping[str, str]) -> dict[str, Any]:
    """The shader for programs that make a node of it: numbers and textures by input. Inputs that
    the document leaves out have the values of the library."""
    known = _library_values(shader.category)
    known |= {each.name: _value_of(each) for each in shader.constants}
    for name in (each.name for each in shader.inputs):
        known.pop(name, None)
    return {
        "category": shader.category,
        "values": {name: value for name, value in known.items() if value is not None},
        "textures": {
            each.name: {
                "file": files[each.name],
                "is_colour": each.is_colour,
                "is_direction": each.is_direction,
                "low": each.low,
                "high": each.high,
            }
            for each in shader.inputs
        },
    }


def _library_values(category: str) -> dict[str, bool | float | list[float] | None]:
    found = standard_library().getMatchingNodeDefs(category)
    definition = next((each for each in found if each.getDefaultVersion()), found[0])
    constants = (
        Constant(port.getName(), port.getType(), port.getValueString())
        for port in definition.getActiveInputs()
        if port.getValueString()
    )
    return {each.name: _value_of(each) for each in constants}


def _value_of(constant: Constant) -> bool | float | list[float] | None:
    """The number or linear colour of an input; None if it is of another kind."""
    if constant.kind == "boolean":
        return constant.value == "true"
    if constant.kind == "integer":
        return int(constant.value)
    if constant.kind not in ("float", "color3", "vector3"):
        return None
    numbers = [float(each) for each in constant.value.split(",")]
    if constant.colour_space == "srgb_texture":
        numbers = np.round(linear_from_srgb(np.array(numbers)), 6).tolist()
    return numbers[0] if constant.kind == "float" else numbers
