"""Whole ladders: what they read of a mesh, bad input, and what is left of one that ends early."""

import json
import sys

import numpy as np
import pytest

from verdigris.core.baking import fit_ladder as ladders
from verdigris.core.baking.fit_ladder import fit_ladder
from verdigris.core.baking.ladder_request import LadderRequest
from verdigris.core.base.device import open_device
from verdigris.core.base.errors import BundleError, MeshError, SettingsError
from verdigris.core.bundle.files.read import open_bundle
from verdigris.core.bundle.runtime.bundle_material import BundleMaterial
from verdigris.core.geometry.mesh import Mesh
from verdigris.core.ladder.mesh.mesh_surface import Surface
from verdigris.core.ladder.output import write_ladder
from verdigris.core.ladder.rungs.neural import Neural
from verdigris.core.lighting.named_environments import find_environment
from verdigris.core.material.load.mtlx_document import parse_document

from ..bundle.bundles import make_bundle
from ..ladder.small_ladder import make_ball
from ..material.documents import document, material, with_surface

BY_HEAT = with_surface(
    '<input name="base_color" type="color3" nodename="colour"/>'
    '<input name="specular" type="float" value="0"/>',
    '<geompropvalue name="heat" type="float">'
    '<input name="geomprop" type="string" value="heat"/>'
    '<input name="default" type="float" value="0.5"/></geompropvalue>'
    '<mix name="colour" type="color3"><input name="bg" type="color3" value="0,0,0.8"/>'
    '<input name="fg" type="color3" value="0.8,0,0"/>'
    '<input name="mix" type="float" nodename="heat"/></mix>',
)
FEW = {
    "views": 6, "view_size": 32, "samples": 8, "responses": 1000, "steps": 10, "held_out": 1,
    "held_out_size": 32, "held_out_samples": 8,
}  # fmt: skip


BY_SECOND_SET = document(
    '<texcoord name="uv" type="vector2"><input name="index" type="integer" value="1"/></texcoord>'
    '<extract name="u" type="float"><input name="in" type="vector2" nodename="uv"/></extract>'
    '<combine3 name="red" type="color3"><input name="in1" type="float" nodename="u"/></combine3>',
    '<surface_unlit name="shader" type="surfaceshader">'
    '<input name="emission_color" type="color3" nodename="red"/></surface_unlit>', material()
)  # fmt: skip


@pytest.fixture(scope="module")
def ball():
    return make_ball()


def make(surface, folder, rungs=("vertex",), text=BY_HEAT, **options):
    document = parse_document(text)
    return fit_ladder(
        document, document.require_material(), surface, find_environment("studio"),
        open_device("software"), LadderRequest(folder, rungs, 16, FEW, has_ktx=False), **options,
    )  # fmt: skip


def test_rungs_read_the_primvars_of_the_mesh(ball, tmp_path):
    height = ball.mesh.position[..., 1:]
    heat = np.asarray(height > 0, np.float32)
    hot = Surface(ball.mesh, ball.sets, {"heat": heat}, "hot ball")
    report = make(hot, tmp_path)
    assert report["warnings"] == []
    with np.load(tmp_path / report["rungs"][0]["scene_vertices"]) as found:
        red, _, blue = found["colour"][:, :3].T
        above, below = found["position"][:, 1] > 0.3, found["position"][:, 1] < -0.3
    # a few vertices are seen by no camera
    assert red[above].mean() > 20 * blue[above].mean()
    assert blue[below].mean() > 20 * red[below].mean()
    # without it, the node's default is the same everywhere, and is reported
    report = make(Surface(ball.mesh, ball.sets, {}, "ball"), tmp_path)
    assert any("ball has no primvar 'heat'" in each for each in report["warnings"])
    with np.load(tmp_path / report["rungs"][0]["scene_vertices"]) as found:
        red, _, blue = found["colour"][:, :3].mean(0)
    assert red == pytest.approx(blue, rel=0.2)


def test_a_second_uv_set_is_read_as_it_is(ball, tmp_path):
    report = make(ball, tmp_path, text=BY_SECOND_SET)
    with np.load(tmp_path / report["rungs"][0]["scene_vertices"]) as found:
        red, place = found["colour"][:, 0], found["position"]
    around = np.arctan2(place[:, 0], place[:, 2]) / (2 * np.pi) % 1
    # away from the seam and the poles; a view sees few pixels of a triangle
    clear = (np.abs(around - 0.5) < 0.4) & (np.abs(place[:, 1]) < 0.7)
    assert np.abs(red - (0.98 * around + 0.01))[clear].mean() < 0.05


def test_what_rungs_show_otherwise_is_named(ball, tmp_path):
    glass = BY_HEAT.replace(
        '<input name="specular" type="float" value="0"/>',
        '<input name="transmission" type="float" value="0.5"/>'
        '<input name="opacity" type="color3" value="1, 1, 0.9"/>',
    )
    assert glass != BY_HEAT
    report = make(ball, tmp_path, ("pbr",), glass)
    warnings = report["warnings"]
    # nor a texture of the light that a graph with holes might give off, and does not
    assert "emissive" not in report["rungs"][0]["files"]
    assert [each for each in warnings if each.startswith("transmission is approximated: ")]
    # once: the mesh lacks it
    assert len([each for each in warnings if "'heat'" in each]) == 1


