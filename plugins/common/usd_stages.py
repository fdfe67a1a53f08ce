"""Materials and meshes of USD stages, for every application that shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.errors import DocumentError, HostError
from verdigris.core.geometry.mesh import usd_mesh
from verdigris.core.geometry.mesh_values import find_weights, weight_names
from verdigris.core.hosts.host import HostMesh
from verdigris.core.hosts.look_layer import LAYER_SUFFIX, look_of, write_looks
from verdigris.core.material.usd.usdshade import convert, has_surface

if TYPE_CHECKING:
    from numpy.typing import NDArray


_MAX_LISTED = 3


def listed(names: list[str]) -> str:
    """The first names of a list, and the number of others."""
    more = len(names) - _MAX_LISTED
    return "; ".join(names[:_MAX_LISTED]) + (f"; and {more} more" if more > 0 else "")


# A material of either purpose is used, for renders and in viewports. Both fall back to a binding
# without purpose.
_PURPOSES = ("full", "preview")


def find_problem(stage: Any, path: str) -> str:
    """Why the material at a path of a stage cannot be baked; empty if it may be."""
    if has_surface(stage, path):
        return ""
    try:
        convert(stage, path)
    except DocumentError as failure:
        return str(failure).removeprefix(f"{path}: ")
    return ""


def meshes_by_material(stage: Any) -> dict[str, list[str]]:
    """The meshes that have each material, on all faces or on a subset, by the path that
    `shared_path` gives a material. USD resolves bindings by purpose, of collections, and of prims
    above. Meshes that instances share are listed once for a material."""
    from pxr import Usd, UsdGeom

    prims: list[Any] = []
    meshes: list[Any] = []
    everything = Usd.TraverseInstanceProxies(Usd.PrimIsDefined & ~Usd.PrimIsAbstract)
    for prim in stage.Traverse(everything):
        if prim.IsActive() and prim.IsA(UsdGeom.Mesh):
            for each in (prim, *_subsets(prim)):
                prims.append(each)
                meshes.append(prim)
    found: dict[str, dict[str, str]] = {}
    for bound in _bound_materials(prims):
        for mesh, material in zip(meshes, bound, strict=True):
            if material:
                of_material = found.setdefault(shared_path(material.GetPrim()), {})
                of_material.setdefault(shared_path(mesh), str(mesh.GetPath()))
    return {path: list(each.values()) for path, each in found.items()}


def bound_meshes(stage: Any, material: str) -> list[str]:
    """The meshes with the material at this path."""
    prim = stage.GetPrimAtPath(material)
    return meshes_by_material(stage).get(shared_path(prim), []) if prim else []


def shared_path(prim: Any) -> str:
    """The path of a prim, or of the prim that it shares with other instances."""
    return str((prim.GetPrimInPrototype() if prim.IsInstanceProxy() else prim).GetPath())


def write_looks_of(stage: Any, bundles: Mapping[str, str], name: str) -> tuple[Path, list[str]]:
    """Writes the layer with the looks of these bundles, by the paths of their materials on a stage,
    beside the first bundle. `name` is that of the stage. Returns it with the shown materials."""
    from pxr import UsdShade

    looks = {
        path: look_of(Path(bundle))
        for path, bundle in bundles.items()
        if UsdShade.Material(stage.GetPrimAtPath(path)) and Path(bundle).exists()
    }
    shown = [path for path, look in looks.items() if look.textures or look.shader]
    if not shown:
        raise HostError(
            f"{name}: no baked look for its materials: bake with Textures for the viewport (More "
            "settings)"
        )
    layer = looks[shown[0]].bundle.with_name(f"{name}{LAYER_SUFFIX}")
    write_looks(stage, looks, layer)
    return layer, shown


def layers_of_looks(stage: Any) -> list[str]:
    """The layers of looks that are shown over a stage."""
    return [each for each in stage.GetSessionLayer().subLayerPaths if each.endswith(LAYER_SUFFIX)]


def show_layer(stage: Any, layer: Path) -> None:
    """Shows a layer over a stage, whose files stay as they are."""
    from pxr import Sdf

    # one that was written again has been read before
    opened = Sdf.Layer.FindOrOpen(layer.as_posix())
    opened.Reload(True)
    stage.GetSessionLayer().subLayerPaths.insert(0, layer.as_posix())


def hide_layers(stage: Any) -> None:
    """Takes all layers of looks away from a stage."""
    paths = stage.GetSessionLayer().subLayerPaths
    for each in layers_of_looks(stage):
        paths.remove(each)


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
    """Reads a mesh of a stage. If `material` is given, only the faces that have it."""
    mesh = require_mesh(stage, path, where)
    read = usd_mesh(mesh, where)
    weights = find_weights(mesh, weight_set, where)
    name = f"{where}{separator}{path}"
    kept, notes = np.ones(len(read.uv), bool), ()
    counts = np.array(mesh.GetFaceVertexCountsAttr().Get(), np.int64)
    faces = _faces_with(mesh, material, len(counts)) if material else np.ones(len(counts), bool)
    # a mesh without the material is shown whole
    if faces.any() and not faces.all():
        # usd_mesh splits each face into a fan
        kept = np.repeat(faces, np.maximum(counts - 2, 0))
        left_out = len(counts) - int(faces.sum())
        notes = (f"{name}: {left_out} of {len(counts)} faces have another material",)
    return HostMesh(
        name,
        read.position[kept],
        read.normal[kept],
        read.uv[kept],
        None if weights is None else weights[read.corners[kept]],
        notes,
    )


def _faces_with(mesh: Any, material: str, count: int) -> NDArray[np.bool_]:
    """Which faces have a material, by its own subsets, or as the rest of the mesh."""
    prim = mesh.GetPrim()
    asked = shared_path(prim.GetStage().GetPrimAtPath(material))
    subsets = _subsets(prim)
    faces, others = np.zeros(count, bool), np.zeros(count, bool)
    for bound in _bound_materials([prim, *subsets]):
        has_it = [bool(each) and shared_path(each.GetPrim()) == asked for each in bound]
        for subset, own in zip(subsets, has_it[1:], strict=True):
            chosen = np.array(subset.GetAttribute("indices").Get() or [], np.int64)
            (faces if own else others)[chosen[(chosen >= 0) & (chosen < count)]] = True
        if has_it[0]:
            faces |= ~others
    return faces


def _subsets(mesh: Any) -> list[Any]:
    from pxr import UsdShade

    return [each.GetPrim() for each in UsdShade.MaterialBindingAPI(mesh).GetMaterialBindSubsets()]


def _bound_materials(prims: list[Any]) -> Iterator[list[Any]]:
    """The materials that are bound to these prims, for one purpose after the other."""
    from pxr import UsdShade

    for purpose in _PURPOSES:
        yield UsdShade.MaterialBindingAPI.ComputeBoundMaterials(prims, purpose)[0]
