"""Results in Maya's scene: notes on nodes, and a material of flattened textures."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from maya import cmds

from verdigris.core.errors import HostError
from verdigris.core.host import (
    BASE_COLOR,
    EMISSION,
    METALNESS,
    NORMAL_MAP,
    OPACITY,
    ROUGHNESS,
    VIEWPORT_SUFFIX,
    HostMaterial,
)
from verdigris.plugins.maya.lookdevx import split_path
from verdigris.plugins.maya.scene_materials import NATIVE, STACKED
from verdigris.plugins.maya.scene_nodes import require_node, surface_of, text_of

RESULT_ATTRIBUTE = "verdigrisBundle"
RESULTS_ATTRIBUTE = "verdigrisBundles"
_INPUTS = {
    BASE_COLOR: ("outColor", "baseColor", "sRGB"),
    ROUGHNESS: ("outColorR", "specularRoughness", "Raw"),
    METALNESS: ("outColorR", "metalness", "Raw"),
    EMISSION: ("outColor", "emissionColor", "sRGB"),
    OPACITY: ("outColor", "opacity", "Raw"),
}
# What bump2d calls normals in tangent space.
_TANGENT_SPACE = 1


def place_of_result(material: HostMaterial) -> tuple[str, str]:
    """The node and the attribute. A stack has many materials, so it has a list of them."""
    if material.source == STACKED:
        return require_node(split_path(material.key)[0]), RESULTS_ATTRIBUTE
    if material.source == NATIVE:
        engine = require_node(material.key)
        return surface_of(engine) or engine, RESULT_ATTRIBUTE
    return require_node(material.key), RESULT_ATTRIBUTE


def find_result(material: HostMaterial) -> str:
    """The path that is noted; nothing where none is."""
    node, attribute = place_of_result(material)
    if attribute == RESULTS_ATTRIBUTE:
        return str(_results(node).get(material.key, ""))
    return text_of(node, attribute)


def result_text(material: HostMaterial, bundle: Path) -> str:
    """What is to be written into the attribute of a material's place."""
    node, attribute = place_of_result(material)
    if attribute == RESULTS_ATTRIBUTE:
        return json.dumps({**_results(node), material.key: bundle.as_posix()}, sort_keys=True)
    return bundle.as_posix()


def note_result(node: str, attribute: str, text: str) -> None:
    """Writes it, on a node that may not have the attribute yet."""
    if not cmds.attributeQuery(attribute, node=node, exists=True):
        cmds.addAttr(node, longName=attribute, dataType="string")
    cmds.setAttr(f"{node}.{attribute}", text, type="string")


def make_viewport_material(name: str, textures: Mapping[str, Path]) -> None:
    """A standardSurface with the flattened textures, for what cannot show the neural material. One
    that is there already only gets the new files, and loses those of what the material no longer
    has."""
    # Maya would write _ for other letters, and what is looked for were not found again
    plain = re.sub(r"\W", "_", name.rpartition("|")[2], flags=re.ASCII) + VIEWPORT_SUFFIX
    shader, engine = _in_root(plain), _in_root(f"{plain}SG")
    is_made = not cmds.objExists(shader)
    if is_made:
        # whoever has deleted it may have left the rest
        shader = cmds.shadingNode("standardSurface", asShader=True, name=shader)
        if not cmds.objExists(engine):
            engine = cmds.sets(renderable=True, noSurfaceShader=True, empty=True, name=engine)
        _connect(f"{shader}.outColor", f"{engine}.surfaceShader")
    for kind, path in textures.items():
        file = _in_root(f"{plain}_{kind}")
        is_there = cmds.objExists(file)
        is_new = is_made or not is_there
        if not is_there:
            file = cmds.shadingNode("file", asTexture=True, name=file)
            # or another file brings a color space along, by its name
            cmds.setAttr(f"{file}.ignoreColorSpaceFileRules", True)
        cmds.setAttr(f"{file}.fileTextureName", path.as_posix(), type="string")
        if is_new and kind == NORMAL_MAP:
            _connect_normal(file, shader, _in_root(f"{plain}_bump"))
        elif is_new and kind in _INPUTS:
            output, target, space = _INPUTS[kind]
            cmds.setAttr(f"{file}.colorSpace", space, type="string")
            _connect(f"{file}.{output}", f"{shader}.{target}")
            if kind == EMISSION:
                cmds.setAttr(f"{shader}.emission", 1.0)
    for kind in (EMISSION, OPACITY):
        if kind not in textures and cmds.objExists(_in_root(f"{plain}_{kind}")):
            cmds.delete(_in_root(f"{plain}_{kind}"))
            _reset(shader, kind)


def _reset(shader: str, kind: str) -> None:
    if kind == EMISSION:
        cmds.setAttr(f"{shader}.emission", 0.0)
    else:
        cmds.setAttr(f"{shader}.opacity", 1.0, 1.0, 1.0, type="double3")


def _in_root(name: str) -> str:
    """Where it is found again, whichever namespace is the current one."""
    return f":{name}"


def _connect_normal(file: str, shader: str, name: str) -> None:
    is_there = cmds.objExists(name)
    bump = name if is_there else cmds.shadingNode("bump2d", asUtility=True, name=name)
    cmds.setAttr(f"{file}.colorSpace", "Raw", type="string")
    cmds.setAttr(f"{bump}.bumpInterp", _TANGENT_SPACE)
    _connect(f"{file}.outAlpha", f"{bump}.bumpValue")
    _connect(f"{bump}.outNormal", f"{shader}.normalCamera")


def _connect(source: str, target: str) -> None:
    """Leaves alone what the artist has connected instead."""
    if not cmds.listConnections(target, source=True, destination=False):
        cmds.connectAttr(source, target)


def _results(stack: str) -> dict[str, str]:
    try:
        found = json.loads(text_of(stack, RESULTS_ATTRIBUTE) or "{}")
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise HostError(
            f"{stack}: its attribute {RESULTS_ATTRIBUTE!r} is damaged: delete the attribute"
        )
    return found
