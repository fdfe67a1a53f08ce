"""Finds what of a material depends on its mesh, beyond the texture coordinates: positions,
directions in space, painted colours, properties of the geometry, and further uv sets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from verdigris.core.material.analyse.features import (
    APPROXIMATED,
    FACING,
    KEPT,
    NODE_FEATURES,
    NOT_ON_A_SAMPLE,
    Part,
)
from verdigris.core.material.graph.traversal import defined_inputs, is_connected, source_of
from verdigris.core.material.normalise.geometry_properties import (
    UNIFORM_VALUE,
    VALUE,
    is_unnamed_coordinate_set,
    property_name,
    reads_texture_coordinates,
)

if TYPE_CHECKING:
    import MaterialX as mx

_READS_MESH = ("position", "geomcolor")
_PROPERTIES = (VALUE, UNIFORM_VALUE)
_FIRST = ("", "0")
_PLACES = ("texcoord", "position")
_DIRECTION_NODES = ("normal", "tangent", "bitangent", "viewdirection")
_DOT_PRODUCT = "dotproduct"
_TAKE_APART = ("extract", "separate3", "convert")
_DIRECTION_INPUTS = ("normal", "tangent", "bitangent")
_CLOSURES = ("BSDF", "EDF", "surfaceshader")
# In reports on a material that is baked on a mesh, how parts are kept that read the mesh.
ON_MESH = "as it is on the mesh"


def depends_on_mesh(nodes: Sequence[mx.Node]) -> bool:
    """Whether two meshes with equal uv show the material differently."""
    return any(map(_reads_mesh, nodes)) or bool(directions_used_as_masks(nodes))


def reads_second_set(nodes: Sequence[mx.Node]) -> bool:
    """Whether a material reads a uv set other than the first."""
    return any(map(_reads_other_set, nodes))


def parts_on_mesh(
    parts: Sequence[Part], properties: Sequence[str], sets: int, has_colours: bool
) -> tuple[Part, ...]:
    """The parts of a material that is evaluated on a mesh with these properties and so many uv
    sets. Parts that read the mesh are kept."""
    kept = {NODE_FEATURES["position"].name, FACING.name}
    for each in properties:
        kept |= {name_of_property(each), name_of_property(f"primvars:{each}")}
    kept |= {name_of_coordinates(str(number)) for number in range(1, sets)}
    if has_colours:
        kept.add(NODE_FEATURES["geomcolor"].name)
    return tuple(
        replace(each, fate=KEPT, how=ON_MESH) if each.name in kept else each for each in parts
    )


def property_parts(reader: mx.Node) -> list[Part]:
    """The part that a node is which reads a geometry property; none for texture coordinates."""
    name = property_name(reader)
    if is_unnamed_coordinate_set(reader):
        return [further_coordinates(repr(name))]
    if reads_texture_coordinates(reader):
        return []
    return [Part(name_of_property(name), APPROXIMATED, NOT_ON_A_SAMPLE)]


def name_of_property(name: str) -> str:
    """The name of the part for a property of the geometry."""
    return f"property {name!r} of the geometry" if name else "property of the geometry"


def name_of_coordinates(index: str) -> str:
    """The name of the part for a further uv set."""
    return f"texture coordinates {index}"


def further_coordinates(index: str) -> Part:
    how = "a flat sample has one set of texture coordinates, which is used for all"
    return Part(name_of_coordinates(index), APPROXIMATED, how)


def _reads_mesh(node: mx.Node) -> bool:
    category = node.getCategory()
    if category in _PROPERTIES:
        return not reads_texture_coordinates(node)
    return (
        category in _READS_MESH
        or _reads_other_set(node)
        or any(each.getGeomProp() == "position" for each in default_places(node))
    )


def _reads_other_set(node: mx.Node) -> bool:
    if node.getCategory() == "texcoord" and node.getInput("index") is not None:
        return bool(node.getInputValue("index"))
    return any(each.getIndex() not in _FIRST for each in default_places(node))


def default_places(node: mx.Node) -> list[mx.GeomPropDef]:
    """The places that a node reads by default. Its unconnected inputs then ignore their value."""
    names = [
        port.getDefaultGeomPropString()
        for port in defined_inputs(node)
        if (given := node.getInput(port.getName())) is None or not is_connected(given)
    ]
    read = [node.getDocument().getGeomPropDef(name) for name in names if name]
    return [each for each in read if each is not None and each.getGeomProp() in _PLACES]


def directions_used_as_masks(nodes: Sequence[mx.Node]) -> list[mx.Node]:
    """Nodes that read a direction in space which is used as something else, such as a mask for the
    sides to which a surface faces. The baked surface is flat."""
    found = [node for node in nodes if node.getCategory() in _DIRECTION_NODES]
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
                if _passes_on(reader, port) and path not in seen:
                    seen.add(path)
                    pending.append(path)
        return False

    return [node for node in found if is_mask(node)]


def _makes_mask(reader: mx.Node, port: mx.Input) -> bool:
    if reader.getCategory() == _DOT_PRODUCT:
        # its angle to the view exists on a flat sample
        return not all(map(is_connected, reader.getInputs()))
    if reader.getCategory() in _TAKE_APART:
        return True
    is_used_as_one = reader.getType() in _CLOSURES or port.getName() in _DIRECTION_INPUTS
    return not is_used_as_one and reader.getType() != "vector3"


def _passes_on(reader: mx.Node, port: mx.Input) -> bool:
    return reader.getType() == "vector3" and port.getName() not in _DIRECTION_INPUTS
