"""glTF textures as scenes show them: the inputs of a Standard Surface, from the files of glTF."""

import json

import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core.base.errors import HostError
from verdigris.core.hosts.ladder_looks import find_report, look_of, read_look, read_vertices
from verdigris.core.ladder.fitting.maps import BLEND, Opacity
from verdigris.core.ladder.output.write_ladder import SCENE_SHADER
from verdigris.core.ladder.rungs.pbr import PbrRung
from verdigris.core.ladder.surface_shader.surface_shader import describe_shader
from verdigris.core.ladder.texels import pbr_model
from verdigris.core.ladder.texels.grid import Grid, quantise
from verdigris.core.ladder.texels.pbr_model import PbrTextures

SIDE = 8
BYTE = 0.5 / 255 + 1e-6


def pbr_rung(layers=("coat", "anisotropy", "sheen"), is_constant=False):
    rng = np.random.default_rng(4)
    values = rng.random((SIDE * SIDE, pbr_model.CHANNELS)).astype(np.float32)
    if is_constant:
        values[:] = values[0]
        values[:, pbr_model.NORMAL] = 0.5
    pbr_model.keep_in_range(values)
    light = Grid(SIDE, SIDE, quantise(rng.random((SIDE * SIDE, 3)).astype(np.float32)))
    light.values[0] = 1
    textures = PbrTextures(Grid(SIDE, SIDE, quantise(values)), layers, light, 3.0)
    rung = PbrRung(textures, size=SIDE)
    holes = quantise(rng.random((SIDE * SIDE, 1)).astype(np.float32))
    rung.opacity = Opacity(Grid(SIDE, SIDE, holes), BLEND)
    return rung


def shader_in(folder, rung):
    """What hosts get of the rung, and its glTF files."""
    written = rung.write_files(folder, has_ktx=False)
    shader = describe_shader(written.shader, written.shader_files)
    entry = {"name": "pbr", "files": written.files, SCENE_SHADER: shader}
    [look] = look_of({"rungs": [entry]}, folder).rungs
    return look.shader, {use: read(folder / file) for use, file in written.files.items()}


def read(file):
    """Texels as they are stored."""
    as_stored = oiio.ImageSpec()
    as_stored.attribute("oiio:UnassociatedAlpha", 1)
    return np.asarray(oiio.ImageBuf(str(file), 0, 0, as_stored).get_pixels("float"))


def linear(stored):
    return np.where(stored <= 0.04045, stored / 12.92, ((stored + 0.055) / 1.055) ** 2.4)


def test_all_layers_of_gltf_are_inputs_of_the_surface_shader(tmp_path):
    shader, gltf = shader_in(tmp_path, pbr_rung())
    assert shader.category == "standard_surface"

    def stored(name):
        return read(shader.textures[name].file)

    def value(name):
        each = shader.textures[name]
        texels = linear(stored(name)) if each.is_colour else stored(name)
        return each.low + (each.high - each.low) * texels[..., : 3 if each.is_colour else 1]

    assert stored("base_color")[..., :3] == pytest.approx(gltf["base_color"][..., :3], abs=BYTE)
    assert stored("normal") == pytest.approx(gltf["normal"], abs=BYTE)
    assert shader.textures["normal"].is_direction
    assert stored("metalness")[..., 0] == pytest.approx(gltf["orm"][..., 2], abs=BYTE)
    assert stored("coat")[..., 0] == pytest.approx(gltf["coat"][..., 0], abs=BYTE)
    assert stored("coat_roughness")[..., 0] == pytest.approx(gltf["coat"][..., 1], abs=BYTE)
    assert stored("sheen_color") == pytest.approx(gltf["sheen"][..., :3], abs=BYTE)
    assert stored("sheen_roughness")[..., 0] == pytest.approx(gltf["sheen"][..., 3], abs=BYTE)
    assert value("emission_color") == pytest.approx(3 * linear(gltf["emissive"]), abs=1e-3)
    # KHR_materials_anisotropy: widths along and across the direction
    across = gltf["orm"][..., 1] ** 2
    strength = gltf["anisotropy"][..., 2]
    along = across + (1 - across) * strength**2
    anisotropy = value("specular_anisotropy")[..., 0]
    assert anisotropy == pytest.approx(1 - across / along, abs=0.02)
    roughness = value("specular_roughness")[..., 0]
    assert roughness == pytest.approx((along * across) ** 0.25, abs=5e-3)
    # a turn of MaterialX's tangent is the other way, and half a turn is none
    x, y = np.moveaxis(2 * gltf["anisotropy"][..., :2] - 1, -1, 0)
    turn = -2 * np.pi * value("specular_rotation")[..., 0]
    parallel = np.abs(np.cos(turn) * x + np.sin(turn) * y)
    assert parallel[strength > 0.2] == pytest.approx(1, abs=0.02)
    opacity = gltf["base_color"][..., 3:]
    assert value("opacity") == pytest.approx(np.repeat(opacity, 3, -1), abs=8e-3)
    numbers = {"base", "specular", "specular_color", "sheen", "emission", "coat_color"}
    assert {shader.values[each] for each in numbers} == {1.0, (1.0, 1.0, 1.0)}


