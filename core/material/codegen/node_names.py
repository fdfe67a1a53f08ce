"""Names of nodes as they may be in generated code, where the generator does not see to it.

It writes the nodes of all graphs into one function. Of nodes with one name it takes two inputs for
one where both have a colour space or a unit, and crashes; and it calls what it writes before inline
code after its node, which does not compile if another has that name, or if it is none for code.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from verdigris.core.material.codegen.image_graphs import counterpart
from verdigris.core.material.graph.traversal import implementing_graphs, own_graphs
from verdigris.core.material.normalise.names import rename_nodes, with_free_number

if TYPE_CHECKING:
    import MaterialX as mx

_NOT_FOR_CODE = re.compile(r"\W|^(?=\d)")


def rename_nodes_for_code(
    root: mx.Document, element: mx.TypedElement, document: mx.Document, library: mx.Document
) -> tuple[mx.Document, mx.TypedElement]:
    """What code is generated of, and one of its elements: a copy of the document, if it is none yet
    and nodes must have other names."""
    renamed = _to_rename(root)
    if not any(renamed):
        return root, element
    if root is document:
        root = document.copy()
        root.setDataLibrary(library)
        element = counterpart(element, root)
    for scope, names in zip((root, *own_graphs(root)), renamed, strict=True):
        rename_nodes(scope, names)
    return root, element


def _to_rename(root: mx.Document) -> list[dict[str, str]]:
    """For the document and each of its graphs, what nodes are called by what they should be. In
    their order: the same document must become the same code in every process."""
    # graphs of definitions become functions of their own
    implementing = implementing_graphs(root)
    graphs = own_graphs(root)
    known = {node.getName() for graph in graphs for node in graph.getNodes()}
    known.update(child.getName() for child in root.getChildren())
    taken: set[str] = set()
    renamed = []
    for scope in (root, *graphs):
        names = [node.getName() for node in scope.getNodes()]
        twins = set() if scope.getName() in implementing else taken
        others: dict[str, str] = {}
        for name in names:
            if name in twins or _NOT_FOR_CODE.search(name):
                others[name] = with_free_number(_NOT_FOR_CODE.sub("_", name), known.__contains__)
                known.add(others[name])
        renamed.append(others)
        taken.update(() if scope.getName() in implementing else names)
    return renamed
