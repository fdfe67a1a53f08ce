"""`verdigris weights` as its user meets it: paint in files, maps out of them, and what is wrong."""

import builtins
import json

import numpy as np
import pytest

from verdigris.core.importance.maps import read_importance, write_importance

from ..in_process import run_command

# Two squares side by side in uv, the left one painted at its vertices, the right one not.
OBJ = """v 0 0 0 8 8 8
v 1 0 0 8 8 8
v 1 1 0 8 8 8
v 0 1 0 8 8 8
v 2 0 0 {0}
v 3 0 0 {0}
v 3 1 0 {0}
v 2 1 0 {0}
vt 0 0
vt 0.5 0
vt 0.5 1
vt 0 1
vt 1 0
vt 1 1
f 1/1 2/2 3/3 4/4
f 5/2 6/5 7/6 8/3
"""
USDA = """#usda 1.0
def Mesh "card"
{{
    int[] faceVertexCounts = [4, 3]
    int[] faceVertexIndices = [0, 1, 2, 3, 1, 4, 2]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0)]
    texCoord2f[] primvars:st = [(0, 0), (0.5, 0), (0.5, 1), (0, 1), (1, 0)] (
        interpolation = "vertex"
    )
    {primvar}
}}
{other}
"""
OTHER = """def Mesh "bare"
{
    int[] faceVertexCounts = [3]
    int[] faceVertexIndices = [0, 1, 2]
    point3f[] points = [(0, 0, 1), (1, 0, 1), (1, 1, 1)]
    texCoord2f[] primvars:st = [(0.75, 1), (1, 0.75), (1, 1)] (interpolation = "vertex")
}
"""


@pytest.fixture
def command():
    def run(*arguments):
        code, out, errors = run_command(["weights", *arguments])
        assert "Traceback" not in errors
        return code, out, " ".join(errors.split())

    return run


@pytest.fixture
def obj(tmp_path):
    path = tmp_path / "card.obj"
    path.write_text(OBJ.format("1 1 1"))
    return path


def usd(tmp_path, primvar, other=""):
    path = tmp_path / "card.usda"
    path.write_text(USDA.format(primvar=primvar, other=other))
    return path


def test_vertex_colours_of_an_obj_become_a_map(command, obj, tmp_path):
    out = tmp_path / "map.exr"
    code, printed, errors = command(
        "from-mesh", obj, "-a", "color", "-o", out, "--size", 16, "--dilation", 0
    )
    assert (code, errors) == (0, "")
    assert "map.exr: 1 to 8, 100% covered" in printed
    weights = read_importance(out)
    np.testing.assert_array_equal(weights[:, :8], 8)
    np.testing.assert_array_equal(weights[:, 8:], 1)


def test_what_0_and_1_mean_can_be_said(command, tmp_path):
    path = tmp_path / "card.obj"
    path.write_text(OBJ.replace("8 8 8", "1 1 1").format("0 0 0"))
    out = tmp_path / "map.exr"
    arguments = ("from-mesh", path, "-a", "color.g", "-o", out, "--size", 16, "--dilation", 0)
    assert command(*arguments, "--high", 6, "--low", 0.5)[0] == 0
    assert set(np.unique(read_importance(out))) == {0.5, 6}
    out.unlink()
    for end in ("--high", "--low"):
        assert command(*arguments, end, "nan")[0] == 2
    assert not out.exists()


def test_colours_of_an_obj_that_are_no_numbers_are_told_by_their_line(command, tmp_path):
    path = tmp_path / "card.obj"
    path.write_text(OBJ.format("1 1 red"))
    code, _, errors = command("from-mesh", path, "-a", "color", "-o", tmp_path / "map.exr")
    assert code == 1
    assert "card.obj: line 5: 'v 2 0 0 1 1 red': could not convert" in errors


def test_vertices_without_a_colour_are_normal_and_counted(command, tmp_path):
    path = tmp_path / "card.obj"
    path.write_text(OBJ.format("# not painted"))
    out = tmp_path / "map.exr"
    code, _, errors = command("from-mesh", path, "-a", "color", "-o", out, "--size", 16)
    assert code == 0
    assert "4 of 8 vertices have no colour and got the weight 1" in errors
    assert set(np.unique(read_importance(out))) == {1, 8}
    path.write_text(OBJ.replace("8 8 8", "0.5 0.5 0.5").format(""))
    ends = ("--low", 2, "--high", 6)
    assert command("from-mesh", path, "-a", "color", "-o", out, "--size", 16, *ends)[0] == 0
    assert set(np.unique(read_importance(out))) == {1, 4}