def test_a_mesh_whose_backs_are_seen_is_written_two_sided(ball, tmp_path):
    def written(mesh, folder):
        surface = Surface(mesh, {"st": ball.sets["st1"][:, ::-1]}, {}, "ball")
        report = make(surface, tmp_path / folder)
        gltf = json.loads((tmp_path / folder / report["models"][0]).read_text())
        return report["warnings"], gltf["materials"][0].get("doubleSided", False)

    position, uv = ball.mesh.position, ball.mesh.uv
    warnings, is_two_sided = written(ball.mesh, "closed")
    assert not is_two_sided and not any("back sides" in each for each in warnings)
    inside_out = Mesh(position[:, ::-1], -ball.mesh.normal[:, ::-1], uv[:, ::-1])
    warnings, is_two_sided = written(inside_out, "inside_out")
    assert is_two_sided and any("100% of what views see of ball are back" in w for w in warnings)


def test_primvars_and_light_need_a_uv_set_without_overlaps(ball, tmp_path):
    # both halves share the texels
    folded = np.abs(ball.sets["st1"] * (2, 1) - (1, 0)).astype(np.float32)
    first = {"st": folded}
    heat = {"heat": np.ones((*ball.mesh.uv.shape[:2], 1), np.float32)}
    with pytest.raises(MeshError, match=r"has no uv set without overlaps .* unwrap a second"):
        make(Surface(ball.mesh, first, heat, "ball"), tmp_path)
    with pytest.raises(MeshError, match=r"has no uv set without overlaps .* leave out the rungs"):
        make(Surface(ball.mesh, first, {}, "ball"), tmp_path, ("unlit",))
    # a set that wraps around twice is clean side by side
    wrapped = Surface(ball.mesh, {"st": ball.sets["st"]}, {}, "ball")
    assert make(wrapped, tmp_path, ("unlit",))["uv_set_of_light"] == "st (tiles)"


def test_a_request_knows_its_rungs_once_and_in_order(tmp_path):
    assert LadderRequest(tmp_path, ("vertex", "pbr", "vertex")).rungs == ("pbr", "vertex")
    with pytest.raises(SettingsError, match="rungs: 'bump' is not known"):
        LadderRequest(tmp_path, ("bump",))
    with pytest.raises(SettingsError, match=r"a\.vdg is given .* the rungs are pbr: name it"):
        LadderRequest(tmp_path, ("pbr",), bundle=tmp_path / "a.vdg")


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_fitted(ball, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    for folder, why in ((file, "file: is a file"), (file / "in", "cannot be made")):
        with pytest.raises(SettingsError, match=why):
            make(ball, folder)
    (tmp_path / "material.vdg").write_text("")
    with pytest.raises(BundleError, match=r"material\.vdg: already exists and is not a bundle"):
        make(ball, tmp_path, ("neural",))


def test_a_new_bundle_replaces_the_one_before_with_the_rest(ball, tmp_path, monkeypatch):
    def bake_neural(*given):
        given[4].mkdir(exist_ok=True)
        bundle = make_bundle(given[4] / "material.vdg", name=next(names))
        return Neural.of(bundle, BundleMaterial(bundle, open_device("software")))

    def stop(what, _):
        if what == "measure":
            raise KeyboardInterrupt

    names = iter(("first", "second", "third"))
    monkeypatch.setattr(ladders, "bake_neural", bake_neural)
    report = make(ball, tmp_path, ("neural",))
    assert report["rungs"][0]["bundle"] == "material.vdg"
    with pytest.raises(KeyboardInterrupt):
        make(ball, tmp_path, ("neural",), on_progress=stop)
    assert open_bundle(tmp_path / "material.vdg").manifest.name == "first"
    make(ball, tmp_path, ("neural",))
    assert open_bundle(tmp_path / "material.vdg").manifest.name == "third"
    assert not [each for each in tmp_path.iterdir() if each.name.startswith(".")]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux looks names up in an open folder")
def test_a_link_in_the_place_of_the_draft_leads_the_bake_nowhere(ball, tmp_path, monkeypatch):
    theirs, out = tmp_path / "theirs", tmp_path / "out"
    theirs.mkdir()

    def bake_neural(*given):
        given[4].mkdir(exist_ok=True)
        (out / ".baking").rename(tmp_path / "away")
        (out / ".baking").symlink_to(theirs)
        bundle = make_bundle(given[4] / "material.vdg", name="ours")
        return Neural.of(bundle, BundleMaterial(bundle, open_device("software")))

    monkeypatch.setattr(ladders, "bake_neural", bake_neural)
    report = make(ball, out, ("neural",))
    assert [*theirs.iterdir()] == []
    assert report["rungs"][0]["bundle"] == "material.vdg"
    assert open_bundle(out / "material.vdg").manifest.name == "ours"
    # an error names the folder that the user knows
    monkeypatch.setattr(ladders, "bake_neural", lambda *given: open_bundle(given[4] / "gone.vdg"))
    with pytest.raises(BundleError, match=rf"^{out}/gone\.vdg: "):
        make(ball, out, ("neural",))


def test_a_ladder_that_ends_early_leaves_the_one_before(ball, tmp_path, monkeypatch):
    make(ball, tmp_path)
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}

    def stop(what, _):
        if what == "measure":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(ball, tmp_path, on_progress=stop)
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before
    # also where it ends while files are written
    monkeypatch.setattr(write_ladder, "make_page", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        make(ball, tmp_path)
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before
