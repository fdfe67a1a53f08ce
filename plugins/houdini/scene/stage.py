"""The materials and meshes of USD stages in Houdini."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import hou

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.host import HostMesh
from verdigris.core.material.usd.usdshade import has_surface, list_materials
from verdigris.plugins.common.usd_stages import (
    find_problem,
    listed,
    mesh_of_stage,
    meshes_by_material,
    shared_path,
    weight_sets_of,
)
from verdigris.plugins.houdini.nodes.bake_lop import TYPE_NAME
from verdigris.plugins.houdini.result_script import RESULT_NODE
from verdigris.plugins.houdini.scene.nodes import instances, is_ready
from verdigris.plugins.houdini.scene.translator import TRANSLATOR

STAGE_PATH = "/stage"
SEPARATOR = ":"
_NETWORK = "lopnet"
# What stages had when they were last read, by the LOP: the names stay while a LOP waits for a cook.
_known: dict[int, tuple[Staged, ...]] = {}
# The meshes by their materials of the stage that was asked last, by its LOP and the number of its
# cooks: a batch asks for each material. Listing materials reads them again.
_bound: dict[tuple[int, int], dict[str, list[str]]] = {}


@dataclass(frozen=True)
class Staged:
    """A material on a stage."""

    path: str
    problem: str = ""
    """Why it cannot be baked."""


def stage_nodes() -> list[hou.LopNode]:
    """In each LOP network, the selected LOPs, or else the displayed one."""
    selected: dict[str, list[hou.LopNode]] = {}
    for node in hou.selectedNodes():
        if isinstance(node, hou.LopNode):
            selected.setdefault(_network_of(node).path(), []).append(node)
    found = []
    for network in _lop_networks():
        chosen = selected.pop(network.path(), None)
        shown = (node for node in network.children() if _is_displayed(node))
        found += chosen or list(shown)[:1]
    found += [node for nodes in selected.values() for node in nodes]
    return list(dict.fromkeys(map(_before_result, found)))


def selected_stages() -> list[hou.LopNode]:
    """The nodes of stages that are selected, or that a selected LOP reads which writes results."""
    chosen = [node for node in hou.selectedNodes() if isinstance(node, hou.LopNode)]
    return [_before_result(node) for node in chosen]


def _lop_networks() -> list[hou.Node]:
    found = [hou.node(STAGE_PATH), *instances(_NETWORK)]
    return [
        each
        for each in found
        if each is not None and each.name() != TRANSLATOR and not each.isInsideLockedHDA()
    ]


def _network_of(node: hou.Node) -> hou.Node:
    """The LOP network around a LOP, which may be in subnets."""
    while isinstance(node, hou.LopNode):
        node = node.parent()
    return node


def _is_displayed(node: hou.Node) -> bool:
    return isinstance(node, hou.LopNode) and bool(node.isDisplayFlagSet())


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
    except hou.Error as failure:
        raise HostError(f"{node.path()} does not cook: {failure}") from None
    if stage is None:
        raise HostError(f"{node.path()} has no stage: see the errors on the node")
    return stage


def waits_for(node: hou.LopNode) -> str:
    """What a LOP waits for that lists do not cook; empty if it can be read. A selected LOP is
    cooked, unless geometry has to cook for it."""
    if is_ready(node):
        return ""
    if node in selected_stages():
        heavy = [
            each.path()
            for each in node.inputAncestors()
            if not isinstance(each, (hou.LopNode, hou.VopNode)) and _must_cook(each)
        ]
        return listed(heavy)
    return str(node.path())


def _must_cook(node: hou.Node) -> bool:
    return isinstance(node, hou.OpNode) and bool(node.needsToCook())


def stage_warnings(nodes: Iterable[hou.LopNode]) -> list[str]:
    """Warnings about payloads and references, and about stages that have not been cooked."""
    waiting, found = [], []
    for node in nodes:
        waited = waits_for(node)
        if waited:
            waiting.append(waited)
        else:
            found += _faults(node)
    if waiting:
        found.append(
            "materials that only a stage has may be missing, because these nodes have not been "
            f"cooked: {listed(waiting)}. Display them, and refresh the list."
        )
    return found


def _faults(node: hou.LopNode) -> list[str]:
    stage, unloaded, broken = stage_of(node), [], []
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
    return found


def staged_materials(node: hou.LopNode) -> tuple[Staged, ...]:
    """The materials of a LOP's stage, or those that it had before it had to cook."""
    _bound.clear()
    number = node.sessionId()
    if waits_for(node):
        return _known.get(number, ())
    stage = stage_of(node)
    _known[number] = tuple(
        Staged(path, find_problem(stage, path)) for path in list_materials(stage)
    )
    return _known[number]


def materials_of_stage(node: hou.LopNode) -> list[str]:
    """The paths of the materials on a LOP's stage that have a MaterialX surface."""
    stage = stage_of(node)
    return [path for path in list_materials(stage) if has_surface(stage, path)]


def meshes_of_lop(node: hou.LopNode, material: str) -> tuple[str, ...]:
    """The meshes of a stage with a material; none while the LOP waits for a cook."""
    if waits_for(node):
        return ()
    stage, state = stage_of(node), (node.sessionId(), node.cookCount())
    if state not in _bound:
        _bound.clear()
        _bound[state] = meshes_by_material(stage)
    prim = stage.GetPrimAtPath(material)
    found = _bound[state].get(shared_path(prim), ()) if prim else ()
    return tuple(f"{node.path()}{SEPARATOR}{path}" for path in found)


def weight_sets_of_lop(node: hou.LopNode, path: str) -> tuple[str, ...]:
    """The primvars of a mesh that can be painted weights."""
    return weight_sets_of(stage_of(node), path, node.path())


def mesh_of_lop(node: hou.LopNode, path: str, material: str, weight_set: str) -> HostMesh:
    """Reads a mesh of a stage. If `material` is given, only the faces of its subsets."""
    return mesh_of_stage(stage_of(node), path, material, weight_set, node.path(), SEPARATOR)
