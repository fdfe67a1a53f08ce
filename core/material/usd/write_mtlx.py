"""Writes a UsdShade network as a MaterialX document."""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.etree import ElementTree as xml

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.normalise.dropped_nodes import DISPLACED_BY
from verdigris.core.material.normalise.inputs import PUBLISHED, PUBLISHED_LABEL
from verdigris.core.material.usd.foreign_nodes import foreign_origin
from verdigris.core.material.usd.network import Link, Network, Port, Shader
from verdigris.core.material.usd.read_network import UNIT_KEYS
from verdigris.core.material.usd.signatures import CURRENT_VERSION, Signature, find_signature
from verdigris.core.material.usd.usd_values import fitting_type

_DOCUMENT_COLOUR_SPACE = "lin_rec709"


def write_document(network: Network, known: Mapping[str, Signature] | None = None) -> str:
    """The text of a document with one material. `known` are definitions beside those of the
    library."""
    return _Writer(network, known or {}).write()


class _Writer:
    def __init__(self, network: Network, known: Mapping[str, Signature]) -> None:
        self.network = network
        version = network.version_numbers
        self.signatures = {
            path: known.get(shader.definition) or _require_signature(shader, version)
            for path, shader in network.shaders.items()
        }
        self.document = xml.Element(
            "materialx", version=network.version, colorspace=_DOCUMENT_COLOUR_SPACE
        )
        taken = {valid_name(network.name)}
        graphs = sorted({shader.graph for shader in network.shaders.values()} - {""})
        self.graphs = {path: self._new_graph(path, taken) for path in graphs}
        names_in = {"": taken} | {graph: set[str]() for graph in graphs}
        # graph inputs keep their names, and nodes get other names
        for shader in network.shaders.values():
            names_in[shader.graph] |= {port.interface for port in shader.ports if port.interface}
        for (graph, _, _), name in network.outputs.items():
            names_in[graph].add(valid_name(name))
        self.names = {
            path: _unused(_short_name(shader, network), names_in[shader.graph])
            for path, shader in network.shaders.items()
        }
        self.names_in = names_in
        self.crossings: dict[tuple[str, Link], str] = {}

    def _new_graph(self, path: str, taken: set[str]) -> xml.Element:
        name = _unused(path.rpartition("/")[2], taken)
        return xml.SubElement(self.document, "nodegraph", name=name)

    def write(self) -> str:
        for path, shader in self.network.shaders.items():
            self._write_node(shader, self.signatures[path])
        material = xml.SubElement(
            self.document, "surfacematerial", name=valid_name(self.network.name), type="material"
        )
        self._write_terminal(material, "surfaceshader", self.network.surface)
        if self.network.displacement:
            self._write_terminal(material, "displacementshader", self.network.displacement)
        for graph in self.graphs.values():
            # for readers: inputs first, outputs last
            order = {"input": 0, "output": 2}
            graph[:] = sorted(graph, key=lambda child: order.get(child.tag, 1))
        xml.indent(self.document)
        return '<?xml version="1.0"?>\n' + xml.tostring(self.document, encoding="unicode") + "\n"

    def _write_terminal(self, material: xml.Element, kind: str, link: Link) -> None:
        signature = self.signatures[link.shader]
        if signature.node_type != kind:
            raise DocumentError(
                f"{self.network.path}: its {kind} is {link.shader}, a {signature.category} with "
                f"the type {signature.node_type}: connect a {kind} node"
            )
        port = xml.SubElement(material, "input", name=kind, type=kind)
        self._connect(port, link, "")

    def _write_node(self, shader: Shader, signature: Signature) -> None:
        parent = self.graphs.get(shader.graph, self.document)
        node = xml.SubElement(
            parent, signature.category, name=self.names[shader.path], type=signature.node_type
        )
        if signature.is_current:
            node.set("nodedef", signature.definition)
        displacement = self.network.displacement
        if self.network.displaced_by and displacement and displacement.shader == shader.path:
            node.set(DISPLACED_BY, self.network.displaced_by)
        for port in shader.ports:
            wanted = signature.inputs.get(port.name)
            if wanted is None:
                self.network.notes.append(
                    f"{shader.path}: its input {port.name!r} is unknown to {signature.definition} "
                    "and was dropped"
                )
                continue
            self._write_port(node, port, wanted, shader.graph)

    def _write_port(self, node: xml.Element, port: Port, wanted: str, graph: str) -> None:
        is_current = self.network.version_numbers >= CURRENT_VERSION
        if port.link:
            kind = self._type_of(port.link)
        else:
            kind = fitting_type(port.usd_type, wanted if is_current else None)
            if kind == "string":
                kind = wanted
        element = xml.SubElement(node, "input", name=port.name, type=kind)
        if port.link:
            self._connect(element, port.link, graph)
        elif port.interface:
            self._write_interface(self.graphs[graph], port, kind)
            element.set("interfacename", port.interface)
        else:
            _set_value(element, port)

    def _write_interface(self, graph: xml.Element, port: Port, kind: str) -> None:
        if graph.find(f"input[@name='{port.interface}']") is None:
            element = xml.SubElement(graph, "input", name=port.interface, type=kind)
            _set_value(element, port)

    def _type_of(self, link: Link) -> str:
        """The type of a link, from the definition: in USD all closures are tokens."""
        signature = self.signatures[link.shader]
        if len(signature.outputs) == 1:
            return signature.node_type
        if link.output not in signature.outputs:
            raise DocumentError(
                f"{link.shader}: has no output {link.output!r}; {signature.definition} has "
                f"{', '.join(signature.outputs)}"
            )
        return signature.outputs[link.output]

    def _connect(self, element: xml.Element, link: Link, graph: str) -> None:
        """Connects an element to a shader, which may be in another graph."""
        source = self.network.shaders[link.shader]
        if source.graph == graph:
            element.set("nodename", self.names[link.shader])
            if len(self.signatures[link.shader].outputs) > 1:
                element.set("output", link.output)
            return
        if graph:
            element.set("interfacename", self._interface_for(link, graph))
            return
        element.set("nodegraph", str(self.graphs[source.graph].get("name")))
        element.set("output", self._output_for(link, source.graph))

    def _output_for(self, link: Link, graph: str) -> str:
        """The graph output for a link."""
        parent = self.graphs[graph]
        name = self.network.outputs.get((graph, link.shader, link.output))
        name = valid_name(name or f"{self.names[link.shader]}_{link.output}")
        if parent.find(f"output[@name='{name}']") is None:
            element = xml.SubElement(parent, "output", name=name, type=self._type_of(link))
            self._connect(element, link, graph)
        return name

    def _interface_for(self, link: Link, graph: str) -> str:
        """The graph input for a link."""
        key = graph, link
        if key not in self.crossings:
            wished = f"{self.names[link.shader]}_{link.output}"
            name = self.crossings[key] = _unused(wished, self.names_in[graph])
            port = xml.SubElement(self.graphs[graph], "input", name=name, type=self._type_of(link))
            self._connect(port, link, "")
        return self.crossings[key]