def test_a_ladder_from_before_the_surface_shader_of_pbr_still_shows_its_textures(tmp_path):
    kinds = ("base_color", "roughness", "metalness", "normal", "emission", "opacity")
    entry = {
        "name": "pbr", "emissive_strength": 3.0,
        "scene_textures": {kind: f"pbr_{kind}.png" for kind in kinds},
    }  # fmt: skip
    report = {"rungs": [entry], "uv_set_of_materials": "st"}
    [rung] = look_of(report, tmp_path).rungs
    found = {name: each.file.name for name, each in rung.shader.textures.items()}
    assert found == {
        "base_color": "pbr_base_color.png",
        "specular_roughness": "pbr_roughness.png",
        "metalness": "pbr_metalness.png",
        "normal": "pbr_normal.png",
        "emission_color": "pbr_emission.png",
        "opacity": "pbr_opacity.png",
    }
    colours = {name for name, each in rung.shader.textures.items() if each.is_colour}
    assert colours == {"base_color", "emission_color"}
    assert rung.shader.textures["normal"].is_direction
    assert rung.shader.values["emission"] == 3.0 and rung.shader.uv_set == "st"


@pytest.mark.parametrize("entry", [{}, {"name": "pbr", "scene_shader": {}}, "pbr"])
def test_a_damaged_report_is_named_with_the_remedy(tmp_path, entry):
    file = tmp_path / "ladder.json"
    file.write_text(json.dumps({"format": "verdigris.ladder", "rungs": [entry]}))
    with pytest.raises(HostError, match=r"ladder.json: is damaged \(.*\): bake the ladder again"):
        read_look(file)


CURVE = {"a": 0, "b": 1, "c": 0}


@pytest.mark.parametrize(
    "fields",
    [
        {"lods": [{"rung": "a", "below_pixels": "many"}]},
        {"rungs": [{"name": "a", "files": {"light": "l.png"}, "curve": {**CURVE, "b": [1]}}]},
        {
            "rungs": [
                {"name": "a", "files": {"light": "l.png"}, "curve": CURVE, "detail_scale": None}
            ]
        },
        {
            "rungs": [
                {
                    "name": "a",
                    "scene_shader": {"category": "c", "textures": {}, "values": {"b": {}}},
                }
            ]
        },
    ],
)
def test_a_report_whose_numbers_are_none_is_refused(tmp_path, fields):
    file = tmp_path / "ladder.json"
    file.write_text(json.dumps({"format": "verdigris.ladder", "rungs": [], **fields}))
    with pytest.raises(HostError, match=r"is damaged \(TypeError: .* is not a number\)"):
        read_look(file)


