"""Meshes: read alike from OBJ and USD, and refused with a reason."""

import errno
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from verdigris.core.base.errors import MeshError
from verdigris.core.geometry.mesh import load_mesh
from verdigris.core.geometry.mesh_values import load_painted_mesh

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


def test_corners_whose_normals_cancel_or_are_zero_have_that_of_their_face(tmp_path):
    front, back = "f 1/1 2/2 3/3 4/4\n", "f 4/4 3/3 2/2 1/1\n"
    sheet = load_mesh(write(tmp_path, QUAD + front + back))
    up = np.broadcast_to(np.array([0, 0, 1]), (2, 3, 3))
    np.testing.assert_array_equal(sheet.normal, np.concatenate([up, -up]))
    given = QUAD + "vn 0 0 0\nvn 1 0 0\nf 1/1/1 2/2/2 3/3/1\n"
    expected = [[[0, 0, 1], [1, 0, 0], [0, 0, 1]]]
    assert load_mesh(write(tmp_path, given)).normal.tolist() == expected


def test_comments_continued_lines_and_a_byte_order_mark_are_read_over(tmp_path):
    text = (
        "mtllib a\\\n"
        + QUAD.replace("v 2 0 0", "v 2 0 0 # right front")
        + "f 1/1 2/2 \\\n 3/3\\\n4/4\n"
    )
    mesh = load_mesh(write(tmp_path, text))
    plain = load_mesh(write(tmp_path, "\ufeff" + QUAD + "f 1/1 2/2 3/3 4/4\n", "plain.obj"))
    np.testing.assert_array_equal(mesh.position, plain.position)
    np.testing.assert_array_equal(mesh.uv, plain.uv)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (QUAD, "holds no triangles"),
        (QUAD + "f 1 2 3\n", "no texture coordinates"),
        (QUAD + "f 1/1 2/2 9/3\n", r"line 9: .*refers to element 9 of 4"),
        (QUAD + "f 1/1 2/2 x/3\n", "line 9: 'f 1/1 2/2 x/3'"),
        (QUAD + "f 1/1 \\\n2/2 x/3\n", "line 9: 'f 1/1 2/2 x/3'"),
        ("v 1 2\n", "line 1: 'v 1 2': too few numbers"),
        (QUAD.replace("v 2 2 0", "v nan 2 0") + "f 1/1 2/2 3/3\n", "positions that are not finite"),
        (QUAD.replace("v 2 2 0", "v 2e30 2 0") + "f 1/1 2/2 3/3\n", "a coordinate of 2e"),
        (QUAD.replace("vt 1 1", "vt 1 nan") + "f 1/1 2/2 3/3\n", "uvs that are not finite"),
        (QUAD.replace("vt 1 1", "vt 1 1e99") + "f 1/1 2/2 3/3\n", "uvs that are not finite"),
        (QUAD + "vn 0 0 inf\nf 1/1/1 2/2/1 3/3/1\n", "normals that are not finite"),
        (QUAD + "vn 0 0 1e99\nf 1/1/1 2/2/1 3/3/1\n", "normals that are not finite"),
        (QUAD + "f 1/1 2/2 3/3\nf 1 3 4\n", r"coordinates \(vt\) on 1 of 2 triangles"),
        (QUAD + "f 1/1 1/2 3/3\n", "none of its 1 triangles has an area"),
    ],
)
def test_a_faulty_obj_is_refused_by_its_line(tmp_path, text, message):
    with pytest.raises(MeshError, match=message):
        load_mesh(write(tmp_path, text))


def test_a_normal_that_is_not_a_number_gives_way_to_that_of_the_face(tmp_path):
    mesh = load_mesh(write(tmp_path, QUAD + "vn 0 nan 1\nf 1/1/1 2/2/1 3/3/1\n"))
    assert mesh.normal.tolist() == [[[0, 0, 1]] * 3]


def test_a_mesh_in_a_folder_that_may_not_be_entered_is_refused_by_name(tmp_path, monkeypatch):
    stat = os.stat

    def closed_stat(path, **options):
        if tmp_path in Path(path).parents:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return stat(path, **options)

    monkeypatch.setattr(os, "stat", closed_stat)
    with pytest.raises(MeshError, match=r"tray\.obj: (cannot be read|there is no such file)"):
        load_mesh(tmp_path / "tray.obj")


