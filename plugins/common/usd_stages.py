"""Materials and meshes of USD stages, for every application that shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.errors import HostError
from verdigris.core.geometry.mesh import usd_mesh
from verdigris.core.geometry.mesh_values import find_weights, weight_names
from verdigris.core.hosts.host import HostMesh

if TYPE_CHECKING:
    from numpy.typing import NDArray


_MAX_LISTED = 3


def listed(names: list[str]) -> str:
    """The first names of a list, and the number of others."""
    more = len(names) - _MAX_LISTED
    return "; ".join(names[:_MAX_LISTED]) + (f"; and {more} more" if more > 0 else "")


def bound_meshes(stage: Any, material: str) -> list[str]:
    """The meshes to which a material is assigned, to the whole mesh or to a subset."""
    from pxr import Usd, UsdGeom

    return [
        str(prim.GetPath())
        for prim in stage.Traverse(Usd.TraverseInstanceProxies())
        if prim.IsA(UsdGeom.Mesh)
        and (_is_bound(prim, material) or _bound_faces(UsdGeom.Mesh(prim), material) is not None)
    ]


def require_mesh(stage: Any, path: str, where: str) -> Any:
    """The mesh at a path of a stage. `where` names the stage in the error."""
    from pxr import UsdGeom

    mesh = UsdGeom.Mesh(stage.GetPrimAtPath(path))
    if not mesh:
        raise HostError(f"{where} has no mesh {path}: refresh the list")
    return mesh


def weight_sets_of(stage: Any, path: str, where: str) -> tuple[str, ...]:
    """The names of primvars of a mesh that can be painted weights."""
    return weight_names(require_mesh(stage, path, where))


def mesh_of_stage(
    stage: Any, path: str, material: str, weight_set: str, where: str, separator: str
) -> HostMesh:
    """Reads a mesh of a stage. If `material` is given, only the faces of its subsets."""
    mesh = require_mesh(stage, path, where)
    read = usd_mesh(mesh, where)
    weights = find_weights(mesh, weight_set, where)
    name = f"{where}{separator}{path}"
    kept, notes = np.ones(len(read.uv), bool), ()
    subset = _bound_faces(mesh, material) if material else None
    if subset is not None:
        counts = np.array(mesh.GetFaceVertexCountsAttr().Get(), np.int64)
        # usd_mesh splits each face into a fan
        face_of_triangle = np.repeat(np.arange(len(counts)), np.maximum(counts - 2, 0))
        kept = np.isin(face_of_triangle, subset)
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


def _is_bound(prim: Any, material: str) -> bool:
    from pxr import UsdShade

    found, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
    return bool(found) and str(found.GetPath()) == material


def _bound_faces(mesh: Any, material: str) -> NDArray[np.int64] | None:
    """The faces of the subsets with a material; None if there is no such subset."""
    from pxr import UsdShade

    subsets = UsdShade.MaterialBindingAPI(mesh.GetPrim()).GetMaterialBindSubsets()
    faces = [
        np.array(subset.GetIndicesAttr().Get() or [], np.int64)
        for subset in subsets
        if _is_bound(subset.GetPrim(), material)
    ]
    return np.concatenate(faces) if faces else None
