"""Results in a Houdini scene: notes on nodes, materials with plain textures, and the rungs of a
ladder as variants of a reference."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import hou

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import (
    BASE_COLOR,
    EMISSION,
    METALNESS,
    NORMAL_MAP,
    OPACITY,
    ROUGHNESS,
    VIEWPORT_SUFFIX,
    BakedResult,
    LadderLook,
)
from verdigris.core.hosts.ladder_looks import VARIANT_SET
from verdigris.core.material.usd.write_mtlx import valid_name
from verdigris.plugins.common.usd_stages import write_looks_of
from verdigris.plugins.houdini.nodes.bake_lop import BUNDLES, TEXTURE_FILES, TYPE_NAME
from verdigris.plugins.houdini.result_script import RESULT_NODE, read_results, result_script
from verdigris.plugins.houdini.scene.nodes import is_ready, refuse_locked, set_text, undo_step
from verdigris.plugins.houdini.scene.paths import named, resolved, set_file
from verdigris.plugins.houdini.scene.stage import (
    STAGE_PATH,
    selected_stages,
    stage_nodes,
    stage_of,
    writes_results,
)

RESULT_DATA = "verdigris_bundle"
RESULTS_DATA = "verdigris_bundles"
_TEXTURES_DATA = "verdigris_textures"
_LADDER_DATA = "verdigris_ladder"
_VIEWPORT_SHADER = "principledshader::2.0"
# Parameters of the Principled Shader by texture: switch, file, and the factors of the texture. The
# factors are 1 with a texture and 0 without; that of opacity is always 1. Numbers are read as they
# are. For opacity and colours, the shader's own defaults name no colour space.
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
_SPACES = {
    "basecolor_textureColorSpace": "sRGB",
    "emitcolor_textureColorSpace": "sRGB",
    "opaccolor_textureColorSpace": "linear",
}


def note_on_node(node: hou.Node, result: BakedResult) -> None:
    """Notes a result on a material of a network, with its baked look beside it."""
    node.setUserData(RESULT_DATA, named(result.bundle))
    if result.textures:
        make_viewport_material(node, result.textures)


def noted_on_node(node: hou.Node) -> Path | None:
    """The result of a material of a network."""
    text = node.userData(RESULT_DATA)
    return resolved(text) if text else None


def note_on_stage(node: hou.LopNode, path: str, result: BakedResult) -> None:
    """Notes a result on a USD material, with the node after a LOP that writes results."""
    writer = _existing_result(node)
    if writer is not None and writer.type().name() == TYPE_NAME:
        record(writer, path, result)
        return
    results = {**read_results(node.userData(RESULTS_DATA)), path: named(result.bundle)}
    textures = read_results(node.userData(_TEXTURES_DATA))
    if result.textures:
        textures = {**textures, path: _named_files(result)}
    data = {RESULTS_DATA: results, **({_TEXTURES_DATA: textures} if textures else {})}
    holder = node if node.name().startswith(RESULT_NODE) else None
    _note(node, data)
    holder = holder or writer or _add_result(node)
    _note(holder, data)
    holder.parm("python").set(result_script(results, textures))


def noted_on_stage(node: hou.LopNode, path: str) -> Path | None:
    """The result of a USD material, from the LOP that bakes it, or from a bake in the panel."""
    return _all_on_stage(node).get(path)


def _all_on_stage(node: hou.LopNode) -> dict[str, Path]:
    writer = _existing_result(node)
    data = node.userData(RESULTS_DATA)
    if writer is not None and writer.type().name() == TYPE_NAME:
        data = writer.parm(BUNDLES).rawValue()
    return {path: resolved(text) for path, text in read_results(data).items()}


def write_layer(node: hou.LopNode) -> None:
    """Writes a layer with the looks of all results of a LOP, beside their bundles, for a Sublayer
    LOP or a shot. Without textures to show, there is none."""
    bundles = {path: str(bundle) for path, bundle in _all_on_stage(node).items()}
    if is_ready(node):
        with suppress(HostError):
            write_looks_of(stage_of(node), bundles, node.name())


def _named_files(result: BakedResult) -> dict[str, str]:
    return {kind: named(file) for kind, file in result.textures.items()}


def record(node: hou.LopNode, path: str, result: BakedResult) -> None:
    """Notes a result in the parameters of a Verdigris Bake, whose script writes it to the stage."""
    for name, value in ((BUNDLES, named(result.bundle)), (TEXTURE_FILES, _named_files(result))):
        if value:
            parm = node.parm(name)
            # names of files are not expanded: the script reads the raw value, too
            known: dict[str, Any] = read_results(parm.rawValue())
            parm.set(json.dumps({**known, path: value}, sort_keys=True))


def make_viewport_material(material: hou.Node, textures: Mapping[str, Path]) -> None:
    """Makes or updates a Principled Shader with the textures, beside a material of /mat."""
    network, name = material.parent(), f"{material.name()}{VIEWPORT_SUFFIX}"
    shader = hou.node(f"{network.path()}/{name}")
    if shader is None:
        shader = network.createNode(_VIEWPORT_SHADER, name)
        shader.moveToGoodPosition()
    for name, space in _SPACES.items():
        # versions of the shader have different parameters
        if shader.parm(name) is not None:
            shader.parm(name).set(space)
    for kind, (switch, file, factors) in _INPUTS.items():
        if kind in textures:
            _set(shader, {switch: 1, **dict.fromkeys(factors, 1.0)})
            set_file(shader.parm(file), textures[kind])
        elif shader.parm(switch).evalAsInt():
            _set(shader, {switch: 0, file: "", **dict.fromkeys(factors, 0.0)})


def _set(node: hou.Node, values: Mapping[str, float | str]) -> None:
    for name, value in values.items():
        if isinstance(value, str):
            set_text(node.parm(name), value)
        else:
            node.parm(name).set(value)


def _note(node: hou.Node, data: Mapping[str, object]) -> None:
    for name, values in data.items():
        node.setUserData(name, json.dumps(values, indent=4, sort_keys=True))


def _existing_result(node: hou.LopNode) -> hou.LopNode | None:
    """The node after this one that writes results, if there is one."""
    for connection in node.outputConnections():
        reader = connection.outputNode()
        if isinstance(reader, hou.LopNode) and writes_results(reader):
            return reader
    return None


def add_bake_lop() -> hou.LopNode:
    """Inserts a Verdigris Bake after the selected LOP, or after the display node of /stage."""
    nodes = selected_stages() or stage_nodes()
    if not nodes:
        raise HostError("there is no LOP with materials: add one to /stage, or select one")
    refuse_locked(nodes[0])
    with undo_step("Verdigris Bake"):
        return _insert(nodes[0], TYPE_NAME, TYPE_NAME)


def _add_result(node: hou.LopNode) -> hou.LopNode:
    return _insert(node, "pythonscript", RESULT_NODE)


def _insert(node: hou.LopNode, kind: str, name: str) -> hou.LopNode:
    """Inserts a LOP after a node, and moves the display flag if the node has it."""
    readers = [(each.outputNode(), each.inputIndex()) for each in node.outputConnections()]
    holder = node.parent().createNode(kind, name)
    holder.setInput(0, node)
    for reader, index in readers:
        reader.setInput(index, holder)
    holder.moveToGoodPosition()
    if node.isDisplayFlagSet():
        holder.setDisplayFlag(True)
    return holder


def require_stage(ladder: LadderLook) -> hou.Node:
    """The network of /stage. Refuses one that cannot be changed, and a ladder without a USD
    file."""
    if ladder.stage is None or not ladder.stage.is_file():
        raise HostError(
            f"{ladder.name}: the ladder has no USD file with its variants: install usd-core beside "
            "Verdigris, and bake the ladder again"
        )
    network = hou.node(STAGE_PATH)
    if network is None:
        raise HostError(f"the scene has no network {STAGE_PATH}: add one, and attach again")
    for node in network.children()[:1]:
        refuse_locked(node)
    return network


def add_variants(network: hou.Node, key: str, ladder: LadderLook) -> str:
    """Makes a branch with a reference and a variant, or updates that of this material. It is not
    connected: the artist merges it where the mesh is. Returns the node that chooses the variant."""
    assert ladder.stage is not None
    # names of prims and nodes allow fewer letters than those of files
    name, made = valid_name(ladder.name), {}
    if name[0].isdigit():
        name = f"_{name}"
    for node in network.children():
        noted = node.userData(_LADDER_DATA) or ""
        if noted.startswith(f"{key} "):
            made[noted.removeprefix(f"{key} ")] = node
    reference, chosen = made.get("reference"), made.get("variant")
    path = f"/{name}"
    if reference is None:
        reference = network.createNode("reference::2.0", f"{name}_ladder")
        reference.setUserData(_LADDER_DATA, f"{key} reference")
        reference.moveToGoodPosition()
    set_file(reference.parm("filepath1"), ladder.stage)
    reference.parm("primpath1").set(path)
    if chosen is None:
        chosen = network.createNode("setvariant", f"{name}_rung")
        chosen.setUserData(_LADDER_DATA, f"{key} variant")
        chosen.setInput(0, reference)
        chosen.moveToGoodPosition()
        chosen.parm("num_variants").set(1)
        set_text(chosen.parm("variantname1"), ladder.rungs[0].name)
    chosen.parm("primpattern1").set(path)
    chosen.parm("variantset1").set(VARIANT_SET)
    return str(chosen.path())
