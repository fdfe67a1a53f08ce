"""Reads a UsdShade material into plain data, with values and connections resolved by USD."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.usd.usd_values import asset_file, colour_space, value_text

if TYPE_CHECKING:
    from pxr import Usd, UsdShade

RENDER_CONTEXT = "mtlx"
# The default of the schema MaterialXConfigAPI.
DEFAULT_VERSION = "1.38"
VERSION_ATTRIBUTE = "config:mtlx:version"
_COLOURED = ("color", "asset")


@dataclass(frozen=True)
class Link:
    """The shader output that feeds an input."""

    shader: str
    output: str
    usd_type: str


@dataclass(frozen=True)
class Port:
    """An input: its value or link, and the graph input that it reads."""

    name: str
    usd_type: str
    value: str | None = None
    link: Link | None = None
    colour_space: str = ""
    interface: str = ""


@dataclass(frozen=True)
class Shader:
    """A shader prim. `graph` is the outermost node graph around it, or empty."""

    path: str
    definition: str
    graph: str
    ports: tuple[Port, ...]


@dataclass
class Network:
    """All shaders upstream of one material."""

    name: str
    path: str
    version: str
    surface: Link
    displacement: Link | None = None
    shaders: dict[str, Shader] = field(default_factory=dict)
    outputs: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """(graph, shader, output) -> name of the graph output."""
    folders: set[Path] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)

    @property
    def version_numbers(self) -> tuple[int, int]:
        major, _, minor = self.version.partition(".")
        return int(major), int(minor.partition(".")[0] or 0)


def read_network(material: UsdShade.Material) -> Network:
    """The MaterialX network of a material."""
    surface = _terminal(material, "surface")
    prim = material.GetPrim()
    if surface is None:
        raise DocumentError(f"{prim.GetPath()}: {_why_no_surface(material)}")
    network = Network(prim.GetName(), str(prim.GetPath()), _version(prim), surface)
    network.displacement = _terminal(material, "displacement")
    stack = [link for link in (network.surface, network.displacement) if link]
    while stack:
        path = stack.pop().shader
        if path not in network.shaders:
            shader = _read_shader(prim, path, network)
            network.shaders[path] = shader
            stack += [port.link for port in shader.ports if port.link]
    for graph in {shader.graph for shader in network.shaders.values()} - {""}:
        _name_outputs(prim.GetStage().GetPrimAtPath(graph), network)
    return network


def _version(prim: Usd.Prim) -> str:
    attribute = prim.GetAttribute(VERSION_ATTRIBUTE)
    written = str(attribute.Get() or "") if attribute else ""
    major, _, minor = written.partition(".")
    return written if major.isdigit() and minor[:1].isdigit() else DEFAULT_VERSION


def _terminal(material: UsdShade.Material, kind: str) -> Link | None:
    output = material.GetOutput(f"{RENDER_CONTEXT}:{kind}")
    return _link(output) if output else None


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
    definition = str(shader.GetShaderId() or "") if source == "id" else ""
    if not definition:
        how = "has no info:id" if source == "id" else f"is defined by its {source}"
        raise DocumentError(
            f"{path}: {how}, not by a MaterialX definition: replace it by a node of MaterialX"
        )
    graph = _outermost_graph(prim, material)
    read = [_read_port(port, graph, network) for port in shader.GetInputs()]
    ports = [port for port in read if port]
    return Shader(path, definition, graph, tuple(ports))


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
    interface = ""
    # names of geometry properties must be values of the node itself
    is_text = usd_type in ("string", "token")
    if attribute != port.GetAttr() and not is_text and str(attribute.GetPrim().GetPath()) == graph:
        interface = UsdShade.Input(attribute).GetBaseName()
    return Port(name, usd_type, text, None, space, interface)


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
