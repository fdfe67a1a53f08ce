"""Colour spaces that MaterialX converts, and their names in USD, OpenColorIO and applications."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.colour import linear_from_srgb
from verdigris.core.material.graph.library import standard_library

if TYPE_CHECKING:
    import MaterialX as mx
    from numpy.typing import NDArray

# MaterialX's name -> names in USD, OpenColorIO configurations and applications
_OTHER_NAMES = {
    "srgb_texture": (
        "srgb",
        "srgb_tx",
        "srgb_rec709",
        "srgb texture",
        "srgb - texture",
        "srgb - display",
        "srgb_encoded_rec709_srgb",
        "srgb encoded rec.709 (srgb)",
        "utility - srgb - texture",
        "input - generic - srgb - texture",
    ),
    "lin_rec709": (
        "linear",
        "lin_srgb",
        "lin_rec709_srgb",
        "linear rec.709",
        "linear rec.709 (srgb)",
        "scene-linear rec.709-srgb",
        "scene-linear rec 709/srgb",
        "utility - linear - srgb",
        "utility - linear - rec.709",
    ),
    "g18_rec709": (
        "g18_rec709_tx",
        "g18_encoded_rec709",
        "gamma 1.8 encoded rec.709",
        "gamma 1.8 rec.709 - texture",
        "utility - gamma 1.8 - rec.709 - texture",
    ),
    "g22_rec709": (
        "g22_rec709_tx",
        "g22_encoded_rec709",
        "gamma 2.2 encoded rec.709",
        "gamma 2.2 rec.709 - texture",
        "utility - gamma 2.2 - rec.709 - texture",
    ),
    "rec709_display": (
        "g24_rec709",
        "g24_rec709_tx",
        "ocio:g24_rec709",
        "g24_encoded_rec709",
        "gamma 2.4 encoded rec.709",
        "gamma 2.4 rec.709 - texture",
        "utility - rec.709 - display",
    ),
    "acescg": ("aces - acescg",),
    "g22_ap1": (
        "g22_ap1_tx",
        "g22_encoded_ap1",
        "gamma 2.2 encoded ap1",
        "gamma 2.2 ap1 - texture",
    ),
    "adobergb": ("g22_adobergb", "g22_encoded_adobergb", "gamma 2.2 encoded adobergb"),
    "lin_adobergb": ("linear adobergb", "utility - linear - adobe rgb"),
    "srgb_displayp3": (
        "srgb_p3d65",
        "srgb_encoded_p3d65",
        "srgb_encoded_p3d65_tx",
        "srgb encoded p3-d65",
        "srgb encoded p3-d65 - texture",
    ),
    "lin_displayp3": (
        "lin_p3d65",
        "linear p3-d65",
        "linear display p3",
        "utility - linear - p3-d65",
    ),
    # Blender calls it Non-Color
    "none": ("raw", "data", "identity", "unknown", "non-color", "utility - raw"),
}
_COLOUR_SPACES = {other: name for name, others in _OTHER_NAMES.items() for other in others}
# MaterialX 1.39.5's further names for colour spaces. It has no function that lists them.
COLOUR_SPACE_ALIASES = {
    "gamma18": "g18_rec709",
    "gamma22": "g22_rec709",
    "gamma24": "rec709_display",
    "g18_rec709_scene": "g18_rec709",
    "g22_adobergb_scene": "adobergb",
    "g22_ap1_scene": "g22_ap1",
    "g22_rec709_scene": "g22_rec709",
    "lin_adobergb_scene": "lin_adobergb",
    "lin_ap1": "acescg",
    "lin_ap1_scene": "acescg",
    "lin_p3d65_scene": "lin_displayp3",
    "lin_rec709_scene": "lin_rec709",
    "srgb_p3d65_scene": "srgb_displayp3",
    "srgb_rec709_scene": "srgb_texture",
}
# Exponents of colour spaces that are not linear, and the library's matrices to Rec.709.
_POWERS = {
    "g18_rec709": 1.8,
    "g22_rec709": 2.2,
    "rec709_display": 2.4,
    "g22_ap1": 2.2,
    "adobergb": 563 / 256,
}
_WITH_CURVE_OF_SRGB = ("srgb_texture", "srgb_displayp3")
_PRIMARIES = {
    "acescg": "acescg",
    "g22_ap1": "acescg",
    "adobergb": "lin_adobergb",
    "lin_adobergb": "lin_adobergb",
    "srgb_displayp3": "srgb_displayp3",
    "lin_displayp3": "lin_displayp3",
}


def name_in_materialx(name: str) -> str:
    """MaterialX's name for a colour space. An unknown name stays, so that it is reported."""
    plain = name.strip().lower().removesuffix("_scene")
    return _COLOUR_SPACES.get(plain, plain)


@lru_cache(maxsize=1)
def known_colour_spaces() -> frozenset[str]:
    """Colour spaces that generated code can convert to linear Rec.709."""
    transforms = standard_library().getNodeDefs()
    suffix = "_to_lin_rec709"
    names = {node.getNodeString() for node in transforms}
    found = {name.removesuffix(suffix) for name in names if name.endswith(suffix)}
    return frozenset(found | {"lin_rec709", "none", ""} | COLOUR_SPACE_ALIASES.keys())


def rename_colour_spaces(root: mx.Document) -> None:
    """Replaces names of colour spaces that applications write, and MaterialX's further names.
    MaterialX prints for some of its further names that it has no conversion."""
    for element in (root, *root.traverseTree()):
        name = element.getColorSpace()
        if name in COLOUR_SPACE_ALIASES:
            element.setColorSpace(COLOUR_SPACE_ALIASES[name])
        elif name and name not in known_colour_spaces():
            found = name_in_materialx(name)
            if found in known_colour_spaces():
                element.setColorSpace(found)


def to_linear_rec709(colour: tuple[float, ...], space: str) -> tuple[float, ...]:
    """A colour of this space in linear Rec.709, which the teacher uses."""
    return tuple(colours_to_linear_rec709(np.array(colour), space).tolist())


def colours_to_linear_rec709(values: NDArray[Any], space: str) -> NDArray[Any]:
    """Colours of this space, [..., 3], in linear Rec.709."""
    if space in _WITH_CURVE_OF_SRGB:
        values = linear_from_srgb(values)
    elif space in _POWERS:
        values = np.maximum(values, 0) ** _POWERS[space]
    if space in _PRIMARIES:
        graph = standard_library().getNodeGraph(f"NG_{_PRIMARIES[space]}_to_lin_rec709_color3")
        # MaterialX multiplies rows by matrices
        stored = graph.getNode("mat").getInput("value").getValueString()
        values = values @ np.reshape([float(each) for each in stored.split(",")], (3, 3))
    return values


def is_linear_rec709(space: str) -> bool:
    """Whether colours of this space, or numbers, need no conversion."""
    return space not in (*_WITH_CURVE_OF_SRGB, *_POWERS, *_PRIMARIES)
