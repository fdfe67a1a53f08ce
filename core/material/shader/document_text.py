"""The MaterialX document of a shader file: a surface that the file implements, with the parameters
of the shader as its inputs."""

from __future__ import annotations

import re
import xml.etree.ElementTree as xml
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from verdigris.core.base.errors import DocumentError
from verdigris.core.base.text import with_plain_letters
from verdigris.core.material.files.paths import SearchPath
from verdigris.core.material.shader.declarations import Declarations
from verdigris.core.material.shader.expand import ShaderText, expand_shader
from verdigris.core.material.shader.reached_code import without_unused
from verdigris.shaders import SHADER_FOLDER

if TYPE_CHECKING:
    import MaterialX as mx

TARGET = "genslang"
# Attributes of the implementation, and of inputs of the definition.
TRANSMISSION, LEFT_OUT, ZERO = "transmission", "leftout", "zero"
ROLES = ("response", "emission", "opacity", "height")
# What a variable may hold of each place, by its attribute: code for it in the teacher.
PLACES = {
    "Footprint": "point.footprint",
    "Position": "point.position",
    "Normal": "point.normal",
    "VertexColour": "gMeshColour",
}
TRIMMED, OF_PLACES = "trimmed", "places"
DEFINES, SAMPLERS, DIGEST = "defines", "samplers", "sha256"
BLOCK, TABLE = "block", "table"
# The folder of an implementation whose shader is one of ours, which reads measurements.
OWN_FOLDER = "verdigris"
OWN_SHADERS = SHADER_FOLDER / "material" / "measured"


@dataclass(frozen=True)
class Parameter:
    """A parameter of a shader as an input of its document."""

    name: str
    kind: str
    """The MaterialX type."""
    value: str
    block: str = ""
    """The constant buffer around it; empty for a global variable."""
    low: str = ""
    high: str = ""
    label: str = ""
    colour_space: str = ""
    is_table: bool = False
    """Whether the value names a file of numbers."""


@dataclass(frozen=True)
class ShaderFile:
    """A shader file with what it declares."""

    text: ShaderText
    declarations: Declarations
    functions: Mapping[str, str]
    """Names of its functions by their role."""
    parameters: tuple[Parameter, ...] = ()
    samplers: tuple[str, ...] = ()
    defines: Mapping[str, str] = field(default_factory=dict)
    transmission: str = ""
    """The index of the solid below, 1 for a thin wall; empty if no light passes."""
    left_out: tuple[str, ...] = ()
    """Variables that its functions do not use, with their types."""
    places: Mapping[str, str] = field(default_factory=dict)
    """Variables that each place sets, by their attribute."""
    zero: tuple[str, ...] = ()
    """Constants of an engine that they use and that read as 0, with their types."""
    is_trimmed: bool = False
    """Whether it compiles only without the functions that it does not use."""


def document_text(stem: str, file: str, shader: ShaderFile) -> str:
    """The text of a document with one material, called `stem`, that the shader in `file`
    implements."""
    name = with_plain_letters(stem)
    # a name of an element of XML
    category = f"shader_{re.sub(r'[^0-9A-Za-z_]', '_', name)}"
    root = xml.Element("materialx", version="1.39")
    definition = xml.SubElement(root, "nodedef", name=f"ND_{category}", node=category)
    node = xml.Element(category, name=f"{name}_surface", type="surfaceshader")
    for each in shader.parameters:
        offered = {"name": each.name, "type": each.kind, "value": each.value}
        if each.block:
            offered[BLOCK] = each.block
        if each.is_table:
            offered[TABLE] = "true"
        if each.label:
            offered["uiname"] = each.label
        if each.low:
            offered |= {"uimin": each.low, "uimax": each.high}
        xml.SubElement(definition, "input", offered)
        given = {"name": each.name, "type": each.kind, "value": each.value}
        if each.colour_space:
            given["colorspace"] = each.colour_space
        xml.SubElement(node, "input", given)
    xml.SubElement(definition, "output", name="out", type="surfaceshader")
    implementation = {
        "name": f"IM_{category}_{TARGET}",
        "nodedef": f"ND_{category}",
        "file": file,
        "target": TARGET,
        DIGEST: shader.text.digest,
        **shader.functions,
    }
    if shader.samplers:
        implementation[SAMPLERS] = ", ".join(shader.samplers)
    if shader.left_out:
        implementation[LEFT_OUT] = "; ".join(shader.left_out)
    if shader.places:
        listed = (f"{role} {name}" for role, name in shader.places.items())
        implementation[OF_PLACES] = ", ".join(listed)
    if shader.zero:
        implementation[ZERO] = "; ".join(shader.zero)
    if shader.is_trimmed:
        implementation[TRIMMED] = "true"
    if shader.transmission:
        implementation[TRANSMISSION] = shader.transmission
    if shader.defines:
        implementation[DEFINES] = "\n".join(f"{key}={v}" for key, v in shader.defines.items())
    xml.SubElement(root, "implementation", implementation)
    root.append(node)
    material = xml.SubElement(root, "surfacematerial", name=name, type="material")
    xml.SubElement(
        material, "input", name="surfaceshader", type="surfaceshader", nodename=f"{name}_surface"
    )
    xml.indent(root)
    return xml.tostring(root, encoding="unicode") + "\n"


def expand_implementation(
    implementation: mx.Implementation,
    search: SearchPath,
    asker: str = "",
    is_fragment: bool = False,
) -> ShaderText:
    """The text of the file that implements a surface, or a node as a fragment of code."""
    where = f"{asker}{implementation.getName()}"
    folder, _, own = implementation.getFile().rpartition("/")
    if folder == OWN_FOLDER and re.fullmatch(r"\w+\.slang", own):
        return expand_shader(OWN_SHADERS / own, SearchPath())
    path = search.require(implementation.getFile(), None, where, DocumentError)
    defines = parse_defines(implementation.getAttribute(DEFINES))
    found = expand_shader(path, search, defines, is_fragment)
    if implementation.getAttribute(TRIMMED):
        functions = [name for role in ROLES if (name := implementation.getAttribute(role))]
        found = replace(found, text=without_unused(found.text, functions))
    return found


def parse_defines(lines: str) -> dict[str, str]:
    """Definitions from lines such as QUALITY=2; without a value it is 1."""
    found = {}
    for text in filter(None, lines.split("\n")):
        name, _, value = text.partition("=")
        found[name.strip()] = value.strip() or "1"
    return found
