"""All uv sets and primvars of a mesh file, at the corners of its triangles."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.errors import MeshError
from verdigris.core.geometry.mesh import FileMesh, usd_faces, usd_meshes, usd_places

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

# The name of OBJ's only set.
OBJ_SET = "st"


def load_primvars(path: Path, mesh: FileMesh) -> dict[str, Floats]:
    """Values (T, 3, channels) by name: uv sets have two channels. Meshes of a stage that lack a
    primvar have zeros there."""
    if path.suffix.lower() == ".obj":
        return {OBJ_SET: mesh.uv}
    parts: list[dict[str, Floats]] = []
    counts: list[int] = []
    for each in usd_meshes(path):
        parts.append(_of_mesh(each, str(path)))
        counts.append(len(usd_faces(each)[1]))
    found: dict[str, Floats] = {}
    for name in dict.fromkeys(name for part in parts for name in part):
        channels = max(part[name].shape[1] for part in parts if name in part)
        flat = [
            _widened(part[name], channels) if name in part else np.zeros((count, channels), "f4")
            for part, count in zip(parts, counts, strict=True)
        ]
        found[name] = np.concatenate(flat).astype(np.float32)[mesh.corners]
    return found


def uv_sets(primvars: dict[str, Floats], mesh: FileMesh) -> dict[str, Floats]:
    """The primvars that can be uv sets, the one of `mesh.uv` first. Meshes of a stage that name
    their uvs differently have them all in the first set."""
    pairs = {name: values for name, values in primvars.items() if values.shape[-1] == 2}
    same = {name: int((values == mesh.uv).all((1, 2)).sum()) for name, values in pairs.items()}
    first = max(same, key=same.__getitem__, default=OBJ_SET)
    return {first: mesh.uv, **{name: pairs[name] for name in pairs if name != first}}


def _of_mesh(mesh: Any, file: str) -> dict[str, Floats]:
    from pxr import Usd, UsdGeom

    counts, vertex = usd_faces(mesh)
    found: dict[str, Floats] = {}
    for primvar in UsdGeom.PrimvarsAPI(mesh.GetPrim()).GetPrimvarsWithAuthoredValues():
        name = str(primvar.GetPrimvarName())
        flat = primvar.ComputeFlattened(Usd.TimeCode.EarliestTime())
        values = np.array([] if flat is None else flat)
        if not values.size or values.dtype.kind not in "fiu":
            continue
        values = values.reshape(len(values), -1) if values.ndim else values.reshape(1, 1)
        if "texCoord" in str(primvar.GetTypeName()):
            # a third coordinate is no part of a uv set
            values = values[:, :2]
        place = usd_places(str(primvar.GetInterpolation()), counts, vertex)
        if len(values) <= place.max(initial=-1):
            raise MeshError(
                f"{file}: {name!r} has {len(values)} values and needs {int(place.max()) + 1}: "
                "export it again"
            )
        found[name] = np.asarray(values[place], np.float32)
    return found


def _widened(values: Floats, channels: int) -> Floats:
    return np.pad(values, ((0, 0), (0, channels - values.shape[1])))
