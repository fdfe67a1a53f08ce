"""Names of nodes as they may be in generated code, where the generator does not see to it.

It writes the nodes of all graphs into one function. Of nodes with one name it takes two inputs for
one where both have a colour space or a unit, and crashes; and it calls what it writes before inline
code after its node, which does not compile if another has that name, or if it is none for code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from verdigris.core.material.image_graphs import counterpart
from verdigris.core.material.interfaces import graphs_that_implement, own_graphs

if TYPE_CHECKING:
    import MaterialX as mx

_NOT_FOR_CODE = re.compile(r"\W|^(?=\d)")


def with_node_names_that_code_can_have(
    root: mx.Document, element: mx.TypedElement, library: mx.Document
) -> tuple[mx.Document, mx.TypedElement]:
    """The document and one of its elements: of a copy, if nodes must have other names."""
    if not any(_to_rename(root)):
        return root, element
    copied = root.copy()
    copied.setDataLibrary(library)
    # as long as it has its name
    found = counterpart(element, copied)
    renamed = _to_rename(copied)
    for scope, names in zip((copied, *own_graphs(copied)), renamed, strict=True):
        _rename(scope, names)
    return copied, found


def _to_rename(root: mx.Document) -> list[dict[str, str]]:
    """For the document and each of its graphs, what nodes are called by what they should be."""
    # graphs of definitions become functions of their own
    implementing = graphs_that_implement(root)
    graphs = own_graphs(root)
    known = {node.getName() for graph in graphs for node in graph.getNodes()}
    known.update(child.getName() for child in root.getChildren())
    taken: set[str] = set()
    renamed = []
    for scope in (root, *graphs):
        names = [node.getName() for node in scope.getNodes()]
        twins = set() if scope.getName() in implementing else taken
        odd = {name for name in names if name in twins or _NOT_FOR_CODE.search(name)}
        renamed.append({name: _free(_NOT_FOR_CODE.sub("_", name), known) for name in odd})
        taken.update(() if scope.getName() in implementing else names)
    return renamed


def _free(name: str, known: set[str]) -> str:
    number = 2
    while f"{name}_{number}" in known:
        number += 1
    known.add(f"{name}_{number}")
    return f"{name}_{number}"


def _rename(scope: mx.GraphElement, names: dict[str, str]) -> None:
    if not names:
        return
    nodes = scope.getNodes()
    for node in nodes:
        node.setName(names.get(node.getName(), node.getName()))
    inner = own_graphs(scope)
    ports = [port for element in (*nodes, *inner) for port in element.getInputs()]
    for port in (*scope.getOutputs(), *ports):
        if port.getNodeName() in names:
            port.setNodeName(names[port.getNodeName()])
