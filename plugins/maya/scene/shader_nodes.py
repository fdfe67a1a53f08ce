"""Nodes of the shaders that show rungs of a ladder. `note` marks each node that is made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from maya import cmds

from verdigris.core.hosts.host import VIEWPORT_SUFFIX
from verdigris.plugins.maya.scene.colours import file_space
from verdigris.plugins.maya.scene.nodes import free_name

Note = Callable[[str], None]


def add_shader(kind: str, name: str, note: Note) -> tuple[str, str]:
    """A shader and its shading group."""
    shader = cmds.shadingNode(
        kind, asShader=True, skipSelect=True, name=free_name(name, VIEWPORT_SUFFIX)
    )
    engine = cmds.sets(
        renderable=True, noSurfaceShader=True, empty=True,
        name=free_name(f"{name}{VIEWPORT_SUFFIX}SG"),
    )  # fmt: skip
    for node in (shader, engine):
        note(node)
    cmds.connectAttr(f"{shader}.outColor", f"{engine}.surfaceShader")
    return str(shader), str(engine)


def add_node(kind: str, name: str, note: Note) -> str:
    made = cmds.shadingNode(kind, asUtility=True, skipSelect=True, name=free_name(name))
    note(made)
    return str(made)


def add_texture(path: Path, space: str, name: str, note: Note) -> str:
    """A file in one of the spaces of colours.py, with its placement, which a uv set can be linked
    to."""
    file = cmds.shadingNode("file", asTexture=True, skipSelect=True, name=free_name(name))
    note(file)
    placement = add_node("place2dTexture", f"{name}_uv", note)
    cmds.connectAttr(f"{placement}.outUV", f"{file}.uvCoord")
    cmds.connectAttr(f"{placement}.outUvFilterSize", f"{file}.uvFilterSize")
    cmds.setAttr(f"{file}.ignoreColorSpaceFileRules", True)
    cmds.setAttr(f"{file}.fileTextureName", path.as_posix(), type="string")
    cmds.setAttr(f"{file}.colorSpace", file_space(space), type="string")
    return str(file)
