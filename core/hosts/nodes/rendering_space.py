"""The colour space in which an application computes colours, and its conversions.

MaterialX computes in linear Rec. 709. Textures are converted from there where a network uses them,
and colours back to it where they enter a surface. Definitions of both are written into the
document.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from xml.etree import ElementTree as xml

import numpy as np

from verdigris.core.hosts.nodes.operands import NodeWriter, Operand, numbers_text
from verdigris.core.material.graph.colour_spaces import name_in_materialx

_REC709 = "lin_rec709"
_PLAIN = ("", _REC709, "none")
_FROM_FILE, _TO_SURFACE = "to_rendering_space", "from_rendering_space"
_D65, _D60 = (0.3127, 0.3290), (0.32168, 0.33767)
# The chromaticities of red, green, blue and white of linear spaces (ITU-R BT.709 and BT.2020, SMPTE
# S-2014-004 and S-2065-1, SMPTE EG 432-1).
_PRIMARIES = {
    _REC709: ((0.640, 0.330), (0.300, 0.600), (0.150, 0.060), _D65),
    "rec2020": ((0.708, 0.292), (0.170, 0.797), (0.131, 0.046), _D65),
    "p3": ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060), _D65),
    "acescg": ((0.713, 0.293), (0.165, 0.830), (0.128, 0.044), _D60),
    "aces2065": ((0.7347, 0.2653), (0.0, 1.0), (0.0001, -0.0770), _D60),
}
_NAMES = {
    "lin_displayp3": "p3",
    "scene-linear dci-p3 d65": "p3",
    "linear p3-d65": "p3",
    "scene-linear rec.2020": "rec2020",
    "linear rec.2020": "rec2020",
    "aces2065-1": "aces2065",
    "lin_ap0": "aces2065",
}
# MaterialX's names of those that it knows. Values keep their numbers.
_IN_MATERIALX = {"acescg": "acescg", "p3": "lin_displayp3"}
_BRADFORD = np.array(
    [[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]]
)


@dataclass(frozen=True)
class RenderingSpace:
    """The space of colours in shaders."""

    name: str
    """A name of `_PRIMARIES`. Empty for linear Rec. 709, which needs no conversion."""

    is_managed: bool = True
    """Whether the application manages colours at all."""

    @classmethod
    def of(cls, name: str, is_managed: bool = True) -> RenderingSpace:
        found = name_in_materialx(name) if is_managed else ""
        found = _NAMES.get(found, found)
        return cls("" if found in _PLAIN else found, is_managed)

    @property
    def is_known(self) -> bool:
        return not self.name or self.name in _PRIMARIES

    @property
    def needs_conversion(self) -> bool:
        return bool(self.name) and self.is_known

    def of_file(self, space: str) -> str:
        """The space of the texels of a file, after MaterialX has read it."""
        is_data = not space or name_in_materialx(space) == "none"
        return "" if is_data or not self.needs_conversion else _REC709

    def from_file(self, operand: Operand, writer: NodeWriter) -> Operand:
        """A colour of a file in this space."""
        name = f"{operand.node}_{self.name}"
        return writer.add(_FROM_FILE, "color3", {"in": operand}, name)

    def to_materialx(self, operand: Operand, writer: NodeWriter) -> Operand:
        """A colour of this space in linear Rec. 709."""
        numbers = operand.numbers
        if numbers is not None and self.name in _IN_MATERIALX:
            return replace(operand, space=_IN_MATERIALX[self.name])
        if numbers is not None:
            values = matrix_between(self.name, _REC709) @ numbers
            return Operand("color3", value=numbers_text(values.tolist()), space=_REC709)
        made = writer.add(_TO_SURFACE, "color3", {"in": operand}, f"{operand.node}_rec709")
        return Operand(made.type, node=made.node, space=_REC709)

    def add_definitions(self, root: xml.Element) -> None:
        """Adds the definitions of the conversions that nodes use."""
        ways = {_FROM_FILE: (_REC709, self.name), _TO_SURFACE: (self.name, _REC709)}
        for category, (source, target) in ways.items():
            if root.find(category) is not None:
                _add_definition(root, category, matrix_between(source, target))


@lru_cache(maxsize=8)
def matrix_between(source: str, target: str) -> np.ndarray:
    """The matrix that takes a column of one space to another, and white to white."""
    one, other = _PRIMARIES[source], _PRIMARIES[target]
    cones = [_BRADFORD @ _xyz(white) for white in (one[3], other[3])]
    adapted = np.linalg.inv(_BRADFORD) @ np.diag(cones[1] / cones[0]) @ _BRADFORD
    return np.asarray(np.linalg.inv(_to_xyz(other)) @ adapted @ _to_xyz(one))


def _to_xyz(space: tuple[tuple[float, float], ...]) -> np.ndarray:
    columns = np.stack([_xyz(each) for each in space[:3]], axis=1)
    return columns * np.linalg.solve(columns, _xyz(space[3]))


def _xyz(chromaticity: tuple[float, float]) -> np.ndarray:
    x, y = chromaticity
    return np.array([x / y, 1.0, (1 - x - y) / y])


def _add_definition(root: xml.Element, category: str, matrix: np.ndarray) -> None:
    definition = xml.SubElement(
        root, "nodedef", name=f"ND_{category}", node=category, nodegroup="colortransform"
    )
    xml.SubElement(definition, "input", name="in", type="color3", value="0, 0, 0")
    xml.SubElement(definition, "output", name="out", type="color3")
    graph = xml.SubElement(root, "nodegraph", name=f"NG_{category}", nodedef=f"ND_{category}")
    writer = NodeWriter(graph)
    # MaterialX multiplies rows by matrices
    stored = Operand("matrix33", value=numbers_text(matrix.T.ravel().tolist()))
    vector = writer.convert(Operand("color3", interface="in"), "vector3")
    turned = writer.add("transformmatrix", "vector3", {"in": vector, "mat": stored})
    colour = writer.convert(turned, "color3")
    xml.SubElement(graph, "output", name="out", type="color3", nodename=colour.node)
