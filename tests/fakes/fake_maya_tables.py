"""Node types and attributes of the fake Maya, as Maya's and Arnold's node references list them."""

from __future__ import annotations

from typing import Any

LONG_NAMES = {
    "docs": "documents",
    "up": "ufePath",
    "oc": "outColor",
    "ss": "surfaceShader",
    "ihi": "isHistoricallyInteresting",
    "ro": "renderableOnlySet",
    "v": "visibility",
}
NODE_TYPES = (
    *("transform", "mesh", "shadingEngine", "standardSurface", "lambert", "file"),
    *("surfaceShader", "displayLayer", "multiplyDivide", "reverse", "uvChooser"),
    *("MaterialXSurfaceShader", "materialxStack", "bump2d", "mayaUsdProxyShape"),
    *("aiStandardSurface", "aiNormalMap", "aiImage", "aiNoise", "place2dTexture"),
)
# Attributes of shading nodes, as Maya's node reference lists them.
SETTINGS: dict[str, dict[str, Any]] = {
    "file": {
        "fileTextureName": "",
        "colorSpace": "sRGB",
        "ignoreColorSpaceFileRules": False,
        "uvTilingMode": 0,
        "computedFileTextureNamePattern": "",
        "alphaIsLuminance": False,
        "exposure": 0.0,
        "alphaGain": 1.0,
        "alphaOffset": 0.0,
        "invert": False,
        "colorGain": (1.0, 1.0, 1.0),
        "colorOffset": (0.0, 0.0, 0.0),
    },
    "place2dTexture": {
        "repeatU": 1.0,
        "repeatV": 1.0,
        "offsetU": 0.0,
        "offsetV": 0.0,
        "rotateUV": 0.0,
        "coverageU": 1.0,
        "coverageV": 1.0,
        "translateFrameU": 0.0,
        "translateFrameV": 0.0,
        "rotateFrame": 0.0,
        "mirrorU": False,
        "mirrorV": False,
        "stagger": False,
        "noiseU": 0.0,
        "noiseV": 0.0,
    },
    "aiNormalMap": {"strength": 1.0, "invertX": False, "invertY": False, "invertZ": False},
    "aiImage": {
        "filename": "",
        "colorSpace": "sRGB",
        "sscale": 1.0,
        "tscale": 1.0,
        "soffset": 0.0,
        "toffset": 0.0,
    },
    "aiStandardSurface": {
        "base": 1.0,
        "baseColor": (0.8, 0.8, 0.8),
        "diffuseRoughness": 0.0,
        "metalness": 0.0,
        "specular": 1.0,
        "specularColor": (1.0, 1.0, 1.0),
        "specularRoughness": 0.2,
        "specularIOR": 1.5,
        "specularAnisotropy": 0.0,
        "specularRotation": 0.0,
        "transmission": 0.0,
        "transmissionColor": (1.0, 1.0, 1.0),
        "transmissionDepth": 0.0,
        "transmissionScatter": (0.0, 0.0, 0.0),
        "transmissionScatterAnisotropy": 0.0,
        "transmissionDispersion": 0.0,
        "transmissionExtraRoughness": 0.0,
        "subsurface": 0.0,
        "subsurfaceColor": (1.0, 1.0, 1.0),
        "subsurfaceRadius": (1.0, 1.0, 1.0),
        "subsurfaceScale": 1.0,
        "subsurfaceAnisotropy": 0.0,
        "sheen": 0.0,
        "sheenColor": (1.0, 1.0, 1.0),
        "sheenRoughness": 0.3,
        "coat": 0.0,
        "coatColor": (1.0, 1.0, 1.0),
        "coatRoughness": 0.1,
        "coatIOR": 1.5,
        "coatAnisotropy": 0.0,
        "coatRotation": 0.0,
        "coatAffectColor": 0.0,
        "coatAffectRoughness": 0.0,
        "thinFilmThickness": 0.0,
        "thinFilmIOR": 1.5,
        "emission": 0.0,
        "emissionColor": (1.0, 1.0, 1.0),
        "opacity": (1.0, 1.0, 1.0),
        "thinWalled": False,
        "normalCamera": (0.0, 0.0, 0.0),
        "coatNormal": (0.0, 0.0, 0.0),
    },
    "bump2d": {"bumpInterp": 0},
    # 1 multiplies
    "multiplyDivide": {"operation": 1, "input1": (0.0,) * 3, "input2": (1.0,) * 3},
    "reverse": {"input": (0.0,) * 3},
}
# Maya's own has the same attributes but one, with other names for some directions.
SETTINGS["standardSurface"] = {
    name: value
    for name, value in SETTINGS["aiStandardSurface"].items()
    if name not in ("transmissionDispersion", "coatNormal")
}
MESH_SETTINGS = {"displayColors": False, "displayColorChannel": "Ambient+Diffuse"}
PAINT_TOOL, SELECT_TOOL = "artAttrColorPerVertexContext", "selectSuperContext"
OUTPUTS = {
    "lambert": ("outColor",),
    "surfaceShader": ("outColor",),
    "standardSurface": ("outColor",),
    "file": ("outColor", "outColorR", "outAlpha", "outTransparency"),
    "bump2d": ("outNormal",),
    "place2dTexture": ("outUV", "outUvFilterSize"),
    "multiplyDivide": ("output",),
    "reverse": ("output",),
}
INPUTS = {
    "file": ("uvCoord", "uvFilterSize"),
    "multiplyDivide": ("input1", "input2"),
    "reverse": ("input",),
    "standardSurface": tuple(SETTINGS["standardSurface"]),
    "bump2d": ("bumpValue",),
    # what it shows is an input with the name of an output
    "surfaceShader": ("outColor", "outTransparency"),
    "shadingEngine": ("surfaceShader",),
}


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