def _set_value(element: xml.Element, port: Port) -> None:
    element.set("value", port.value or "")
    if port.colour_space:
        element.set("colorspace", port.colour_space)
    for key, text in zip(UNIT_KEYS, port.unit, strict=True):
        if text:
            element.set(key, text)
    if port.published:
        element.set(PUBLISHED, port.published)
    if port.label:
        element.set(PUBLISHED_LABEL if port.published else "uiname", port.label)


def _require_signature(shader: Shader, version: tuple[int, int]) -> Signature:
    signature = find_signature(shader.definition, version)
    if signature:
        return signature
    origin = foreign_origin(shader.definition)
    if origin:
        application, remedy = origin
        raise DocumentError(
            f"{shader.path}: {shader.definition!r} is a node of {application} only: {remedy}"
        )
    raise DocumentError(
        f"{shader.path}: {shader.definition!r} is not defined in MaterialX "
        f"{version[0]}.{version[1]}: replace it with a node of MaterialX's own library"
    )


def _short_name(shader: Shader, network: Network) -> str:
    """The path below the material or the outermost graph, because nested graphs are flattened."""
    return shader.path.removeprefix(shader.graph or network.path).strip("/").replace("/", "_")


def valid_name(name: str) -> str:
    """The name in MaterialX, which allows fewer letters than USD."""
    return re.sub(r"[^A-Za-z0-9_]", "_", name) or "_"


def _unused(wished: str, taken: set[str]) -> str:
    """A valid name that is not taken, added to `taken`."""
    wished = valid_name(wished)
    name, number = wished, 2
    while name in taken:
        name, number = f"{wished}_{number}", number + 1
    taken.add(name)
    return name
