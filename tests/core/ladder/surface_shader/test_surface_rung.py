"""Textures of a surface shader: their document, their gradients, and their fit."""

from dataclasses import replace

import MaterialX as mx
import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core.base.colour import linear_from_srgb
from verdigris.core.base.device import open_device
from verdigris.core.geometry.mesh import Mesh
from verdigris.core.geometry.shapes import shape_mesh
from verdigris.core.ladder.fitting.fit_pbr import WEIGHT_OF_PIXELS
from verdigris.core.ladder.mesh.mesh_surface import Surface
from verdigris.core.ladder.output.usd import connect_network
from verdigris.core.ladder.surface_shader.fit_surface import (
    SurfaceFit,
    SurfaceFitSettings,
    TexelMaterial,
    fit_surface,
)
from verdigris.core.ladder.surface_shader.from_graph import start_from_graph
from verdigris.core.ladder.surface_shader.from_pbr import start_from_pbr
from verdigris.core.ladder.surface_shader.mixed_surfaces import merge_mix
from verdigris.core.ladder.surface_shader.surface_shader import (
    Constant,
    SurfaceShader,
    TexturedInput,
    shader_of,
    write_surface,
)
from verdigris.core.ladder.texels import pbr_model
from verdigris.core.ladder.texels.grid import Grid, quantise
from verdigris.core.ladder.views.lit_pixels import LitPixels
from verdigris.core.ladder.views.reference import Responses
from verdigris.core.ladder.views.scene import Scene
from verdigris.core.ladder.views.visibility import DeviceSurface
from verdigris.core.lighting.device_lighting import DeviceEnvironment
from verdigris.core.lighting.named_environments import find_environment
from verdigris.core.material.load.mtlx_document import load_document, parse_document
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.material.usd.usdshade import convert
from verdigris.core.pictures.compare.metrics import display
from verdigris.core.pictures.environment_render import EnvironmentLighting

from ...material.documents import document, material, with_surface
from ..lights import lights_for, random_views

SHADER = SurfaceShader(
    "standard_surface",
    "thing",
    (
        TexturedInput("base_color", "color3"),
        TexturedInput("specular_IOR", "float", 1.2, 2.5),
        TexturedInput("specular_roughness", "float"),
        TexturedInput("normal", "vector3"),
        TexturedInput("emission_color", "color3", 0.0, 4.0),
    ),
    (Constant("base", "float", "1"), Constant("emission", "float", "0.5")),
)


@pytest.fixture(scope="module")
def device():
    return open_device("software")


def random_texels(shader, side, seed=0):
    values = np.random.default_rng(seed).random((side * side, shader.channels))
    first = shader.firsts.get("normal")
    if first is not None:
        # directions away from the surface
        values[:, first : first + 2] = 0.4 + 0.2 * values[:, first : first + 2]
        values[:, first + 2] = 0.9 + 0.1 * values[:, first + 2]
    return Grid(side, side, quantise(values.astype(np.float32)))


def test_the_document_is_valid_and_draws_what_was_fitted(device, tmp_path):
    grid = random_texels(SHADER, 8)
    document, files = write_surface(SHADER, grid, tmp_path, "surface")
    assert set(files) == {each.name for each in SHADER.inputs}
    read = mx.createDocument()
    library = mx.createDocument()
    mx.loadLibraries(mx.getDefaultDataLibraryFolders(), mx.getDefaultDataSearchPath(), library)
    mx.readFromXmlFile(read, str(tmp_path / document))
    read.setDataLibrary(library)
    is_valid, faults = read.validate()
    assert is_valid, faults
    fitted = TexelMaterial(SHADER, device)
    fitted.show(grid)
    written = Teacher(load_document(tmp_path / document), device=device)
    rng = np.random.default_rng(1)
    uv = rng.random((500, 2)).astype(np.float32)
    wo = random_views(rng, 500)
    wi = lights_for(rng, wo)
    expected = written.response(uv, wi, wo)
    assert fitted.response(uv, wi, wo) == pytest.approx(expected, rel=1e-4, abs=1e-6)
    assert fitted.unlit(uv, wo) == pytest.approx(written.unlit(uv, wo), rel=1e-4, abs=1e-6)
    assert expected.std() > 0.05


