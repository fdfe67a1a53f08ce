"""Whole ladders on the software device: the glTF material, all rungs, and the files."""

import json
import sys
from dataclasses import replace

import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core.base.colour import linear_from_srgb
from verdigris.core.base.device import open_device
from verdigris.core.base.errors import SettingsError, VerdigrisError
from verdigris.core.geometry.mesh import normalized
from verdigris.core.hosts.ladder_looks import read_look
from verdigris.core.ladder.ladder import make_ladder
from verdigris.core.ladder.ladder_settings import LadderSettings
from verdigris.core.ladder.output import write_ladder as writing
from verdigris.core.ladder.output.gltf import write_gltf
from verdigris.core.ladder.output.write_ladder import write_ladder
from verdigris.core.ladder.rungs.registry import RUNGS, require_rungs
from verdigris.core.ladder.texels import pbr_model
from verdigris.core.ladder.texels.grid import Grid
from verdigris.core.ladder.texels.pbr_model import PbrMaterial
from verdigris.core.ladder.views.reference import draw_responses
from verdigris.core.ladder.views.visibility import DeviceSurface, cameras_around, see
from verdigris.core.lighting.named_environments import find_environment
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.pictures.picture_files import srgb_from_linear

from ..material.documents import document, material, with_surface
from .lights import lights_for, random_views
from .small_ladder import TINY

FITTED = [kind.name for kind in RUNGS if not kind.is_baked]
# Half of it is a red plastic and half a blue metal, by the place on the mesh and not by uv.
BY_PLACE = with_surface(
    '<input name="base_color" type="color3" nodename="colour"/>'
    '<input name="metalness" type="float" nodename="side"/>'
    '<input name="specular_roughness" type="float" value="0.4"/>',
    '<position name="place" type="vector3"/>'
    '<extract name="height" type="float"><input name="in" type="vector3" nodename="place"/>'
    '<input name="index" type="integer" value="1"/></extract>'
    '<ifgreater name="side" type="float"><input name="value1" type="float" nodename="height"/>'
    '<input name="value2" type="float" value="0.1"/><input name="in1" type="float" value="1"/>'
    '<input name="in2" type="float" value="0"/></ifgreater>'
    '<mix name="colour" type="color3"><input name="bg" type="color3" value="0.8,0.1,0.1"/>'
    '<input name="fg" type="color3" value="0.2,0.3,0.9"/>'
    '<input name="mix" type="float" nodename="side"/></mix>',
)
GLTF = (
    '<gltf_pbr name="shader" type="surfaceshader">'
    '<input name="base_color" type="color3" value="0.7,0.4,0.2"/>'
    '<input name="metallic" type="float" value="{}"/>'
    '<input name="roughness" type="float" value="0.3"/></gltf_pbr>'
)


@pytest.fixture(scope="module")
def device():
    return open_device("software")


@pytest.fixture(scope="module")
def made(device, ball, tmp_path_factory):
    teacher = Teacher(parse_document(BY_PLACE), device=device)
    seen = []
    ladder = make_ladder(
        teacher, ball, find_environment("studio"), FITTED, TINY, uv_set="st1",
        on_progress=lambda what, part: seen.append((what, part)),
    )  # fmt: skip
    folder = tmp_path_factory.mktemp("ladder")
    return ladder, folder, write_ladder(ladder, folder, "thing"), seen


def directions(rng, count):
    wo = random_views(rng, count)
    return lights_for(rng, wo), wo


def test_the_device_shades_gltf_textures_like_the_model_that_is_fitted(device):
    rng = np.random.default_rng(0)
    stored = rng.random((36, pbr_model.CHANNELS)).astype(np.float32)
    pbr_model.keep_in_range(stored)
    textures = Grid(6, 6, stored)
    uv = rng.random((500, 2)).astype(np.float32)
    wi, wo = directions(rng, 500)
    found = PbrMaterial(textures, device).response(uv, wi, wo)
    filtered = Grid(6, 6, pbr_model.decode(stored)).sample(uv.T)
    expected = pbr_model.evaluate(filtered, wi.T, wo.T).T
    assert found == pytest.approx(expected, rel=1e-2, abs=1e-5)