@pytest.mark.parametrize(
    ("primvar", "expected"),
    [
        ('float[] primvars:w = [2, 2, 2, 2, 2] (interpolation = "vertex")', (2, 2)),
        ('float[] primvars:w = [4, 3] (interpolation = "uniform")', (4, 3)),
        ('float[] primvars:w = [5] (interpolation = "constant")', (5, 5)),
        ('float[] primvars:w = [6, 6, 6, 6, 7, 7, 7] (interpolation = "faceVarying")', (6, 7)),
        (
            'float[] primvars:w = [9, 2] (interpolation = "uniform")\n'
            "    int[] primvars:w:indices = [1, 0]",
            (2, 9),
        ),
        ('color3f[] primvars:w = [(3, 6, 9), (0, 0, 3)] (interpolation = "uniform")', (6, 1)),
    ],
)
def test_primvars_of_usd_become_a_map_whatever_they_sit_on(command, tmp_path, primvar, expected):
    pytest.importorskip("pxr")
    out = tmp_path / "map.exr"
    arguments = ("--size", 16, "--dilation", 0, "--base", 0.25)
    code, _, errors = command("from-mesh", usd(tmp_path, primvar), "-a", "w", "-o", out, *arguments)
    assert (code, errors) == (0, "")
    weights = read_importance(out)
    np.testing.assert_array_equal(weights[:, :7], expected[0])
    assert weights[0, 12] == expected[1]
    assert weights[15, 15] == 0.25


def test_meshes_without_the_primvar_are_normal_and_named(command, tmp_path):
    pytest.importorskip("pxr")
    path = usd(tmp_path, 'float[] primvars:w = [4, 3] (interpolation = "uniform")', OTHER)
    out = tmp_path / "map.exr"
    code, _, errors = command(
        "from-mesh", path, "-a", "w", "-o", out, "--size", 16, "--dilation", 0, "--base", 0
    )
    assert code == 0
    assert "1 of 2 meshes have no 'w' and got the weight 1: /bare" in errors
    assert read_importance(out)[15, 15] == 1
    ends = ("--low", 1, "--high", 6)
    assert command("from-mesh", path, "-a", "w", "-o", out, "--size", 16, *ends)[0] == 0
    weights = read_importance(out)
    assert (weights[15, 15], weights[15, 0]) == (1, 21)


def test_an_attribute_that_is_not_there_is_an_error_that_lists_those_that_are(
    command, tmp_path, obj
):
    out = tmp_path / "map.exr"
    code, _, errors = command("from-mesh", obj, "-a", "paint", "-o", out)
    assert code == 1
    assert "card.obj: has no attribute 'paint'; it has: color" in errors
    bare = tmp_path / "bare.obj"
    bare.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n")
    _, _, errors = command("from-mesh", bare, "-a", "color", "-o", out)
    assert "it has: none: write vertex colours as 'v x y z r g b'" in errors
    pytest.importorskip("pxr")
    both = 'float[] primvars:wear = [1, 2] (interpolation = "uniform")\n    string primvars:x = "y"'
    code, _, errors = command("from-mesh", usd(tmp_path, both), "-a", "paint", "-o", out)
    assert code == 1
    assert "has no attribute 'paint'; it has: wear" in errors
    code, _, errors = command("from-mesh", usd(tmp_path, both), "-a", "wear.g", "-o", out)
    assert code == 1
    assert "'wear' has 1 channel(s) and no 'g'" in errors
    assert not out.exists()


def test_a_primvar_with_too_few_values_is_refused(command, tmp_path):
    pytest.importorskip("pxr")
    path = usd(tmp_path, 'float[] primvars:w = [4] (interpolation = "uniform")')
    code, _, errors = command("from-mesh", path, "-a", "w", "-o", tmp_path / "map.exr")
    assert code == 1
    assert "'w' has 1 values, and uniform needs 2" in errors


def test_without_pxr_usd_is_refused_with_what_to_install(command, tmp_path, monkeypatch):
    path = usd(tmp_path, "")
    real = builtins.__import__

    def without_pxr(name, *arguments, **options):
        if name.split(".")[0] == "pxr":
            raise ImportError(name)
        return real(name, *arguments, **options)

    monkeypatch.setattr(builtins, "__import__", without_pxr)
    code, _, errors = command("from-mesh", path, "-a", "w", "-o", tmp_path / "map.exr")
    assert code == 1
    assert "pip install 'verdigris[usd]', or use OBJ" in errors


def test_each_udim_tile_is_a_file_with_its_number(command, tmp_path):
    path = tmp_path / "tiles.obj"
    path.write_text(OBJ.format("2 2 2").replace("vt 0.5 ", "vt 1 ").replace("vt 1 ", "vt 2 ", 0))
    text = path.read_text().splitlines()
    text[8:14] = ["vt 0 0", "vt 1 0", "vt 1 1", "vt 0 1", "vt 2 0", "vt 2 1"]
    path.write_text("\n".join(text))
    out = tmp_path / "map.exr"
    code, printed, _ = command("from-mesh", path, "-a", "color", "-o", out, "--size", 8)
    assert code == 0
    assert len(printed.splitlines()) == 2
    assert (read_importance(tmp_path / "map.1001.exr") == 8).all()
    assert (read_importance(tmp_path / "map.1002.exr") == 2).all()
    assert not out.exists()


