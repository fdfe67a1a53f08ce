"""Meshes: read alike from OBJ and USD, and refused with a reason."""

from pathlib import Path

import numpy as np
import pytest

from verdigris.core.errors import MeshError
from verdigris.core.pictures.mesh import load_mesh

EXAMPLES = Path(__file__).parents[3] / "examples"
QUAD = "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\n"


def write(folder, text, name="mesh.obj"):
    path = folder / name
    path.write_text(text)
    return path


def test_the_tray_is_the_same_from_both_of_its_files():
    first, second = load_mesh(EXAMPLES / "tray.obj"), load_mesh(EXAMPLES / "tray.usda")
    assert len(first.position) == len(second.position) > 3000
    np.testing.assert_allclose(first.position, second.position, atol=1e-4)
    np.testing.assert_allclose(first.uv, second.uv, atol=1e-4)
    np.testing.assert_allclose(first.normal, second.normal, atol=1e-2)


def test_a_polygon_falls_into_triangles_with_smooth_normals(tmp_path):
    mesh = load_mesh(write(tmp_path, QUAD + "f 1/1 2/2 3/3 4/4\n"))
    assert mesh.position.shape == (2, 3, 3)
    np.testing.assert_allclose(mesh.normal, np.broadcast_to([0, 0, 1], (2, 3, 3)))
    along_u, along_v = mesh.tangents()
    np.testing.assert_allclose(along_u, [[1, 0, 0]] * 2, atol=1e-6)
    np.testing.assert_allclose(along_v, [[0, 1, 0]] * 2, atol=1e-6)


def test_negative_indices_count_from_the_end(tmp_path):
    mesh = load_mesh(write(tmp_path, QUAD + "f -4/-4 -3/-3 -2/-2\n"))
    np.testing.assert_allclose(mesh.uv[0], [[0, 0], [1, 0], [1, 1]])


def test_the_same_obj_is_read_however_its_lines_are_written(tmp_path):
    plain = load_mesh(write(tmp_path, QUAD + "f 1/1 2/2 3/3 4/4\n"))
    written = (
        "\ufeff"
        + QUAD.replace("v 2 2 0", "v 2 \\\n 2 0 # a corner")
        + ("# C:\\meshes\\\nmtllib C:\\meshes\\\nf 1/1 2/2 \\\n\t3/3 \\\n4/4 # all of it")
    )
    path = tmp_path / "written.obj"
    path.write_text(written, encoding="utf-8")
    mesh = load_mesh(path)
    for name in ("position", "normal", "uv"):
        np.testing.assert_array_equal(getattr(mesh, name), getattr(plain, name))


def test_mirrored_uvs_keep_the_direction_of_each_axis(tmp_path):
    mesh = load_mesh(write(tmp_path, QUAD + "f 1/2 2/1 3/4 4/3\n"))
    along_u, along_v = mesh.tangents()
    np.testing.assert_allclose(along_u, [[-1, 0, 0]] * 2, atol=1e-6)
    np.testing.assert_allclose(along_v, [[0, 1, 0]] * 2, atol=1e-6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (QUAD, "holds no triangles"),
        (QUAD + "f 1 2 3\n", "no texture coordinates"),
        (QUAD + "f 1/1 2/2 9/3\n", r"line 9: .*refers to element 9 of 4"),
        (QUAD + "f 1/1 2/2 x/3\n", "line 9: 'f 1/1 2/2 x/3'"),
        (QUAD + "f 1/1 \\\n2/2 x/3\n", "line 9: 'f 1/1 2/2 x/3'"),
        ("v 1 2\n", "line 1: 'v 1 2': too few numbers"),
        (QUAD.replace("v 2 2 0", "v nan 2 0") + "f 1/1 2/2 3/3\n", "are not numbers"),
    ],
)
def test_a_faulty_obj_is_refused_by_its_line(tmp_path, text, message):
    with pytest.raises(MeshError, match=message):
        load_mesh(write(tmp_path, text))


def test_other_files_are_refused(tmp_path):
    with pytest.raises(MeshError, match="there is no such file"):
        load_mesh(tmp_path / "gone.obj")
    with pytest.raises(MeshError, match=r"meshes are read from \.obj"):
        load_mesh(write(tmp_path, "", "mesh.fbx"))
    with pytest.raises(MeshError, match="cannot be opened as USD"):
        load_mesh(write(tmp_path, "#usda 1.0\n(", "mesh.usda"))
    with pytest.raises(MeshError, match="holds no mesh"):
        load_mesh(write(tmp_path, "#usda 1.0\n", "empty.usda"))


def test_a_usd_mesh_without_uvs_lists_what_it_has(tmp_path):
    text = (
        '#usda 1.0\ndef Mesh "m"\n{\npoint3f[] points = [(0,0,0),(1,0,0),(0,1,0)]\n'
        "int[] faceVertexCounts = [3]\nint[] faceVertexIndices = [0,1,2]\n"
        'float[] primvars:wear = [1,2,3] (interpolation = "vertex")\n}\n'
    )
    with pytest.raises(MeshError, match=r"/m: has no texture coordinates \(primvars: wear\)"):
        load_mesh(write(tmp_path, text, "bare.usda"))
