"""A standardSurface of Maya with the textures and numbers of MaterialX's Standard Surface."""

from __future__ import annotations

import re
from collections.abc import Callable

from maya import cmds

from verdigris.core.hosts.host import VIEWPORT_SUFFIX, ShaderLook, ShaderTexture
from verdigris.plugins.maya.scene.nodes import free_name
from verdigris.plugins.maya.scene.viewport import TANGENT_SPACE

STANDARD_SURFACE = "standard_surface"
_NORMAL = "normal"


def make_shader(look: ShaderLook, name: str, note: Callable[[str], None]) -> str:
    """Makes the shader, its textures and its shading group. `note` marks each node. Returns the
    group. Directions other than the normal are left out."""
    shader = cmds.shadingNode(
        "standardSurface", asShader=True, skipSelect=True, name=free_name(name, VIEWPORT_SUFFIX)
    )
    engine = cmds.sets(
        renderable=True, noSurfaceShader=True, empty=True,
        name=free_name(f"{name}{VIEWPORT_SUFFIX}SG"),
    )  # fmt: skip
    note(shader)
    note(engine)
    for port, value in look.values.items():
        plug = _plug(shader, port)
        if plug and isinstance(value, tuple):
            cmds.setAttr(plug, *value, type="double3")
        elif plug:
            cmds.setAttr(plug, value)
    for port, texture in look.textures.items():
        if texture.is_direction:
            if port == _NORMAL:
                _connect_normal(shader, texture, f"{name}_{port}", note)
            continue
        plug = _plug(shader, port)
        if not plug:
            continue
        file = _file(texture, f"{name}_{port}", note)
        is_number = not isinstance(cmds.getAttr(plug), list)
        cmds.connectAttr(f"{file}.{'outColorR' if is_number else 'outColor'}", plug)
    cmds.connectAttr(f"{shader}.outColor", f"{engine}.surfaceShader")
    return str(engine)


def _plug(shader: str, port: str) -> str:
    """The attribute of an input, `specular_IOR` as `specularIOR`. Empty if Maya has none."""
    attribute = re.sub(r"_(\w)", lambda found: found[1].upper(), port)
    has_it = cmds.attributeQuery(attribute, node=shader, exists=True)
    return f"{shader}.{attribute}" if has_it else ""


def _file(texture: ShaderTexture, name: str, note: Callable[[str], None]) -> str:
    file = cmds.shadingNode("file", asTexture=True, skipSelect=True, name=free_name(name))
    note(file)
    cmds.setAttr(f"{file}.ignoreColorSpaceFileRules", True)
    cmds.setAttr(f"{file}.fileTextureName", texture.file.as_posix(), type="string")
    space = "sRGB" if texture.is_colour else "Raw"
    cmds.setAttr(f"{file}.colorSpace", space, type="string")
    if not texture.is_direction and (texture.low, texture.high) != (0.0, 1.0):
        cmds.setAttr(f"{file}.colorGain", *[texture.high - texture.low] * 3, type="double3")
        cmds.setAttr(f"{file}.colorOffset", *[texture.low] * 3, type="double3")
    return str(file)


def _connect_normal(
    shader: str, texture: ShaderTexture, name: str, note: Callable[[str], None]
) -> None:
    file = _file(texture, name, note)
    bump = cmds.shadingNode("bump2d", asUtility=True, skipSelect=True, name=free_name(f"{name}Map"))
    note(bump)
    cmds.setAttr(f"{bump}.bumpInterp", TANGENT_SPACE)
    cmds.connectAttr(f"{file}.outAlpha", f"{bump}.bumpValue")
    cmds.connectAttr(f"{bump}.outNormal", f"{shader}.normalCamera")
