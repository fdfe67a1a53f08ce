"""Materials and meshes of the stages that Houdini's LOPs give."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import hou
import numpy as np

from verdigris.core.base.errors import HostError
from verdigris.core.geometry.mesh import usd_mesh
from verdigris.core.geometry.primvars import find_weights
from verdigris.core.hosts.host import HostMesh
from verdigris.core.material.usd.usdshade import list_materials
from verdigris.plugins.houdini.polygons import triangle_faces
from verdigris.plugins.houdini.result_script import RESULT_NODE

if TYPE_CHECKING:
    from numpy.typing import NDArray

STAGE_PATH = "/stage"
SEPARATOR = ":"
_TEMPORARY_PREFIX = "/materials/"
_MOST_TOLD = 3


def stage_nodes() -> list[hou.LopNode]:
    """The selected LOPs, or else what the stage shows."""
    selected = [node for node in hou.selectedNodes() if isinstance(node, hou.LopNode)]
    if selected:
        return selected
    network = hou.node(STAGE_PATH)
    shown = network.displayNode() if network is not None and network.children() else None
    return [_baked(shown)] if shown is not None else []


def _baked(node: hou.LopNode) -> hou.LopNode:
    """What a node of results is behind, or the node itself: its materials are called the same
    before a bake, after it, and once that is undone."""
    read = node.inputs() if node.name().startswith(RESULT_NODE) else ()
    return next((each for each in read if each is not None), node)


def stage_of(node: hou.LopNode) -> Any:
    """The stage that a LOP gives. Hold it: prims of a stage that nobody holds are gone."""
    if not isinstance(node, hou.LopNode):
        raise HostError(f"{node.path()}: is no LOP: select a node of a stage")
    try:
        stage = node.stage()
    except hou.OperationFailed as failure:
        raise HostError(f"{node.path()}: does not cook: {failure}") from None
    if stage is None:
        raise HostError(f"{node.path()}: has no stage: see the errors on the node")
    return stage


def what_is_missing(node: hou.LopNode) -> list[str]:
    """A line for what a stage refers to and does not show."""
    stage, unloaded, broken = stage_of(node), [], []
    bare = [path for path in list_materials(stage) if not has_surface(stage, path)]
    for prim in stage.TraverseAll():
        if prim.HasAuthoredPayloads() and not prim.IsLoaded():
            unloaded.append(str(prim.GetPath()))
        broken += [str(error) for error in prim.GetPrimIndex().localErrors]
    found = []
    if unloaded:
        found.append(
            f"{node.path()}: payloads that are not loaded: {_listed(unloaded)}: load "
            "them in the Scene Graph Tree to see their materials"
        )
    if broken:
        found.append(
            f"{node.path()}: references that lead nowhere: {_listed(broken)}: correct their paths"
        )
    if bare:
        found.append(
            f"{node.path()}: materials without a MaterialX surface: {_listed(bare)}: "
            "connect a MaterialX shader to their surface output to bake them"
        )
    return found


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST_TOLD
    return "; ".join(names[:_MOST_TOLD]) + (f"; and {more} more" if more > 0 else "")


def has_surface(stage: Any, path: str) -> bool:
    """Whether a material has a surface of MaterialX."""
    from pxr import UsdShade

    output = UsdShade.Material(stage.GetPrimAtPath(path)).GetOutput("mtlx:surface")
    return bool(output and output.HasConnectedSource())


def library_path(node: hou.Node) -> str:
    """Where `material_library` puts a material of /mat."""
    return f"{_TEMPORARY_PREFIX}{node.name()}"


@contextmanager
def material_library(node: hou.Node) -> Iterator[Any]:
    """A stage with a material of /mat on it, through a Material Library that is gone afterwards."""
    network = hou.node(STAGE_PATH)
    if network is None:
        raise HostError(f"there is no {STAGE_PATH} network to translate {node.path()} in")
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


def bound_meshes(stage: Any, material: str) -> list[str]:
    """The meshes that have a material, or subsets of which have."""
    from pxr import Usd, UsdGeom

    return [
        str(prim.GetPath())
        for prim in stage.Traverse(Usd.TraverseInstanceProxies())
        if prim.IsA(UsdGeom.Mesh)
        and (_is_bound(prim, material) or _bound_faces(UsdGeom.Mesh(prim), material) is not None)
    ]


def _is_bound(prim: Any, material: str) -> bool:
    from pxr import UsdShade

    found, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
    return bool(found) and str(found.GetPath()) == material


def _bound_faces(mesh: Any, material: str) -> NDArray[np.int64] | None:
    """The faces that subsets give a material; None where the whole mesh has it, or none of it."""
    from pxr import UsdShade

    subsets = UsdShade.MaterialBindingAPI(mesh.GetPrim()).GetMaterialBindSubsets()
    faces = [
        np.array(subset.GetIndicesAttr().Get() or [], np.int64)
        for subset in subsets
        if _is_bound(subset.GetPrim(), material)
    ]
    return np.concatenate(faces) if faces else None


def mesh_of_stage(node: hou.LopNode, path: str, material: str, weight_set: str) -> HostMesh:
    """A mesh of a node's stage; of one with several materials the faces of this one, if it is
    named."""
    from pxr import UsdGeom

    stage = stage_of(node)
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath(path))
    if not mesh:
        raise HostError(f"{node.path()}: has no mesh {path}: refresh the list")
    read = usd_mesh(mesh, node.path())
    weights = find_weights(mesh, weight_set, node.path())
    name = f"{node.path()}{SEPARATOR}{path}"
    kept, notes = np.ones(len(read.uv), bool), ()
    if material:
        subset = _bound_faces(mesh, material)
        if subset is not None:
            counts = np.array(mesh.GetFaceVertexCountsAttr().Get(), np.int64)
            kept = np.isin(triangle_faces(counts), subset)
            left_out = len(counts) - len(subset)
            notes = (f"{name}: {left_out} of {len(counts)} faces have another material",)
    return HostMesh(
        name,
        read.position[kept],
        read.normal[kept],
        read.uv[kept],
        None if weights is None else weights[read.corners[kept]],
        notes,
    )