@pytest.mark.parametrize("metalness", [0, 1])
def test_the_model_agrees_with_the_gltf_material_of_materialx(device, metalness):
    teacher = Teacher(parse_document(document(GLTF.format(metalness), material())), device=device)
    rng = np.random.default_rng(1)
    wi, wo = directions(rng, 400)
    uv = np.full((400, 2), 0.5, np.float32)
    expected = teacher.response(uv, wi, wo)
    texel = np.zeros(pbr_model.CHANNELS, np.float32)
    texel[: pbr_model.METALNESS + 1] = [0.7, 0.4, 0.2, 0.3, metalness]
    texels = np.repeat(texel[:, None], 400, 1)
    found = pbr_model.evaluate(texels, wi.T, wo.T).T
    # MaterialX adds light of several bounces
    assert np.abs(found - expected).sum() / expected.sum() < 0.06


def test_samples_of_the_response_are_those_of_the_material_at_the_pixels_of_cameras(device, ball):
    teacher = Teacher(parse_document(document(GLTF.format(0), material())), device=device)
    geometry = DeviceSurface(device, ball)
    seen = [see(geometry, each) for each in cameras_around(ball, 2, 24, 1)]
    found = draw_responses(teacher, seen, "st1", 1500, 1)
    rows = {name: each.to_numpy().view(np.float32) for name, each in found.buffers.items()}
    wi, wo = np.split(rows["gDirections"].reshape(-1, 6), 2, 1)
    assert np.linalg.norm(wi, axis=1) == pytest.approx(np.ones(found.count), abs=1e-4)
    expected = teacher.response(np.full((found.count, 2), 0.5, np.float32), wi, wo)
    value = rows["gTargets"].reshape(-1, 4)
    assert value[:, :3] == pytest.approx(expected, rel=2e-2, abs=2e-3)
    assert (value[:, 3] == 1).all()
    # each pixel as often as any other, in a random order
    places = np.concatenate([each.mixed(ball.sets["st1"]) for each in seen])
    repeats = found.count // len(places)
    assert repeats == round(1500 / len(places))
    expected = np.sort(np.tile(places[:, 0], repeats))
    assert np.sort(found.places()[0]) == pytest.approx(expected, abs=1e-5)


def test_every_rung_is_fitted_and_its_errors_are_measured(made):
    ladder, _, report, seen = made
    assert [rung["name"] for rung in report["rungs"]] == FITTED
    flips = {rung["name"]: rung["flip"] for rung in report["rungs"]}
    # glTF holds this material, and follows the eye; the others cannot
    assert flips["surface"] < flips["pbr"] < 0.13 and flips["pbr"] < flips["unlit"]
    assert flips["reflection"] < flips["unlit"]
    assert max(flips.values()) < 0.35
    assert report["uv_set_of_light"] == "st1"
    assert {"views", "reference pictures", "pbr", "vertex", "measure"} <= {what for what, _ in seen}
    assert all(0 < part <= 1 for _, part in seen)
    for rung in ladder.rungs:
        sizes = ladder.measured[rung.name].by_size
        assert list(sizes) == [8, 16, 32] and sizes[8] <= sizes[32] + 0.02


def test_what_depends_on_the_place_is_baked_where_it_is(made):
    ladder, folder, _, _ = made
    metal = np.asarray(oiio.ImageBuf(str(folder / "pbr_orm.png")).get_pixels("float"))[..., 2]
    surface = ladder.scene.surface
    uv, height = surface.sets["st1"].mean(1), surface.mesh.position[..., 1].mean(1)
    rows = np.clip(((1 - uv[:, 1]) * len(metal)).astype(int), 0, len(metal) - 1)
    read = metal[rows, np.clip((uv[:, 0] * metal.shape[1]).astype(int), 0, metal.shape[1] - 1)]
    assert read[height > 0.4].mean() > 0.8
    assert read[height < -0.2].mean() < 0.2


def test_a_coat_of_paint_is_the_same_in_all_texels(device, ball):
    paint = with_surface(
        '<input name="base_color" type="color3" value="0.05,0.3,0.4"/>'
        '<input name="base" type="float" value="1"/><input name="coat" type="float" value="1"/>'
        '<input name="specular_roughness" type="float" value="0.4"/>'
    )
    teacher = Teacher(parse_document(paint), device=device)
    few = replace(TINY, steps=60)
    found = make_ladder(teacher, ball, find_environment("studio"), ["pbr"], few).rungs[0].textures
    assert np.ptp(found.grid.values, axis=0).max() == 0
    colour = linear_from_srgb(found.grid.values[0, pbr_model.BASE])
    assert colour == pytest.approx([0.05, 0.3, 0.4], abs=0.05)


