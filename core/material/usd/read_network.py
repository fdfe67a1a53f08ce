"""Reads a UsdShade material into plain data, with values and connections resolved by USD."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.usd.network import Link, Network, Port, Shader, version_numbers
from verdigris.core.material.usd.preview_nodes import SURFACE, definition_of, ports_in_materialx
from verdigris.core.material.usd.usd_values import asset_file, colour_space, value_text

if TYPE_CHECKING:
    from pxr import Usd, UsdShade

# Render contexts that may have MaterialX nodes, best first. Houdini's Karma Material Builder writes
# `kma`; the last is the universal context.
RENDER_CONTEXTS = ("mtlx", "kma", "")
# The default of the schema MaterialXConfigAPI.
DEFAULT_VERSION = "1.38"
# Of preview surfaces, which have no such schema.
PREVIEW_VERSION = "1.39"
VERSION_ATTRIBUTE = "config:mtlx:version"
_COLOURED = ("color", "asset")
# Stands for a displacement, which is dropped, whatever node it is.
_DISPLACEMENT = "ND_displacement_float"

IsDefined = Callable[[str, tuple[int, int]], bool]
"""Whether MaterialX, in a version, or the document has a definition of this name."""


def read_network(material: UsdShade.Material, is_defined: IsDefined) -> Network:
    """The MaterialX network of a material."""
    prim = material.GetPrim()
    surface, passed_over = _find_terminal(material, "surface", is_defined)
    if surface is None:
        raise DocumentError(f"{prim.GetPath()}: {_why_no_surface(material)}")
    network = Network(prim.GetName(), str(prim.GetPath()), _version(prim, surface), surface)
    network.notes += passed_over
    stack = [surface]
    while stack:
        path = stack.pop().shader
        if path not in network.shaders:
            shader = _read_shader(prim, path, network)
            network.shaders[path] = shader
            stack += [port.link for port in shader.ports if port.link]
    _add_displacement(material, network, is_defined)
    for graph in {shader.graph for shader in network.shaders.values()} - {""}:
        _name_outputs(prim.GetStage().GetPrimAtPath(graph), network)
    return network


def has_surface(material: UsdShade.Material, is_defined: IsDefined) -> bool:
    """Whether a material has a surface of MaterialX."""
    link, _ = _find_terminal(material, "surface", is_defined)
    return link is not None and _is_defined(material.GetPrim(), link, is_defined)


def _version(prim: Usd.Prim, surface: Link) -> str:
    attribute = prim.GetAttribute(VERSION_ATTRIBUTE)
    written = str(attribute.Get() or "") if attribute else ""
    major, _, minor = written.partition(".")
    if major.isdigit() and minor[:1].isdigit():
        return written
    return PREVIEW_VERSION if _definition(prim, surface) == SURFACE else DEFAULT_VERSION


def _find_terminal(
    material: UsdShade.Material, kind: str, is_defined: IsDefined
) -> tuple[Link | None, list[str]]:
    """The first terminal whose shader MaterialX defines, and notes of those before it. Without any,
    the first terminal: its reader names what is wrong."""
    found = list(_terminals(material, kind))
    notes: list[str] = []
    for name, link in found:
        if _is_defined(material.GetPrim(), link, is_defined):
            return link, notes
        shader_id = _definition(material.GetPrim(), link) or "without info:id"
        notes.append(
            f"{link.shader}: the output {name!r} of the material has {shader_id!r}, which is no "
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
    return definition_of(str(shader.GetShaderId() or "")) if is_named else ""


def _is_defined(prim: Usd.Prim, link: Link, is_defined: IsDefined) -> bool:
    return is_defined(_definition(prim, link), version_numbers(_version(prim, link)))


def _add_displacement(material: UsdShade.Material, network: Network, is_defined: IsDefined) -> None:
    """Adds the displacement without its inputs: reports name it, and it is not baked."""
    link, _ = _find_terminal(material, "displacement", is_defined)
    # a preview surface is its own displacement, by an input
    if link is None or link.shader in network.shaders:
        return
    prim = material.GetPrim()
    graph = _outermost_graph(prim.GetStage().GetPrimAtPath(link.shader), prim)
    network.displacement = link
    network.shaders[link.shader] = Shader(link.shader, _DISPLACEMENT, graph, ())


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
    """The shader output that feeds a port, through all graphs; None if a value does."""
    from pxr import UsdShade

    for attribute in UsdShade.Utils.GetValueProducingAttributes(port):
        output = UsdShade.Output(attribute) if UsdShade.Output.IsOutput(attribute) else None
        if output and UsdShade.Shader(attribute.GetPrim()):
            path = str(attribute.GetPrim().GetPath())
            return Link(path, output.GetBaseName(), str(attribute.GetTypeName()))
    return None


def _read_shader(material: Usd.Prim, path: str, network: Network) -> Shader:
    from pxr import UsdShade

    prim = material.GetStage().GetPrimAtPath(path)
    shader = UsdShade.Shader(prim)
    source = shader.GetImplementationSource()
    definition = definition_of(str(shader.GetShaderId() or "")) if source == "id" else ""
    if not definition:
        how = "has no info:id" if source == "id" else f"is defined by its {source}"
        raise DocumentError(
            f"{path}: {how}, not by a MaterialX definition: replace it by a node of MaterialX"
        )
    graph = _outermost_graph(prim, material)
    read = [_read_port(port, graph, network) for port in shader.GetInputs()]
    ports = [port for port in read if port]
    return Shader(path, definition, graph, ports_in_materialx(definition, ports))


def _outermost_graph(prim: Usd.Prim, material: Usd.Prim) -> str:
    from pxr import UsdShade

    found = ""
    parent = prim.GetParent()
    while parent and parent != material and not parent.IsPseudoRoot():
        if UsdShade.NodeGraph(parent) and not UsdShade.Material(parent):
            found = str(parent.GetPath())
        parent = parent.GetParent()
    return found


def _read_port(port: UsdShade.Input, graph: str, network: Network) -> Port | None:
    name, usd_type = port.GetBaseName(), str(port.GetTypeName())
    asker = f"{port.GetPrim().GetPath()}.{name}"
    link = _link(port)
    if link:
        return Port(name, usd_type, link=link)
    from pxr import UsdShade

    found = UsdShade.Utils.GetValueProducingAttributes(port)
    attribute = found[0] if found else port.GetAttr()
    value = _authored(attribute, asker, network)
    if value is None and attribute != port.GetAttr():
        attribute = port.GetAttr()
        value = _authored(attribute, asker, network)
    if value is None:
        return None
    if usd_type == "asset":
        text = asset_file(attribute, value, asker)
        if text:
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
    return Port(name, usd_type, text, None, space, interface, published, label)


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
