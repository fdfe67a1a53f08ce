"""Results in a Houdini scene: notes on nodes, and materials of plain textures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import hou

from verdigris.core.hosts.host import (
    BASE_COLOR,
    EMISSION,
    METALNESS,
    NORMAL_MAP,
    OPACITY,
    ROUGHNESS,
    VIEWPORT_SUFFIX,
    BakedResult,
)
from verdigris.plugins.houdini.result_script import RESULT_NODE, read_results, result_script

RESULT_DATA = "verdigris_bundle"
RESULTS_DATA = "verdigris_bundles"
_TEXTURES_DATA = "verdigris_textures"
_VIEWPORT_SHADER = "principledshader::2.0"
# Parameters of the Principled Shader by texture: switch, file, and the factors of the texture. The
# factors are 1 with a texture and 0 without; that of opacity is always 1.
_INPUTS = {
    BASE_COLOR: (
        "basecolor_useTexture",
        "basecolor_texture",
        ("basecolorr", "basecolorg", "basecolorb"),
    ),
    ROUGHNESS: ("rough_useTexture", "rough_texture", ("rough",)),
    METALNESS: ("metallic_useTexture", "metallic_texture", ("metallic",)),
    NORMAL_MAP: ("baseBumpAndNormal_enable", "baseNormal_texture", ()),
    EMISSION: (
        "emitcolor_useTexture",
        "emitcolor_texture",
        ("emitcolorr", "emitcolorg", "emitcolorb", "emitint"),
    ),
    OPACITY: ("opaccolor_useTexture", "opaccolor_texture", ()),
}


def note_on_stage(node: hou.LopNode, path: str, result: BakedResult) -> None:
    """Notes a result on a USD material, with the result node after a LOP."""
    results = {**read_results(node.userData(RESULTS_DATA)), path: result.bundle.as_posix()}
    textures = read_results(node.userData(_TEXTURES_DATA))
    if result.textures:
        files = {kind: file.as_posix() for kind, file in result.textures.items()}
        textures = {**textures, path: files}
    data = {RESULTS_DATA: results, **({_TEXTURES_DATA: textures} if textures else {})}
    holder = node if node.name().startswith(RESULT_NODE) else None
    _note(node, data)
    holder = holder or _existing_result(node) or _add_result(node)
    _note(holder, data)
    holder.parm("python").set(result_script(results, textures))


def make_viewport_material(material: hou.Node, textures: Mapping[str, Path]) -> None:
    """Makes a Principled Shader with the textures beside a material of /mat, or updates it."""
    network, name = material.parent(), f"{material.name()}{VIEWPORT_SUFFIX}"
    shader = hou.node(f"{network.path()}/{name}")
    if shader is None:
        shader = network.createNode(_VIEWPORT_SHADER, name)
        shader.moveToGoodPosition()
    for kind, (switch, file, factors) in _INPUTS.items():
        if kind in textures:
            path = textures[kind].as_posix()
            _set(shader, {switch: 1, file: path, **dict.fromkeys(factors, 1.0)})
        elif shader.parm(switch).evalAsInt():
            _set(shader, {switch: 0, file: "", **dict.fromkeys(factors, 0.0)})


def _set(node: hou.Node, values: Mapping[str, float | str]) -> None:
    for name, value in values.items():
        node.parm(name).set(value)


def _note(node: hou.Node, data: Mapping[str, object]) -> None:
    for name, values in data.items():
        node.setUserData(name, json.dumps(values, indent=4, sort_keys=True))


def _existing_result(node: hou.LopNode) -> hou.LopNode | None:
    """The result node that reads this node, if there is one."""
    for connection in node.outputConnections():
        reader = connection.outputNode()
        if reader is not None and reader.name().startswith(RESULT_NODE):
            return reader
    return None


def _add_result(node: hou.LopNode) -> hou.LopNode:
    """Inserts a Python Script LOP after a node, and moves the display flag if the node has it."""
    readers = [(each.outputNode(), each.inputIndex()) for each in node.outputConnections()]
    holder = node.parent().createNode("pythonscript", RESULT_NODE)
    holder.setInput(0, node)
    for reader, index in readers:
        reader.setInput(index, holder)
    holder.moveToGoodPosition()
    if node.isDisplayFlagSet():
        holder.setDisplayFlag(True)
    return holder
