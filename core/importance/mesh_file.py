"""Reads what was painted on a mesh from its file: vertex colours of OBJ, primvars of USD."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.errors import MeshError
from verdigris.core.importance.from_mesh import corner_weights
from verdigris.core.pictures.mesh import fan, load_mesh, obj_corner, usd_meshes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.pictures.mesh import Mesh

    Floats = NDArray[np.float32]

# What OBJ files call nothing: the three numbers behind a vertex.
OBJ_ATTRIBUTE = "color"
CHANNELS = ("r", "g", "b", "a")
_NORMAL_WEIGHT = 1.0


def load_painted_mesh(path: Path, attribute: str) -> tuple[Mesh, Floats, tuple[str, ...]]:
    """The mesh, weights (T, 3) of its corners, and warnings.

    Of a colour the mean is taken, or the channel that is named behind a point: `displayColor.r`.
    """
    mesh = load_mesh(path)
    base, channel = attribute, None
    if "." in attribute and attribute.rsplit(".", 1)[1] in CHANNELS:
        base, letter = attribute.rsplit(".", 1)
        channel = CHANNELS.index(letter)
    read = _obj_weights if path.suffix.lower() == ".obj" else _usd_weights
    weights, warnings = read(path, base, channel)
    if weights.shape != mesh.uv.shape[:2]:
        raise MeshError(f"{path}: has changed while it was read: try again")
    return mesh, weights, warnings


def _require(path: Path, name: str, there: set[str]) -> None:
    if name not in there:
        listed = ", ".join(sorted(there)) or "none"
        raise MeshError(f"{path}: has no attribute {name!r}; there are: {listed}")


def _channel(path: Path, name: str, values: NDArray[Any], channel: int | None) -> NDArray[Any]:
    """One number each, of values (N,) or (N, channels)."""
    if channel is None:
        return values
    if values.ndim != 2 or channel >= values.shape[1]:
        count = 1 if values.ndim != 2 else values.shape[1]
        raise MeshError(f"{path}: {name!r} has {count} channel(s), and no {CHANNELS[channel]!r}")
    return np.asarray(values[:, channel])


def _obj_weights(path: Path, name: str, channel: int | None) -> tuple[Floats, tuple[str, ...]]:
    colours: list[list[float]] = []
    corners: list[int] = []
    painted = 0
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            words = line.split()
            if words and words[0] == "v":
                has_colour = len(words) >= 7
                painted += has_colour
                colours.append(
                    [float(word) for word in words[4:7]] if has_colour else [_NORMAL_WEIGHT] * 3
                )
            elif words and words[0] == "f":
                # only the first number counts: normals and uvs were checked with the mesh
                face = [
                    obj_corner(word.split("/")[0], (len(colours), 0, 0))[0] for word in words[1:]
                ]
                for last in range(2, len(face)):
                    corners += (face[0], face[last - 1], face[last])
    if name != OBJ_ATTRIBUTE or not painted:
        there = {OBJ_ATTRIBUTE} if painted else set()
        listed = ", ".join(there) or "none: paint is read from vertices 'v x y z r g b'"
        raise MeshError(f"{path}: has no attribute {name!r}; there are: {listed}")
    warnings: tuple[str, ...] = ()
    if painted < len(colours):
        without = len(colours) - painted
        warnings = (f"{without} of {len(colours)} vertices have no colour and were taken as 1",)
    values = _channel(path, name, np.array(colours, np.float32), channel)
    return corner_weights(values, np.array(corners).reshape(-1, 3), "point"), warnings


def _usd_weights(path: Path, name: str, channel: int | None) -> tuple[Floats, tuple[str, ...]]:
    from pxr import UsdGeom

    parts: list[Floats | int] = []
    there: set[str] = set()
    without: list[str] = []
    for mesh in usd_meshes(path):
        counts = np.array(mesh.GetFaceVertexCountsAttr().Get() or [], np.int64)
        vertex = np.array(mesh.GetFaceVertexIndicesAttr().Get() or [], np.int64)
        corners = fan(counts)
        primvars = {
            str(each.GetPrimvarName()): each
            for each in UsdGeom.PrimvarsAPI(mesh.GetPrim()).GetPrimvarsWithAuthoredValues()
            if _is_weight(each)
        }
        there |= set(primvars)
        if name not in primvars:
            without.append(str(mesh.GetPath()))
            parts.append(len(corners) // 3)
            continue
        values = _channel(path, name, _flattened(primvars[name], path), channel)
        parts.append(_at_corners(path, primvars[name], values, counts, vertex, corners))
    painted = [part for part in parts if not isinstance(part, int)]
    if not painted:
        _require(path, name, there)
    warnings: tuple[str, ...] = ()
    if without:
        warnings = (
            f"{len(without)} of {len(parts)} meshes have no {name!r} and were taken as 1: "
            f"{', '.join(without[:4])}{' …' if len(without) > 4 else ''}",
        )
    filled = [
        np.full((part, 3), _NORMAL_WEIGHT, np.float32) if isinstance(part, int) else part
        for part in parts
    ]
    return np.concatenate(filled), warnings


def _is_weight(primvar: Any) -> bool:
    """Numbers and colours; uvs, normals, names and numbers of parts are no paint."""
    text = str(primvar.GetTypeName())
    plain = ("float", "double", "half", "color")
    return text.startswith(plain) and "matrix" not in text and "quat" not in text


def _flattened(primvar: Any, path: Path) -> NDArray[Any]:
    found = primvar.ComputeFlattened()
    if found is None:
        raise MeshError(
            f"{path}: {primvar.GetPrimvarName()!r} has indices that lead nowhere: export it again"
        )
    values = np.array(found, np.float32)
    return values if values.ndim else values[None]


def _at_corners(
    path: Path,
    primvar: Any,
    values: NDArray[Any],
    counts: NDArray[np.int64],
    vertex: NDArray[np.int64],
    corners: NDArray[np.int64],
) -> Floats:
    kind, name = str(primvar.GetInterpolation()), primvar.GetPrimvarName()
    sizes = {"constant": 1, "uniform": len(counts), "faceVarying": len(vertex)}
    least = int(vertex.max(initial=-1)) + 1
    if len(values) < sizes.get(kind, least):
        raise MeshError(
            f"{path}: {name!r} holds {len(values)} values, and {kind} needs "
            f"{sizes.get(kind, least)}: export it again"
        )
    if kind == "constant":
        values, kind = np.repeat(values[:1], len(vertex), 0), "faceVarying"
    triangles = corners.reshape(-1, 3)
    if kind == "uniform":
        face = np.repeat(np.arange(len(counts)), counts)
        return corner_weights(values[face], triangles, "point")
    if kind == "faceVarying":
        return corner_weights(values, triangles, "point")
    return corner_weights(values, vertex[triangles], "point")