def test_a_tile_that_no_triangle_has_an_area_in_is_no_file(command, tmp_path):
    path = tmp_path / "steep.obj"
    corners = "vt 0.1 0.1\nvt 1.9 0.1\nvt 0.1 3.9\nf 1/1 2/2 3/3\n"
    path.write_text("v 0 0 0 8 8 8\nv 1 0 0 8 8 8\nv 0 1 0 8 8 8\n" + corners)
    code, printed, _ = command(
        "from-mesh", path, "-a", "color", "-o", tmp_path / "u.exr", "--size", 64
    )
    assert code == 0
    numbers = ["1001", "1002", "1011", "1012", "1021", "1031"]
    assert sorted(each.name for each in tmp_path.glob("*.exr")) == [f"u.{n}.exr" for n in numbers]
    assert " 0% covered" not in printed


def test_a_view_becomes_a_map(command, obj, tmp_path):
    camera = tmp_path / "camera.json"
    matrix = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0.5, 0.5, 3, 1]]
    camera.write_text(json.dumps({"matrix": matrix, "fov": 25, "resolution": [320, 320]}))
    first, second = tmp_path / "a.exr", tmp_path / "b.exr"
    small = ("--size", 16, "--dilation", 0, "--hidden", 0.2)
    assert command("from-view", obj, "--camera", camera, "-o", first, *small)[0] == 0
    by_eye = ("--eye", "0.5,0.5,3", "--target", "0.5,0.5,0", "--fov", 25, "--resolution", "320x320")
    assert command("from-view", obj, *by_eye, "-o", second, *small)[0] == 0
    weights = read_importance(first)
    np.testing.assert_array_equal(weights, read_importance(second))
    assert (weights[:, 1:7] > 0.9).all()
    np.testing.assert_array_equal(weights[:, 9:], np.float32(0.2))


def test_a_camera_sees_a_stage_where_the_stage_has_it_whichever_axis_is_up(command, tmp_path):
    text = USDA.format(primvar="", other="")
    by_eye = ("--eye", "0.5,0.5,3", "--target", "0.5,0.5,0", "--size", 16, "--dilation", 0)
    found = []
    for axis in "YZ":
        path, target = tmp_path / f"{axis}.usda", tmp_path / f"{axis}.exr"
        path.write_text(text.replace("1.0\n", f'1.0\n(\n    upAxis = "{axis}"\n)\n', 1))
        assert command("from-view", path, *by_eye, "-o", target)[0] == 0
        found.append(read_importance(target))
    np.testing.assert_array_equal(*found)
    assert found[0].max() > 0.9


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((), "use either --camera, or --eye and --target"),
        (("--eye", "1,2"), "use either --camera"),
        (("--camera", "c.json", "--eye", "1,2,3"), "use either --camera"),
        (("--eye", "1,2", "--target", "0,0,0"), "'1,2' is not x,y,z"),
        (("--eye", "1,2,3", "--target", "0,nan,0"), "'0,nan,0' is not x,y,z"),
        (
            ("--eye", "1,2,3", "--target", "0,0,0", "--resolution", "big"),
            "'big' is not a size: use WxH",
        ),
        (
            ("--eye", "1,2,3", "--target", "0,0,0", "--resolution", "²x3"),
            "'²x3' is not a size: use WxH",
        ),
    ],
)
def test_a_view_that_is_not_said_is_an_error_of_usage(command, obj, tmp_path, arguments, text):
    code, _, errors = command("from-view", obj, *arguments, "-o", tmp_path / "map.exr")
    assert code == 2
    assert text in errors


def test_a_map_is_shown_in_numbers_and_as_a_picture(command, tmp_path):
    weights = np.ones((8, 16), np.float32)
    weights[:4, :4], weights[4:, 12:] = 8, 0
    write_importance(tmp_path / "map.exr", weights)
    picture = tmp_path / "map.png"
    code, printed, _ = command("show", tmp_path / "map.exr", "--json", "-o", picture)
    assert code == 0
    found = json.loads(printed)
    assert found["size"] == "16 x 8"
    assert (found["least"], found["least_live"], found["most"]) == (0, 1, 8)
    assert (found["left_out"], found["above_1"]) == (0.125, 0.125)
    assert found["samples_above_1"] == pytest.approx(128 / 224)
    assert found["times_as_dense"] == pytest.approx(8 * 128 / 224)
    import OpenImageIO as oiio

    texels = oiio.ImageBuf(str(picture)).get_pixels(oiio.FLOAT)[..., :3].sum(-1)
    # row 0 of a picture is its top, which is v = 1
    assert texels[7, 0] > texels[0, 0] > texels[0, 15]
    assert command("show", tmp_path / "map.exr")[0] == 0


def test_maps_are_written_as_exr_only_and_into_folders_that_are_there(command, obj, tmp_path):
    for out, text in (
        (tmp_path / "map.png", "importance maps are written as .exr"),
        (tmp_path / "no" / "map.exr", "the folder"),
    ):
        code, _, errors = command("from-mesh", obj, "-a", "color", "-o", out)
        assert code == 1
        assert text in errors
