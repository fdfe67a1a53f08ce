"""Reads painted weights from primvars of USD meshes, of any interpolation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.errors import MeshError
from verdigris.core.geometry.mesh import usd_faces, usd_places

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

CHANNELS = ("r", "g", "b", "a")
_NUMBERS = ("float", "double", "half", "color")


def weight_names(mesh: Any) -> tuple[str, ...]:
    """Names of the primvars of a mesh that can be weights."""
    return tuple(_weight_primvars(mesh))


def find_weights(mesh: Any, name: str, file: str, channel: int | None = None) -> Floats | None:
    """The weight of each corner of a mesh's polygons; None if it has no such primvar. `file` is
    named in errors."""
    from pxr import Usd

    primvar = _weight_primvars(mesh).get(name)
    if primvar is None:
        return None
    found = primvar.ComputeFlattened(Usd.TimeCode.EarliestTime())
    if found is None:
        raise MeshError(f"{file}: {name!r} has invalid indices: export it again")
    values = np.array(found, np.float32)
    values = one_channel(file, name, values if values.ndim else values[None], channel)
    return _at_corners(file, mesh, primvar, values)


def one_channel(file: str, name: str, values: NDArray[Any], channel: int | None) -> NDArray[Any]:
    """Reduces values (N, channels) to one channel, or to their mean without a channel."""
    if channel is None:
        return values if values.ndim == 1 else np.asarray(values.mean(1))
    if values.ndim != 2 or channel >= values.shape[1]:
        count = 1 if values.ndim != 2 else values.shape[1]
        raise MeshError(
            f"{file}: {name!r} has {count} channel(s) and no {CHANNELS[channel]!r}: choose another"
        )
    return np.asarray(values[:, channel])


def _weight_primvars(mesh: Any) -> dict[str, Any]:
    from pxr import UsdGeom

    return {
        str(each.GetPrimvarName()): each
        for each in UsdGeom.PrimvarsAPI(mesh.GetPrim()).GetPrimvarsWithAuthoredValues()
        if _is_weight(str(each.GetTypeName()))
    }


def _is_weight(kind: str) -> bool:
    """Whether a type can be weights: numbers and colours, but not uvs, normals, names or ids."""
    return kind.startswith(_NUMBERS) and "matrix" not in kind and "quat" not in kind


def _at_corners(file: str, mesh: Any, primvar: Any, values: NDArray[Any]) -> Floats:
    counts, vertex = usd_faces(mesh)
    kind, name = str(primvar.GetInterpolation()), primvar.GetPrimvarName()
    place = usd_places(kind, counts, vertex)
    needed = int(place.max(initial=-1)) + 1
    if len(values) < needed:
        raise MeshError(
            f"{file}: {name!r} has {len(values)} values, and {kind} needs {needed}: export it again"
        )
    return np.asarray(values[place], np.float32)
