"""Nodes that read a direction in space, and whether a graph makes a mask of it: of where a surface
faces, which the flat one that is baked does not tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from verdigris.core.material.graph.traversal import is_connected, source_of

if TYPE_CHECKING:
    import MaterialX as mx

_DIRECTIONS = ("normal", "tangent", "bitangent", "viewdirection")
_ANGLE = "dotproduct"
_TAKE_APART = ("extract", "separate3", "convert")
_AS_DIRECTIONS = ("normal", "tangent", "bitangent")
_CLOSURES = ("BSDF", "EDF", "surfaceshader")


def directions_used_as_masks(nodes: Sequence[mx.Node]) -> list[mx.Node]:
    """Those of a material's nodes that read a direction which is used as something else."""
    found = [node for node in nodes if node.getCategory() in _DIRECTIONS]
    if not found:
        return []
    readers: dict[str, list[tuple[mx.Node, mx.Input]]] = defaultdict(list)
    for reader in nodes:
        for port in reader.getInputs():
            source = source_of(port)
            if source is not None:
                readers[source.getNamePath()].append((reader, port))

    def is_mask(node: mx.Node) -> bool:
        pending, seen = [node.getNamePath()], {node.getNamePath()}
        while pending:
            for reader, port in readers[pending.pop()]:
                if _makes_mask(reader, port):
                    return True
                path = reader.getNamePath()
                if _hands_on(reader, port) and path not in seen:
                    seen.add(path)
                    pending.append(path)
        return False

    return [node for node in found if is_mask(node)]


def _makes_mask(reader: mx.Node, port: mx.Input) -> bool:
    if reader.getCategory() == _ANGLE:
        # with the view it makes an angle, which a flat sample has
        return not all(map(is_connected, reader.getInputs()))
    if reader.getCategory() in _TAKE_APART:
        return True
    is_used_as_one = reader.getType() in _CLOSURES or port.getName() in _AS_DIRECTIONS
    return not is_used_as_one and reader.getType() != "vector3"


def _hands_on(reader: mx.Node, port: mx.Input) -> bool:
    return reader.getType() == "vector3" and port.getName() not in _AS_DIRECTIONS