def test_other_files_are_refused(tmp_path):
    with pytest.raises(MeshError, match="there is no such file"):
        load_mesh(tmp_path / "gone.obj")
    with pytest.raises(MeshError, match=r"'\.fbx' is not a mesh format: use one of \.obj"):
        load_mesh(write(tmp_path, "", "mesh.fbx"))
    with pytest.raises(MeshError, match="cannot be opened as USD"):
        load_mesh(write(tmp_path, "#usda 1.0\n(", "mesh.usda"))
    with pytest.raises(MeshError, match="has no visible mesh"):
        load_mesh(write(tmp_path, "#usda 1.0\n", "empty.usda"))


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="has no file that fails to read")
def test_a_file_that_the_system_does_not_let_read_is_refused_by_name(tmp_path):
    path = tmp_path / "locked.obj"
    path.symlink_to("/proc/self/mem")
    with pytest.raises(MeshError, match=r"locked\.obj: cannot be read \(.+\): check the file"):
        load_mesh(path)


def test_a_usd_mesh_without_uvs_lists_what_it_has(tmp_path):
    text = (
        '#usda 1.0\ndef Mesh "m"\n{\npoint3f[] points = [(0,0,0),(1,0,0),(0,1,0)]\n'
        "int[] faceVertexCounts = [3]\nint[] faceVertexIndices = [0,1,2]\n"
        'float[] primvars:wear = [1,2,3] (interpolation = "vertex")\n}\n'
    )
    with pytest.raises(MeshError, match=r"/m: has no texture coordinates \(primvars: wear\)"):
        load_mesh(write(tmp_path, text, "bare.usda"))


CARD = """#usda 1.0
def Mesh "card"
{{
    int[] faceVertexCounts = [3, 3]
    int[] faceVertexIndices = [2, 1, 0, 3, 4, 5]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1)]
    {uv}
    {normals}
}}
"""
UV = """texCoord2f[] primvars:st = [(0, 0), (1, 0), (0, 1), (0, 0), (1, 0), (0, 1)] (
        interpolation = "vertex"
    )"""
X, Y, Z = (1, 0, 0), (0, 1, 0), (0, 0, 1)


@pytest.mark.parametrize("attribute", ["normals", "primvars:normals"])
@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        ("vertex", [X, Y, Z, X, X, Y], [[Z, Y, X], [X, X, Y]]),
        ("faceVarying", [X, Y, Z, X, X, Y], [[X, Y, Z], [X, X, Y]]),
        ("uniform", [X, Y], [[X, X, X], [Y, Y, Y]]),
        ("constant", [Y], [[Y, Y, Y], [Y, Y, Y]]),
    ],
)
def test_normals_of_usd_sit_on_what_they_say(tmp_path, attribute, kind, values, expected):
    normals = f'normal3f[] {attribute} = {values} (interpolation = "{kind}")'
    mesh = load_mesh(write(tmp_path, CARD.format(uv=UV, normals=normals), "card.usda"))
    assert mesh.normal.tolist() == np.array(expected, float).tolist()


@pytest.mark.parametrize("values", [[X, Y], [("nan", 0, 1)] * 6])
def test_normals_of_usd_that_cannot_be_used_give_way_to_smooth_ones(tmp_path, values):
    text = f'normal3f[] normals = {values} (interpolation = "vertex")'.replace("'", "")
    mesh = load_mesh(write(tmp_path, CARD.format(uv=UV, normals=text), "card.usda"))
    assert mesh.normal.tolist() == [[[0, 0, -1]] * 3, [[0, 0, 1]] * 3]


def test_a_usd_mesh_that_is_scaled_to_nothing_along_an_axis_is_read(tmp_path):
    normals = (
        f'normal3f[] normals = {[Z] * 6} (interpolation = "vertex")\n'
        "float3 xformOp:scale = (1, 1, 0)\n"
        'uniform token[] xformOpOrder = ["xformOp:scale"]'
    )
    text = CARD.format(uv=UV, normals=normals)
    mesh = load_mesh(write(tmp_path, text, "card.usda"))
    assert (mesh.position[..., 2] == 0).all()
    assert (np.abs(mesh.normal) == Z).all()


