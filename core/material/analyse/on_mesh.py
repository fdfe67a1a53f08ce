"""Finds whether a material depends on its mesh, beyond the texture coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from verdigris.core.material.analyse.features import FACING, KEPT, NODE_FEATURES, Part
from verdigris.core.material.analyse.parts import (
    default_places,
    directions_used_as_masks,
    name_of_coordinates,
    name_of_property,
)
from verdigris.core.material.normalise.geometry_properties import (
    UNIFORM_VALUE,
    VALUE,
    reads_texture_coordinates,
)

if TYPE_CHECKING:
    import MaterialX as mx

_READS_MESH = ("position", "geomcolor")
_PROPERTIES = (VALUE, UNIFORM_VALUE)
_FIRST = ("", "0")
# How a material that is baked on a mesh keeps what it reads there, in reports.
ON_MESH = "as it is on the mesh"


def depends_on_mesh(nodes: Sequence[mx.Node]) -> bool:
    """Whether two meshes with equal uv show the material differently: by positions, directions in
    space, painted colours, properties of the geometry, or a second uv set."""
    return any(map(_reads_mesh, nodes)) or bool(directions_used_as_masks(nodes))


def reads_second_set(nodes: Sequence[mx.Node]) -> bool:
    """Whether a material reads another uv set than the first."""
    return any(map(_reads_other_set, nodes))


def parts_on_mesh(
    parts: Sequence[Part], properties: Sequence[str], sets: int, has_colours: bool
) -> tuple[Part, ...]:
    """The parts of a material that is evaluated on a mesh, with these properties and so many uv
    sets: what it reads there is kept."""
    kept = {NODE_FEATURES["position"].name, FACING.name}
    for each in properties:
        kept |= {name_of_property(each), name_of_property(f"primvars:{each}")}
    kept |= {name_of_coordinates(str(number)) for number in range(1, sets)}
    if has_colours:
        kept.add(NODE_FEATURES["geomcolor"].name)
    return tuple(
        replace(each, fate=KEPT, how=ON_MESH) if each.name in kept else each for each in parts
    )


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
