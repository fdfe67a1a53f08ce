"""Weights that mesh files carry: primvars of USD meshes, vertex colours of OBJ files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.errors import HostError
from verdigris.core.pictures.mesh import fan

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

OBJ_COLOURS = "vertex_colours"
_NUMBERS = ("float", "half", "double", "color3", "color4", "int")


def read_weight_sets(path: Path) -> tuple[str, ...]:
    """The names of what could be weights in a mesh file."""
    if path.suffix.lower() == ".obj":
        return () if _obj_colours(path) is None else (OBJ_COLOURS,)
    stage = _open_stage(path)
    names = [
        str(primvar.GetPrimvarName()) for mesh in _meshes(stage) for primvar in primvars_of(mesh)
    ]
    return tuple(dict.fromkeys(names))


def read_weights(path: Path, name: str) -> Floats | None:
    """Weights (T, 3) of the corners of a file's triangles, or None where it has none so called.

    Triangles are those of `load_mesh`. Vertex colours of an OBJ file count whatever the name:
    the format has only one set. A colour weighs by its mean.
    """
    if path.suffix.lower() == ".obj":
        colours = _obj_colours(path)
        return None if colours is None else np.asarray(colours[_obj_triangles(path)])
    stage = _open_stage(path)
    found = [usd_weights(mesh, name, str(path)) for mesh in _meshes(stage)]
    if all(weights is None for weights, _ in found):
        return None
    return np.concatenate(
        [np.ones((count, 3), np.float32) if part is None else part for part, count in found]
    )


def usd_weights(mesh: Any, name: str, asker: str) -> tuple[Floats | None, int]:
    """Weights (T, 3) of one mesh, None where it has none so called, and its triangles' number."""
    counts = np.array(mesh.GetFaceVertexCountsAttr().Get() or [], np.int64)
    vertex = np.array(mesh.GetFaceVertexIndicesAttr().Get() or [], np.int64)
    corners = fan(counts)
    primvar = next((each for each in primvars_of(mesh) if each.GetPrimvarName() == name), None)
    if primvar is None:
        return None, len(corners) // 3
    values = _by_corner(primvar, counts, vertex, f"{asker}: {mesh.GetPath()}")
    return np.asarray(values[corners].reshape(-1, 3)), len(corners) // 3


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


def _open_stage(path: Path) -> Any:
    try:
        from pxr import Usd
    except ImportError:
        raise HostError(
            f"{path}: reading USD needs the pxr modules: pip install 'verdigris[usd]', or use OBJ"
        ) from None
    try:
        return Usd.Stage.Open(str(path))
    except Exception as failure:  # noqa: BLE001 - pxr raises types of its own making
        raise HostError(f"{path}: cannot be opened as USD: {str(failure).strip()[:300]}") from None


def _meshes(stage: Any) -> list[Any]:
    from pxr import UsdGeom

    return [
        UsdGeom.Mesh(prim)
        for prim in stage.Traverse()
        if prim.IsA(UsdGeom.Mesh) and prim.IsActive()
    ]


def primvars_of(mesh: Any) -> list[Any]:
    """The primvars of a mesh that could be weights."""
    from pxr import UsdGeom

    found = UsdGeom.PrimvarsAPI(mesh.GetPrim()).GetPrimvarsWithAuthoredValues()
    return [each for each in found if str(each.GetTypeName()).startswith(_NUMBERS)]


def _obj_colours(path: Path) -> Floats | None:
    """The weight of each point: the mean of the colour behind its place."""
    points = [line.split()[1:] for line in _obj_lines(path, "v")]
    if not points or any(len(words) < 6 for words in points):
        return None
    try:
        return np.asarray(np.array([words[3:6] for words in points], np.float32).mean(1))
    except ValueError as failure:
        raise HostError(f"{path}: a vertex colour is not a number: {failure}") from None


def _obj_triangles(path: Path) -> NDArray[np.int64]:
    triangles: list[list[int]] = []
    points = 0
    for line in _obj_lines(path, "v", "f"):
        words = line.split()
        if words[0] == "v":
            points += 1
            continue
        numbers = [int(word.partition("/")[0]) for word in words[1:]]
        corners = [number - 1 if number > 0 else points + number for number in numbers]
        triangles += [
            [corners[0], corners[last - 1], corners[last]] for last in range(2, len(corners))
        ]
    return np.array(triangles, np.int64).reshape(-1, 3)


def _obj_lines(path: Path, *kinds: str) -> list[str]:
    with path.open(encoding="utf-8", errors="replace") as lines:
        return [line for line in lines if line.split(maxsplit=1)[:1] and line.split()[0] in kinds]
