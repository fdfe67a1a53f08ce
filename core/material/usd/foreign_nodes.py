"""Shading nodes that only one application has, by the names of their definitions."""

from __future__ import annotations

_USE_A_SURFACE = "use a MaterialX surface such as OpenPBR or Standard Surface"
# Prefixes of an application's definitions -> application, remedy.
_FOREIGN = {
    ("kma_", "karma"): (
        "Karma",
        "replace it with a MaterialX node, or bake what it does into a texture",
    ),
    ("MayaND_",): ("Maya", _USE_A_SURFACE),
    ("ND_adsk", "adsk"): ("LookdevX", "replace it with a node of MaterialX's own library"),
    ("arnold:", "ARNOLD_ND_", "ai_"): ("Arnold", _USE_A_SURFACE),
    ("Usd",): ("USD", "replace it with a node of MaterialX"),
}


def foreign_origin(definition: str) -> tuple[str, str] | None:
    """The application that a definition with this name comes from, and the remedy."""
    return next((found for each, found in _FOREIGN.items() if definition.startswith(each)), None)
