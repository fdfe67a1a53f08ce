"""Lengths that a node takes in a unit of its own, whatever the scene's is: MaterialX would turn
them into metres, and a film of 400 nanometres into none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from verdigris.core.material.library import known_units, standard_library

if TYPE_CHECKING:
    import MaterialX as mx

_DISTANCE = "distance"
# Where the definition of a node does not say what its graph reckons with.
_FILMS = {
    ("standard_surface", "thin_film_thickness"): "nanometer",
    ("open_pbr_surface", "thin_film_thickness"): "micron",
    ("gltf_pbr", "iridescence_thickness"): "nanometer",
}


def give_lengths_as_nodes_take_them(root: mx.Document) -> None:
    """Converts what is given in another unit; a value without a unit is as the node takes it. A
    unit that comes without what it measures gets that."""
    import MaterialX as mx

    kind = standard_library().getUnitTypeDef(_DISTANCE)
    scales = mx.LinearUnitConverter.create(kind).getUnitScale()
    for port in root.traverseTree():
        if not (isinstance(port, mx.Input) and port.hasUnit()):
            continue
        if not port.hasUnitType():
            port.setUnitType(_kind_of(port.getUnit()))
        if port.getUnitType() != _DISTANCE:
            continue
        taken, given = _taken_unit(port), port.getUnit()
        if taken and given in scales and port.getType() == "float":
            value = port.getValue()
            if value is not None:
                port.setValueString(f"{value * scales[given] / scales[taken]:.9g}")
            port.removeAttribute("unit")
            port.removeAttribute("unittype")


def _kind_of(unit: str) -> str:
    """What a unit measures; empty if it is not known."""
    return next((kind for kind, units in known_units().items() if unit in units), "")


def _taken_unit(port: mx.Input) -> str:
    """The unit in which the node of this input reckons; nothing if it is the scene's."""
    import MaterialX as mx

    node = port.getParent()
    if not isinstance(node, mx.Node):
        return ""
    known = _FILMS.get((node.getCategory(), port.getName()))
    definition = None if known else node.getNodeDef()
    defined = definition.getActiveInput(port.getName()) if definition else None
    return known or (str(defined.getUnit()) if defined is not None else "")
