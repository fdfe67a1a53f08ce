"""Reads a UsdShade material into plain data, with values and connections resolved by USD.

MaterialX has definitions for USD's preview nodes, with other names and values: they are converted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.files.similar_names import TILE_TOKENS
from verdigris.core.material.usd.foreign_nodes import foreign_origin
from verdigris.core.material.usd.network import Link, Network, Port, Shader, version_numbers
from verdigris.core.material.usd.usd_values import NODE_SCHEME, asset_file, colour_space, value_text

if TYPE_CHECKING:
    from pxr import Usd, UsdShade

# Render contexts that may have MaterialX nodes, best first. Houdini's Karma Material Builder writes
# `kma`; the last is the universal context.
RENDER_CONTEXTS = ("mtlx", "kma", "")
# The default of the schema MaterialXConfigAPI.
DEFAULT_VERSION = "1.38"
# The version for preview surfaces, which do not have this schema.
PREVIEW_VERSION = "1.39"
VERSION_ATTRIBUTE = "config:mtlx:version"
# MaterialX's attributes of an input, kept as custom data by document_layer.py.
UNIT_KEYS = ("unit", "unittype")
_COLOURED = ("color", "asset")
# Stands for a displacement node that MaterialX does not define.
_UNKNOWN = "ND_displacement_float"
_SURFACE = "ND_UsdPreviewSurface_surfaceshader"
_UV_TEXTURE = "ND_UsdUVTexture_23"
# The USD name of a node that reads a property ends with its type.
_READER_TYPES = {
    "int": "integer",
    "float": "float",
    "float2": "vector2",
    "float3": "vector3",
    "float4": "vector4",
    "point": "vector3",
    "normal": "vector3",
    "vector": "vector3",
    "string": "string",
}
_DEFINITIONS = {
    "UsdPreviewSurface": _SURFACE,
    "UsdUVTexture": _UV_TEXTURE,
    "UsdTransform2d": "ND_UsdTransform2d",
    **{
        f"UsdPrimvarReader_{usd}": f"ND_UsdPrimvarReader_{kind}"
        for usd, kind in _READER_TYPES.items()
    },
}
_VALUES = {
    "wrapS": {"repeat": "periodic"},
    "wrapT": {"repeat": "periodic"},
    "opacityMode": {"transparent": "0", "presence": "1"},
}
# The default: the wrapping in the image file, which few files have.
_OF_FILE = "useMetadata"
_SOURCE_SPACE, _AUTO = "sourceColorSpace", "auto"
_SPACES = {"raw": "none", "sRGB": "srgb_texture"}
# Formats with 8 bits a channel. PNG can have 16.
_EIGHT_BITS = frozenset({".jpg", ".jpeg", ".tga", ".bmp", ".gif"})
_PNG_START, _PNG_HEADER = b"\x89PNG\r\n\x1a\n", 26
_PNG_DEPTH, _PNG_KIND = 24, 25
_PNG_COLOURED = (2, 3, 6)
IsDefined = Callable[[str, tuple[int, int]], bool]
"""Whether the document, or MaterialX in this version, has a definition with this name."""


def read_network(material: UsdShade.Material, is_defined: IsDefined) -> Network:
    """The MaterialX network of a material."""
    prim = material.GetPrim()
    surface, passed_over = _find_terminal(material, "surface", is_defined)
    if surface is None:
        raise DocumentError(f"{prim.GetPath()}: {_why_no_surface(material)}")
    network = Network(prim.GetName(), str(prim.GetPath()), _version(prim, surface), surface)
    network.notes += passed_over
    stack = [surface, *_find_displacement(material, network, is_defined)]
    while stack:
        path = stack.pop().shader
        if path not in network.shaders:
            shader = _read_shader(prim, path, network, is_defined)
            network.shaders[path] = shader
            stack += [port.link for port in shader.ports if port.link]
    for graph in {shader.graph for shader in network.shaders.values()} - {""}:
        _name_outputs(prim.GetStage().GetPrimAtPath(graph), network)
    return network


def has_surface(material: UsdShade.Material, is_defined: IsDefined) -> bool:
    """Whether a material has a MaterialX surface."""
    link, _ = _find_terminal(material, "surface", is_defined)
    return link is not None and _is_defined(material.GetPrim(), link, is_defined)


def _version(prim: Usd.Prim, surface: Link) -> str:
    attribute = prim.GetAttribute(VERSION_ATTRIBUTE)
    written = str(attribute.Get() or "") if attribute else ""
    major, _, minor = written.partition(".")
    if major.isdigit() and minor[:1].isdigit():
        return written
    return PREVIEW_VERSION if _definition(prim, surface) == _SURFACE else DEFAULT_VERSION


def _find_terminal(
    material: UsdShade.Material, kind: str, is_defined: IsDefined
) -> tuple[Link | None, list[str]]:
    """The first terminal whose shader MaterialX defines, and notes on the terminals before it. If
    there is none, the first terminal: its reader names what is wrong."""
    found = list(_terminals(material, kind))
    notes: list[str] = []
    for name, link in found:
        if _is_defined(material.GetPrim(), link, is_defined):
            return link, notes
        shader_id = _definition(material.GetPrim(), link) or "without info:id"
        notes.append(
            f"{link.shader}: the output {name!r} of the material has {shader_id!r}, which is not a "
            "node of MaterialX: another output was used"
        )
    return (found[0][1] if found else None), []


def _terminals(material: UsdShade.Material, kind: str) -> Iterator[tuple[str, Link]]:
    for context in RENDER_CONTEXTS:
        name = f"{context}:{kind}" if context else kind
        output = material.GetOutput(name)
        link = _link(output) if output else None
        if link:
            yield name, link


def _definition(prim: Usd.Prim, link: Link) -> str:
    from pxr import UsdShade

    shader = UsdShade.Shader(prim.GetStage().GetPrimAtPath(link.shader))
    is_named = shader.GetImplementationSource() == "id"
    return _definition_of(str(shader.GetShaderId() or "")) if is_named else ""


def _is_defined(prim: Usd.Prim, link: Link, is_defined: IsDefined) -> bool:
    return is_defined(_definition(prim, link), version_numbers(_version(prim, link)))


def _find_displacement(
    material: UsdShade.Material, network: Network, is_defined: IsDefined
) -> list[Link]:
    """The displacement, to be read like the surface. One that MaterialX does not define is added
    without inputs: reports name it."""
    link, _ = _find_terminal(material, "displacement", is_defined)
    prim = material.GetPrim()
    # a preview surface is its own displacement, by an input
    if link is None or _definition(prim, link) == _SURFACE:
        return []
    network.displacement = link
    network.displaced_by = _find_undefined(prim, link, is_defined)
    if not network.displaced_by:
        return [link]
    graph = _outermost_graph(prim.GetStage().GetPrimAtPath(link.shader), prim)
    network.shaders[link.shader] = Shader(link.shader, _UNKNOWN, graph, ())
    return []


def _find_undefined(prim: Usd.Prim, link: Link, is_defined: IsDefined) -> str:
    """The first node upstream that MaterialX does not define; empty if there is none."""
    from pxr import UsdShade

    stack, seen = [link], {link.shader}
    while stack:
        link = stack.pop()
        if not _is_defined(prim, link, is_defined):
            return _definition(prim, link) or link.shader
        shader = UsdShade.Shader(prim.GetStage().GetPrimAtPath(link.shader))
        links = [_link(port) for port in shader.GetInputs()]
        stack += [each for each in links if each and each.shader not in seen]
        seen.update(each.shader for each in stack)
    return ""


def _why_no_surface(material: UsdShade.Material) -> str:
    prim = material.GetPrim()
    if not prim.IsLoaded():
        return "is not loaded: load its payload"
    if prim.HasAuthoredReferences() and not prim.GetChildren():
        return "its reference is not loaded or empty: check that the referenced file exists"
    others = [
        output.GetBaseName()
        for output in material.GetSurfaceOutputs()
        if output.HasConnectedSource()
    ]
    if others:
        return (
            f"has a surface only for other renderers ({', '.join(others)}): connect a MaterialX "
            "surface to its output 'mtlx:surface'"
        )
    return "has no surface: connect a MaterialX surface shader to its output 'mtlx:surface'"


def _link(port: UsdShade.Output | UsdShade.Input) -> Link | None:
    """The shader output that feeds a port, through all graphs; None if a value feeds it."""
    from pxr import UsdShade

    for attribute in UsdShade.Utils.GetValueProducingAttributes(port):
        output = UsdShade.Output(attribute) if UsdShade.Output.IsOutput(attribute) else None
        if output and UsdShade.Shader(attribute.GetPrim()):
            path = str(attribute.GetPrim().GetPath())
            return Link(path, output.GetBaseName(), str(attribute.GetTypeName()))
    return None


def _read_shader(material: Usd.Prim, path: str, network: Network, is_defined: IsDefined) -> Shader:
    from pxr import UsdShade

    prim = material.GetStage().GetPrimAtPath(path)
    shader = UsdShade.Shader(prim)
    source = shader.GetImplementationSource()
    definition = _definition_of(str(shader.GetShaderId() or "")) if source == "id" else ""
    if not definition:
        how = "has no info:id" if source == "id" else f"is defined by its {source}"
        raise DocumentError(
            f"{path}: {how}, not by a MaterialX definition: replace it with a node of MaterialX"
        )
    graph = _outermost_graph(prim, material)
    read = [_read_port(port, graph, network, is_defined) for port in shader.GetInputs()]
    ports = [port for port in read if port]
    return Shader(path, definition, graph, _ports_in_materialx(definition, ports))


def _outermost_graph(prim: Usd.Prim, material: Usd.Prim) -> str:
    from pxr import UsdShade

    found = ""
    parent = prim.GetParent()
    while parent and parent != material and not parent.IsPseudoRoot():
        if UsdShade.NodeGraph(parent) and not UsdShade.Material(parent):
            found = str(parent.GetPath())
        parent = parent.GetParent()
    return found


def _read_port(
    port: UsdShade.Input, graph: str, network: Network, is_defined: IsDefined
) -> Port | None:
    name, usd_type = port.GetBaseName(), str(port.GetTypeName())
    asker = f"{port.GetPrim().GetPath()}.{name}"
    link = _link(port)
    unknown = _why_unknown(port.GetPrim(), link, network, is_defined) if link else ""
    if link and not unknown:
        if _is_override_without_effect(port.GetAttr()):
            network.notes.append(
                f"{asker}: the stage overrides its value, which has no effect in USD, because "
                f"{link.shader} feeds it: remove the connection there as well"
            )
        return Port(name, usd_type, link=link)
    from pxr import UsdShade

    if link:
        network.notes.append(
            f"{link.shader} is {unknown}, so {asker} has its plain value: replace the node by one "
            "of MaterialX, or bake what it does to a texture"
        )
    found = [] if link else UsdShade.Utils.GetValueProducingAttributes(port)
    attribute = found[0] if found else port.GetAttr()
    value = _authored(attribute, asker, network)
    if value is None and attribute != port.GetAttr():
        attribute = port.GetAttr()
        value = _authored(attribute, asker, network)
    if value is None:
        return None
    if usd_type == "asset":
        text = asset_file(attribute, value, asker)
        if text and not text.startswith(NODE_SCHEME):
            network.folders.add(Path(text).parent)
    else:
        text = value_text(value)
    space = colour_space(attribute) if usd_type.startswith(_COLOURED) else ""
    interface = published = label = ""
    # names of geometry properties must be values of the node itself
    is_text = usd_type in ("string", "token")
    if attribute != port.GetAttr() and not is_text:
        owner = str(attribute.GetPrim().GetPath())
        given = UsdShade.Input(attribute).GetBaseName()
        interface = given if owner == graph else ""
        published = given if owner == network.path else ""
        label = attribute.GetDisplayName() if interface or published else ""
    unit, kind = (str(attribute.GetCustomDataByKey(key) or "") for key in UNIT_KEYS)
    return Port(name, usd_type, text, None, space, interface, published, label, (unit, kind))


def _why_unknown(prim: Usd.Prim, link: Link, network: Network, is_defined: IsDefined) -> str:
    """What the shader of a link is, if MaterialX does not define it; else empty."""
    name = _definition(prim, link)
    if not name:
        return "defined by code, and not by MaterialX"
    if is_defined(name, network.version_numbers):
        return ""
    origin = foreign_origin(name)
    owner = f"of {origin[0]} only" if origin else f"that MaterialX {network.version} lacks"
    return f"{name!r}, a node {owner}"


def _is_override_without_effect(attribute: Usd.Attribute) -> bool:
    """Whether the strongest layer gives a value to an attribute that a weaker one connects.
    Programs that write both into one layer mean the connection."""
    if not attribute.HasAuthoredValue():
        return False
    strongest = attribute.GetPropertyStack()[0]
    is_connected = strongest.HasInfo("connectionPaths")
    return strongest.default is not None and not is_connected


def _authored(attribute: Usd.Attribute, asker: str, network: Network) -> object:
    from pxr import Usd

    value = attribute.Get()
    if value is None and attribute.GetNumTimeSamples():
        network.notes.append(f"{asker} is animated: its first value is used")
        value = attribute.Get(Usd.TimeCode.EarliestTime())
    return value


def _name_outputs(graph: Usd.Prim, network: Network) -> None:
    from pxr import UsdShade

    for output in UsdShade.NodeGraph(graph).GetOutputs():
        link = _link(output)
        if link:
            key = str(graph.GetPath()), link.shader, link.output
            network.outputs.setdefault(key, output.GetBaseName())


def _definition_of(shader_id: str) -> str:
    """The MaterialX definition for a shader id of USD. Other ids stay."""
    return _DEFINITIONS.get(shader_id, shader_id)


def _ports_in_materialx(definition: str, ports: Sequence[Port]) -> tuple[Port, ...]:
    """The inputs of a preview node with the values and colour spaces of its definition."""
    if definition not in _DEFINITIONS.values():
        return tuple(ports)
    space = next((port.value for port in ports if port.name == _SOURCE_SPACE), None)
    kept = [
        port
        for port in ports
        if port.name != _SOURCE_SPACE and not (port.name in _VALUES and port.value == _OF_FILE)
    ]
    return tuple(_preview_port(port, definition, space) for port in kept)


def _preview_port(port: Port, definition: str, source_space: str | None) -> Port:
    known = _VALUES.get(port.name, {})
    if port.value in known:
        return replace(port, value=known[port.value])
    if definition == _UV_TEXTURE and port.name == "file" and port.value:
        if source_space in _SPACES:
            return replace(port, colour_space=_SPACES[source_space])
        if not port.colour_space:
            # `auto`: by the file
            space = _SPACES["sRGB" if _has_encoded_colours(port.value) else "raw"]
            return replace(port, colour_space=space)
    return port


def _has_encoded_colours(file: str) -> bool:
    """Whether a file is sRGB by USD's rule: it has colours with 8 bits a channel."""
    for token, first in zip(TILE_TOKENS, ("1001", "u1_v1"), strict=True):
        file = file.replace(token, first)
    path = Path(file)
    if path.suffix.lower() != ".png":
        return path.suffix.lower() in _EIGHT_BITS
    try:
        with path.open("rb") as opened:
            header = opened.read(_PNG_HEADER)
    except (OSError, ValueError):
        return True
    if len(header) < _PNG_HEADER or not header.startswith(_PNG_START):
        return True
    return header[_PNG_DEPTH] <= 8 and header[_PNG_KIND] in _PNG_COLOURED
