"""The displacement of a material in an application, as a `displacement` of MaterialX."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree import ElementTree as xml

from verdigris.core.hosts.nodes.formulas import write_formula
from verdigris.core.hosts.nodes.operands import Operand, number, numbers_text, write_port

if TYPE_CHECKING:
    from verdigris.core.hosts.nodes.network import NetworkReader

DISPLACEMENT = "displacementshader"
"""The type of displacements in MaterialX, and the input of a material for one."""
VECTOR = "vectorDisplacement"
"""The output of a displacement node with a vector in the frame of the surface."""

_HEIGHT = "displacement"


@dataclass(frozen=True)
class HostDisplacement:
    """What displaces a material: by `factor` times what an output of a node returns, without
    `zero`. Vectors have neither."""

    node: str
    output: str
    factor: float = 1.0
    zero: float = 0.0
    unit: str = ""
    """The unit of lengths in the scene, by its name in MaterialX."""


def write_displacement(reader: NetworkReader, given: HostDisplacement, name: str) -> str:
    """Writes a displacement and the nodes that feed it. Returns its name; empty if it cannot be
    read, and a note says so."""
    amount = _amount(reader, given)
    if amount is None:
        reader.note_untranslated(given.node, "displaces the material", "it is left out")
        return ""
    made = reader.writer.free_name(name)
    node = xml.SubElement(reader.root, _HEIGHT, name=made, type=DISPLACEMENT)
    write_port(node, _HEIGHT, amount)
    factor = 1.0 if given.output == VECTOR else given.factor
    scale = xml.SubElement(node, "input", name="scale", type="float", value=numbers_text([factor]))
    if given.unit:
        scale.attrib.update(unittype="distance", unit=given.unit)
    return made


def _amount(reader: NetworkReader, given: HostDisplacement) -> Operand | None:
    found = reader.output(given.node, given.output, None)
    if found is None or given.output == VECTOR:
        return found
    if found.type in ("color3", "vector3"):
        # Arnold's number for a colour
        colour = {"c": reader.to_rendering(found)}
        found = write_formula("(c.x + c.y + c.z) / 3", colour, reader.writer)
    if found.type != "float":
        return None
    heights = {"height": found, "zero": number(given.zero)}
    return write_formula("height - zero", heights, reader.writer) if given.zero else found
