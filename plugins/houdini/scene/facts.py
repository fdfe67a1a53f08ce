"""What this Houdini has: its licence, node types, assets and colours."""

from __future__ import annotations

import os

import hou

from verdigris.core.hosts.probe import ON, Facts, fact, presence
from verdigris.plugins.houdini.nodes.bake_lop import TYPE_NAME

_NODE_TYPES = {
    "Lop": ("materiallibrary", "pythonscript", "reference::2.0", "setvariant"),
    "Vop": ("mtlxstandard_surface", "mtlxopen_pbr_surface", "usdpreviewsurface"),
    "Sop": ("attribpaint",),
}


def read_facts() -> Facts:
    """The facts of this Houdini. Nothing cooks for them."""
    categories = hou.nodeTypeCategories()
    asset = categories["Lop"].nodeType(TYPE_NAME)
    has_window = bool(hou.isUIAvailable())
    installed = fact(lambda: asset.definition().version()) if asset else "not installed"
    return Facts(
        application={
            "licence": fact(lambda: str(hou.licenseCategory()).rpartition(".")[2]),
            "window": "yes" if has_window else "no",
        },
        plugins={"asset of the LOP": installed},
        node_types={
            name: presence(categories[kind].nodeType(name))
            for kind, names in _NODE_TYPES.items()
            for name in names
        },
        colours={"configuration": os.environ.get("OCIO", "Houdini's own")},
        features={
            "Verdigris Bake LOP": ON if asset else "not installed: choose Verdigris > Add Bake LOP",
            "Houdini's brush": ON if has_window else "this Houdini has no window",
        },
    )
