"""Reads triangle meshes from OBJ and USD files, with one uv set and smooth normals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from verdigris.core.base.errors import MeshError
from verdigris.core.base.inputs import require_file
from verdigris.core.geometry.polygons import triangulate
from verdigris.core.material.usd.faults import refusing_damage, said_by_usd

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from verdigris.core.base.array_types import Floats, Ints
    from verdigris.core.material.domain import Tiles


_LARGEST_FILE_BYTES = 2 << 30
_USD_SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")
MESH_SUFFIXES = (".obj", *_USD_SUFFIXES)
"""Kinds of files that `load_mesh` reads."""
_PAIRS = ("float2", "double2", "half2")
_OBJ_GEOMETRY = ("v", "vt", "vn", "f")
# The largest coordinate: squares of larger ones leave the range of floats.
_FARTHEST = 1e9
# Rotates a stage or scene with z up to y up, for row vectors.
FROM_Z_UP = np.array([[1, 0, 0, 0], [0, 0, -1, 0], [0, 1, 0, 0], [0, 0, 0, 1]], np.float64)


@dataclass(frozen=True)
class Mesh:
    """Triangles by corner: (T, 3, 3) positions and normals, (T, 3, 2) uv."""

    position: Floats
    normal: Floats
    uv: Floats

    def tangents(self) -> tuple[Floats, Floats]:
        """Unit directions (T, 3) of growing u and v; zero for degenerate uvs."""
        edge1 = self.position[:, 1] - self.position[:, 0]
        edge2 = self.position[:, 2] - self.position[:, 0]
        step1 = self.uv[:, 1] - self.uv[:, 0]
        step2 = self.uv[:, 2] - self.uv[:, 0]
        area = step1[:, 0] * step2[:, 1] - step2[:, 0] * step1[:, 1]
        sign = np.sign(area)[:, None]
        along_u = sign * (edge1 * step2[:, 1:] - edge2 * step1[:, 1:])
        along_v = sign * (edge2 * step1[:, :1] - edge1 * step2[:, :1])
        return normalized(along_u), normalized(along_v)

    def extents(self) -> Floats:
        """Lengths (T, 2) of a unit of u and of v; 1 for degenerate uvs."""
        edges, steps = (np.diff(values, axis=1) for values in (self.position, self.uv))
        area = steps[:, 0, 0] * steps[:, 1, 1] - steps[:, 1, 0] * steps[:, 0, 1]
        # the derivative by u has the steps of v, and that by v those of u
        along = edges[:, :1] * steps[:, 1, ::-1, None]
        across = edges[:, 1:] * steps[:, 0, ::-1, None]
        length = np.linalg.norm(along - across, axis=-1)
        is_flat = np.abs(area) < 1e-20
        found = length / np.where(is_flat, 1, np.abs(area))[:, None]
        return np.where(is_flat[:, None], 1, found).astype(np.float32)


def in_atlas(mesh: Mesh, tiles: Tiles | None) -> Mesh:
    """A mesh with the uv of the atlas of these UDIM tiles, if there are any."""
    return replace(mesh, uv=tiles.to_atlas(mesh.uv)) if tiles else mesh


@dataclass(frozen=True)
class FileMesh(Mesh):
    """A mesh with the corners of its polygons, by which other values of the file are found."""

    corners: Ints
    """(T, 3): the polygon corner of each triangle corner, numbered through all polygons."""
    corner_count: int
    """Number of corners of all polygons."""


def load_mesh(path: str | Path, is_upright: bool = True) -> FileMesh:
    """Reads a mesh by the file's suffix. USD stages with z up are rotated to y up; with
    `is_upright=False` they stay in their own space, like their cameras."""
    path = Path(path)
    readers: dict[str, Callable[[Path], FileMesh]] = {
        ".obj": _load_obj,
        **dict.fromkeys(_USD_SUFFIXES, partial(_load_usd, is_upright=is_upright)),
    }
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise MeshError(
            f"{path}: {path.suffix!r} is not a mesh format: use one of {', '.join(readers)}"
        )
    require_file(path, MeshError, "name a mesh")
    try:
        if path.stat().st_size > _LARGEST_FILE_BYTES:
            raise MeshError(
                f"{path}: is larger than {_LARGEST_FILE_BYTES >> 30} GB: export fewer meshes"
            )
        # what does not fit into single floats is refused below
        with np.errstate(over="ignore", invalid="ignore"):
            mesh = reader(path)
    except OSError as failure:
        raise MeshError(
            f"{path}: cannot be read ({failure.strerror}): check the file, or choose another"
        ) from None
    if len(mesh.position) == 0:
        raise MeshError(f"{path}: holds no triangles: export it with its faces")
    for values, what in ((mesh.uv, "uvs"), (mesh.normal, "normals")):
        if not np.isfinite(values).all():
            raise MeshError(f"{path}: has {what} that are not finite: export it again")
    if not normalized(_areas(mesh.position)).any():
        raise MeshError(
            f"{path}: none of its {len(mesh.position)} triangles has an area: check its scale, and "
            "export it again"
        )
    return mesh


def _require_places(name: str, places: NDArray[Any]) -> None:
    """Refuses positions of faces that are not finite or too far away."""
    if not np.isfinite(places).all():
        raise MeshError(f"{name}: has positions that are not finite: export it again")
    farthest = float(np.abs(places).max(initial=0))
    if farthest > _FARTHEST:
        raise MeshError(
            f"{name}: has a coordinate of {farthest:.3g}, and {_FARTHEST:.0e} is the most: export "
            "it again in a larger unit"
        )


def normalized(vectors: Floats) -> Floats:
    """Vectors scaled to unit length; zero vectors stay zero."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(np.divide(vectors, length, out=np.zeros_like(vectors), where=length > 0))


