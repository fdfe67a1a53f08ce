"""Normals that come out of images in a way that bends them, which no renderer tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from verdigris.core.material.features import APPROXIMATED, Part
from verdigris.core.material.image_facts import AS_STORED, TextureFacts
from verdigris.core.material.upstream import source_of

if TYPE_CHECKING:
    import MaterialX as mx

_MAP = "normalmap"
_IMAGES = (
    "image",
    "tiledimage",
    "hextiledimage",
    "triplanarprojection",
    "gltf_image",
    "gltf_colorimage",
    "UsdUVTexture",
)
_HAND_ON = ("dot", "convert", "extract", "separate3", "separate4", "combine3", "swizzle")
_READS_STORED_NORMALS = "UsdPreviewSurface"
_NORMAL_OF_SURFACE = "Nworld"
# What a decoder leaves as it is.
_PLAIN_SPACES = (AS_STORED, "none", "", "lin_rec709")
# Texels of these are never below 0, as half of all directions are.
_WITHOUT_SIGN = ("uint8", "uint16")


def bent_normals(nodes: Sequence[mx.Node], textures: Sequence[TextureFacts]) -> list[Part]:
    """Of a material that consists of these nodes and images."""
    images = {facts.node: facts for facts in textures if not facts.problem}
    found: dict[str, Part] = {}
    for node in nodes:
        for port in node.getInputs():
            is_normal = _takes_normal(node, port)
            if is_normal or (node.getCategory() == _MAP and port.getName() == "in"):
                for part in _bent(port, images, is_normal):
                    found.setdefault(part.name, part)
    return list(found.values())


def _takes_normal(node: mx.Node, port: mx.Input) -> bool:
    """Whether an input takes a direction, and not texels that stand for one."""
    if node.getCategory() == _READS_STORED_NORMALS:
        return str(port.getName()) == "normal"
    definition = node.getNodeDef()
    defined = definition.getActiveInput(port.getName()) if definition is not None else None
    return defined is not None and defined.getDefaultGeomPropString() == _NORMAL_OF_SURFACE


def _bent(port: mx.Input, images: Mapping[str, TextureFacts], is_normal: bool) -> Iterator[Part]:
    reader = port.getParent()
    for node in _images_handed_on(port):
        facts = images.get(node.getNamePath())
        if facts is None:
            continue
        if facts.colour_space not in _PLAIN_SPACES:
            yield Part(
                f"normals of {facts.node!r}",
                APPROXIMATED,
                f"its texels are decoded from {facts.colour_space} like colours, which bends "
                "normals: give its file the colour space 'none', or read it as a vector3",
            )
        if is_normal and facts.kind in _WITHOUT_SIGN and not _has_scale(node):
            remedy = (
                "read it by a UsdUVTexture with the scale 2, 2, 2, 1 and the bias -1, -1, -1, 0"
                if reader.getCategory() == _READS_STORED_NORMALS
                else "put a normalmap node between"
            )
            yield Part(
                f"{port.getName()!r} of {reader.getNamePath()!r}",
                APPROXIMATED,
                f"texels of {facts.node!r}, from 0 to 1, are taken for directions: {remedy}",
            )


def _has_scale(image: mx.Node) -> bool:
    return image.getInput("scale") is not None and image.getInput("bias") is not None


def _images_handed_on(port: mx.Input) -> Iterator[mx.Node]:
    """Those whose texels arrive at an input as they are, in whatever order and type."""
    pending: list[mx.Input] = [port]
    seen: set[str] = set()
    while pending:
        node = source_of(pending.pop())
        if node is None or node.getNamePath() in seen:
            continue
        seen.add(node.getNamePath())
        if node.getCategory() in _HAND_ON:
            pending += node.getInputs()
        elif node.getCategory() in _IMAGES:
            yield node
