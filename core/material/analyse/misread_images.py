"""Images of numbers, such as roughness or normals, that are decoded like colours, of which no
renderer tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from verdigris.core.material.analyse.features import APPROXIMATED, Part
from verdigris.core.material.analyse.image_facts import AS_STORED, TextureFacts
from verdigris.core.material.graph.traversal import source_of

if TYPE_CHECKING:
    import MaterialX as mx

HEIGHTS = "heighttonormal"
# What gives texels, or the like of them.
_IMAGES = (
    "image",
    "tiledimage",
    "hextiledimage",
    "triplanarprojection",
    "gltf_image",
    "gltf_colorimage",
    "UsdUVTexture",
    HEIGHTS,
)
_HAND_ON = ("dot", "convert", "extract", "separate3", "separate4", "combine3")
# Of the fourth channel, which is never decoded.
_ALPHA_OUTPUTS = ("a", "outa", "outw")
_ALPHA_INDEX = "3"
# What a decoder leaves as it is.
_PLAIN_SPACES = (AS_STORED, "none", "", "lin_rec709")
_TAKES_NORMALS = "Nworld"
_HAVE_NUMBERS = ("surfaceshader", "BSDF")


def numbers_decoded_as_colours(
    nodes: Sequence[mx.Node], textures: Sequence[TextureFacts]
) -> list[Part]:
    """Of a material that consists of these nodes and images."""
    spaces = {facts.node: facts.colour_space for facts in textures}
    found: dict[str, Part] = {}
    for node in nodes:
        for port in node.getInputs():
            for image in images_handed_on(port) if _takes_numbers(node, port) else ():
                path = image.getNamePath()
                space = spaces.get(path, "")
                if space not in _PLAIN_SPACES:
                    how = (
                        f"its texels are decoded from {space} like colours, and "
                        f"{port.getName()!r} of {node.getNamePath()!r} takes numbers: give its "
                        "file the colour space 'none', or read it as a vector3"
                    )
                    found.setdefault(path, Part(f"numbers of {path!r}", APPROXIMATED, how))
    return list(found.values())


def takes_normals(node: mx.Node, port: mx.Input) -> bool:
    """Whether an input takes a direction that is the surface's normal where nothing is said."""
    definition = node.getNodeDef() if port.getType() == "vector3" else None
    defined = definition.getActiveInput(port.getName()) if definition is not None else None
    return defined is not None and defined.getDefaultGeomPropString() == _TAKES_NORMALS


def images_handed_on(port: mx.Input) -> Iterator[mx.Node]:
    """Those whose texels, but for alpha, arrive at an input as they are, in any order and type."""
    pending: list[mx.Input] = [port]
    seen: set[str] = set()
    while pending:
        reader = pending.pop()
        node = source_of(reader)
        if node is None or _output_of(reader) in _ALPHA_OUTPUTS or node.getNamePath() in seen:
            continue
        seen.add(node.getNamePath())
        if node.getCategory() in _IMAGES:
            yield node
        elif node.getCategory() in _HAND_ON and not _is_alpha(node):
            pending += node.getInputs()


def _takes_numbers(node: mx.Node, port: mx.Input) -> bool:
    if node.getCategory() == "normalmap":
        return str(port.getName()) == "in"
    has_numbers = node.getType() in _HAVE_NUMBERS and port.getType() in ("float", "vector3")
    return has_numbers or takes_normals(node, port)


def _output_of(port: mx.Input) -> str:
    output = port.getConnectedOutput()
    return str(
        (output if output is not None and not port.getNodeName() else port).getOutputString()
    )


def _is_alpha(node: mx.Node) -> bool:
    index = node.getInput("index")
    return index is not None and str(index.getValueString()) == _ALPHA_INDEX
