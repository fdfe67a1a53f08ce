"""A bundle that was baked on a mesh is compared with its graph on that mesh, or not at all."""

import json

import pytest

from verdigris.core.base.errors import DeviceError
from verdigris.core.cli.commands import bake as baking

from ...in_process import run_command
from ...small_endings import SMALL_ENDINGS

# Its colour is its place.
PLACES = """<materialx version="1.39"><position name="p" type="vector3">
<input name="space" type="string" value="object"/></position>
<convert name="c" type="color3"><input name="in" type="vector3" nodename="p"/></convert>
<oren_nayar_diffuse_bsdf name="d" type="BSDF">
<input name="color" type="color3" nodename="c"/></oren_nayar_diffuse_bsdf>
<surface name="s" type="surfaceshader"><input name="bsdf" type="BSDF" nodename="d"/></surface>
<surfacematerial name="places" type="material"><input name="surfaceshader" type="surfaceshader"
nodename="s"/></surfacematerial></materialx>"""
# A square whose places are not those of its uv, in two layers.
SQUARE = """#usda 1.0
def Mesh "square" {
    int[] faceVertexCounts = [4]
    int[] faceVertexIndices = [0, 1, 2, 3]
    point3f[] points = [(.9, .9, .1), (.9, .1, .1), (.1, .1, .9), (.1, .9, .9)]
    texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1)] (interpolation = "vertex")
}"""
SHOWN = "#usda 1.0\n(subLayers = [@inner.usda@])\n"
SMALL = (
    *("--device", "software", "--resolution", 8, "--iterations", 4),
    *("--set", "network=2x16", "--set", "batch=64", "--set", "starts=1"),
)
NOW = "the graph now against then"


def command(*arguments, patches=SMALL_ENDINGS):
    code, out, errors = run_command(arguments, *patches)
    return code, out, " ".join(errors.split())


def bake(folder, *arguments, patches=SMALL_ENDINGS):
    return command(
        "bake", folder / "places.mtlx", *SMALL, "-o", folder, *arguments, patches=patches
    )


@pytest.fixture(scope="module")
def baked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("baked")
    (folder / "places.mtlx").write_text(PLACES)
    (folder / "inner.usda").write_text(SQUARE)
    (folder / "square.usda").write_text(SHOWN)
    code, _, errors = bake(folder, "--mesh", folder / "square.usda")
    assert code == 0, errors
    return folder


def verify(folder, *arguments, source="places.mtlx"):
    return command(
        "verify", folder / "places.vdg", "--source", folder / source, "--device", "software",
        *arguments,
    )  # fmt: skip


def found_now(out):
    return next(row["found"] for row in json.loads(out)["rows"] if row["what"] == NOW)


def test_the_graph_is_evaluated_on_the_mesh_of_the_bake(baked):
    code, out, errors = verify(baked, "--json")
    assert code == 0 and found_now(out) < 1e-6, errors
    record = json.loads((baked / "places.vdg" / "manifest.json").read_text())["source"]["mesh"]
    assert [each["file"] for each in record["files"]] == ["square.usda", "inner.usda"]
    assert record["uv_set"] == "st"


def test_another_mesh_and_none_are_refused(baked, tmp_path):
    (tmp_path / "places.mtlx").write_text(PLACES)
    code, _, errors = verify(baked, "--mesh", baked / "inner.usda")
    assert code == 1 and "inner.usda: is not the mesh on which" in errors
    inner = baked / "inner.usda"
    inner.write_text(SQUARE.replace(".9)]", ".8)]"))
    try:
        # a file of the stage beside the named one
        code, _, errors = verify(baked)
        assert code == 1 and "(other contents: inner.usda): use that mesh" in errors
        assert bakes_again(baked, "--mesh", baked / "square.usda")
    finally:
        inner.write_text(SQUARE)
    shown = baked / "square.usda"
    shown.rename(tmp_path / "elsewhere.usda")
    try:
        code, _, errors = verify(baked)
        assert code == 1 and "on the mesh 'square.usda', which is neither beside" in errors
    finally:
        (tmp_path / "elsewhere.usda").rename(shown)


def bakes_again(folder, *arguments):
    """Whether `bake --if-changed` bakes: then it opens a device."""

    def open_device(_):
        raise DeviceError("it bakes")

    code, out, errors = bake(
        folder, "--if-changed", *arguments, patches=[(baking, "open_device", open_device)]
    )
    assert ("is up to date" in out, "it bakes" in errors) == (code == 0, code == 1), errors
    return code == 1


def test_a_bake_on_the_same_mesh_is_up_to_date_and_no_other(baked):
    assert not bakes_again(baked, "--mesh", baked / "square.usda")
    assert bakes_again(baked, "--mesh", baked / "inner.usda")
    assert bakes_again(baked)


def test_a_bundle_that_does_not_name_its_mesh_is_compared_flat_with_a_note(baked, tmp_path):
    manifest = baked / "places.vdg" / "manifest.json"
    before = manifest.read_text()
    values = json.loads(before)
    del values["source"]["mesh"]
    manifest.write_text(json.dumps(values))
    try:
        code, out, _ = verify(baked, "--json")
        (note,) = [note for note in json.loads(out)["notes"] if "earlier Verdigris" in note]
        assert code == 1 and found_now(out) > 0.01 and "on a flat square" in note
        code, _, errors = verify(baked, "--mesh", baked / "square.usda")
        assert code == 1 and "its manifest names no mesh" in errors
    finally:
        manifest.write_text(before)