def slope_of_deviance(value, target):
    """The slope of the deviance of power 4/3, whose ratio is limited to 20."""
    value, target = value.astype(np.float64) + 1e-3, target.astype(np.float64) + 1e-3
    ratio = np.minimum(target / value, 20)
    return (1 - ratio) / np.cbrt(value)


def drawn_samples(count, seed=3):
    rng = np.random.default_rng(seed)
    wo = random_views(rng, count)
    wi = lights_for(rng, wo)
    uv, value = rng.random((2, count)), rng.random((3, count)) / 2
    return [each.astype(np.float32) for each in (uv, wi.T, wo.T, value, rng.random(count) + 0.5)]


LAMBERT = SurfaceShader(
    "standard_surface", "paper", (TexturedInput("base_color", "color3"),),
    (Constant("base", "float", "1"), Constant("specular", "float", "0")),
)  # fmt: skip


# The same with more channels than a word has bits before its colour; weights of 0 hide them.
HIDDEN = ("transmission_color", "subsurface_color", "coat_color", "sheen_color", "emission_color")
WIDE = replace(
    LAMBERT,
    inputs=(
        *(
            TexturedInput(name, "color3")
            for name in (*HIDDEN, "specular_color", "subsurface_radius")
        ),
        *(TexturedInput(f"{name}_roughness", "float") for name in ("coat", "sheen", "specular")),
        *(TexturedInput(f"{name}_rotation", "float") for name in ("coat", "specular")),
        *(TexturedInput(f"{name}_anisotropy", "float") for name in ("coat", "specular")),
        *(TexturedInput(f"transmission_{name}", "float") for name in ("depth", "dispersion")),
        TexturedInput("transmission_scatter", "color3"),
        *LAMBERT.inputs,
    ),
)


@pytest.mark.parametrize("shader", [LAMBERT, WIDE])
def test_gradients_of_a_lambertian_shader_are_its_closed_form(device, shader):
    textures, count = random_texels(shader, 4), 400
    uv, wi, wo, target, weight = drawn_samples(count)
    first = shader.firsts["base_color"]
    grid = Grid(4, 4, textures.values[:, first : first + 3])
    fit = SurfaceFit(TexelMaterial(shader, device), textures, 0b111 << first)
    samples = Responses.upload(device, uv, wi, wo, target, weight)
    fit.differentiate(0.0, (samples, slice(0, count)))
    stored = grid.sample(uv.astype(np.float64))
    curve = np.where(stored <= 0.04045, 1 / 12.92, 2.4 / 1.055 * ((stored + 0.055) / 1.055) ** 1.4)
    factor = wi[2].astype(np.float64) / np.pi
    slope = slope_of_deviance(linear_from_srgb(stored) * factor, target) / 3 * weight
    slope = slope * factor * curve
    indices, parts = grid.corners(uv.astype(np.float64))
    expected = np.stack(
        [np.bincount(indices.ravel(), (parts * each).ravel(), 16) for each in slope], 1
    )
    found = fit.gradient
    assert found[:, first : first + 3] == pytest.approx(expected, rel=5e-3, abs=5e-3)
    assert not found[:, :first].any()


