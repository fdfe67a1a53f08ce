"""What a document calls a material, or assigns as one, that nothing can be baked of."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import MaterialX as mx


def materials_left_out(root: mx.Document, taken: Set[str]) -> dict[str, str]:
    """By name, why each is none; `taken` are those that can be baked."""
    bare = {node.getName(): node for node in root.getMaterialNodes() if node.getName() not in taken}
    found = {name: _what_it_lacks(node) for name, node in bare.items()}
    for look in root.getLooks():
        for assignment in look.getMaterialAssigns():
            name = assignment.getMaterial()
            if name and name not in taken and name not in bare and root.getDescendant(name) is None:
                found[name] = f"look {look.getName()!r} assigns it, and it is not there"
    return found


def _what_it_lacks(node: mx.Node) -> str:
    if node.getCategory() == "volumematerial":
        return "it is a volume, and surfaces are baked"
    return "nothing is connected to its surfaceshader"
