"""Triangle meshes from OBJ and USD files, with one UV set and smooth normals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.errors import MeshError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int64]

LARGEST_FILE_BYTES = 2 << 30


@dataclass(frozen=True)
class Mesh:
    """Triangles by corner: (T, 3, 3) positions and normals, (T, 3, 2) uv."""

    position: Floats
    normal: Floats
    uv: Floats

    def tangents(self) -> tuple[Floats, Floats]:
        """Unit directions (T, 3) in which u and v grow; zero where uv is degenerate."""
        edge1 = self.position[:, 1] - self.position[:, 0]
        edge2 = self.position[:, 2] - self.position[:, 0]
        step1 = self.uv[:, 1] - self.uv[:, 0]
        step2 = self.uv[:, 2] - self.uv[:, 0]
        area = step1[:, 0] * step2[:, 1] - step2[:, 0] * step1[:, 1]
        sign = np.sign(area)[:, None]
        along_u = sign * (edge1 * step2[:, 1:] - edge2 * step1[:, 1:])
        along_v = sign * (edge2 * step1[:, :1] - edge1 * step2[:, :1])
        return normalized(along_u), normalized(along_v)


def load_mesh(path: str | Path) -> Mesh:
    """A mesh by its file's extension."""
    path = Path(path)
    readers: dict[str, Callable[[Path], Mesh]] = {
        ".obj": _load_obj,
        ".usd": _load_usd,
        ".usda": _load_usd,
        ".usdc": _load_usd,
        ".usdz": _load_usd,
    }
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise MeshError(f"{path}: meshes are read from {', '.join(readers)}, not {path.suffix!r}")
    if not path.is_file():
        raise MeshError(f"{path}: there is no such file")
    if path.stat().st_size > LARGEST_FILE_BYTES:
        raise MeshError(f"{path}: larger than {LARGEST_FILE_BYTES >> 30} GB")
    mesh = reader(path)
    if len(mesh.position) == 0:
        raise MeshError(f"{path}: holds no triangles")
    if not np.isfinite(mesh.position).all() or not np.isfinite(mesh.uv).all():
        raise MeshError(f"{path}: has positions or uvs that are not numbers")
    return mesh


