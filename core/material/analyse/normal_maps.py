"""Normals that are taken out of images, or of heights, without a node that makes directions of
texels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from verdigris.core.material.analyse.features import APPROXIMATED, Part
from verdigris.core.material.analyse.misread_images import HEIGHTS, images_handed_on, takes_normals

if TYPE_CHECKING:
    import MaterialX as mx

    from verdigris.core.material.analyse.image_facts import TextureFacts

_PREVIEW_SURFACE = "UsdPreviewSurface"
# Texels of these are never below 0, as half of all directions are.
_WITHOUT_SIGN = ("uint8", "uint16")


def undecoded_normals(nodes: Sequence[mx.Node], textures: Sequence[TextureFacts]) -> list[Part]:
    """Of a material that consists of these nodes and images."""
    raw = {facts.node for facts in textures if facts.kind in _WITHOUT_SIGN and not facts.problem}
    found: dict[str, Part] = {}
    for node in nodes:
        is_preview = node.getCategory() == _PREVIEW_SURFACE
        remedy = (
            "read it by a UsdUVTexture with the scale 2, 2, 2, 1 and the bias -1, -1, -1, 0"
            if is_preview
            else "put a normalmap node between"
        )
        for port in node.getInputs():
            is_normal = is_preview and port.getName() == "normal"
            for image in images_handed_on(port) if is_normal or takes_normals(node, port) else ():
                path = image.getNamePath()
                is_raw = path in raw or image.getCategory() == HEIGHTS
                if is_raw and not _has_scale(image):
                    how = f"texels of {path!r}, from 0 to 1, are taken for directions: {remedy}"
                    name = f"{port.getName()!r} of {node.getNamePath()!r}"
                    found.setdefault(name, Part(name, APPROXIMATED, how))
    return list(found.values())


def _has_scale(image: mx.Node) -> bool:
    return all(image.getInput(name) is not None for name in ("scale", "bias"))
