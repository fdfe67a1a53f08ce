"""Colour spaces by MaterialX's names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import MaterialX as mx

# Names that USD, OpenColorIO configurations and hosts have for what MaterialX can transform.
_COLOUR_SPACES = {
    "srgb": "srgb_texture",
    "srgb_rec709": "srgb_texture",
    "srgb - texture": "srgb_texture",
    "utility - srgb - texture": "srgb_texture",
    "srgb encoded rec.709 (srgb)": "srgb_texture",
    "lin_srgb": "lin_rec709",
    "linear": "lin_rec709",
    "linear rec.709 (srgb)": "lin_rec709",
    "scene-linear rec.709-srgb": "lin_rec709",
    "utility - linear - srgb": "lin_rec709",
    "aces - acescg": "acescg",
    "g22_adobergb": "adobergb",
    "srgb_p3d65": "srgb_displayp3",
    "lin_p3d65": "lin_displayp3",
    "raw": "none",
    "data": "none",
    "identity": "none",
    "unknown": "none",
    "utility - raw": "none",
}


def name_in_materialx(name: str) -> str:
    """MaterialX's name of a colour space; a name that nobody knows stays, to be reported."""
    plain = name.strip().lower().removesuffix("_scene")
    return _COLOUR_SPACES.get(plain, plain)


def give_colour_spaces_their_names(root: mx.Document) -> None:
    """Puts the names that MaterialX transforms in the place of those that applications write."""
    from verdigris.core.material.library import known_colour_spaces

    for element in (root, *root.traverseTree()):
        name = element.getColorSpace()
        if name and name not in known_colour_spaces():
            found = name_in_materialx(name)
            if found in known_colour_spaces():
                element.setColorSpace(found)
