"""Files that a node names for others: the generator takes their names, and not the colour spaces
that are said with them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verdigris.core.material.graph.traversal import source_of

if TYPE_CHECKING:
    import MaterialX as mx

# category -> the input that it hands on
_HAND_ON = {"constant": "value", "dot": "in"}


def name_files_where_they_are_read(root: mx.Document) -> None:
    """Puts the names that constants give in the place of what is connected to these."""
    import MaterialX as mx

    for port in root.traverseTree():
        if isinstance(port, mx.Input) and port.getType() == "filename":
            named = _named_by(port)
            if named is not None:
                _take_name(port, named)


def _named_by(port: mx.Input) -> mx.Input | None:
    """The input of a constant whose value another input reads; none if that is not known here."""
    seen: set[str] = set()
    named = None
    node = source_of(port)
    while node is not None and node.getNamePath() not in seen:
        seen.add(node.getNamePath())
        named = node.getInput(_HAND_ON.get(node.getCategory(), ""))
        if named is None or node.getType() != "filename":
            return None
        node = source_of(named)
    given = named and (named.getInterfaceInput() or named)
    return given if given and given.hasValueString() else None


def _take_name(port: mx.Input, named: mx.Input) -> None:
    for attribute in ("nodename", "nodegraph", "output", "interfacename"):
        port.removeAttribute(attribute)
    port.setValueString(named.getValueString())
    port.setFilePrefix(named.getActiveFilePrefix())
    if named.hasColorSpace():
        port.setColorSpace(named.getColorSpace())