def test_gradients_by_pictures_with_emission_match_differences_in_double_precision(device):
    glowing = SurfaceShader(
        "standard_surface", "lamp",
        (TexturedInput("base_color", "color3"), TexturedInput("emission_color", "color3", 0, 2)),
        (*LAMBERT.constants, Constant("emission", "float", "1")),
    )  # fmt: skip
    count, lights, exposure = 300, 5, 1.5
    uv, wi, wo, *_ = drawn_samples(count * lights)
    uv, wo = uv[:, :count], wo[:, :count]
    rng = np.random.default_rng(8)
    brought = rng.random((3, count * lights)).astype(np.float32)
    targets = rng.random((4, count)).astype(np.float32)
    arrays = {
        "gOrder": rng.permutation(count),
        "gPlaces": uv.T,
        "gIncoming": np.concatenate([wi, brought]).T,
        "gOutgoing": wo.T,
        "gTargets": targets.T,
    }
    buffers = {
        name: device.new_buffer(np.ascontiguousarray(values, np.float32).reshape(-1))
        for name, values in arrays.items()
    }
    grid = random_texels(glowing, 4)
    fit = SurfaceFit(TexelMaterial(glowing, device), grid, (1 << 6) - 1)
    fit.differentiate(
        0.0, None, (LitPixels(count, lights, exposure, buffers, True), slice(0, count))
    )

    def loss_of(values):
        stored = Grid(4, 4, values).sample(uv.astype(np.float64))
        linear = linear_from_srgb(stored)
        factor = (wi[2] / np.pi * brought).reshape(3, count, lights).sum(-1)
        light = linear[:3] * factor + 2 * linear[3:]
        away = display(light * exposure) - display(targets[:3] * exposure)
        return ((np.sqrt(away**2 + 0.02**2) - 0.02).mean(0) * targets[3]).sum()

    assert fit.loss_of_pixels == pytest.approx(loss_of(grid.values) / count, rel=1e-4)
    for channel in range(6):
        ends = []
        for side in (1e-4, -1e-4):
            values = grid.values.astype(np.float64)
            values[5, channel] += side
            ends.append(loss_of(values))
        expected = WEIGHT_OF_PIXELS * (ends[0] - ends[1]) / 2e-4
        assert fit.gradient[5, channel] == pytest.approx(expected, rel=2e-2, abs=0.5)


def test_gradients_of_all_channels_match_differences_of_the_shader(device):
    grid, count, step = random_texels(SHADER, 2), 4000, 1 / 256
    # rough: differences of sharp lobes are coarse
    grid.values[:] = 0.4 + 0.5 * grid.values
    uv, wi, wo, target, weight = drawn_samples(count)
    # no light or eye behind a texel's normal, where the shader jumps
    wi, wo = (each + np.array([[0], [0], [1]]) for each in (wi, wo))
    wi, wo = ((each / np.linalg.norm(each, axis=0)).astype(np.float32) for each in (wi, wo))
    material = TexelMaterial(SHADER, device)
    fit = SurfaceFit(material, grid, (1 << SHADER.channels) - 1)
    samples = Responses.upload(device, uv, wi, wo, target, weight)
    fit.differentiate(0.0, (samples, slice(0, count)))
    found = fit.gradient
    material.show(grid)
    slope = slope_of_deviance(material.response(uv.T, wi.T, wo.T).T, target) / 3 * weight
    for channel in range(SHADER.firsts["emission_color"]):
        ends = []
        for side in (step, -step):
            moved = Grid(2, 2, grid.values.copy())
            moved.values[1, channel] += side
            material.show(moved)
            ends.append(material.response(uv.T, wi.T, wo.T).T.astype(np.float64))
        expected = float((slope * (ends[0] - ends[1])).sum() / (2 * step))
        assert found[1, channel] == pytest.approx(expected, rel=3e-2, abs=0.05), channel
    # what does not reflect has none
    assert np.abs(found[:, SHADER.firsts["emission_color"] :]).max() < 1e-3


def shaded(grid, uv, wi):
    """Light of paper in double precision."""
    return linear_from_srgb(grid.sample(uv.astype(np.float64))) * wi[2] / np.pi


