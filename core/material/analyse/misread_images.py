"""Images whose texels are misread: numbers that are decoded like colours, and texels that are used
as normals without decoding. No renderer reports either."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from verdigris.core.material.analyse.features import APPROXIMATED, Part
from verdigris.core.material.analyse.image_facts import AS_STORED, TextureFacts
from verdigris.core.material.graph.traversal import source_of

if TYPE_CHECKING:
    import MaterialX as mx

HEIGHTS = "heighttonormal"
# Nodes that return texels or values like texels.
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
_PASS_ON = ("dot", "convert", "extract", "separate3", "separate4", "combine3")
# Outputs of the fourth channel, which is never decoded.
_ALPHA_OUTPUTS = ("a", "outa", "outw")
_ALPHA_INDEX = "3"
# Colour spaces that need no decoding.
_PLAIN_SPACES = (AS_STORED, "none", "", "lin_rec709")
_TAKES_NORMALS = "Nworld"
_HAVE_NUMBERS = ("surfaceshader", "BSDF")
_PREVIEW_SURFACE = "UsdPreviewSurface"
# Texel types without negative values, which directions need.
_WITHOUT_SIGN = ("uint8", "uint16")


def numbers_decoded_as_colours(
    nodes: Sequence[mx.Node], textures: Sequence[TextureFacts]
) -> list[Part]:
    """Images whose numbers, such as roughness or normals, are decoded like colours."""
    spaces = {facts.node: facts.colour_space for facts in textures}
    found: dict[str, Part] = {}
    for node in nodes:
        for port in node.getInputs():
            for image in images_passed_on(port) if _takes_numbers(node, port) else ():
                path = image.getNamePath()
                space = spaces.get(path, "")
                if space not in _PLAIN_SPACES:
                    how = (
                        f"its texels are decoded from {space} like colours, but "
                        f"{port.getName()!r} of {node.getNamePath()!r} expects numbers: set the "
                        "colour space of its file to 'none', or read it as a vector3"
                    )
                    found.setdefault(path, Part(f"numbers of {path!r}", APPROXIMATED, how))
    return list(found.values())


def takes_normals(node: mx.Node, port: mx.Input) -> bool:
    """Whether an input is a direction whose default is the normal of the surface."""
    definition = node.getNodeDef() if port.getType() == "vector3" else None
    defined = definition.getActiveInput(port.getName()) if definition is not None else None
    return defined is not None and defined.getDefaultGeomPropString() == _TAKES_NORMALS


def images_passed_on(port: mx.Input) -> Iterator[mx.Node]:
    """Images whose texels, without alpha, reach an input unchanged, in any order and type."""
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
        elif node.getCategory() in _PASS_ON and not _is_alpha(node):
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


def undecoded_normals(nodes: Sequence[mx.Node], textures: Sequence[TextureFacts]) -> list[Part]:
    """Inputs for normals that read texels, or heights, without a node that decodes directions."""
    raw = {facts.node for facts in textures if facts.kind in _WITHOUT_SIGN and not facts.problem}
    found: dict[str, Part] = {}
    for node in nodes:
        is_preview = node.getCategory() == _PREVIEW_SURFACE
        remedy = (
            "read it with a UsdUVTexture with the scale 2, 2, 2, 1 and the bias -1, -1, -1, 0"
            if is_preview
            else "insert a normalmap node"
        )
        for port in node.getInputs():
            is_normal = is_preview and port.getName() == "normal"
            for image in images_passed_on(port) if is_normal or takes_normals(node, port) else ():
                path = image.getNamePath()
                is_raw = path in raw or image.getCategory() == HEIGHTS
                if is_raw and not _has_scale(image):
                    how = f"texels of {path!r}, from 0 to 1, are used as directions: {remedy}"
                    name = f"{port.getName()!r} of {node.getNamePath()!r}"
                    found.setdefault(name, Part(name, APPROXIMATED, how))
    return list(found.values())


def _has_scale(image: mx.Node) -> bool:
    return all(image.getInput(name) is not None for name in ("scale", "bias"))