LIFTED = """
    float3 xformOp:scale = (2, 1, 1)
    double3 xformOp:translate = (0, 0, 3)
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
"""


@pytest.mark.parametrize("normals", ["", f"normal3f[] normals = {[X, Y, Z] * 2}"])
def test_a_stage_whose_z_is_up_is_turned_so_that_y_is(tmp_path, normals):
    text = CARD.format(uv=UV, normals=normals + LIFTED)
    lying = load_mesh(write(tmp_path, text, "y_up.usda"))
    path = write(tmp_path, text.replace("1.0\n", '1.0\n(\n    upAxis = "Z"\n)\n', 1), "z_up.usda")
    as_it_is, turned = load_mesh(path, is_upright=False), load_mesh(path)
    for name in ("position", "normal"):
        x, y, z = np.moveaxis(getattr(lying, name), -1, 0)
        np.testing.assert_array_equal(getattr(as_it_is, name), getattr(lying, name))
        np.testing.assert_allclose(getattr(turned, name), np.stack([x, z, -y], -1), atol=1e-6)
    np.testing.assert_array_equal(turned.uv, lying.uv)
    # what was lifted is high
    assert turned.position[..., 1].min() == 3.0


def test_of_usd_uvs_with_three_numbers_the_first_two_count(tmp_path):
    uv = f'texCoord3f[] primvars:st = {[X, Y, Z, X, X, Y]} (interpolation = "vertex")'
    mesh = load_mesh(write(tmp_path, CARD.format(uv=uv, normals=""), "card.usda"))
    assert mesh.uv.tolist() == [[[0, 0], [0, 1], [1, 0]], [[1, 0], [1, 0], [0, 1]]]


def test_usd_uvs_whose_indices_lead_nowhere_are_refused(tmp_path):
    uv = UV + "\nint[] primvars:st:indices = [0, 1, 2, 3, 4, 9]"
    with pytest.raises(MeshError, match="/card: the uvs of 'st' cannot be read"):
        load_mesh(write(tmp_path, CARD.format(uv=uv, normals=""), "card.usda"))


MOVING = """#usda 1.0
def Xform "arm"
{
    double3 xformOp:translate.timeSamples = { 1: (5, 0, 0), 2: (6, 0, 0) }
    uniform token[] xformOpOrder = ["xformOp:translate"]

    def Mesh "card"
    {
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        point3f[] points.timeSamples = { 1: [(0, 0, 0), (1, 0, 0), (0, 1, 0)], 2: [] }
        texCoord2f[] primvars:st (interpolation = "vertex")
        texCoord2f[] primvars:st.timeSamples = { 1: [(0, 0), (1, 0), (0, 1)] }
        float[] primvars:wear (interpolation = "vertex")
        float[] primvars:wear.timeSamples = { 1: [2, 3, 4], 2: [9, 9, 9] }
    }
}
"""


def test_a_moving_usd_mesh_is_read_where_it_starts(tmp_path):
    path = write(tmp_path, MOVING, "moving.usda")
    mesh, weights, _ = load_painted_mesh(path, "wear")
    assert mesh.position.tolist() == [[[5, 0, 0], [6, 0, 0], [5, 1, 0]]]
    assert mesh.uv.tolist() == [[[0, 0], [1, 0], [0, 1]]]
    assert weights.tolist() == [[2, 3, 4]]


SET = """#usda 1.0
def Xform "near" (
    instanceable = true
    references = </prop>
)
{
}
def Xform "far" (
    instanceable = true
    references = </prop>
)
{
    double3 xformOp:translate = (5, 0, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}
class Xform "prop"
{
    def Mesh "card"
    {
        int[] faceVertexCounts = [3]
        int[] faceVertexIndices = [0, 1, 2]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
        texCoord2f[] primvars:st = [(0, 0), (1, 0), (0, 1)] (interpolation = "vertex")
        float[] primvars:wear = [2, 3, 4] (interpolation = "vertex")
    }
    def Mesh "stand_in"
    {
        uniform token purpose = "proxy"
    }
    def Mesh "outline"
    {
        uniform token purpose = "guide"
    }
    def Mesh "old"
    {
        token visibility = "invisible"
    }
}
"""


