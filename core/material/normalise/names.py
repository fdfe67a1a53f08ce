"""Names that MaterialX does not resolve: names that its library also has, and names in a namespace.

With the library attached, MaterialX finds the library's type `material` where a document refers to
its own node `material`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from verdigris.core.material.graph.library import mark_lobes_below_reflection, standard_library
from verdigris.core.material.graph.traversal import own_graphs

if TYPE_CHECKING:
    from collections.abc import Mapping

    import MaterialX as mx

_SEPARATOR = ":"


def rename_library_clashes(root: mx.Document) -> dict[str, str]:
    """Renames nodes, graphs and definitions that the library hides, and all references to them.
    Returns former names by new ones."""
    import MaterialX as mx

    library = standard_library()
    kinds = mx.Node | mx.NodeGraph | mx.NodeDef
    _remove_library_copies(root, library)
    hidden = [
        child
        for child in root.getChildren()
        if isinstance(child, kinds)
        and (library.getChild(child.getName()) or _has_invalid_name(child))
    ]
    former: dict[str, str] = {}
    for child in hidden:
        name = child.getName()
        child.setName(free_name(name.replace(_SEPARATOR, "_"), root, library))
        former[child.getName()] = name
    if former:
        update_references(root, {name: new for new, name in former.items()})
    return former


def _has_invalid_name(child: mx.Element) -> bool:
    """Whether a name with a namespace would become a variable of the generated code. Names of
    definitions do not."""
    return child.getCategory() != "nodedef" and _SEPARATOR in child.getName()


def _remove_library_copies(root: mx.Document, library: mx.Document) -> None:
    """Removes exact copies of library elements, which some programs write into each document."""
    import MaterialX as mx

    for child in root.getChildren():
        original = library.getChild(child.getName())
        if original is not None and isinstance(child, mx.NodeGraph):
            mark_lobes_below_reflection(child)
        if original is not None and child == original:
            root.removeChild(child.getName())


def add_namespace_to_references(included: mx.Document) -> None:
    """Adds the namespace of an included document to its references: MaterialX only adds it to
    names."""
    if included.hasNamespace():
        names = [child.getName() for child in included.getChildren()]
        update_references(included, {name: f"{included.getNamespace()}:{name}" for name in names})


def resolve_namespaced_definitions(root: mx.Document) -> None:
    """Removes the namespace where an implementation names a definition with a namespace attribute:
    MaterialX looks for the name without it."""
    import MaterialX as mx

    for child in root.getChildren():
        if not isinstance(child, mx.NodeGraph | mx.Implementation):
            continue
        space, _, plain = child.getNodeDefString().rpartition(_SEPARATOR)
        definition = root.getChild(plain) if space else None
        if isinstance(definition, mx.NodeDef) and definition.getNamespace() == space:
            child.setNodeDefString(plain)


def free_name(name: str, root: mx.Document, library: mx.Document) -> str:
    """The name with the first number from 2 on that neither document nor library has."""
    number = 2
    while root.getChild(f"{name}_{number}") or library.getChild(f"{name}_{number}"):
        number += 1
    return f"{name}_{number}"


def rename_nodes(scope: mx.GraphElement, renamed: Mapping[str, str]) -> None:
    """Renames nodes of a graph or document, and the references to them there."""
    nodes = scope.getNodes()
    for node in nodes:
        node.setName(renamed.get(node.getName(), node.getName()))
    ports = [port for each in (*nodes, *own_graphs(scope)) for port in each.getInputs()]
    for port in (*scope.getOutputs(), *ports):
        if port.getNodeName() in renamed:
            port.setNodeName(renamed[port.getNodeName()])


def update_references(root: mx.Document, renamed: Mapping[str, str]) -> None:
    """Updates the references to renamed children of the document, which may have the old or the new
    name. A node may have the name of a definition, so that its name says nothing about
    references to definitions."""
    import MaterialX as mx

    definitions = {
        old: new
        for old, new in renamed.items()
        if isinstance(root.getChild(new) or root.getChild(old), mx.NodeDef)
    }
    for child in root.getChildren():
        if child.getInheritString() in renamed:
            child.setInheritString(renamed[child.getInheritString()])
        if isinstance(child, mx.Implementation) and child.getNodeGraph() in renamed:
            child.setNodeGraph(renamed[child.getNodeGraph()])
    for element in root.traverseTree():
        if isinstance(element, mx.InterfaceElement) and element.getNodeDefString() in definitions:
            element.setNodeDefString(definitions[element.getNodeDefString()])
        if isinstance(element, mx.PortElement):
            graph, node = element.getNodeGraphString(), element.getNodeName()
            if graph in renamed:
                element.setNodeGraphString(renamed[graph])
            if node in renamed and _is_in_document_scope(element):
                element.setNodeName(renamed[node])
    for look in root.getLooks():
        for assignment in look.getMaterialAssigns():
            material = assignment.getMaterial()
            assignment.setMaterial(renamed.get(material, material))


def _is_in_document_scope(port: mx.PortElement) -> bool:
    import MaterialX as mx

    scope = port.getParent() if isinstance(port, mx.Output) else port.getParent().getParent()
    return isinstance(scope, mx.Document)
