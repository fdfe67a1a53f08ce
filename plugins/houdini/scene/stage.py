"""The materials and meshes of USD stages in Houdini."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import hou

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import HostMesh
from verdigris.core.material.usd.usdshade import has_surface, list_materials
from verdigris.plugins.common.usd_stages import listed, mesh_of_stage
from verdigris.plugins.houdini.nodes.bake_lop import TYPE_NAME
from verdigris.plugins.houdini.result_script import RESULT_NODE

STAGE_PATH = "/stage"
SEPARATOR = ":"
_TEMPORARY_PREFIX = "/materials/"


def stage_nodes() -> list[hou.LopNode]:
    """The selected LOPs, or the display node of /stage."""
    selected = [node for node in hou.selectedNodes() if isinstance(node, hou.LopNode)]
    if selected:
        return [_before_result(node) for node in selected]
    network = hou.node(STAGE_PATH)
    shown = network.displayNode() if network is not None and network.children() else None
    return [_before_result(shown)] if shown is not None else []


def _before_result(node: hou.LopNode) -> hou.LopNode:
    """The input of a node that writes results, or any other node itself. So the keys of materials
    stay the same after a bake and after its undo."""
    read = node.inputs() if writes_results(node) else ()
    return next((each for each in read if each is not None), node)


def writes_results(node: hou.LopNode) -> bool:
    """Whether a node writes results of bakes to the stage."""
    return node.name().startswith(RESULT_NODE) or node.type().name() == TYPE_NAME


def stage_of(node: hou.LopNode) -> Any:
    """The stage of a LOP. Keep a reference to it: its prims expire with it."""
    if not isinstance(node, hou.LopNode):
        raise HostError(f"{node.path()} is not a LOP: select a node of a stage")
    try:
        stage = node.stage()
    except hou.OperationFailed as failure:
        raise HostError(f"{node.path()} does not cook: {failure}") from None
    if stage is None:
        raise HostError(f"{node.path()} has no stage: see the errors on the node")
    return stage


def stage_warnings(node: hou.LopNode) -> list[str]:
    """Warnings about payloads, references and materials that cannot be used."""
    stage, unloaded, broken = stage_of(node), [], []
    bare = [path for path in list_materials(stage) if not has_surface(stage, path)]
    for prim in stage.TraverseAll():
        if prim.HasAuthoredPayloads() and not prim.IsLoaded():
            unloaded.append(str(prim.GetPath()))
        broken += [str(error) for error in prim.GetPrimIndex().localErrors]
    found = []
    if unloaded:
        found.append(
            f"{node.path()}: these payloads are not loaded: {listed(unloaded)}. Load them in the "
            "Scene Graph Tree to bake their materials."
        )
    if broken:
        found.append(
            f"{node.path()}: these references are broken: {listed(broken)}. Correct their paths."
        )
    if bare:
        found.append(
            f"{node.path()}: these materials have no MaterialX surface: {listed(bare)}. Connect a "
            "MaterialX shader to their surface output to bake them."
        )
    return found


def materials_of_stage(node: hou.LopNode) -> list[str]:
    """The paths of the materials on a LOP's stage that have a MaterialX surface."""
    stage = stage_of(node)
    return [path for path in list_materials(stage) if has_surface(stage, path)]


def library_path(node: hou.Node) -> str:
    """The path of a material of a network on the stage of `material_library`."""
    return f"{_TEMPORARY_PREFIX}{node.name()}"


@contextmanager
def material_library(node: hou.Node) -> Iterator[Any]:
    """A stage with a material of a network, from a temporary Material Library."""
    network = hou.node(STAGE_PATH)
    if network is None:
        raise HostError(f"{node.path()} cannot be translated: there is no {STAGE_PATH} network")
    with hou.undos.disabler():
        library = network.createNode("materiallibrary", "verdigris_temporary")
        try:
            library.parm("matpathprefix").set(_TEMPORARY_PREFIX)
            library.parm("materials").set(1)
            library.parm("matnode1").set(node.path())
            library.parm("matpath1").set(node.name())
            library.parm("assign1").set(0)
            yield stage_of(library)
        finally:
            library.destroy()


def mesh_of_lop(node: hou.LopNode, path: str, material: str, weight_set: str) -> HostMesh:
    """Reads a mesh of a stage. If `material` is given, only the faces of its subsets."""
    return mesh_of_stage(stage_of(node), path, material, weight_set, node.path(), SEPARATOR)
