"""USD's preview nodes, for which MaterialX has definitions: names and values differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from verdigris.core.material.files.similar_names import TILE_TOKENS
from verdigris.core.material.usd.network import Port

SURFACE = "ND_UsdPreviewSurface_surfaceshader"
_TEXTURE = "ND_UsdUVTexture_23"
# The USD name of a node that reads a property ends with its type.
_READER_TYPES = {
    "int": "integer",
    "float": "float",
    "float2": "vector2",
    "float3": "vector3",
    "float4": "vector4",
    "point": "vector3",
    "normal": "vector3",
    "vector": "vector3",
    "string": "string",
}
_DEFINITIONS = {
    "UsdPreviewSurface": SURFACE,
    "UsdUVTexture": _TEXTURE,
    "UsdTransform2d": "ND_UsdTransform2d",
    **{
        f"UsdPrimvarReader_{usd}": f"ND_UsdPrimvarReader_{kind}"
        for usd, kind in _READER_TYPES.items()
    },
}
_VALUES = {
    "wrapS": {"repeat": "periodic"},
    "wrapT": {"repeat": "periodic"},
    "opacityMode": {"transparent": "0", "presence": "1"},
}
# The default: the wrapping that the image file has, which few files have.
_OF_FILE = "useMetadata"
_SOURCE_SPACE, _AUTO = "sourceColorSpace", "auto"
_SPACES = {"raw": "none", "sRGB": "srgb_texture"}
# Formats with 8 bits a channel; PNG may have 16.
_EIGHT_BITS = frozenset({".jpg", ".jpeg", ".tga", ".bmp", ".gif"})
_PNG_START, _PNG_HEADER = b"\x89PNG\r\n\x1a\n", 26
_PNG_DEPTH, _PNG_KIND = 24, 25
_PNG_COLOURED = (2, 3, 6)


def definition_of(shader_id: str) -> str:
    """The MaterialX definition of a shader id; other ids stay."""
    return _DEFINITIONS.get(shader_id, shader_id)


def ports_in_materialx(definition: str, ports: Sequence[Port]) -> tuple[Port, ...]:
    """The inputs of a preview node with the values and colour spaces of its definition."""
    if definition not in _DEFINITIONS.values():
        return tuple(ports)
    space = next((port.value for port in ports if port.name == _SOURCE_SPACE), None)
    kept = [
        port
        for port in ports
        if port.name != _SOURCE_SPACE and not (port.name in _VALUES and port.value == _OF_FILE)
    ]
    return tuple(_port(port, definition, space) for port in kept)


def _port(port: Port, definition: str, source_space: str | None) -> Port:
    known = _VALUES.get(port.name, {})
    if port.value in known:
        return replace(port, value=known[port.value])
    if definition == _TEXTURE and port.name == "file" and port.value:
        if source_space in _SPACES:
            return replace(port, colour_space=_SPACES[source_space])
        if not port.colour_space:
            # `auto`: by the file
            space = _SPACES["sRGB" if _has_encoded_colours(port.value) else "raw"]
            return replace(port, colour_space=space)
    return port


def _has_encoded_colours(file: str) -> bool:
    """Whether USD's rule takes a file for sRGB: colours with 8 bits a channel."""
    for token, first in zip(TILE_TOKENS, ("1001", "u1_v1"), strict=True):
        file = file.replace(token, first)
    path = Path(file)
    if path.suffix.lower() != ".png":
        return path.suffix.lower() in _EIGHT_BITS
    try:
        with path.open("rb") as opened:
            header = opened.read(_PNG_HEADER)
    except (OSError, ValueError):
        return True
    if len(header) < _PNG_HEADER or not header.startswith(_PNG_START):
        return True
    return header[_PNG_DEPTH] <= 8 and header[_PNG_KIND] in _PNG_COLOURED