def normalized(vectors: Floats) -> Floats:
    """Vectors scaled to unit length; zero stays zero."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0))


def _load_obj(path: Path) -> Mesh:
    points: list[list[float]] = []
    uvs: list[list[float]] = []
    normals: list[list[float]] = []
    corners: list[tuple[int, int, int]] = []
    for number, words in obj_statements(path):
        try:
            if words[0] == "f":
                counts = (len(points), len(uvs), len(normals))
                face = [obj_corner(word, counts) for word in words[1:]]
                for last in range(2, len(face)):
                    corners += (face[0], face[last - 1], face[last])
            else:
                size = 2 if words[0] == "vt" else 3
                target = {"v": points, "vt": uvs, "vn": normals}[words[0]]
                target.append([float(word) for word in words[1 : 1 + size]])
                if len(target[-1]) != size:
                    raise ValueError("too few numbers")
        except (ValueError, IndexError) as failure:
            raise MeshError(f"{path}: line {number}: {' '.join(words)!r}: {failure}") from None
    if corners and any(corner[1] < 0 for corner in corners):
        raise MeshError(f"{path}: has no texture coordinates (vt): unwrap the mesh first")
    index = np.array(corners, np.int64).reshape(-1, 3, 3)
    position = np.array(points, np.float32).reshape(-1, 3)[index[..., 0]]
    uv = np.array(uvs, np.float32).reshape(-1, 2)[index[..., 1]]
    if normals and (index[..., 2] >= 0).all():
        normal = normalized(np.array(normals, np.float32)[index[..., 2]])
    else:
        normal = smooth_normals(position, index[..., 0], len(points))
    return Mesh(position, normal, uv)


def obj_statements(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The words of each vertex, uv, normal and face, and the line that it begins in: without
    comments, and joined where a backslash says that the next line goes on."""
    begun, words = 0, list[str]()
    with path.open(encoding="utf-8-sig", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            text = line.partition("#")[0].rstrip()
            begun = begun if words else number
            words += text.removesuffix("\\").split()
            if words and words[0] not in ("v", "vt", "vn", "f"):
                words = []
            elif words and not text.endswith("\\"):
                yield begun, words
                words = []
    if words:
        yield begun, words


def obj_corner(word: str, counts: tuple[int, int, int]) -> tuple[int, int, int]:
    found = [-1, -1, -1]
    for place, digits in enumerate(word.split("/")[:3]):
        if digits:
            number = int(digits)
            found[place] = number - 1 if number > 0 else counts[place] + number
            if not 0 <= found[place] < counts[place]:
                raise IndexError(f"{word!r} refers to element {number} of {counts[place]}")
    if found[0] < 0:
        raise IndexError(f"{word!r} names no vertex")
    return found[0], found[1], found[2]


def smooth_normals(position: Floats, vertex: Ints, count: int) -> Floats:
    """Normals of vertices, each face counted by its area."""
    face = np.cross(position[:, 1] - position[:, 0], position[:, 2] - position[:, 0])
    total = np.zeros((count, 3), np.float32)
    for corner in range(3):
        np.add.at(total, vertex[:, corner], face)
    return normalized(total)[vertex]


def _load_usd(path: Path) -> Mesh:
    parts = [usd_mesh(mesh, str(path)) for mesh in usd_meshes(path)]
    return Mesh(
        np.concatenate([part.position for part in parts]),
        np.concatenate([part.normal for part in parts]),
        np.concatenate([part.uv for part in parts]),
    )


def usd_meshes(path: Path) -> Iterator[Any]:
    """Every active mesh of a stage (UsdGeom.Mesh), in the order of `load_mesh`'s triangles. One at
    a time: they are gone with the stage, which lives as long as this goes on."""
    try:
        from pxr import Usd, UsdGeom
    except ImportError:
        raise MeshError(
            f"{path}: reading USD needs the pxr modules: pip install 'verdigris[usd]', or use OBJ"
        ) from None
    try:
        stage = Usd.Stage.Open(str(path))
    except Exception as failure:  # noqa: BLE001 - pxr raises types of its own making
        raise MeshError(f"{path}: cannot be opened as USD: {str(failure).strip()[:300]}") from None
    meshes = [
        UsdGeom.Mesh(prim)
        for prim in stage.Traverse()
        if prim.IsA(UsdGeom.Mesh) and prim.IsActive()
    ]
    if not meshes:
        raise MeshError(f"{path}: holds no mesh")
    yield from meshes


def usd_mesh(mesh: Any, asker: str) -> Mesh:
    """One mesh of a stage, in the stage's space."""
    from pxr import Usd, UsdGeom

    name = f"{asker}: {mesh.GetPath()}"
    points = np.array(mesh.GetPointsAttr().Get() or [], np.float32).reshape(-1, 3)
    counts = np.array(mesh.GetFaceVertexCountsAttr().Get() or [], np.int64)
    vertex = np.array(mesh.GetFaceVertexIndicesAttr().Get() or [], np.int64)
    if counts.sum() != len(vertex) or (
        len(vertex) and not 0 <= vertex.min() <= vertex.max() < len(points)
    ):
        raise MeshError(f"{name}: its faces refer to points that are not there")
    to_world = np.array(
        UsdGeom.Xformable(mesh.GetPrim()).ComputeLocalToWorldTransform(Usd.TimeCode.Default())
    )
    points = (points @ to_world[:3, :3] + to_world[3, :3]).astype(np.float32)
    corners = fan(counts)
    uv = _usd_uv(mesh, name, vertex)
    triangles = vertex[corners].reshape(-1, 3)
    position = points[triangles]
    normals = mesh.GetNormalsAttr().Get()
    per_corner = normals is not None and len(normals) == len(vertex)
    if normals is not None and (per_corner or len(normals) == len(points)):
        local = np.array(normals, np.float32) @ np.linalg.inv(to_world[:3, :3]).T
        index = corners.reshape(-1, 3) if per_corner else triangles
        normal = normalized(local.astype(np.float32)[index])
    else:
        normal = smooth_normals(position, triangles, len(points))
    return Mesh(position, normal, uv[corners].reshape(-1, 3, 2))


def _usd_uv(mesh: Any, name: str, vertex: Ints) -> Floats:
    from pxr import UsdGeom

    primvars = UsdGeom.PrimvarsAPI(mesh.GetPrim()).GetPrimvarsWithAuthoredValues()
    found = [
        p for p in primvars if "texCoord2" in str(p.GetTypeName()) or p.GetPrimvarName() == "st"
    ]
    if not found:
        there = ", ".join(p.GetPrimvarName() for p in primvars) or "none"
        raise MeshError(f"{name}: has no texture coordinates (primvars: {there}): unwrap it first")
    chosen = next((p for p in found if p.GetPrimvarName() == "st"), found[0])
    values = np.array(chosen.ComputeFlattened(), np.float32).reshape(-1, 2)
    if chosen.GetInterpolation() == UsdGeom.Tokens.faceVarying:
        if len(values) != len(vertex):
            raise MeshError(f"{name}: {len(values)} texture coordinates for {len(vertex)} corners")
        return values
    if len(vertex) and len(values) <= vertex.max():
        raise MeshError(f"{name}: too few texture coordinates ({len(values)})")
    return values[vertex]


def fan(counts: Ints) -> Ints:
    """Corner numbers of the triangles that polygons of these sizes fall into."""
    start = np.concatenate([[0], np.cumsum(counts)[:-1]]) if len(counts) else counts
    inner = np.maximum(counts - 2, 0)
    first = np.repeat(start, inner)
    offset = np.arange(inner.sum()) - np.repeat(np.cumsum(inner) - inner, inner)
    return np.stack([first, first + offset + 1, first + offset + 2], axis=1).reshape(-1)
