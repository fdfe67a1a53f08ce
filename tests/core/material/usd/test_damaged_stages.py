"""Stages that USD opens, and whose values it or numpy cannot read."""

import pytest

from verdigris.core.base.errors import DocumentError, MeshError
from verdigris.core.batch.scene.sources import ReadOptions, entries_of
from verdigris.core.geometry.mesh import load_mesh
from verdigris.core.geometry.mesh_values import load_painted_mesh, load_primvars
from verdigris.core.hosts.file_host import FilesHost
from verdigris.core.material.usd.faults import refusing_damage, said_by_usd

MESH = """#usda 1.0
def Xform "a"
{
    double3 xformOp:translate = (1, 2, 3)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def Mesh "quad"
    {
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0)]
        texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1)] (interpolation = "vertex")
        float[] primvars:wear = [0, 0.5, 1] (interpolation = "vertex")
    }
}
"""
MATERIAL = """#usda 1.0
def Material "clay"
{
    token outputs:mtlx:surface.connect = </clay/surface.outputs:out>
    def Shader "surface"
    {
        uniform token info:id = "ND_standard_surface_surfaceshader"
        color3f inputs:base_color = (1, 0.5, 0)
        token outputs:out
    }
}
"""


def write(tmp_path, text):
    path = tmp_path / "a.usda"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("double3 xformOp:translate = (1, 2, 3)", "token xformOp:translate = 'x'"),
        ("int[] faceVertexCounts = [3]", "int faceVertexCounts = 3"),
        ("int[] faceVertexIndices = [0, 1, 2]", "string faceVertexIndices = 'a'"),
        ("point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0)]", "string[] points = ['a', 'b']"),
    ],
    ids=["transform", "counts", "indices", "points"],
)
def test_a_mesh_with_values_of_other_types_is_refused(tmp_path, before, after):
    assert before in MESH
    path = write(tmp_path, MESH)
    whole = load_mesh(path)
    (tmp_path / "damaged").mkdir()
    damaged = write(tmp_path / "damaged", MESH.replace(before, after))
    for read in (load_mesh, lambda file: load_painted_mesh(file, "wear")):
        with pytest.raises(MeshError, match=r"a\.usda: cannot be read as USD"):
            read(damaged)
    if "faceVertex" in before:
        with pytest.raises(MeshError, match=r"a\.usda: cannot be read as USD"):
            load_primvars(damaged, whole)
    if "Counts" in before:
        with pytest.raises(MeshError, match=r"a\.usda: cannot be read as USD"):
            FilesHost(mesh=damaged).weight_sets(str(damaged))


def test_a_material_with_a_value_that_usd_does_not_know_is_a_problem_of_its_own(tmp_path):
    (whole,) = entries_of(write(tmp_path, MATERIAL), ReadOptions())
    assert not whole.problem
    odd = MATERIAL.replace("color3f inputs:base_color = (1, 0.5, 0)", "new inputs:base_color = (1)")
    (entry,) = entries_of(write(tmp_path, odd), ReadOptions())
    assert "/clay: cannot be read as USD" in entry.problem


def test_names_that_are_not_utf_8_are_refused(tmp_path):
    path = write(tmp_path, MESH.encode().replace(b'"quad"', b'"qu\xffad"'))
    with pytest.raises(MeshError, match=r"a\.usda: cannot be opened as USD"):
        load_mesh(path)
    (entry,) = entries_of(path, ReadOptions())
    assert "cannot be opened" in entry.problem


def test_errors_of_ours_stay_and_places_in_usd_are_left_out():
    with pytest.raises(DocumentError, match="has no surface"), refusing_damage(MeshError, "a.usda"):
        raise DocumentError("has no surface")
    text = "\n\tError in 'Sdf_Open' at line 691 in file /opt/usd/crate.cpp : 'Out of \n bounds'"
    assert said_by_usd(RuntimeError(text)) == "Out of bounds"
