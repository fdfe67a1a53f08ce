"""Colour management of Maya: names of its configuration, and the space of colours in shaders."""

from __future__ import annotations

import numpy as np
from maya import cmds

from verdigris.core.material.graph.colour_spaces import name_in_materialx

SRGB, RAW = "sRGB", "Raw"
"""The spaces of files, as Maya's own configuration calls them."""
UNMANAGED = "lin_rec709"
_ACESCG = "acescg"
# Linear Rec. 709 to ACEScg: the inverse of MaterialX's acescg_to_lin_rec709, which keeps white.
_TO_ACESCG = np.array(
    [[0.613097, 0.339523, 0.047379], [0.070194, 0.916354, 0.013452], [0.020616, 0.109570, 0.869815]]
)


def is_managed() -> bool:
    """Whether Maya manages colours."""
    return bool(cmds.colorManagementPrefs(query=True, cmEnabled=True))


def rendering_space() -> str:
    """The colour space of colours in shaders."""
    if not is_managed():
        return UNMANAGED
    return str(cmds.colorManagementPrefs(query=True, renderingSpaceName=True))


def file_space(name: str) -> str:
    """The name of this space of files in the configuration: studios have their own names."""
    known = cmds.colorManagementPrefs(query=True, inputSpaceNames=True) or []
    if name in known:
        return name
    wanted = name_in_materialx(name)
    return next((each for each in known if name_in_materialx(each) == wanted), name)


def in_rendering_space(light: np.ndarray) -> np.ndarray:
    """Linear Rec. 709 (..., 3) as shaders of the scene have it. Of other spaces than ACEScg, the
    primaries are left."""
    if name_in_materialx(rendering_space()) != _ACESCG:
        return light
    return np.asarray(light @ _TO_ACESCG.T)
