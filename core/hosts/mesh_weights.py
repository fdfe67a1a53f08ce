"""Weights that the meshes of a stage carry as primvars, mesh by mesh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.errors import HostError
from verdigris.core.pictures.mesh import fan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

_NUMBERS = ("float", "half", "double", "color3", "color4")


def usd_weights(mesh: Any, name: str, asker: str) -> Floats | None:
    """Weights (T, 3) of the corners of one mesh, None where it has none so called."""
    counts = np.array(mesh.GetFaceVertexCountsAttr().Get() or [], np.int64)
    vertex = np.array(mesh.GetFaceVertexIndicesAttr().Get() or [], np.int64)
    primvar = next((each for each in primvars_of(mesh) if each.GetPrimvarName() == name), None)
    if primvar is None:
        return None
    values = _by_corner(primvar, counts, vertex, f"{asker}: {mesh.GetPath()}")
    return np.asarray(values[fan(counts)].reshape(-1, 3))


def _by_corner(
    primvar: Any, counts: NDArray[np.int64], vertex: NDArray[np.int64], asker: str
) -> Floats:
    values: Floats = np.array(primvar.ComputeFlattened(), np.float32)
    values = np.asarray(values.mean(1)) if values.ndim == 2 else values
    kind = str(primvar.GetInterpolation())
    if kind == "constant" and len(values) == 1:
        return np.repeat(values, len(vertex))
    if kind == "uniform" and len(values) == len(counts):
        return np.repeat(values, counts)
    if kind == "faceVarying" and len(values) == len(vertex):
        return values
    if kind in ("vertex", "varying") and len(vertex) and vertex.max() < len(values):
        return values[vertex]
    raise HostError(
        f"{asker}: {primvar.GetPrimvarName()!r} has {len(values)} values, too few for {kind!r}: "
        "paint it again"
    )


def primvars_of(mesh: Any) -> list[Any]:
    """The primvars of a mesh that could be weights."""
    from pxr import UsdGeom

    found = UsdGeom.PrimvarsAPI(mesh.GetPrim()).GetPrimvarsWithAuthoredValues()
    return [each for each in found if str(each.GetTypeName()).startswith(_NUMBERS)]