def test_meshes_of_usd_instances_are_read_and_those_that_are_not_rendered_are_not(tmp_path):
    mesh, weights, notes = load_painted_mesh(write(tmp_path, SET, "set.usda"), "wear")
    assert mesh.position[:, 0].tolist() == [[0, 0, 0], [5, 0, 0]]
    assert weights.tolist() == [[2, 3, 4]] * 2
    assert notes == ()


TETRAHEDRON = """#usda 1.0
def Xform "turned" {{
    double3 xformOp:scale = ({scale}, 2, 3)
    uniform token[] xformOpOrder = ["xformOp:scale"]
    def Mesh "tetrahedron" {{
        uniform token orientation = "{orientation}"
        int[] faceVertexCounts = [3, 3, 3, 3]
        int[] faceVertexIndices = {indices}
        point3f[] points = [(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]
        {uv}
    }}
}}
def Mesh "empty" {{
}}"""
OUTWARDS, INWARDS = [0, 1, 2, 0, 3, 1, 0, 2, 3, 1, 3, 2], [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]
PAIRS = "float2[] primvars:map1 = [(0, 0), (1, 0), (1, 1), (0, 1)] (interpolation = 'vertex')"


@pytest.mark.parametrize(
    ("orientation", "scale", "indices"),
    [
        ("rightHanded", 1, OUTWARDS),
        ("leftHanded", 1, INWARDS),
        ("rightHanded", -1, OUTWARDS),
        ("leftHanded", -1, INWARDS),
    ],
)
def test_a_closed_mesh_faces_outwards_however_its_polygons_turn(
    tmp_path, orientation, scale, indices
):
    text = TETRAHEDRON.format(orientation=orientation, scale=scale, indices=indices, uv=PAIRS)
    mesh = load_mesh(write(tmp_path, text, "tetrahedron.usda"))
    # its centre is the origin
    assert ((mesh.normal * mesh.position).sum(-1) > 0).all()
    edges = mesh.position[:, 1:] - mesh.position[:, :1]
    assert (np.cross(edges[:, 0], edges[:, 1]) * mesh.position[:, 0]).sum(-1).min() > 0
    # of each point, though corners changed places
    expected = {(x, y) for x, y in [(0, 0), (1, 0), (1, 1), (0, 1)]}
    points = {tuple(place): tuple(uv) for place, uv in zip(
        np.sign(mesh.position.reshape(-1, 3)).tolist(), mesh.uv.reshape(-1, 2).tolist(), strict=True
    )}  # fmt: skip
    assert set(points.values()) == expected and points[(scale, 1, 1)] == (0, 0)


@pytest.mark.parametrize(
    ("kind", "values"),
    [("uniform", "[(0, 0), (1, 0), (1, 1), (0, 1)]"), ("constant", "[(.5, .5)]")],
)
def test_uvs_of_faces_and_of_a_whole_mesh_are_those_of_their_corners(tmp_path, kind, values):
    uv = f"texCoord2f[] primvars:st = {values} (interpolation = '{kind}')"
    text = TETRAHEDRON.format(orientation="rightHanded", scale=1, indices=OUTWARDS, uv=uv)
    mesh = load_mesh(write(tmp_path, text, "tetrahedron.usda"))
    assert (mesh.uv == mesh.uv[:, :1]).all()
    assert len(np.unique(mesh.uv[:, 0], axis=0)) == (4 if kind == "uniform" else 1)


def test_a_package_whose_files_are_compressed_is_refused(tmp_path):
    """USD reads packages without unpacking, so that none can inflate."""
    text = CARD.format(uv=UV, normals="").encode() + b"#" + b" " * (1 << 20)
    for kind in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        path = tmp_path / f"card{kind}.usdz"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("card.usda", text, kind)
    assert len(load_mesh(tmp_path / f"card{zipfile.ZIP_STORED}.usdz").position)
    with pytest.raises(MeshError, match=r"cannot be opened as USD .*compressed files are not"):
        load_mesh(path)


def test_an_error_of_usd_is_one_line_with_its_own_place(tmp_path):
    with pytest.raises(MeshError) as failure:
        load_mesh(write(tmp_path, '#usda 1.0\ndef Mesh "m" { int[ = 3 }', "damaged.usda"))
    text = str(failure.value)
    assert "damaged.usda:2:" in text and "\n" not in text and "pxr" not in text
