"""Textures of a surface shader: their document, their gradients, and their fit."""

import MaterialX as mx
import numpy as np
import pytest

from verdigris.core.base.colour import linear_from_srgb
from verdigris.core.base.device import open_device
from verdigris.core.ladder.surface_rung.fit_surface import SurfaceFit
from verdigris.core.ladder.surface_rung.inputs import TexturedInput
from verdigris.core.ladder.surface_rung.surface_document import Constant, SurfaceShader
from verdigris.core.ladder.surface_rung.surface_files import write_surface
from verdigris.core.ladder.surface_rung.texel_material import TexelMaterial
from verdigris.core.ladder.texels import Grid, quantise
from verdigris.core.ladder.views.reference import Responses
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.teacher.teacher import Teacher

from .lights import lights_for, random_views

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
    files = write_surface(SHADER, grid, tmp_path)
    assert set(files) == {"document", *(each.name for each in SHADER.inputs)}
    read = mx.createDocument()
    library = mx.createDocument()
    mx.loadLibraries(mx.getDefaultDataLibraryFolders(), mx.getDefaultDataSearchPath(), library)
    mx.readFromXmlFile(read, str(tmp_path / files["document"]))
    read.setDataLibrary(library)
    is_valid, faults = read.validate()
    assert is_valid, faults
    fitted = TexelMaterial(SHADER, device)
    fitted.show(grid)
    written = Teacher(load_document(tmp_path / files["document"]), device=device)
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


def test_gradients_of_a_lambertian_shader_are_its_closed_form(device):
    grid, count = random_texels(LAMBERT, 4), 400
    uv, wi, wo, target, weight = drawn_samples(count)
    fit = SurfaceFit(TexelMaterial(LAMBERT, device), grid, 0b111)
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
    assert fit.gradient == pytest.approx(expected, rel=5e-3, abs=5e-3)


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
