"""A MaterialX document as a layer of USD, for a USD that cannot read .mtlx files, as usd-core.

The prims have the paths and names that OpenUSD's own reader gives them (pxr/usd/usdMtlx/reader.cpp
of OpenUSD 25.08), so that bindings, overrides and selected variants of a stage find them:
`/MaterialX/Materials/NAME` with an input for each input of its shader, the shader below it, and
graphs in `/MaterialX/NodeGraphs`, which materials reference. What that reader loses is kept: what
feeds a surface inside of a graph, several uses of one definition of the document, units, and colour
spaces of the document.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Any

from verdigris.core.base.errors import DocumentError, TextureError
from verdigris.core.material.files.image_headers import find_tiles
from verdigris.core.material.files.paths import SearchPath
from verdigris.core.material.graph.traversal import own_definitions, own_graphs, source_of, value_of
from verdigris.core.material.load.mtlx_document import read_as_written
from verdigris.core.material.usd.document_looks import write_document_looks
from verdigris.core.material.usd.faults import refusing_damage
from verdigris.core.material.usd.read_network import UNIT_KEYS, VERSION_ATTRIBUTE
from verdigris.core.material.usd.usd_values import type_in_usd, value_in_usd

if TYPE_CHECKING:
    import MaterialX as mx
    from pxr import Sdf

_ROOT = "/MaterialX"
_GRAPHS = f"{_ROOT}/NodeGraphs"
_CONTEXT = "mtlx"
# Type of a shader, the name of its output in USD.
_TERMINALS = {"surfaceshader": "surface", "displacementshader": "displacement"}
_COLOURED = ("color3", "color4", "filename")
_LINEAR = "lin_rec709"


def layer_of_document(text: str, name: str, path: Path | None, search: SearchPath) -> Sdf.Layer:
    """The layer for a document. `path` is its file, beside which its images lie."""
    written = read_as_written(text, name, path, search)
    with refusing_damage(DocumentError, name):
        return _Writer(written.root, name, path.parent if path else None).write()


class _Writer:
    def __init__(self, root: mx.Document, name: str, folder: Path | None) -> None:
        from pxr import Sdf

        self.root = root
        self.folder = folder
        self.layer = Sdf.Layer.CreateAnonymous(f"{Path(name).name}.usda")

    def write(self) -> Sdf.Layer:
        self._prim(_ROOT)
        # for references without the path of a prim
        self.layer.defaultPrim = _ROOT[1:]
        implementing = set()
        for definition in own_definitions(self.root):
            graph = self._implementation(definition)
            if graph is not None:
                implementing.add(graph.getName())
                path = f"{_GRAPHS}/{_usd_name(definition)}"
                self._write_graph(graph, path, definition.getActiveInputs())
        for graph in own_graphs(self.root):
            if graph.getName() not in implementing:
                self._write_graph(graph, f"{_GRAPHS}/{_usd_name(graph)}")
        for material in self.root.getMaterialNodes():
            self._write_material(material)
        write_document_looks(self.root, self.layer, self._prim, self._write_input)
        return self.layer

    def _write_graph(
        self, graph: mx.NodeGraph, path: str, defined: Sequence[mx.Input] = ()
    ) -> None:
        prim = self._prim(path, "NodeGraph")
        for port in (*defined, *graph.getInputs()):
            self._write_input(prim, port, None)
        for inner in own_graphs(graph):
            self._write_graph(inner, f"{path}/{_usd_name(inner)}")
            for port in inner.getInputs():
                inside = self._prim(f"{path}/{_usd_name(inner)}")
                self._write_input(inside, port, self._source(port, graph, path))
        for node in graph.getNodes():
            prim_of_node = self._define(node, f"{path}/{_usd_name(node)}")
            for port in node.getInputs():
                self._write_input(prim_of_node, port, self._source(port, graph, path))
        for output in graph.getOutputs():
            source = self._source(output, graph, path)
            self._attribute(prim, f"outputs:{_usd_name(output)}", output.getType(), source)

    def _define(self, node: mx.Node, path: str) -> Sdf.PrimSpec:
        """The prim of a node with its outputs: a shader, or the graph that the document has for
        its definition."""
        made = self.layer.GetPrimAtPath(path)
        if made:
            return made
        definition = _definition_of(node)
        if definition is not None and self._implementation(definition) is not None:
            prim = self._prim(path, "NodeGraph")
            self._refer(prim, f"{_GRAPHS}/{_usd_name(definition)}")
            return prim
        prim = self._prim(path, "Shader")
        known = definition.getName() if definition is not None else node.getNodeDefString()
        self._attribute(prim, "info:id", "token", value=known or node.getCategory())
        for output in definition.getActiveOutputs() if definition is not None else ():
            self._attribute(prim, f"outputs:{_output_name(output)}", output.getType())
        return prim

    def _write_material(self, material: mx.Node) -> None:
        path = f"{_ROOT}/Materials/{_usd_name(material)}"
        prim = self._prim(path, "Material")
        self._apply(prim, "MaterialXConfigAPI")
        self._attribute(prim, VERSION_ATTRIBUTE, "string", value=self.root.getVersionString())
        if material.getInheritString():
            prim.specializesList.Prepend(f"{_ROOT}/Materials/{_plain(material.getInheritString())}")
        for kind, terminal in _TERMINALS.items():
            port = material.getInput(kind)
            shader = source_of(port) if port is not None else None
            if shader is not None:
                output = self._write_shader(shader, prim)
                self._attribute(prim, f"outputs:{_CONTEXT}:{terminal}", "token", output)

    def _write_shader(self, shader: mx.Node, material: Sdf.PrimSpec) -> str:
        """Writes a shader below its material, which has an input for each input of the shader.
        Returns the path of its output."""
        outer, top = shader.getParent(), str(material.path)
        path, scope = f"{top}/{_usd_name(shader)}", top
        if outer is not self.root:
            # the graph that the shader is in has what feeds it
            scope = "/".join((top, *map(_plain, outer.getNamePath().split("/"))))
            self._bring([_top_graph(outer)], top)
        original = self._define(shader, f"{_ROOT}/Shaders/{_usd_name(shader)}")
        prim, definition = self._prim(path, original.typeName), _definition_of(shader)
        self._refer(prim, str(original.path))
        if definition is not None:
            self._add_former_name(prim, definition)
        given = {port.getName(): port for port in shader.getInputs()}
        defined = definition.getActiveInputs() if definition is not None else shader.getInputs()
        for each in defined:
            port, name = given.get(each.getName()), f"inputs:{_usd_name(each)}"
            source = self._source(port, outer, scope) if port is not None else None
            if source is not None and outer is self.root:
                self._bring(_feeding(port, outer), top)
            if name not in material.attributes:
                value = self._value(port) if port is not None and source is None else None
                self._attribute(material, name, each.getType(), value=value, port=port)
            self._attribute(prim, name, each.getType(), source or f"{top}.{name}")
        outputs = definition.getActiveOutputs() if definition is not None else ()
        return f"{path}.outputs:{_output_name(outputs[0]) if outputs else 'out'}"

    def _add_former_name(self, prim: Sdf.PrimSpec, definition: mx.NodeDef) -> None:
        """Lets a stage override the shader by the name of its definition, which usdMtlx gave it
        before OpenUSD 25.08."""
        former = prim.path.GetParentPath().AppendChild(_usd_name(definition))
        if former != prim.path:
            prim.inheritPathList.Prepend(former)

    def _bring(self, elements: Sequence[mx.InterfaceElement], top: str) -> None:
        """Writes what feeds a shader below its material `top`: references to graphs, nodes outside
        of graphs, and all that feed these."""
        pending = list(elements)
        while pending:
            element = pending.pop()
            is_graph = element.getCategory() == "nodegraph"
            path = f"{top}/{'' if is_graph else 'NodeGraphs/'}{_usd_name(element)}"
            if self.layer.GetPrimAtPath(path):
                continue
            if is_graph:
                prim = self._prim(path, "NodeGraph")
                self._refer(prim, f"{_GRAPHS}/{_usd_name(element)}")
            else:
                self._prim(f"{top}/NodeGraphs", "NodeGraph")
                prim = self._define(element, path)
            for port in element.getInputs():
                source = self._source(port, self.root, top)
                if source is not None or not is_graph:
                    self._write_input(prim, port, source)
                pending += _feeding(port, self.root)

    def _write_input(self, prim: Sdf.PrimSpec, port: mx.Input, source: str | None = None) -> None:
        name = f"inputs:{_usd_name(port)}"
        if name in prim.attributes:
            # a graph's own value is stronger than that of its definition
            prim.RemoveProperty(prim.attributes[name])
        value = self._value(port) if source is None else None
        self._attribute(prim, name, port.getType(), source, value, port)

    def _source(self, port: mx.PortElement, outer: mx.GraphElement, scope: str) -> str | None:
        """The path of what feeds a port: an output, or an input of the graph `outer`, whose prims
        are in `scope`. Nodes outside of graphs have a scope of their own below a material."""
        is_document = outer is self.root
        interface = port.getInterfaceName() if port.getCategory() == "input" else ""
        if interface and not is_document:
            return f"{scope}.inputs:{_plain(interface)}"
        for found in _feeding(port, outer):
            if found.getCategory() == "nodegraph":
                named = port.getOutputString() or found.getOutputs()[0].getName()
                return f"{scope}/{_usd_name(found)}.outputs:{_plain(named)}"
            definition = _definition_of(found)
            outputs = definition.getActiveOutputs() if definition is not None else ()
            chosen = [each for each in outputs if each.getName() == _output_of(port, outer)]
            named = _output_name((chosen or list(outputs))[0]) if outputs else "out"
            below = f"{scope}/NodeGraphs" if is_document else scope
            return f"{below}/{_usd_name(found)}.outputs:{named}"
        return None

    def _implementation(self, definition: mx.NodeDef) -> mx.NodeGraph | None:
        """The graph that the document has for a definition of its own."""
        found = definition.getImplementation() if definition.getParent() is self.root else None
        return found if found is not None and found.getCategory() == "nodegraph" else None

    def _value(self, port: mx.Input) -> Any:
        if not port.hasValueString():
            return None
        if port.getType() == "filename":
            return value_in_usd("filename", self._file(port))
        return value_in_usd(port.getType(), value_of(port))

    def _file(self, port: mx.Input) -> str:
        """A file beside the document by its whole path. Others keep their name, so that a search
        may find them."""
        file = str(port.getResolvedValueString())
        if self.folder is None or Path(file).is_absolute() or PureWindowsPath(file).drive:
            return file
        try:
            is_there = bool(find_tiles(file, "", SearchPath().with_folder(self.folder)))
        except TextureError:
            is_there = False
        return (self.folder / file.replace("\\", "/")).as_posix() if is_there else file

    def _prim(self, path: str, kind: str = "") -> Sdf.PrimSpec:
        """Defines a prim and those around it, or returns the one that is there."""
        from pxr import Sdf

        prim = Sdf.CreatePrimInLayer(self.layer, path)
        above = prim
        while above and above.specifier != Sdf.SpecifierDef and above != self.layer.pseudoRoot:
            above.specifier = Sdf.SpecifierDef
            above = above.nameParent
        if kind:
            prim.typeName = kind
        return prim

    def _attribute(
        self, prim: Sdf.PrimSpec, name: str, kind: str, source: str | None = None,
        value: Any = None, port: mx.Input | None = None,
    ) -> None:  # fmt: skip
        from pxr import Sdf

        fixed = Sdf.VariabilityUniform if name == "info:id" else Sdf.VariabilityVarying
        made = Sdf.AttributeSpec(prim, name, Sdf.ValueTypeNames.Find(type_in_usd(kind)), fixed)
        if source is not None:
            made.connectionPathList.explicitItems = [source]
        if value is not None:
            made.default = value
        if port is None:
            return
        if port.getAttribute("uiname"):
            made.displayName = port.getAttribute("uiname")
        space = port.getActiveColorSpace() if kind in _COLOURED else ""
        if space and space != _LINEAR:
            made.SetInfo("colorSpace", space)
        for key in UNIT_KEYS:
            if port.getAttribute(key):
                made.customData[key] = port.getAttribute(key)

    def _refer(self, prim: Sdf.PrimSpec, path: str) -> None:
        from pxr import Sdf

        prim.referenceList.Prepend(Sdf.Reference("", path))

    def _apply(self, prim: Sdf.PrimSpec, schema: str) -> None:
        from pxr import Sdf

        prim.SetInfo("apiSchemas", Sdf.TokenListOp.Create(prependedItems=[schema]))


def _plain(name: str) -> str:
    """A name in USD, which has no namespaces and fewer letters."""
    from pxr import Sdf, Tf

    name = name.replace(":", "__", 1)
    return name if Sdf.Path.IsValidIdentifier(name) else str(Tf.MakeValidIdentifier(name))


def _usd_name(element: mx.Element) -> str:
    return _plain(str(element.getName()))


def _output_name(output: mx.Output) -> str:
    return _TERMINALS.get(output.getType()) or _usd_name(output)


def _definition_of(node: mx.Node) -> mx.NodeDef | None:
    # a value with another type does not make it another node
    return node.getNodeDef() or node.getNodeDef("", True)


def _top_graph(graph: mx.NodeGraph) -> mx.NodeGraph:
    while graph.getParent().getCategory() == "nodegraph":
        graph = graph.getParent()
    return graph


def _feeding(port: mx.PortElement, outer: mx.GraphElement) -> list[mx.InterfaceElement]:
    """The node or graph of `outer` that feeds a port, if there is one."""
    if port.getNodeGraphString():
        found = outer.getChild(port.getNodeGraphString())
        is_fit = found is not None and found.getCategory() == "nodegraph" and found.getOutputs()
        return [found] if is_fit else []
    if port.getNodeName():
        found = outer.getNode(port.getNodeName())
        return [found] if found is not None else []
    own = _outer_output(port, outer)
    return _feeding(own, outer) if own is not None else []


def _outer_output(port: mx.PortElement, outer: mx.GraphElement) -> mx.Output | None:
    """The output of the graph or document itself that a port names alone."""
    is_alone = not (port.getNodeName() or port.getNodeGraphString()) and port.getOutputString()
    found = outer.getOutput(port.getOutputString()) if is_alone else None
    return found if found is not None and found is not port else None


def _output_of(port: mx.PortElement, outer: mx.GraphElement) -> str:
    own = _outer_output(port, outer)
    return str((own if own is not None else port).getOutputString())