def test_the_gltf_holds_the_mesh_and_a_variant_for_each_rung_with_textures(made):
    ladder, folder, report, _ = made
    document = json.loads((folder / "thing.gltf").read_text())
    data = (folder / document["buffers"][0]["uri"]).read_bytes()
    primitive = document["meshes"][0]["primitives"][0]

    def read(number, kind, width):
        accessor = document["accessors"][number]
        view = document["bufferViews"][accessor["bufferView"]]
        assert view["byteOffset"] % 4 == 0
        raw = data[view["byteOffset"] :][: view["byteLength"]]
        return np.frombuffer(raw, kind).reshape(-1, width)

    names = primitive["attributes"]
    index = read(primitive["indices"], np.uint32, 1)[:, 0]
    mesh = ladder.scene.surface.mesh
    position = read(names["POSITION"], np.float32, 3)[index].reshape(-1, 3, 3)
    assert position == pytest.approx(mesh.position, abs=1e-5)
    uv = read(names["TEXCOORD_1"], np.float32, 2)[index].reshape(-1, 3, 2)
    assert uv == pytest.approx(ladder.scene.surface.sets["st1"] * (1, -1) + (0, 1), abs=1e-5)
    tangent = read(names["TANGENT"], np.float32, 4)
    assert np.linalg.norm(tangent[:, :3], axis=1) == pytest.approx(np.ones(len(tangent)), abs=1e-4)
    variants = document["extensions"]["KHR_materials_variants"]["variants"]
    assert [each["name"] for each in variants] == ["pbr", "unlit", "reflection"]
    for image in document["images"]:
        assert oiio.ImageBuf(str(folder / image["uri"])).spec().width in (24, 64)
    coloured = json.loads((folder / "thing_vertex.gltf").read_text())
    assert "COLOR_0" in coloured["meshes"][0]["primitives"][0]["attributes"]
    for rung in report["rungs"]:
        assert all((folder / name).is_file() for name in rung["files"].values())
        # a processor says nothing of a card
        assert "nanoseconds" not in rung and "does not predict" in rung["nanoseconds_left_out"]
    page = (folder / "ladder.html").read_text()
    assert page.count("<section") == len(RUNGS) and "http" not in page


def test_an_engine_shows_stored_light_as_it_was_measured(made):
    """By the glTF, the PNG files and the formulas of docs/LADDER.md, whose v grows upwards."""
    ladder, folder, report, _ = made
    seen = ladder.held_out.seen[0]
    rungs = {each["name"]: each for each in report["rungs"]}

    def at_pixels(name, file="thing"):
        document = json.loads((folder / f"{file}.gltf").read_text())
        data = (folder / f"{file}.bin").read_bytes()
        primitive = document["meshes"][0]["primitives"][0]

        def read(number):
            accessor = document["accessors"][number]
            view = document["bufferViews"][accessor["bufferView"]]
            kind = {5121: np.uint8, 5125: np.uint32, 5126: np.float32}[accessor["componentType"]]
            raw = data[view["byteOffset"] :][: view["byteLength"]]
            return np.frombuffer(raw, kind).reshape(accessor["count"], -1)

        corners = read(primitive["indices"]).reshape(-1, 3)[seen.triangle]
        return np.einsum("nij,ni->nj", read(primitive["attributes"][name])[corners], seen.weights)

    def texels(rung, use, uv):
        image = oiio.ImageBuf(str(folder / rungs[rung]["files"][use])).get_pixels("float")[::-1]
        size = np.array(image.shape[1::-1])
        low = np.floor(uv * size - 0.5).astype(int)
        fx, fy = (uv * size - 0.5 - low).T[..., None]

        def row(down):
            near, far = (
                image[(low[:, 1] + down) % size[1], (low[:, 0] + i) % size[0]] for i in (0, 1)
            )
            return near + (far - near) * fx

        return row(0) + (row(1) - row(0)) * fy

    def light(stored, curve):
        a, b, c = (curve[each] for each in "abc")
        return stored / ((c * stored + a) * stored + b)

    uv0, uv1 = (at_pixels(f"TEXCOORD_{each}") * (1, -1) + (0, 1) for each in (0, 1))
    place, normal = at_pixels("POSITION"), normalized(at_pixels("NORMAL"))
    to_eye = normalized(seen.eye - place)
    r = 2 * (normal * to_eye).sum(1, keepdims=True) * normal - to_eye
    x, y, z = (r / np.abs(r).sum(1, keepdims=True)).T
    folded = np.copysign(1 - np.abs(z), x), np.copysign(1 - np.abs(x), z)
    mirror = np.clip(0.5 + 0.5 * np.where(y >= 0, (x, z), folded), 0.01, 0.99).T
    curve = rungs["unlit"]["curve"]
    shown = {
        "unlit": light(texels("unlit", "light", uv1), curve),
        "reflection": light(texels("reflection", "light", uv1), rungs["reflection"]["curve"])
        + texels("reflection", "share", uv1)
        * light(texels("reflection", "mirror", mirror), rungs["reflection"]["mirror_curve"]),
        "detail": 4
        * texels("detail", "detail", uv0) ** 2
        * light(texels("detail", "colour", uv1), curve),
        "vertex": light(at_pixels("_STORED", "thing_vertex")[:, :3] / 255, curve),
    }
    for rung in ladder.rungs:
        if rung.name in shown:
            np.testing.assert_allclose(
                shown[rung.name], rung.draw(seen, 1), rtol=2e-3, atol=2e-3, err_msg=rung.name
            )


