"""The host of plain files: the tests of every host, and weights in mesh files."""

import numpy as np
import pytest
from pxr import Sdf, Usd, UsdGeom

from verdigris.core.base.errors import DocumentError, HostError, MeshError
from verdigris.core.hosts.documents import parse_text
from verdigris.core.hosts.file_host import FilesHost
from verdigris.core.hosts.host import BakedResult

from ...core.material.documents import document, material, standard_surface
from ..contract import *  # noqa: F403 - the tests of the contract
from ..contract import Harness

POINTS = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
UVS = [(0, 0), (1, 0), (1, 1), (0, 1)]


def write_mesh(path, weights=None, interpolation="faceVarying"):
    """Two triangles in the plane of z = 0, as one file of USD."""
    stage = Usd.Stage.CreateInMemory()
    mesh = UsdGeom.Mesh.Define(stage, "/plate")
    mesh.CreatePointsAttr(POINTS)
    mesh.CreateFaceVertexCountsAttr([3, 3])
    mesh.CreateFaceVertexIndicesAttr([0, 1, 2, 0, 2, 3])
    primvars = UsdGeom.PrimvarsAPI(mesh)
    primvars.CreatePrimvar("st", Sdf.ValueTypeNames.TexCoord2fArray, "vertex").Set(UVS)
    if weights is not None:
        primvars.CreatePrimvar(
            "verdigris_weights", Sdf.ValueTypeNames.FloatArray, interpolation
        ).Set(weights)
    stage.Export(str(path))


class FilesHarness(Harness):
    """The scene is a folder."""

    def snapshot(self):
        folder = self.scene.parent
        return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}

    def paint(self, mesh, weight):
        write_mesh(mesh, [weight] * 3 + [1.0] * 3)

    def undo(self):
        # there is no undo for files: the new file is deleted
        (self.scene.parent / "plate.mtlx.verdigris.json").unlink()


@pytest.fixture
def harness(tmp_path):
    scene = tmp_path / "scene" / "plate.mtlx"
    scene.parent.mkdir()
    scene.write_text(document(standard_surface(), material(name="gold"), material(name="lead")))
    mesh = scene.parent / "plate.usda"
    write_mesh(mesh)
    return FilesHarness(FilesHost(scene, mesh), scene)


@pytest.mark.parametrize(
    ("weights", "interpolation", "expected"),
    [
        ([2.0], "constant", [[2, 2, 2], [2, 2, 2]]),
        ([2.0, 3.0], "uniform", [[2, 2, 2], [3, 3, 3]]),
        ([1.0, 2.0, 3.0, 4.0], "vertex", [[1, 2, 3], [1, 3, 4]]),
        ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "faceVarying", [[1, 2, 3], [4, 5, 6]]),
    ],
)
def test_primvars_of_every_interpolation_are_weights(harness, weights, interpolation, expected):
    (name,) = harness.host.meshes(harness.first)
    write_mesh(name, weights, interpolation)
    assert harness.host.mesh(name).weights.tolist() == expected


def test_a_primvar_of_the_wrong_length_is_named(harness):
    (name,) = harness.host.meshes(harness.first)
    write_mesh(name, [1.0, 2.0], "vertex")
    with pytest.raises(MeshError, match=r"'verdigris_weights' has 2 values, and vertex needs 4"):
        harness.host.mesh(name)


def test_vertex_colours_of_an_obj_file_are_read_as_weights(tmp_path, harness):
    path = tmp_path / "plate.obj"
    lines = [
        f"v {x} {y} {z} {w} {w} {w}" for (x, y, z), w in zip(POINTS, (1, 2, 3, 4), strict=True)
    ]
    lines += [f"vt {u} {v}" for u, v in UVS] + ["f 1/1 2/2 3/3 -1/4"]
    path.write_text("\n".join(lines))
    mesh = harness.host.mesh(str(path))
    assert mesh.weights.tolist() == [[1, 2, 3], [1, 3, 4]]
    assert harness.host.weight_sets(str(path)) == ("color",)


def test_results_are_noted_with_relative_paths(harness):
    bundle = harness.scene.parent / "baked" / "gold.vdg"
    harness.host.attach(harness.first, BakedResult(bundle))
    moved = harness.scene.parent.parent / "moved"
    harness.scene.parent.rename(moved)
    again = FilesHost(moved / "plate.mtlx")
    assert again.attached(again.materials()[0]) == moved / "baked" / "gold.vdg"


@pytest.mark.parametrize(
    "damaged", ["{", "[]", '{"KEY": 7}', '{"KEY": {}}', '{"KEY": {"bundle": 1}}', "[" * 5000]
)
def test_a_damaged_note_is_an_error_and_is_kept(harness, tmp_path, damaged):
    sidecar = harness.scene.with_name("plate.mtlx.verdigris.json")
    damaged = damaged.replace("KEY", harness.first.key)
    sidecar.write_text(damaged)
    with pytest.raises(HostError, match="remove it"):
        harness.host.attach(harness.first, BakedResult(tmp_path / "a.vdg"))
    with pytest.raises(HostError, match="remove it"):
        harness.host.attached(harness.first)
    assert sidecar.read_text() == damaged


def test_xml_that_materialx_reads_and_python_does_not_is_an_error_of_ours():
    with pytest.raises(DocumentError, match=r"clay: is not valid XML \(unbound prefix"):
        parse_text('<materialx version="1.39"><a:b /></materialx>', "clay")


def test_without_a_document_every_call_is_an_error():
    for ask in (FilesHost().materials, FilesHost().selected_materials):
        with pytest.raises(HostError, match="open a MaterialX document first"):
            ask()
    assert FilesHost().scene_file() is None


def test_a_document_without_a_material_is_reported(tmp_path):
    path = tmp_path / "bare.mtlx"
    path.write_text(document(standard_surface("", "bare").replace("surfaceshader", "x")))
    host = FilesHost(path)
    assert host.materials() == ()
    with pytest.raises(DocumentError, match="has no material"):
        host.document(type("M", (), {"key": "a"})())


def test_meshes_are_the_triangles_of_the_file(harness):
    (name,) = harness.host.meshes(harness.first)
    assert np.array_equal(harness.host.mesh(name).uv[1], [UVS[0], UVS[2], UVS[3]])
