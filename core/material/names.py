"""Names that MaterialX does not find. Those that its library has, too: with the library attached,
it finds the type `material` where a node of that name is asked for. And those in a namespace."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import MaterialX as mx


def rename_what_the_library_hides(root: mx.Document, library: mx.Document) -> dict[str, str]:
    """Gives nodes and graphs names of their own, here and where they are meant: new and former."""
    import MaterialX as mx

    hidden = [
        child
        for child in root.getChildren()
        if isinstance(child, mx.Node | mx.NodeGraph) and library.getChild(child.getName())
    ]
    former: dict[str, str] = {}
    for child in hidden:
        if isinstance(child, mx.NodeGraph) and child.getNodeDefString():
            # found by what it implements
            continue
        name = child.getName()
        child.setName(free_name(name, root, library))
        former[child.getName()] = name
    if former:
        _follow(root, {name: new for new, name in former.items()})
    return former


def follow_into_namespace(included: mx.Document) -> None:
    """Leads references within a document to the names that its children get where it is included:
    MaterialX puts the namespace before names, and not before what refers to them."""
    if included.hasNamespace():
        names = [child.getName() for child in included.getChildren()]
        _follow(included, {name: f"{included.getNamespace()}:{name}" for name in names})


def free_name(name: str, root: mx.Document, library: mx.Document) -> str:
    number = 2
    while root.getChild(f"{name}_{number}") or library.getChild(f"{name}_{number}"):
        number += 1
    return f"{name}_{number}"


def _follow(root: mx.Document, renamed: dict[str, str]) -> None:
    """Leads what was connected to them there again."""
    import MaterialX as mx

    for child in root.getChildren():
        if child.getInheritString() in renamed:
            child.setInheritString(renamed[child.getInheritString()])
    for element in root.traverseTree():
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
