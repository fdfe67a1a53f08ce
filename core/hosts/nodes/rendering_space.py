"""The colour space in which an application computes colours, and its conversions.

MaterialX computes in linear Rec. 709, and has each of its spaces' conversion to that one. The
inverse is written into the document as a definition.
"""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree import ElementTree as xml

from verdigris.core.hosts.nodes.operands import NodeWriter, Operand, numbers_text
from verdigris.core.material.graph.colour_spaces import name_in_materialx

_PLAIN = ("", "lin_rec709", "none")
_FILE = "lin_rec709"
_TO_RENDERING = "to_rendering_space"
# Linear Rec. 709 to each space, by rows: the inverses of MaterialX's matrices, which keep white.
_FROM_REC709 = {
    "acescg": (
        (0.613097, 0.339523, 0.047379),
        (0.070194, 0.916354, 0.013452),
        (0.020616, 0.109570, 0.869815),
    )
}


@dataclass(frozen=True)
class RenderingSpace:
    """The space of colours in shaders."""

    name: str
    """MaterialX's name of it. Empty for linear Rec. 709, which needs no conversion."""

    is_managed: bool = True
    """Whether the application manages colours at all."""

    @classmethod
    def of(cls, name: str, is_managed: bool = True) -> RenderingSpace:
        found = name_in_materialx(name) if is_managed else ""
        return cls("" if found in _PLAIN else found, is_managed)

    @property
    def is_known(self) -> bool:
        return not self.name or self.name in _FROM_REC709

    def of_file(self, space: str) -> str:
        """The space of the texels of a file, after MaterialX has read it."""
        is_data = name_in_materialx(space) == "none" or not space
        return "" if is_data or not self.name else _FILE

    def from_file(self, operand: Operand, writer: NodeWriter) -> Operand:
        """A colour of a file in this space."""
        name = f"{operand.node}_{self.name}"
        return writer.add(f"{_TO_RENDERING}", "color3", {"in": operand}, name)

    def to_materialx(self, operand: Operand, writer: NodeWriter) -> Operand:
        """A colour of this space in linear Rec. 709."""
        made = writer.add(
            f"{self.name}_to_lin_rec709", "color3", {"in": operand}, f"{operand.node}_rec709"
        )
        return Operand(made.type, node=made.node, space=_FILE)

    def add_definition(self, root: xml.Element) -> None:
        """Adds the definition of the conversion, if nodes use it."""
        if root.find(_TO_RENDERING) is None:
            return
        definition = xml.SubElement(
            root, "nodedef", name=f"ND_{_TO_RENDERING}", node=_TO_RENDERING,
            nodegroup="colortransform",
        )  # fmt: skip
        xml.SubElement(definition, "input", name="in", type="color3", value="0, 0, 0")
        xml.SubElement(definition, "output", name="out", type="color3")
        graph = xml.SubElement(
            root, "nodegraph", name=f"NG_{_TO_RENDERING}", nodedef=f"ND_{_TO_RENDERING}"
        )
        writer = NodeWriter(graph)
        columns = zip(*_FROM_REC709[self.name], strict=True)
        # MaterialX multiplies rows by matrices
        matrix = numbers_text([value for column in columns for value in column])
        vector = writer.convert(Operand("color3", interface="in"), "vector3")
        turned = writer.add(
            "transformmatrix", "vector3", {"in": vector, "mat": Operand("matrix33", value=matrix)}
        )
        colour = writer.convert(turned, "color3")
        xml.SubElement(graph, "output", name="out", type="color3", nodename=colour.node)
