"""The example mesh: one UV set without overlap, true normals, two files that agree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True)
class Mesh:
    points: np.ndarray
    normals: np.ndarray
    uvs: np.ndarray
    triangles: np.ndarray


@cache
def obj() -> Mesh:
    rows: dict[str, list[list[str]]] = {"v": [], "vt": [], "vn": [], "f": []}
    for line in (EXAMPLES / "tray.obj").read_text(encoding="utf-8").splitlines():
        key, *values = line.split()
        if key in rows:
            rows[key].append(values)
    faces = np.array([[corner.split("/") for corner in face] for face in rows["f"]], dtype=int)
    assert (faces == faces[..., :1]).all(), "the corners share one index for v, vt and vn"
    points, uvs, normals = (np.array(rows[key], dtype=float) for key in ("v", "vt", "vn"))
    return Mesh(points, normals, uvs, faces[..., 0] - 1)


def cross2(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]


def signed_uv_areas(mesh: Mesh) -> np.ndarray:
    a, b, c = np.moveaxis(mesh.uvs[mesh.triangles], 1, 0)
    return 0.5 * cross2(b - a, c - a)


def face_vectors(mesh: Mesh) -> np.ndarray:
    a, b, c = np.moveaxis(mesh.points[mesh.triangles], 1, 0)
    return 0.5 * np.cross(b - a, c - a)


def uv_coverage(mesh: Mesh, size: int) -> np.ndarray:
    """How many triangles hold each texel centre."""
    count = np.zeros((size, size), dtype=int)
    for corners in mesh.uvs[mesh.triangles] * size:
        low = np.floor(corners.min(axis=0)).astype(int)
        high = np.ceil(corners.max(axis=0)).astype(int)
        x, y = np.meshgrid(np.arange(low[0], high[0]) + 0.5, np.arange(low[1], high[1]) + 0.5)
        texel = np.stack([x, y], axis=-1)
        sides = [
            cross2(corners[(i + 1) % 3] - corners[i], texel - corners[i]) > 1e-9 for i in range(3)
        ]
        count[low[1] : high[1], low[0] : high[0]] += np.logical_and.reduce(sides)
    return count


def test_the_tray_has_a_moderate_number_of_triangles() -> None:
    assert 3_000 <= len(obj().triangles) <= 10_000


def test_the_uvs_lie_in_the_unit_square_and_never_overlap() -> None:
    mesh = obj()
    assert mesh.uvs.min() >= 0.0
    assert mesh.uvs.max() <= 1.0
    assert (signed_uv_areas(mesh) > 0.0).all(), "no triangle is mirrored or degenerate"
    coverage = uv_coverage(mesh, 512)
    assert coverage.max() == 1
    assert (coverage == 1).mean() > 0.45, "the square is well used"


def test_the_uvs_keep_angles_and_do_not_stretch_much() -> None:
    mesh = obj()
    p0, p1, p2 = np.moveaxis(mesh.points[mesh.triangles], 1, 0)
    t0, t1, t2 = np.moveaxis(mesh.uvs[mesh.triangles], 1, 0)
    d1, d2, e1, e2 = t1 - t0, t2 - t0, p1 - p0, p2 - p0
    determinant = cross2(d1, d2)[:, None]
    along_u = (e1 * d2[:, 1:] - e2 * d1[:, 1:]) / determinant
    along_v = (e2 * d1[:, :1] - e1 * d2[:, :1]) / determinant
    gram = np.stack(
        [
            np.stack([(along_u * along_u).sum(1), (along_u * along_v).sum(1)], axis=-1),
            np.stack([(along_u * along_v).sum(1), (along_v * along_v).sum(1)], axis=-1),
        ],
        axis=-1,
    )
    stretch = np.sqrt(np.linalg.eigvalsh(gram))
    assert (stretch[:, 1] / stretch[:, 0]).max() < 1.15
    areas = np.linalg.norm(face_vectors(mesh), axis=1)
    scale = np.sqrt(signed_uv_areas(mesh) / areas)
    assert scale.max() / scale.min() < 2.0


def test_the_normals_are_unit_and_point_outward() -> None:
    mesh = obj()
    assert np.abs(np.linalg.norm(mesh.normals, axis=1) - 1.0).max() < 1e-4
    faces = face_vectors(mesh)
    agreement = np.einsum("fk,fck->fc", faces, mesh.normals[mesh.triangles])
    assert (agreement > 0.0).all()
    # Positive volume: the faces turn outward; the seam at the rim is closed, or it would be off.
    volume = np.einsum("fk,fk->", mesh.points[mesh.triangles[:, 0]], faces) / 3.0
    assert 1e-4 < volume < 2e-3


def test_the_surface_is_closed_once_the_seam_is_welded() -> None:
    mesh = obj()
    _, welded = np.unique(np.round(mesh.points, 6), axis=0, return_inverse=True)
    triangles = welded.ravel()[mesh.triangles]
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    forward = {tuple(edge) for edge in edges.tolist()}
    assert len(forward) == len(edges)
    assert all((b, a) in forward for a, b in forward)


def test_usd_reads_the_same_mesh_from_the_other_file() -> None:
    pytest.importorskip("pxr", reason="needs usd-core to read the USDA file")
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.Open(str(EXAMPLES / "tray.usda"))
    assert UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.y
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    prim = UsdGeom.Mesh(stage.GetDefaultPrim())
    coordinates = UsdGeom.PrimvarsAPI(prim).GetPrimvar("st")
    assert coordinates.GetInterpolation() == prim.GetNormalsInterpolation() == "vertex"
    mesh = obj()
    assert np.array_equal(prim.GetFaceVertexCountsAttr().Get(), [3] * len(mesh.triangles))
    assert np.array_equal(prim.GetFaceVertexIndicesAttr().Get(), mesh.triangles.ravel())
    assert np.allclose(prim.GetPointsAttr().Get(), mesh.points, atol=1e-6)
    assert np.allclose(prim.GetNormalsAttr().Get(), mesh.normals, atol=1e-5)
    assert np.allclose(coordinates.Get(), mesh.uvs, atol=1e-5)
    extent = UsdGeom.Boundable.ComputeExtentFromPlugins(prim, Usd.TimeCode.Default())
    assert np.allclose(prim.GetExtentAttr().Get(), extent, atol=1e-6)
