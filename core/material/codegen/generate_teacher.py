"""Generates the teacher: a Slang module with the graph of a material as an `ITeacher`."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import DocumentError
from verdigris.core.base.process.profile import profiled
from verdigris.core.base.text import describe_locale
from verdigris.core.material.analyse.transmission import Transmission, require_transmission
from verdigris.core.material.codegen.code_repairs import repair
from verdigris.core.material.codegen.generator_input import prepare_document
from verdigris.core.material.codegen.geometry_values import read_properties, sample_code
from verdigris.core.material.codegen.node_sources import has_sources, with_sources
from verdigris.core.material.codegen.shader_teacher import check_images, find_shader, shader_code
from verdigris.core.material.domain import MOST_SETS
from verdigris.core.material.files.image_headers import find_atlas
from verdigris.core.material.files.paths import is_tiled
from verdigris.core.material.graph.library import OVERRIDE_FOLDER, standard_library
from verdigris.core.material.graph.traversal import counterpart, image_inputs
from verdigris.core.material.live_inputs.live_input import KEPT_HEIGHTS
from verdigris.core.material.live_inputs.open_inputs import (
    find_number,
    inputs_of_heights,
    open_inputs,
    value_code,
)

if TYPE_CHECKING:
    import MaterialX as mx
    from MaterialX import PyMaterialXGenShader as Gen

    from verdigris.core.material.domain import MeshPoints, Tiles
    from verdigris.core.material.live_inputs.live_input import LiveInput
    from verdigris.core.material.load.mtlx_document import Document, Material

_LANES_FOR_SLOPES = 4
_VERTEX_FIELDS = {
    "positionWorld": "point.position",
    "positionObject": "point.position",
    "normalWorld": "point.normal",
    "normalObject": "point.normal",
    "tangentWorld": "point.tangent",
    "tangentObject": "point.tangent",
    "bitangentWorld": "point.bitangent",
    "bitangentObject": "point.bitangent",
}
_TEXEL_LINES = (
    "import network_constants;",
    "import ladder.surface_shader.texel_surface;",
    "#define VERDIGRIS_TEXELS 1",
    "static float gTexelValues[kLatentChannels];",
)
# A surface that transmits evaluates its closures for the side on which the light is.
_LIT_FROM_BELOW = ("makeClosureData(CLOSURE_TYPE_REFLECTION,", "makeClosureData(CLOSURE_TYPE_LIT,")
_NUMERIC = ("float", "integer", "boolean", "vector2", "vector3", "vector4", "color3", "color4")


@dataclass(frozen=True)
class TextureSlot:
    """A variable in the constant buffer for an image."""

    uniform: str
    file: str
    asker: str
    colour_space: str = ""
    """Texels are converted from this colour space before the upload; generated code converts them
    itself."""


@dataclass(frozen=True)
class GeneratedMaterial:
    """A Slang module, with the images and values that must be bound to run it."""

    name: str
    source: str
    textures: tuple[TextureSlot, ...]
    uniforms: tuple[tuple[str, Any], ...]
    takes_slopes: bool
    live: tuple[LiveInput, ...] = ()
    tiles: Tiles | None = None
    """The UDIM tiles whose atlas is the unit square."""
    transmission: Transmission | None = None
    """How light passes through the surface; None if it is opaque."""
    modules: tuple[tuple[str, str], ...] = ()
    """Modules that the source imports, by name, each after those that it imports."""
    samplers: tuple[str, ...] = ()
    tables: tuple[tuple[str, str], ...] = ()
    """Names of files of numbers, by variable."""
    has_code: bool = False
    """Whether files implement nodes of its document."""
    is_shader_file: bool = False
    """Whether a shader file has the code: it declares its variables itself, not in a block."""

    @property
    def lanes_per_sample(self) -> int:
        return _lanes(self.takes_slopes)

    @cached_property
    def digest(self) -> str:
        return hashlib.sha256(self.source.encode()).hexdigest()[:24]


@profiled("generate material code")
def generate(
    document: Document,
    material: Material,
    mesh: MeshPoints | None = None,
    live: Sequence[LiveInput] = (),
    has_atlas: bool = True,
    has_texels: bool = False,
    tiles: Tiles | None = None,
) -> GeneratedMaterial:
    """Generates the Slang module of one material, ready to link with the kernels that evaluate it.
    With a mesh, points of the unit square are those of its surface. With `has_atlas`, they are
    those of `tiles`, or else of all UDIM tiles of its images. With `has_texels`, it reads numbers
    of texels (geometry_values.py)."""
    import MaterialX as mx

    document.check(material)
    surface = find_shader(document, material)
    if surface is not None:
        return _of_shader(document, material, surface, mesh, live)
    transmission = require_transmission(list(document.nodes_of(material)), document.name)
    generator, context = _generator()
    try:
        nodes, opened = list(document.nodes_of(material)), document.root
        if live:
            # nodes live with their document
            opened = open_inputs(opened, live)
            nodes = [counterpart(node, opened) for node in nodes]
        if mesh and mesh.properties:
            # the previous document must live until its nodes are found in the next one
            read = read_properties(opened, mesh.properties)
            nodes = [counterpart(node, read) for node in nodes]
            opened = read
        if has_sources(opened):
            coded = with_sources(opened, document)
            nodes = [counterpart(node, coded) for node in nodes]
            opened = coded
        # an element lives with its document
        _root, element = prepare_document(opened, nodes, material.element, document.root)
        shader = generator.generate("material", element, context)
    except (mx.Exception, LookupError, RuntimeError) as failure:
        raise DocumentError(
            f"{document.name}: MaterialX cannot generate material {material.name!r}: {failure}"
        ) from None
    stage = shader.getStage("pixel")
    code = _repaired_code(shader, document, material)
    if transmission:
        code = code.replace(*_LIT_FROM_BELOW)
    takes_slopes = "mx_heighttonormal" in code
    textures, uniforms = _bindings(stage, document.name, nodes)
    has_tiles = any(is_tiled(slot.file) or not slot.file for slot in textures)
    if mesh or not has_atlas:
        tiles = mesh.tiles if mesh else None
    elif tiles is None:
        tiles = find_atlas([slot.file for slot in textures], document.search)
    source = "\n".join(
        (
            "import material.teacher.interface;",
            "import material.teacher.albedo;",
            f"#define VERDIGRIS_QUADS {int(takes_slopes)}",
            f"#define VERDIGRIS_TILES {int(has_tiles)}",
            *_transmission_lines(transmission),
            *(_TEXEL_LINES if has_texels else ()),
            f"export static const uint kLanesPerSample = {_lanes(takes_slopes)};",
            '#include "material/teacher/prelude.slang"',
            code,
            *_mesh_lines(mesh),
            *_atlas_lines(tiles if mesh is None else None),
            *(["uniform float3 gLiveValues;"] if live else []),
            _vertex_adapter(stage, mesh, live),
            '#include "material/teacher/material.slang"',
        )
    )
    _require_reached(document, material, source, live)
    return GeneratedMaterial(
        material.name,
        source,
        textures,
        uniforms,
        takes_slopes,
        tuple(live),
        tiles,
        transmission,
        has_code=has_sources(document.root),
    )


def _of_shader(
    document: Document,
    material: Material,
    surface: mx.Node,
    mesh: MeshPoints | None,
    live: Sequence[LiveInput],
) -> GeneratedMaterial:
    """The module of a surface that a shader file implements."""
    values = [value_code(each, number) for number, each in enumerate(live)]
    uv = "gMeshSets[0]" if mesh and mesh.sets else "point.uv"
    code = shader_code(document, surface, live, uv, values, mesh is not None)
    slots = tuple(
        TextureSlot(
            variable,
            port.getResolvedValueString(),
            f"{document.name}: {variable}",
            port.getActiveColorSpace(),
        )
        for variable, port in code.images
    )
    check_images(document, [slot.file for slot in slots])
    source = "\n".join(
        (
            "import material.teacher.interface;",
            "#define VERDIGRIS_SHADER_FILE 1",
            f"#define VERDIGRIS_TRANSMITS {int(code.index_below is not None)}",
            f"export static const uint kLanesPerSample = {_lanes(False)};",
            *_mesh_lines(mesh),
            *(["uniform float3 gLiveValues;"] if live else []),
            code.shade,
            '#include "material/teacher/material.slang"',
        )
    )
    return GeneratedMaterial(
        material.name,
        source,
        slots,
        code.uniforms,
        False,
        tuple(live),
        mesh.tiles if mesh else None,
        None if code.index_below is None else Transmission(code.index_below == 1, code.index_below),
        modules=code.modules,
        samplers=code.samplers,
        tables=code.tables,
        is_shader_file=True,
    )


def _require_reached(
    document: Document, material: Material, source: str, live: Sequence[LiveInput]
) -> None:
    for number, each in enumerate(live):
        if value_code(each, number) not in source:
            other = f"{KEPT_HEIGHTS}: leave it out"
            if not inputs_of_heights(document, material, [each]):
                other = "name the input that uses it by its path"
            raise DocumentError(
                f"{document.name}: live input {each.name!r} does not reach material "
                f"{material.name!r}: {other}"
            )


def _lanes(takes_slopes: bool) -> int:
    """Threads that evaluate a sample together."""
    return _LANES_FOR_SLOPES if takes_slopes else 1


def _repaired_code(shader: Gen.Shader, document: Document, material: Material) -> str:
    try:
        return repair(shader.getSourceCode("pixel"))
    except UnicodeDecodeError:
        # MaterialX asks the C library for each byte whether it is a letter
        raise DocumentError(
            f"{document.name}: MaterialX cannot generate material {material.name!r}: its "
            f"letters do not exist in {describe_locale()}"
        ) from None


def _generator() -> tuple[Gen.ShaderGenerator, Gen.GenContext]:
    """A Slang generator with colour management, units and one light.

    It folds constants into the code, so that unused parts of a material cost nothing.
    """
    import MaterialX as mx
    from MaterialX import PyMaterialXGenShader as Gen
    from MaterialX import PyMaterialXGenSlang as GenSlang

    library = standard_library()
    generator = GenSlang.SlangShaderGenerator.create()
    context = Gen.GenContext(generator)
    search = mx.FileSearchPath(OVERRIDE_FOLDER.as_posix())
    search.append(mx.getDefaultDataSearchPath())
    context.registerSourceCodeSearchPath(search)

    colours = Gen.DefaultColorManagementSystem.create(generator.getTarget())
    colours.loadLibrary(library)
    generator.setColorManagementSystem(colours)
    units = Gen.UnitSystem.create(generator.getTarget())
    units.loadLibrary(library)
    units.setUnitConverterRegistry(_unit_converters(library))
    generator.setUnitSystem(units)

    options = context.getOptions()
    options.targetColorSpaceOverride = "lin_rec709"
    options.targetDistanceUnit = "meter"
    options.shaderInterfaceType = Gen.ShaderInterfaceType.SHADER_INTERFACE_REDUCED
    none = Gen.HwSpecularEnvironmentMethod.SPECULAR_ENVIRONMENT_NONE
    options.hwSpecularEnvironmentMethod = none
    options.hwMaxActiveLightSources = 1
    options.hwTransparency = True
    options.fileTextureVerticalFlip = False
    light = library.getNodeDef("ND_directional_light")
    Gen.HwShaderGenerator.bindLightShader(light, 1, context)
    return generator, context


def _unit_converters(library: mx.Document) -> mx.UnitConverterRegistry:
    import MaterialX as mx

    registry = mx.UnitConverterRegistry.create()
    for kind in ("distance", "angle"):
        definition = library.getUnitTypeDef(kind)
        registry.addUnitConverter(definition, mx.LinearUnitConverter.create(definition))
    return registry


def _mesh_lines(mesh: MeshPoints | None) -> list[str]:
    """Constants and variables for a mesh. Its digest makes the code differ between meshes."""
    if mesh is None:
        return []
    side = mesh.tiles.side if mesh.tiles else 1
    return [
        "#define VERDIGRIS_MESH 1",
        f"// {mesh.digest}",
        f"static const uint kMeshSize = {mesh.size};",
        f"static const uint kMeshQuads = {mesh.quads};",
        f"static const float kMeshTiles = {side}.0;",
        f"static const uint kMeshTexels = {mesh.size // side};",
        "static float3 gMeshColour;",
        f"static float2 gMeshSets[{MOST_SETS}];",
        f"static const uint kMeshProperties = {len(mesh.properties)};",
        f"static float4 gMeshProperties[{max(1, len(mesh.properties))}];",
    ]


def _transmission_lines(transmission: Transmission | None) -> list[str]:
    if transmission is None:
        return []
    return [
        "import material.teacher.transmission;",
        "#define VERDIGRIS_TRANSMITS 1",
        f"static const bool kIsThin = {str(transmission.is_thin).lower()};",
        f"static const float kIndexBelow = {transmission.index:.9g};",
    ]


def _atlas_lines(tiles: Tiles | None) -> list[str]:
    """Constants for an atlas, whose points are moved to their tiles."""
    if tiles is None:
        return []
    first = ", ".join(f"{each}.0" for each in tiles.first)
    return [
        "#define VERDIGRIS_ATLAS 1",
        f"static const float2 kFirstTile = float2({first});",
        f"static const float kTilesAlongSide = {tiles.side}.0;",
    ]


def _vertex_adapter(
    stage: Gen.ShaderStage, mesh: MeshPoints | None = None, live: Sequence[LiveInput] = ()
) -> str:
    """The code of a function that fills the vertex data of this document.

    Geometry properties without a default are zero; pairs of numbers are the texture coordinates.
    Painted colours are white, because most graphs multiply by them.
    """
    lines = []
    for port in _ports(stage.getInputBlocks().get("VertexData")):
        name, kind = port.getVariable(), port.getType().getName()
        number = find_number(name)
        if number is not None:
            lines.append(f"    vertex.{name} = {value_code(live[number], number)};")
        elif (value := sample_code(name, kind)) is not None:
            lines.append(f"    vertex.{name} = {value};")
        elif name in _VERTEX_FIELDS:
            lines.append(f"    vertex.{name} = {_VERTEX_FIELDS[name]};")
        elif name.startswith("texcoord"):
            number = int(name.rpartition("_")[2] or 0)
            uv = f"gMeshSets[{number}]" if mesh and number < mesh.sets else "point.uv"
            value = uv if kind == "vector2" else f"float3({uv}, 0.0)"
            lines.append(f"    vertex.{name} = {value};")
        elif name.startswith("color_"):
            white = "float4(gMeshColour, 1.0)" if mesh else "1.0"
            lines.append(f"    vertex.{name} = {white};")
        elif kind == "vector2":
            lines.append(f"    vertex.{name} = {'gMeshSets[0]' if mesh else 'point.uv'};")
    body = "\n".join(lines)
    return (
        "VertexData vertexAt(SurfacePoint point)\n{\n    VertexData vertex = {};\n"
        f"{body}\n    return vertex;\n}}"
    )


def _bindings(
    stage: Gen.ShaderStage, document_name: str, nodes: Sequence[mx.Node]
) -> tuple[tuple[TextureSlot, ...], tuple[tuple[str, Any], ...]]:
    textures: list[TextureSlot] = []
    uniforms: list[tuple[str, Any]] = []
    ports = [port for node in nodes for port in image_inputs(node)]
    askers = {port.getResolvedValueString(): port.getNamePath() for port in reversed(ports)}
    for port in _ports(stage.getUniformBlocks().get("PublicUniforms")):
        value = port.getValue()
        kind = port.getType().getName()
        if kind == "filename":
            file = value.getValueString() if value else ""
            asker = f"{document_name}: {askers.get(file, port.getPath())}"
            textures.append(TextureSlot(port.getVariable(), file, asker))
        elif kind in _NUMERIC and value is not None:
            data = value.getData()
            plain = data.asTuple() if hasattr(data, "asTuple") else data
            uniforms.append((port.getVariable(), plain))
    return tuple(textures), tuple(uniforms)


def _ports(block: Gen.VariableBlock | None) -> list[Gen.ShaderPort]:
    return [] if block is None else [block[index] for index in range(block.size())]