def test_hosts_get_the_numbers_and_textures_of_the_surface_shader(made):
    _, folder, _, _ = made
    looks = {each.name: each for each in read_look(folder / "ladder.json").rungs}
    shader = looks["surface"].shader
    assert shader.category == "standard_surface"
    # what a constant says in the document, and what images feed
    assert shader.values["specular_roughness"] == pytest.approx(0.4, abs=0.05)
    assert {"base_color", "metalness"} <= set(shader.textures)
    assert shader.textures["base_color"].is_colour and not shader.textures["metalness"].is_colour
    assert all(each.file.is_file() for each in shader.textures.values())
    # and what it leaves out
    assert shader.values["coat_IOR"] == 1.5 and not set(shader.values) & set(shader.textures)
    detail, mirrored = looks["detail"].light, looks["reflection"].light
    assert set(detail.files) == {"colour", "detail"} and detail.mirror_curve is None
    assert detail.detail_scale == 4 and detail.shown.name == "detail_colour_shown.png"
    a, b, c = detail.curve
    colour = np.asarray(oiio.ImageBuf(str(detail.files["colour"])).get_pixels("float"))
    shown = np.asarray(oiio.ImageBuf(str(detail.shown)).get_pixels("float"))
    expected = np.clip(colour / ((c * colour + a) * colour + b) / detail.shown_scale, 0, 1)
    assert shown == pytest.approx(srgb_from_linear(expected), abs=0.5 / 255 + 1e-4)
    assert set(mirrored.files) == {"light", "share", "mirror"} and mirrored.mirror_curve[1] > 0
    assert mirrored.uv_set == "st1" and mirrored.shown.name == "reflection_shown.png"
    assert {name for name, each in looks.items() if each.shader} == {"surface", "pbr"}
    assert looks["pbr"].shader.uv_set == looks["surface"].shader.uv_set


def test_unknown_rungs_and_sizes_are_refused():
    with pytest.raises(
        SettingsError, match="rungs: 'bump' is not known: choose from neural, surface, pbr"
    ):
        require_rungs(["bump"])
    found = require_rungs(["vertex", "pbr", "vertex"])
    assert [kind.name for kind in found] == ["pbr", "vertex"]
    with pytest.raises(SettingsError, match="size is 3: use 4 to 4096"):
        LadderSettings(size=3)


def test_a_neural_rung_needs_a_bundle(device, ball):
    teacher = Teacher(parse_document(BY_PLACE), device=device)
    settings = LadderSettings(views=1, view_size=16)
    with pytest.raises(SettingsError, match="'neural' needs a bundle"):
        make_ladder(teacher, ball, find_environment("studio"), ["neural"], settings)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has paths that stay")
def test_a_ladder_goes_to_no_folder_that_takes_the_place_of_its_own_meanwhile(
    made, tmp_path, monkeypatch
):
    mine, out = tmp_path / "mine", tmp_path / "out"
    mine.mkdir()
    (mine / "a.txt").write_text("precious")

    def swap(*given):
        (out / ".writing").rename(out / "away")
        (out / ".writing").symlink_to(mine)
        return write_gltf(*given)

    with monkeypatch.context() as patched:
        patched.setattr(writing, "write_gltf", swap)
        write_ladder(made[0], out, "thing")
    assert [each.name for each in mine.iterdir()] == ["a.txt"]
    report = json.loads((out / "ladder.json").read_text())
    assert all((out / name).is_file() for name in report["models"])
    assert not (out / ".writing").is_symlink()
    # what cannot be written is said in one line
    (out / "ladder.html").unlink()
    (out / "ladder.html").mkdir()
    with pytest.raises(VerdigrisError, match=r"out: cannot be written \(Is a directory\): choose"):
        write_ladder(made[0], out, "thing")
