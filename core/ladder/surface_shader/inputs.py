"""The inputs of a surface shader, and how textures store those that vary.

A channel is a byte of an image, and the document decodes it: colours from sRGB, numbers by a range,
normals by a `normalmap`. A fit changes bytes, and knows nothing of what they mean.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from verdigris.core.base.colour import linear_from_srgb
from verdigris.core.material.graph.traversal import is_of_document, own_graph, source_of
from verdigris.core.pictures.picture_files import srgb_from_linear

if TYPE_CHECKING:
    import MaterialX as mx
    from numpy.typing import NDArray

    from verdigris.core.material.load.mtlx_document import Material

    Floats = NDArray[np.floating]

COUNTS = {"float": 1, "color3": 3, "vector3": 3}
_CLOSURES = ("BSDF", "EDF", "VDF", "surfaceshader", "volumeshader")
# What differs less over the surface is constant.
_LEAST_SPREAD = 1e-3
# Parts of names of inputs that emit light or make holes.
_GLOW, _HOLES = ("emission", "emissive"), ("opacity", "alpha")


@dataclass(frozen=True)
class TexturedInput:
    """An input of the surface shader that an image feeds."""

    name: str
    kind: str
    """`float`, `color3` or `vector3`: a direction, in the frame of the surface."""
    low: float = 0.0
    high: float = 1.0
    """What the bytes 0 and 255 stand for."""

    @property
    def channels(self) -> int:
        return COUNTS[self.kind]

    @property
    def is_direction(self) -> bool:
        return self.kind == "vector3"

    @property
    def is_colour(self) -> bool:
        """Whether bytes are in sRGB."""
        return self.kind == "color3" and self.low == 0

    @property
    def is_glow(self) -> bool:
        return any(part in self.name for part in _GLOW)

    @property
    def is_opacity(self) -> bool:
        return any(part in self.name for part in _HOLES)

    def stored(self, values: Floats) -> Floats:
        """Values (texels, channels) of the input as numbers from 0 to 1."""
        if self.is_direction:
            return np.asarray(np.clip(0.5 + 0.5 * values, 0, 1), np.float32)
        part = np.clip((values - self.low) / (self.high - self.low), 0, 1)
        return np.asarray(srgb_from_linear(part) if self.is_colour else part, np.float32)

    def decoded(self, stored: Floats) -> Floats:
        """What the document makes of them; directions are not normalised."""
        if self.is_direction:
            return 2 * stored - 1
        part = linear_from_srgb(stored) if self.is_colour else stored
        return np.asarray(self.low + (self.high - self.low) * part)

    def fitting(self, values: Floats) -> TexturedInput:
        """The input with a range that holds these values."""
        if self.is_direction:
            return self
        low, high = float(values.min()), float(values.max())
        if low >= -_LEAST_SPREAD and high <= 1 + _LEAST_SPREAD:
            return self
        # colours begin at black, for the curve of sRGB
        if self.kind == "color3" or high - low < _LEAST_SPREAD:
            low = min(low, 0.0)
        return replace(self, low=low, high=max(high, low + _LEAST_SPREAD))


def shader_of(material: Material) -> mx.Node | None:
    """The node of the surface shader of a material."""
    import MaterialX as mx

    node = material.element
    if node.getType() == "material":
        node = node.getInput("surfaceshader")
    return node if node is None or isinstance(node, mx.Node) else source_of(node)


def is_plain_surface(node: mx.Node) -> bool:
    """Whether a node is a surface shader of the library that only numbers, colours and directions
    feed, and no definition of the document, layer or mix."""
    definition = node.getNodeDef()
    if definition is None or is_of_document(definition, node) or own_graph(node):
        return False
    if any(port.getType() in _CLOSURES for port in definition.getActiveInputs()):
        return False
    fed = [port for port in node.getInputs() if source_of(port) is not None]
    return node.getType() == "surfaceshader" and all(port.getType() in COUNTS for port in fed)


def fed_inputs(surface: mx.Node) -> list[TexturedInput]:
    """The inputs that nodes feed."""
    return [
        TexturedInput(port.getName(), port.getType())
        for port in surface.getInputs()
        if source_of(port) is not None
    ]


def is_constant(values: Floats) -> bool:
    """Whether values (texels, channels) are the same all over the surface."""
    return bool((np.ptp(values, axis=0) < _LEAST_SPREAD).all())
