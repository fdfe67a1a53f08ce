"""What the scratch scenes of all applications contain, and what their materials must give."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from verdigris.core.base.files import replace_file
from verdigris.core.hosts.host import BASE_COLOR, EMISSION, NORMAL_MAP, OPACITY
from verdigris.core.hosts.host import METALNESS as METALNESS_MAP
from verdigris.core.hosts.host import ROUGHNESS as ROUGHNESS_MAP

BASE_COLOUR, ROUGHNESS, METALNESS, NORMAL = "base colour", "roughness", "metalness", "normal"
DISPLACEMENT = "displacement"

COLOUR_VALUE = (0.3, 0.2, 0.1)
"""The base colour of materials without an image of it."""

ROUGHNESS_VALUE = 0.37
"""The roughness of all materials that have one number."""

NO_WINDOW = "an instance without a window has no brush"
_SIDE = 16


@dataclass(frozen=True)
class Expected:
    """What a material of the scratch scene must give. Parts of the surface have the names above,
    whatever surface shader the document has."""

    name: str
    """Its name in the list of materials."""

    values: Mapping[str, float | tuple[float, ...]] = field(default_factory=dict)
    """Numbers that were set, by part."""

    images: Mapping[str, str] = field(default_factory=dict)
    """Names of files that must reach a part."""

    nodes: Mapping[str, str] = field(default_factory=dict)
    """Names of nodes that feed a part. The document has something in their place, or a note names
    the node."""

    refused: Mapping[str, str] = field(default_factory=dict)
    """Calls that must be refused for it, with the reason."""

    source: str = ""
    """Where it comes from, if several materials have its name."""


@dataclass(frozen=True)
class Scratch:
    """The scratch scene of an application."""

    materials: tuple[Expected, ...]
    """The first one is also baked."""

    refused: Mapping[str, str] = field(default_factory=dict)
    """Calls that must be refused, with the reason."""

    left_out: Mapping[str, str] = field(default_factory=dict)
    """What cannot be tried here, with the reason."""

    checks: Mapping[str, Callable[[], object]] = field(default_factory=dict)
    """Further steps of this application."""


@dataclass(frozen=True)
class Images:
    """Image files of the scratch scene, which also stand for textures of a bake."""

    colour: Path
    normal: Path

    @property
    def textures(self) -> dict[str, Path]:
        """Textures for a viewport, by kind."""
        kinds = (BASE_COLOR, ROUGHNESS_MAP, METALNESS_MAP, EMISSION, OPACITY)
        return {NORMAL_MAP: self.normal, **dict.fromkeys(kinds, self.colour)}


def write_images(folder: Path) -> Images:
    """Writes the images into a folder: squares of two colours, and a normal map of ridges."""
    images = Images(folder / "scratch_colour.png", folder / "scratch_normal.png")
    dark, light = bytes((150, 60, 30)), bytes((230, 180, 90))
    left, right = bytes((104, 128, 252)), bytes((152, 128, 252))
    _write_png(images.colour, lambda x, y: dark if (x // 4 + y // 4) % 2 else light)
    _write_png(images.normal, lambda x, _: left if x // 2 % 2 else right)
    return images


def _write_png(file: Path, pixel: Callable[[int, int], bytes]) -> None:
    rows = b"".join(b"\0" + b"".join(pixel(x, y) for x in range(_SIDE)) for y in range(_SIDE))

    def chunk(name: bytes, data: bytes) -> bytes:
        check = zlib.crc32(name + data)
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", check)

    head = struct.pack(">IIBBBBB", _SIDE, _SIDE, 8, 2, 0, 0, 0)
    parts = (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b""))
    replace_file(file, b"\x89PNG\r\n\x1a\n" + b"".join(parts))


_STAGE = """#usda 1.0
(
    upAxis = "Y"
)

def Mesh "staged_plate" (
    prepend apiSchemas = ["MaterialBindingAPI"]
)
{
    int[] faceVertexCounts = [4]
    int[] faceVertexIndices = [0, 1, 2, 3]
    rel material:binding = </materials/staged>
    point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 0, -1), (0, 0, -1)]
    texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1)] (
        interpolation = "vertex"
    )
}

def Scope "materials"
{
    def Material "staged"
    {
        token outputs:mtlx:surface.connect = </materials/staged/surface.outputs:out>
        token outputs:mtlx:displacement.connect = </materials/staged/lift.outputs:out>

        def Shader "lift"
        {
            uniform token info:id = "ND_displacement_float"
            float inputs:displacement = {height}
            token outputs:out
        }

        def Shader "surface"
        {
            uniform token info:id = "ND_standard_surface_surfaceshader"
            color3f inputs:base_color = {colour}
            float inputs:specular_roughness = {roughness}
            token outputs:out
        }
    }
}
"""
_HEIGHT_VALUE = 0.02
STAGED = Expected(
    "staged", {BASE_COLOUR: COLOUR_VALUE, ROUGHNESS: ROUGHNESS_VALUE, DISPLACEMENT: _HEIGHT_VALUE}
)


def write_stage(folder: Path) -> Path:
    """Writes a USD stage with a mesh and the material `staged`."""
    file = folder / "scratch_stage.usda"
    colour, roughness = str(COLOUR_VALUE), str(ROUGHNESS_VALUE)
    text = _STAGE.replace("{colour}", colour).replace("{roughness}", roughness)
    text = text.replace("{height}", str(_HEIGHT_VALUE))
    replace_file(file, text.encode())
    return file