def _load_obj(path: Path) -> FileMesh:
    points: list[list[float]] = []
    uvs: list[list[float]] = []
    normals: list[list[float]] = []
    corners: list[tuple[int, int, int]] = []
    sizes: list[int] = []
    for number, words in obj_lines(path):
        try:
            if words[0] == "f":
                counts = (len(points), len(uvs), len(normals))
                corners += [obj_corner(word, counts) for word in words[1:]]
                sizes.append(len(words) - 1)
            else:
                size = 2 if words[0] == "vt" else 3
                target = {"v": points, "vt": uvs, "vn": normals}[words[0]]
                target.append([float(word) for word in words[1 : 1 + size]])
                if len(target[-1]) != size:
                    raise ValueError("too few numbers")
        except (ValueError, IndexError) as failure:
            raise obj_fault(path, number, words, failure) from None
    flat = np.array(corners, np.int64).reshape(-1, 3)
    exact = np.array(points, np.float64).reshape(-1, 3)
    _require_places(str(path), exact[flat[:, 0]])
    # points without faces may be anywhere
    places = exact.astype(np.float32)
    triangles = triangulate(np.array(sizes, np.int64), places[flat[:, 0]])
    index = flat[triangles]
    if (without := int((index[..., 1] < 0).any(1).sum())) > 0:
        which = "" if without == len(index) else f" on {without} of {len(index)} triangles"
        raise MeshError(f"{path}: has no texture coordinates (vt){which}: unwrap the mesh first")
    position = places[index[..., 0]]
    uv = np.array(uvs, np.float32).reshape(-1, 2)[index[..., 1]]
    if normals and (index[..., 2] >= 0).all():
        normal = _with_faces(normalized(np.array(normals, np.float32)[index[..., 2]]), position)
    else:
        normal = smooth_normals(position, index[..., 0], len(points))
    return FileMesh(position, normal, uv, triangles, len(flat))


