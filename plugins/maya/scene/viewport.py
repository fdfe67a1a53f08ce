"""Materials with plain textures in a Maya scene, for viewports and renderers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from maya import cmds

from verdigris.core.hosts.host import (
    BASE_COLOR,
    EMISSION,
    METALNESS,
    NORMAL_MAP,
    OPACITY,
    ROUGHNESS,
    VIEWPORT_SUFFIX,
    HostMaterial,
)
from verdigris.plugins.maya.scene.colours import RAW, SRGB, file_space
from verdigris.plugins.maya.scene.documents import texture_name
from verdigris.plugins.maya.scene.materials import engines_of
from verdigris.plugins.maya.scene.nodes import MADE_FOR, free_name, nodes_with, note_text, text_of

_SHADER, _ENGINE, _BUMP = "shader", "engine", "bump"
_NEURAL_SUFFIX = "_neural"
EFFECT_SHADERS = ("GLSLShader", "dx11Shader")
"""The types of the shaders that draw an effect."""
_INPUTS = {
    BASE_COLOR: ("outColor", "baseColor", SRGB),
    ROUGHNESS: ("outColorR", "specularRoughness", RAW),
    METALNESS: ("outColorR", "metalness", RAW),
    EMISSION: ("outColor", "emissionColor", SRGB),
    OPACITY: ("outColor", "opacity", RAW),
}
# The value of bumpInterp for normals in tangent space.
TANGENT_SPACE = 1


def make_viewport_material(material: HostMaterial, textures: Mapping[str, Path]) -> None:
    """Makes a standardSurface with the textures, or updates the one that was made before."""
    made = _Made(material)
    is_made = not made.find(_SHADER)
    shader, engine = made.require_shader("standardSurface", VIEWPORT_SUFFIX, _SHADER, _ENGINE)
    for source in engines_of(material):
        # renders of the look displace as those of the material
        target = f"{source}.displacementShader"
        for plug in cmds.listConnections(target, destination=False, plugs=True) or []:
            _connect(plug, f"{engine}.displacementShader")
    for kind, path in textures.items():
        file = made.find(kind)
        is_new = is_made or not file
        if not file:
            name = free_name(f"{_bare(shader)}_{kind}")
            file = cmds.shadingNode("file", asTexture=True, skipSelect=True, name=name)
            made.note(file, kind)
            # keeps the colour space when the file name changes
            cmds.setAttr(f"{file}.ignoreColorSpaceFileRules", True)
        cmds.setAttr(f"{file}.fileTextureName", texture_name(path), type="string")
        if is_new and kind == NORMAL_MAP:
            _connect_normal(made, file, shader)
        elif is_new and kind in _INPUTS:
            output, target, space = _INPUTS[kind]
            cmds.setAttr(f"{file}.colorSpace", file_space(space), type="string")
            _connect(f"{file}.{output}", f"{shader}.{target}")
        if kind == EMISSION and is_new:
            cmds.setAttr(f"{shader}.emission", 1.0)
    for kind in (EMISSION, OPACITY):
        if kind not in textures and made.find(kind):
            cmds.delete(made.find(kind))
            _reset(shader, kind)


def viewport_engine(material: HostMaterial) -> str:
    """The shading group that was made for a material. Empty if there is none."""
    return _Made(material).find(_ENGINE)


def make_neural_material(material: HostMaterial, kind: str, effect: Path) -> str:
    """Makes a shader of a kind that draws an effect, or updates the one that was made before.
    Returns its shading group."""
    made = _Made(material)
    shader, engine = made.require_shader(kind, _NEURAL_SUFFIX, kind, f"{kind} {_ENGINE}")
    cmds.setAttr(f"{shader}.shader", effect.as_posix(), type="string")
    return engine


def neural_engines(material: HostMaterial) -> list[str]:
    """The shading groups of the effects that were made for a material."""
    made = _Made(material)
    return [found for kind in EFFECT_SHADERS if (found := made.find(f"{kind} {_ENGINE}"))]


class _Made:
    """The nodes that were made for a material. An attribute marks them, as names are not unique and
    can change."""

    def __init__(self, material: HostMaterial) -> None:
        # Maya also replaces other characters by _
        self.plain = re.sub(r"\W", "_", material.name.rpartition("|")[2], flags=re.ASCII)
        self._key = material.key
        self._nodes = {text_of(node, MADE_FOR): node for node in nodes_with(MADE_FOR)}

    def find(self, part: str) -> str:
        """The node of a part. Empty if there is none."""
        return self._nodes.get(self._mark(part), "")

    def note(self, node: str, part: str) -> None:
        note_text(node, MADE_FOR, self._mark(part))
        self._nodes[self._mark(part)] = node

    def require_shader(self, kind: str, suffix: str, part: str, group: str) -> tuple[str, str]:
        """The shader of a part and its shading group. Makes what is missing: the artist may have
        deleted the shader only."""
        shader, engine = self.find(part), self.find(group)
        if not shader:
            name = free_name(self.plain, suffix)
            shader = cmds.shadingNode(kind, asShader=True, skipSelect=True, name=name)
            self.note(shader, part)
        if not engine:
            name = free_name(f"{_bare(shader)}SG")
            engine = cmds.sets(renderable=True, noSurfaceShader=True, empty=True, name=name)
            self.note(engine, group)
        _connect(f"{shader}.outColor", f"{engine}.surfaceShader")
        return shader, engine

    def _mark(self, part: str) -> str:
        return f"{self._key} {part}"


def _bare(node: str) -> str:
    return node.rpartition(":")[2]


def _reset(shader: str, kind: str) -> None:
    if kind == EMISSION:
        cmds.setAttr(f"{shader}.emission", 0.0)
    else:
        cmds.setAttr(f"{shader}.opacity", 1.0, 1.0, 1.0, type="double3")


def _connect_normal(made: _Made, file: str, shader: str) -> None:
    bump = made.find(_BUMP)
    if not bump:
        name = free_name(f"{_bare(shader)}_bump")
        bump = cmds.shadingNode("bump2d", asUtility=True, skipSelect=True, name=name)
        made.note(bump, _BUMP)
    cmds.setAttr(f"{file}.colorSpace", file_space(RAW), type="string")
    cmds.setAttr(f"{bump}.bumpInterp", TANGENT_SPACE)
    _connect(f"{file}.outAlpha", f"{bump}.bumpValue")
    _connect(f"{bump}.outNormal", f"{shader}.normalCamera")


def _connect(source: str, target: str) -> None:
    """Connects two attributes, unless the artist has connected something else."""
    if not cmds.listConnections(target, source=True, destination=False):
        cmds.connectAttr(source, target)
