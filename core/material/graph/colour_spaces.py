"""Names of colour spaces in MaterialX, USD, OpenColorIO and applications."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import MaterialX as mx

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


def name_in_materialx(name: str) -> str:
    """MaterialX's name of a colour space; an unknown name stays, so that it is reported."""
    plain = name.strip().lower().removesuffix("_scene")
    return _COLOUR_SPACES.get(plain, plain)


def rename_colour_spaces(root: mx.Document) -> None:
    """Replaces names of colour spaces that applications write, and MaterialX's further names.
    For some of these, MaterialX prints that it has no conversion."""
    from verdigris.core.material.graph.library import COLOUR_SPACE_ALIASES, known_colour_spaces

    for element in (root, *root.traverseTree()):
        name = element.getColorSpace()
        if name in COLOUR_SPACE_ALIASES:
            element.setColorSpace(COLOUR_SPACE_ALIASES[name])
        elif name and name not in known_colour_spaces():
            found = name_in_materialx(name)
            if found in known_colour_spaces():
                element.setColorSpace(found)