def obj_lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Line number and words of each geometry line, without comments. Lines that end with a
    backslash are joined with the next, under the number of the first."""
    begun, words = 0, list[str]()
    with path.open(encoding="utf-8-sig", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            text = line.partition("#")[0].rstrip()
            begun = begun if words else number
            words += text.removesuffix("\\").split()
            if words and words[0] not in _OBJ_GEOMETRY:
                words = []
            elif words and not text.endswith("\\"):
                yield begun, words
                words = []
    if words:
        yield begun, words


def obj_fault(path: Path, number: int, words: list[str], failure: Exception) -> MeshError:
    return MeshError(f"{path}: line {number}: {' '.join(words)!r}: {failure}: export it again")


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
    """Area-weighted vertex normals. A corner whose face points the other way takes the face's
    normal, as in sheets with faces on both sides."""
    face = _areas(position)
    total = np.zeros((count, 3), np.float32)
    for corner in range(3):
        np.add.at(total, vertex[:, corner], face)
    normal = normalized(total)[vertex]
    is_along = (normal * face[:, None]).sum(-1, keepdims=True) > 0
    return _with_faces(np.where(is_along, normal, np.float32(0)), position)


def _with_faces(normal: Floats, position: Floats) -> Floats:
    """Fills missing normals with those of the faces."""
    faces = normalized(_areas(position))[:, None]
    return np.where(normal.any(-1, keepdims=True), normal, faces)


def _areas(position: Floats) -> Floats:
    """Normals of triangles, with twice their area as length."""
    return np.cross(position[:, 1] - position[:, 0], position[:, 2] - position[:, 0])


def _load_usd(path: Path, is_upright: bool) -> FileMesh:
    with refusing_damage(MeshError, path):
        parts = [usd_mesh(mesh, str(path), is_upright) for mesh in usd_meshes(path)]
    *firsts, corner_count = accumulate((part.corner_count for part in parts), initial=0)
    return FileMesh(
        np.concatenate([part.position for part in parts]),
        np.concatenate([part.normal for part in parts]),
        np.concatenate([part.uv for part in parts]),
        np.concatenate([part.corners + at for part, at in zip(parts, firsts, strict=True)]),
        corner_count,
    )


def mesh_files(path: Path) -> list[Path]:
    """All files of a mesh; for a stage, also those of its layers."""
    if path.suffix.lower() not in _USD_SUFFIXES:
        return [path]
    # without the stage, there are no layers
    stage = _open_stage(path)
    # a layer in a package is named PACKAGE[LAYER]
    with refusing_damage(MeshError, path):
        names = [layer.realPath.partition("[")[0] for layer in stage.GetUsedLayers()]
    files = {Path(name) for name in names if name}
    return [path, *sorted(each for each in files if not each.samefile(path))]


def usd_meshes(path: Path) -> Iterator[Any]:
    """Yields each rendered mesh of a stage (UsdGeom.Mesh), with those of instances, in the order of
    `load_mesh`'s polygons. The meshes are valid only while this generator runs, which keeps the
    stage open."""
    stage = _open_stage(path)
    from pxr import Usd, UsdGeom

    meshes = [
        UsdGeom.Mesh(prim)
        for prim in stage.Traverse(Usd.TraverseInstanceProxies())
        if prim.IsA(UsdGeom.Mesh) and _is_rendered(UsdGeom.Imageable(prim))
    ]
    # exporters leave empty meshes behind
    meshes = [each for each in meshes if len(usd_faces(each)[0])]
    if not meshes:
        raise MeshError(
            f"{path}: has no visible mesh with faces and the purpose 'default' or 'render': check "
            "what is exported"
        )
    yield from meshes


def _open_stage(path: Path) -> Any:
    try:
        import pxr  # noqa: F401
    except ImportError:
        raise MeshError(
            f"{path}: USD files need the pxr modules: pip install 'verdigris[usd]', or use OBJ"
        ) from None
    from verdigris.core.material.usd.open_stage import open_stage_for_meshes

    try:
        return open_stage_for_meshes(path)
    except Exception as failure:  # noqa: BLE001 - pxr raises its own exception types
        why = said_by_usd(failure)
        raise MeshError(f"{path}: cannot be opened as USD ({why}): export it again") from None


def _is_rendered(mesh: Any) -> bool:
    """Whether a mesh is visible, and is not a proxy or guide."""
    from pxr import Usd, UsdGeom

    names = UsdGeom.Tokens
    is_hidden = mesh.ComputeVisibility(Usd.TimeCode.EarliestTime()) == names.invisible
    return not is_hidden and mesh.ComputePurpose() in (names.default_, names.render)


def _usd_points(mesh: Any) -> Floats:
    """The points of a mesh in its own space, at the first time sample."""
    from pxr import Usd

    found = mesh.GetPointsAttr().Get(Usd.TimeCode.EarliestTime())
    return np.array(found or [], np.float32).reshape(-1, 3)


def usd_faces(mesh: Any) -> tuple[Ints, Ints]:
    """The number of corners of each polygon, and the point of each corner, at the first time
    sample."""
    from pxr import Usd

    start = Usd.TimeCode.EarliestTime()
    counts = np.array(mesh.GetFaceVertexCountsAttr().Get(start) or [], np.int64)
    return counts, np.array(mesh.GetFaceVertexIndicesAttr().Get(start) or [], np.int64)


def usd_mesh(mesh: Any, file: str, is_upright: bool = True) -> FileMesh:
    """Reads one mesh in the stage's world space at the first time sample; with `is_upright`,
    rotated to y up. `file` is named in errors."""
    from pxr import Usd, UsdGeom

    name = f"{file}: {mesh.GetPath()}"
    start = Usd.TimeCode.EarliestTime()
    points = _usd_points(mesh)
    counts, vertex = usd_faces(mesh)
    if (
        counts.sum() != len(vertex)
        or counts.min(initial=0) < 0
        or (len(vertex) and not 0 <= vertex.min() <= vertex.max() < len(points))
    ):
        raise MeshError(f"{name}: has faces with points that do not exist: export it again")
    to_world = np.array(UsdGeom.Xformable(mesh.GetPrim()).ComputeLocalToWorldTransform(start))
    _require_places(name, (points[vertex] @ to_world[:3, :3]) + to_world[3, :3])
    if is_upright and UsdGeom.GetStageUpAxis(mesh.GetPrim().GetStage()) == UsdGeom.Tokens.z:
        to_world = to_world @ FROM_Z_UP
    corners = triangulate(counts, points[vertex])
    is_left = mesh.GetOrientationAttr().Get(start) == UsdGeom.Tokens.leftHanded
    if is_left != (np.linalg.det(to_world[:3, :3]) < 0):
        # Houdini's polygons are left-handed, and a mirrored transform turns them over
        corners = corners[:, ::-1]
    points = (points @ to_world[:3, :3] + to_world[3, :3]).astype(np.float32)
    uv = _usd_uv(mesh, name, counts, vertex)
    triangles = vertex[corners]
    position = points[triangles]
    normals = _usd_normals(mesh, len(points), counts, vertex, to_world)
    if normals is None:
        normal = smooth_normals(position, triangles, len(points))
    else:
        normal = _with_faces(normals[corners], position)
    return FileMesh(position, normal, uv[corners], corners, len(vertex))


def _usd_uv(mesh: Any, name: str, counts: Ints, vertex: Ints) -> Floats:
    from pxr import Usd, UsdGeom

    primvars = UsdGeom.PrimvarsAPI(mesh.GetPrim()).GetPrimvarsWithAuthoredValues()
    kinds = [(p, str(p.GetTypeName())) for p in primvars]
    found = [p for p, kind in kinds if "texCoord" in kind or p.GetPrimvarName() == "st"]
    # some exporters write uvs as pairs of numbers without their role
    found = found or [p for p, kind in kinds if kind.startswith(_PAIRS)]
    if not found:
        there = ", ".join(p.GetPrimvarName() for p in primvars) or "none"
        raise MeshError(f"{name}: has no texture coordinates (primvars: {there}): unwrap it first")
    chosen = next((p for p in found if p.GetPrimvarName() == "st"), found[0])
    flat = chosen.ComputeFlattened(Usd.TimeCode.EarliestTime())
    values = np.array([] if flat is None else flat)
    if values.ndim != 2:
        called = chosen.GetPrimvarName()
        raise MeshError(f"{name}: the uvs of {called!r} cannot be read: export it again")
    kind = str(chosen.GetInterpolation())
    place = usd_places(kind, counts, vertex)
    needed = int(place.max(initial=-1)) + 1
    if len(values) < needed or (kind == UsdGeom.Tokens.faceVarying and len(values) != needed):
        raise MeshError(
            f"{name}: has {len(values)} uvs, and {kind} needs {needed}: export it again"
        )
    return np.asarray(values[place, :2], np.float32)


def _usd_normals(
    mesh: Any, point_count: int, counts: Ints, vertex: Ints, to_world: NDArray[np.float64]
) -> Floats | None:
    """Normals of the corners in world space; None if the mesh has no usable normals."""
    from pxr import Usd, UsdGeom

    start = Usd.TimeCode.EarliestTime()
    primvar = UsdGeom.PrimvarsAPI(mesh.GetPrim()).GetPrimvar("normals")
    if primvar.HasAuthoredValue():
        values, kind = primvar.ComputeFlattened(start), primvar.GetInterpolation()
    else:
        values, kind = mesh.GetNormalsAttr().Get(start), mesh.GetNormalsInterpolation()
    local = np.array([] if values is None else values, np.float64)
    if len(local) == len(vertex) != point_count:
        # some exporters do not write the interpolation of normals by corner
        kind = UsdGeom.Tokens.faceVarying
    place = usd_places(kind, counts, vertex)
    is_complete = local.ndim == 2 and len(local) > place.max(initial=-1)
    is_solid = np.linalg.matrix_rank(to_world[:3, :3]) == 3
    if not (is_complete and is_solid and np.isfinite(local).all()):
        return None
    world = local @ np.linalg.inv(to_world[:3, :3]).T
    return normalized(world.astype(np.float32))[place]


def usd_places(kind: str, counts: Ints, vertex: Ints) -> Ints:
    """The index of the value of each corner, by USD's interpolation."""
    places = {
        "constant": np.zeros_like(vertex),
        "uniform": np.repeat(np.arange(len(counts)), counts),
        "faceVarying": np.arange(len(vertex)),
    }
    return places.get(kind, vertex)
