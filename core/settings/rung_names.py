"""The rungs of a ladder, from the dearest to the cheapest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NEURAL, SURFACE, PBR, UNLIT, REFLECTION, DETAIL, VERTEX = RUNGS = (
    "neural", "surface", "pbr", "unlit", "reflection", "detail", "vertex",
)  # fmt: skip
LIT = NEURAL, SURFACE, PBR
"""What an engine evaluates for each light; of others it evaluates a pixel."""
VARIANT_SET = "rung"
"""Of a USD file with all rungs."""
TITLES = {
    NEURAL: "Neural material",
    SURFACE: "Textures of the surface shader",
    PBR: "glTF textures",
    UNLIT: "One unlit texture",
    REFLECTION: "Unlit texture and reflection map",
    DETAIL: "Detail and low colours",
    VERTEX: "Vertex colours",
}
COSTS = {
    NEURAL: "the neural texture and its small network",
    SURFACE: "a texture read for each input that varies, one light loop of the shader",
    PBR: "3 texture reads (5 with coat and emission), one light loop",
    UNLIT: "1 texture read, 1 division",
    REFLECTION: "3 texture reads, 2 divisions, no light loop",
    DETAIL: "2 texture reads, 1 division",
    VERTEX: "no texture read, 1 division",
}


def describe_switch(rung: Mapping[str, Any]) -> str:
    """Where a rung of a report suffices, for people."""
    pixels = rung.get("switch_pixels")
    if not pixels:
        return "nowhere"
    largest = max(map(int, rung.get("flip_by_screen_size", ())), default=None)
    return "at all sizes" if pixels == largest else f"below {pixels} px"


def describe_time(name: str, nanoseconds: float) -> str:
    """The time of an evaluation of a rung, for people."""
    return f"{nanoseconds:.3f} ns {'for each light' if name in LIT else 'a pixel'}"