def fitted_paper(device, value, weight, side=2, is_soft=True):
    uv, wi, wo, *_ = drawn_samples(len(weight))
    samples = Responses.upload(device, uv, wi, wo, value(uv, wi), weight)
    grid = Grid.of(side, side, np.full(3, 0.5))
    settings = SurfaceFitSettings(100, 2000, is_soft=is_soft)
    fit_surface(TexelMaterial(LAMBERT, device), grid, 0b111, samples, settings)
    return grid, uv, wi


def test_painted_weights_lower_the_error_where_they_are(device):
    def is_painted(uv):
        # narrower than the texels, so that painted and other places share them
        return np.sin(40 * uv[0]) > 0

    def value(uv, wi):
        return np.where(is_painted(uv), 0.8, 0.2) * np.repeat(wi[2:], 3, 0) / np.pi

    painted = is_painted(drawn_samples(2000)[0])

    def painted_error(weight):
        grid, uv, wi = fitted_paper(device, value, np.where(painted, weight, 1))
        return np.abs(shaded(grid, uv, wi) - value(uv, wi)).mean(0)[painted].mean()

    assert painted_error(8.0) < 0.7 * painted_error(1.0)


def test_fitting_through_soft_quantisation_beats_rounding_after(device):
    source = Grid(16, 16, np.random.default_rng(0).random((256, 3)).astype(np.float32))
    uv, wi, wo, *_ = drawn_samples(4000)
    value = shaded(source, uv, wi)
    samples = Responses.upload(device, uv, wi, wo, value, np.ones(4000))
    errors = []
    for is_soft in (True, False):
        grid = Grid(16, 16, source.values.copy())
        settings = SurfaceFitSettings(200, 4000, is_soft=is_soft)
        fit_surface(TexelMaterial(LAMBERT, device), grid, 0b111, samples, settings)
        assert np.array_equal(np.rint(grid.values * 255) / 255, grid.values)
        errors.append(np.abs(np.cbrt(shaded(grid, uv, wi)) - np.cbrt(value)).mean())
    assert errors[0] < 0.96 * errors[1]


def test_a_surface_that_starts_from_gltf_textures_shows_the_same(device):
    rng = np.random.default_rng(6)
    stored = np.tile(np.array(pbr_model.START, np.float32), (4, 1))
    stored[:, pbr_model.BASE] = rng.random((4, 3)) * 0.8 + 0.1
    stored[:, pbr_model.METALNESS] = [0, 1, 0, 1]
    stored[:, pbr_model.NORMAL] = [0.45, 0.55]
    stored[:, pbr_model.ROUGHNESS] = 0.3
    stored[:, pbr_model.STRETCH] = [0.4, 0.7]
    stored[:, [pbr_model.COAT, pbr_model.COAT_ROUGHNESS]] = [0.5, 0.3]
    shader, grid = start_from_pbr(Grid(2, 2, stored), ("coat", "anisotropy"), "thing")
    material = TexelMaterial(shader, device)
    material.show(grid)
    # at the centres of texels, between which both interpolate other numbers
    uv = rng.choice([0.25, 0.75], (2, 2000)).astype(np.float32)
    wo = random_views(rng, 2000)
    wi = lights_for(rng, wo)
    found = material.response(uv.T, wi, wo)

    def difference(stored):
        texels = Grid(2, 2, pbr_model.decode(stored)).sample(uv)
        expected = np.log1p(pbr_model.evaluate(texels, wi.T, wo.T).T)
        return np.abs(np.log1p(found) - expected).sum() / expected.sum()

    # MaterialX adds light of several bounces, and metals differ at grazing angles
    assert difference(stored) < 0.13
    turned = stored.copy()
    turned[:, pbr_model.STRETCH] = 1 - stored[:, pbr_model.STRETCH]
    assert difference(turned) > 0.2


ALONG_X = with_surface(
    '<input name="specular_roughness" type="float" nodename="x"/>'
    '<input name="normal" type="vector3" nodename="leaning"/>',
    '<position name="place" type="vector3"/>'
    '<extract name="x" type="float"><input name="in" type="vector3" nodename="place"/></extract>'
    '<normalmap name="leaning" type="vector3">'
    '<input name="in" type="vector3" value="0.8, 0.5, 0.9"/></normalmap>',
)


