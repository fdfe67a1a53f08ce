"""A standardSurface of Maya with the textures and numbers of MaterialX's Standard Surface."""

from __future__ import annotations

import re

import numpy as np
from maya import cmds

from verdigris.core.hosts.host import ShaderLook, ShaderTexture
from verdigris.plugins.maya.scene.colours import RAW, SRGB, in_rendering_space
from verdigris.plugins.maya.scene.shader_nodes import Note, add_node, add_shader, add_texture
from verdigris.plugins.maya.scene.viewport import TANGENT_SPACE

STANDARD_SURFACE = "standard_surface"
_NORMAL, _COLOUR = "normal", "color"


def make_surface_shader(look: ShaderLook, name: str, note: Note) -> tuple[str, dict[str, str]]:
    """Makes the shader, its textures and its shading group. Returns the group, and the uv set of
    each texture. Directions other than the normal are left out."""
    shader, engine = add_shader("standardSurface", name, note)
    sets = {}
    for port, value in look.values.items():
        plug = _plug(shader, port)
        if plug and isinstance(value, tuple):
            if _COLOUR in port:
                value = tuple(in_rendering_space(np.array(value)).tolist())
            cmds.setAttr(plug, *value, type="double3")
        elif plug:
            cmds.setAttr(plug, value)
    for port, texture in look.textures.items():
        plug = f"{shader}.normalCamera" if port == _NORMAL else _plug(shader, port)
        if not plug or texture.is_direction != (port == _NORMAL):
            continue
        file = _file(texture, f"{name}_{port}", note)
        sets[file] = look.uv_set
        if texture.is_direction:
            bump = add_node("bump2d", f"{name}_{port}Map", note)
            cmds.setAttr(f"{bump}.bumpInterp", TANGENT_SPACE)
            cmds.connectAttr(f"{file}.outAlpha", f"{bump}.bumpValue")
            cmds.connectAttr(f"{bump}.outNormal", plug)
            continue
        is_number = not isinstance(cmds.getAttr(plug), list)
        cmds.connectAttr(f"{file}.{'outColorR' if is_number else 'outColor'}", plug)
    return engine, sets


def _plug(shader: str, port: str) -> str:
    """The attribute of an input, `specular_IOR` as `specularIOR`. Empty if Maya has none."""
    attribute = re.sub(r"_(\w)", lambda found: found[1].upper(), port)
    has_it = cmds.attributeQuery(attribute, node=shader, exists=True)
    return f"{shader}.{attribute}" if has_it else ""


def _file(texture: ShaderTexture, name: str, note: Note) -> str:
    file = add_texture(texture.file, SRGB if texture.is_colour else RAW, name, note)
    if not texture.is_direction and (texture.low, texture.high) != (0.0, 1.0):
        cmds.setAttr(f"{file}.colorGain", *[texture.high - texture.low] * 3, type="double3")
        cmds.setAttr(f"{file}.colorOffset", *[texture.low] * 3, type="double3")
    return file
