"""Names that MaterialX does not find. Those that its library has, too: with the library attached,
it finds the type `material` where a node of that name is asked for. And those in a namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verdigris.core.material.normalise.graph_inputs import own_graphs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import MaterialX as mx

_BEHIND_NAMESPACE = ":"


def rename_what_the_library_hides(root: mx.Document, library: mx.Document) -> dict[str, str]:
    """Gives nodes, graphs and definitions names of their own, here and where they are meant: new
    and former."""
    import MaterialX as mx

    kinds = mx.Node | mx.NodeGraph | mx.NodeDef
    _forget_copies(root, library)
    hidden = [
        child
        for child in root.getChildren()
        if isinstance(child, kinds)
        and (library.getChild(child.getName()) or _is_no_name_for_code(child))
    ]
    former: dict[str, str] = {}
    for child in hidden:
        name = child.getName()
        child.setName(free_name(name.replace(_BEHIND_NAMESPACE, "_"), root, library))
        former[child.getName()] = name
    if former:
        follow(root, {name: new for new, name in former.items()})
    return former


def _is_no_name_for_code(child: mx.Element) -> bool:
    """Variables of the code that is generated are called by nodes and graphs, and not by
    definitions."""
    return child.getCategory() != "nodedef" and _BEHIND_NAMESPACE in child.getName()


def _forget_copies(root: mx.Document, library: mx.Document) -> None:
    """Of what the library has, just as it has it: some programs write it into every document."""
    for child in root.getChildren():
        there = library.getChild(child.getName())
        if there is not None and child == there:
            root.removeChild(child.getName())


def follow_into_namespace(included: mx.Document) -> None:
    """Leads references within a document to the names that its children get where it is included:
    MaterialX puts the namespace before names, and not before what refers to them."""
    if included.hasNamespace():
        names = [child.getName() for child in included.getChildren()]
        follow(included, {name: f"{included.getNamespace()}:{name}" for name in names})


def find_definitions_by_plain_names(root: mx.Document) -> None:
    """Leads what implements a definition of the document with a namespace of its own there: it
    names it with the namespace, and MaterialX looks for it without."""
    import MaterialX as mx

    for child in root.getChildren():
        if not isinstance(child, mx.NodeGraph | mx.Implementation):
            continue
        space, _, plain = child.getNodeDefString().rpartition(":")
        definition = root.getChild(plain) if space else None
        if isinstance(definition, mx.NodeDef) and definition.getNamespace() == space:
            child.setNodeDefString(plain)


def free_name(name: str, root: mx.Document, library: mx.Document) -> str:
    return numbered(name, lambda each: root.getChild(each) or library.getChild(each))


def numbered(name: str, is_taken: Callable[[str], object]) -> str:
    """The name with the first number from 2 on that makes it a free one."""
    number = 2
    while is_taken(f"{name}_{number}"):
        number += 1
    return f"{name}_{number}"


def rename_nodes(scope: mx.GraphElement, renamed: Mapping[str, str]) -> None:
    """Gives nodes of a graph, or of the document, other names, and leads what refers to them there
    again."""
    nodes = scope.getNodes()
    for node in nodes:
        node.setName(renamed.get(node.getName(), node.getName()))
    ports = [port for each in (*nodes, *own_graphs(scope)) for port in each.getInputs()]
    for port in (*scope.getOutputs(), *ports):
        if port.getNodeName() in renamed:
            port.setNodeName(renamed[port.getNodeName()])


def follow(root: mx.Document, renamed: dict[str, str]) -> None:
    """Leads what refers to renamed children of the document there again."""
    import MaterialX as mx

    for child in root.getChildren():
        if child.getInheritString() in renamed:
            child.setInheritString(renamed[child.getInheritString()])
        if isinstance(child, mx.Implementation) and child.getNodeGraph() in renamed:
            child.setNodeGraph(renamed[child.getNodeGraph()])
    for element in root.traverseTree():
        if isinstance(element, mx.InterfaceElement) and element.getNodeDefString() in renamed:
            element.setNodeDefString(renamed[element.getNodeDefString()])
        if isinstance(element, mx.PortElement):
            graph, node = element.getNodeGraphString(), element.getNodeName()
            if graph in renamed:
                element.setNodeGraphString(renamed[graph])
            if node in renamed and _looks_among_the_outermost(element):
                element.setNodeName(renamed[node])
    for look in root.getLooks():
        for assignment in look.getMaterialAssigns():
            material = assignment.getMaterial()
            assignment.setMaterial(renamed.get(material, material))


def _looks_among_the_outermost(port: mx.PortElement) -> bool:
    import MaterialX as mx

    scope = port.getParent() if isinstance(port, mx.Output) else port.getParent().getParent()
    return isinstance(scope, mx.Document)