def test_inputs_are_baked_where_they_are_on_the_mesh_tile_by_tile(device, tmp_path):
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)[[0, 1, 2, 0, 2, 3]]
    # x of the second tile runs backwards
    uv = np.concatenate([square, square + np.array([1, 0])]).reshape(4, 3, 2).astype(np.float32)
    x = np.concatenate([square[:, :1], 1 - square[:, :1]]).reshape(4, 3, 1)
    place = np.concatenate([x, uv[..., 1:], 0 * x], -1).astype(np.float32)
    normal = np.tile(np.array([0, 0, 1], np.float32), (4, 3, 1))
    surface = Surface(Mesh(place, normal, uv), {"st": uv}, name="squares")
    teacher = Teacher(parse_document(ALONG_X), device=device, has_atlas=False)
    surface, atlas = surface.with_atlas("st")
    environment = DeviceEnvironment.upload(device, find_environment("studio"))
    geometry = DeviceSurface(device, surface)
    lighting = EnvironmentLighting(environment, geometry.occluders)
    scene = Scene(teacher, geometry, lighting, 1.0, atlas.uv_set, None, False, atlas)
    shader, grid = start_from_graph(scene, 16)
    assert [each.name for each in shader.inputs] == ["specular_roughness", "normal"]
    centres = (np.arange(8) + 0.5) / 8
    image = grid.image[:8]
    assert image[1:7, 1:7, 0] == pytest.approx(np.tile(centres[1:7], (6, 1)), abs=3e-3)
    assert image[1:7, 9:15, 0] == pytest.approx(np.tile(1 - centres[1:7], (6, 1)), abs=3e-3)
    leaning = np.array([0.6, 0, 0.8]) / np.linalg.norm([0.6, 0, 0.8])
    assert 2 * image[1:7, 1:15, 1:] - 1 == pytest.approx(np.tile(leaning, (6, 14, 1)), abs=1e-3)
    _, files = write_surface(shader, grid, tmp_path, "surface", atlas)
    assert files["normal"] == "surface_normal.<UDIM>.png"
    second = oiio.ImageBuf(str(tmp_path / "surface_specular_roughness.1002.png"))
    assert second.get_pixels("float")[3, :, 0] == pytest.approx(image[4, 8:, 0], abs=3e-3)


def test_a_shader_that_nothing_feeds_has_no_textures(device):
    ball = shape_mesh("ball")
    surface = Surface(ball, {"st": ball.uv})
    plain = document(
        '<standard_surface name="shader" type="surfaceshader">'
        '<input name="metalness" type="float" value="1"/></standard_surface>', material()
    )  # fmt: skip
    environment = DeviceEnvironment.upload(device, find_environment("studio"))
    geometry = DeviceSurface(device, surface)
    lighting = EnvironmentLighting(environment, geometry.occluders)
    teacher = Teacher(parse_document(plain), device=device)
    shader, grid = start_from_graph(Scene(teacher, geometry, lighting, 1.0, "st", None, False), 8)
    assert shader.inputs == () and grid.values.shape == (64, 0)
    assert [each.name for each in shader.constants] == ["metalness"]