@pytest.mark.parametrize(
    "arrays",
    [
        {"position": np.zeros((2, 3)), "colour": np.zeros((3, 4))},
        {"position": np.zeros((2, 2)), "colour": np.zeros((2, 4))},
        {"position": np.float32(1), "colour": np.zeros((2, 4))},
        {"position": np.full((2, 3), "a"), "colour": np.zeros((2, 4))},
        {"position": np.zeros((2, 3))},
    ],
)
def test_vertices_of_other_shapes_are_refused(tmp_path, arrays):
    np.savez(tmp_path / "v.npz", **arrays)
    with pytest.raises(
        HostError, match=r"v\.npz: (has arrays|cannot be read).*bake the ladder again"
    ):
        read_vertices(tmp_path / "v.npz")


def test_the_first_rung_has_no_height_on_the_screen(tmp_path):
    file = tmp_path / "ladder.json"
    lods = [{"rung": "a", "below_pixels": None}, {"rung": "b", "below_pixels": 40}]
    rungs = [{"name": name, "bundle": "a.vdg"} for name in "ab"]
    file.write_text(json.dumps({"format": "verdigris.ladder", "rungs": rungs, "lods": lods}))
    assert [each.below_pixels for each in read_look(file).rungs] == [None, 40]


@pytest.mark.parametrize("name", ["../../..", "a/../../b.png", "/etc/passwd", "C:\\a.png", "", 3])
@pytest.mark.parametrize(
    "fields",
    [
        lambda name: {"rungs": [{"name": "neural", "bundle": name}]},
        lambda name: {"rungs": [{"name": "vertex", "scene_vertices": name or "/"}]},
        lambda name: {"rungs": [{"name": "pbr", "scene_textures": {"normal": name}}]},
        lambda name: {"rungs": [{"name": "unlit", "files": {"light": name}, "curve": CURVE}]},
        lambda name: {"rungs": [{"name": "neural", "bundle": "a.vdg", "picture": name}]},
        lambda name: {"models": [f"{name}/../../../a.usdc"]},
    ],
)
def test_a_report_that_names_files_outside_of_its_folder_is_refused(tmp_path, fields, name):
    report = {"format": "verdigris.ladder", "rungs": [], **fields(name)}
    file = tmp_path / "ladder.json"
    file.write_text(json.dumps(report))
    if report["rungs"] == [{"name": "neural", "bundle": ""}]:
        # as if there were none
        assert read_look(file).result is None
        return
    with pytest.raises(HostError, match=r"ladder.json: is damaged \(.*\): bake the ladder again"):
        read_look(file)
    assert find_report(file) is None


def test_a_bundle_that_was_given_to_the_ladder_may_lie_elsewhere(tmp_path):
    bundle, folder = tmp_path / "given.vdg", tmp_path / "ladder"
    for each in (bundle, folder):
        each.mkdir()
    report = {"rungs": [{"name": "neural", "bundle": bundle.as_posix()}]}
    with pytest.raises(ValueError, match="is not a file in the folder of the ladder"):
        look_of(report, folder)
    (bundle / "manifest.json").write_text("{}")
    look = look_of(report, folder)
    assert look.result.bundle == bundle and look.rungs[0].is_material


def test_what_is_the_same_everywhere_is_a_number_and_layers_that_are_not_there_are_none(tmp_path):
    rung = pbr_rung(layers=("coat",), is_constant=True)
    shader, gltf = shader_in(tmp_path, rung)
    assert set(shader.textures) == {"emission_color", "opacity"}
    assert shader.values["coat_roughness"] == pytest.approx(gltf["coat"][0, 0, 1], abs=1e-5)
    assert shader.values["base_color"] == pytest.approx(
        linear(gltf["base_color"][0, 0, :3]), abs=1e-5
    )
    assert shader.values["sheen"] == shader.values["specular_anisotropy"] == 0


def test_a_normal_that_is_tilted_alike_everywhere_stays_a_texture(tmp_path):
    rung = pbr_rung(layers=(), is_constant=True)
    rung.textures.grid.values[:, pbr_model.NORMAL] = quantise(np.float32([[0.6, 0.45]]))
    shader, gltf = shader_in(tmp_path, rung)
    assert shader.textures["normal"].is_direction
    assert np.ptp(gltf["normal"], axis=(0, 1)).max() == 0 and gltf["normal"][0, 0, 0] > 0.55
    assert read(shader.textures["normal"].file) == pytest.approx(gltf["normal"], abs=BYTE)
