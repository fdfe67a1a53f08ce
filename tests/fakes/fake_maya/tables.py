"""Names and settings of the fake Maya, and the geometry of its meshes."""

from __future__ import annotations

from typing import Any

LOOSE_TYPES = (
    "transform",
    "mesh",
    "displayLayer",
    "materialxStack",
    "mayaUsdProxyShape",
    "camera",
    "createColorSet",
)
"""Types whose attributes nodes.json leaves out."""

PLUGIN_OF = {"GLSLShader": "glslShader", "dx11Shader": "dx11Shader"}
"""The plug-ins that add types."""

MESH_SETTINGS = {"displayColors": False, "displayColorChannel": "Ambient+Diffuse"}
PAINT_TOOL, SELECT_TOOL = "artAttrColorPerVertexContext", "selectSuperContext"


def plate(colours: dict[str, Any] | None = None) -> dict[str, Any]:
    """A quad and a triangle that share an edge, in the plane of z = 0."""
    return {
        "points": [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0)],
        "counts": [4, 3],
        "vertices": [0, 1, 2, 3, 1, 4, 2],
        "normals": [(0, 0, 1)],
        "normal_ids": [0] * 7,
        "uvs": [(0, 0), (0.5, 0), (0.5, 1), (0, 1), (1, 0)],
        "uv_sets": {"map1": 0},
        "uv_counts": [4, 3],
        "uv_ids": [0, 1, 2, 3, 1, 4, 2],
        "colours": colours or {},
        "current": "",
    }