MIXED = document(
    '<nodegraph name="graph"><texcoord name="uv" type="vector2"/>'
    '<extract name="x" type="float"><input name="in" type="vector2" nodename="uv"/></extract>'
    '<ifgreater name="left" type="float"><input name="value1" type="float" value="0.3"/>'
    '<input name="value2" type="float" nodename="x"/></ifgreater>'
    '<ifgreater name="right" type="float"><input name="value2" type="float" value="0.6"/>'
    '<input name="value1" type="float" nodename="x"/></ifgreater>'
    '<normalmap name="leaning" type="vector3">'
    '<input name="in" type="vector3" value="0.7, 0.5, 0.9"/></normalmap>'
    '<standard_surface name="red" type="surfaceshader">'
    '<input name="base_color" type="color3" value="0.8, 0.1, 0.1" colorspace="srgb_texture"/>'
    '<input name="normal" type="vector3" nodename="leaning"/></standard_surface>'
    '<standard_surface name="gold" type="surfaceshader">'
    '<input name="base_color" type="color3" value="0.9, 0.7, 0.2"/>'
    '<input name="metalness" type="float" value="1"/></standard_surface>'
    '<standard_surface name="lacquer" type="surfaceshader">'
    '<input name="base_color" type="color3" value="0.1, 0.1, 0.6"/>'
    '<input name="coat" type="float" nodename="right"/></standard_surface>'
    '<mix name="inner" type="surfaceshader"><input name="fg" type="surfaceshader" nodename="red"/>'
    '<input name="bg" type="surfaceshader" nodename="gold"/>'
    '<input name="mix" type="float" nodename="left"/></mix>'
    '<mix name="outer" type="surfaceshader">'
    '<input name="fg" type="surfaceshader" nodename="lacquer"/>'
    '<input name="bg" type="surfaceshader" nodename="inner"/>'
    '<input name="mix" type="float" nodename="right"/></mix>'
    '<output name="out" type="surfaceshader" nodename="outer"/></nodegraph>',
    '<surfacematerial name="material" type="material">'
    '<input name="surfaceshader" type="surfaceshader" nodegraph="graph" output="out"/>'
    "</surfacematerial>",
)


def test_a_mix_of_shaders_by_a_mask_reflects_the_same_as_one_shader(device):
    source = parse_document(MIXED)
    root, node = merge_mix(shader_of(source.require_material()))
    assert node.getCategory() == "standard_surface"
    merged = parse_document(mx.writeToXmlString(root))
    rng = np.random.default_rng(2)
    wo = random_views(rng, 600)
    wi, uv = lights_for(rng, wo), rng.random((600, 2)).astype(np.float32)
    expected = Teacher(source, device=device).response(uv, wi, wo)
    found = Teacher(merged, device=device).response(uv, wi, wo)
    assert found == pytest.approx(expected, rel=1e-3, abs=1e-5)


def test_shaders_of_several_kinds_are_no_single_one():
    other = MIXED.replace('<standard_surface name="gold"', '<gltf_pbr name="gold"', 1)
    other = other.replace('value="1"/></standard_surface>', 'value="1"/></gltf_pbr>', 1)
    other = other.replace('name="metalness"', 'name="metallic"', 1)
    assert merge_mix(shader_of(parse_document(other).require_material())) is None


def test_the_network_of_a_stage_is_the_document(device, tmp_path):
    pytest.importorskip("pxr", reason="USD is not installed: pip install usd-core")
    from pxr import Usd, UsdShade

    grid = random_texels(SHADER, 8)
    document, _ = write_surface(SHADER, grid, tmp_path, "surface")
    stage = Usd.Stage.CreateNew(str(tmp_path / "thing.usda"))
    text = (tmp_path / document).read_text()
    connect_network(stage, UsdShade.Material.Define(stage, "/thing"), text)
    stage.Save()
    converted = convert(Usd.Stage.Open(str(tmp_path / "thing.usda")), "/thing")
    assert converted.notes == ()
    read = Teacher(parse_document(converted.text, converted.folders), device=device)
    written = Teacher(load_document(tmp_path / document), device=device)
    rng = np.random.default_rng(1)
    wo = random_views(rng, 300)
    wi, uv = lights_for(rng, wo), rng.random((300, 2)).astype(np.float32)
    expected = written.response(uv, wi, wo)
    assert read.response(uv, wi, wo) == pytest.approx(expected, rel=1e-4, abs=1e-6)
    assert read.unlit(uv, wo) == pytest.approx(written.unlit(uv, wo), rel=1e-4, abs=1e-6)
