"""The shipped decoder as a material: emulated half floats, maps, and verification."""

import shutil

import numpy as np
import pytest

from verdigris.core.base.device import Device, open_device
from verdigris.core.bundle import half_floats
from verdigris.core.bundle.files.arithmetic import CAREFUL, WAYS
from verdigris.core.bundle.files.manifest_parts import Bounds
from verdigris.core.bundle.files.reference import choose_points
from verdigris.core.bundle.files.stored_textures import export_numbers
from verdigris.core.bundle.half_floats import latent_errors, order_units
from verdigris.core.bundle.runtime import device_materials
from verdigris.core.bundle.runtime.bundle_material import BundleMaterial
from verdigris.core.bundle.runtime.device_materials import RuntimeChoice, read_stored
from verdigris.core.bundle.runtime.evaluate_queries import QueryEvaluator
from verdigris.core.bundle.verify.device_decoders import decoders_on
from verdigris.core.bundle.verify.verify import verify
from verdigris.core.network.activations import response_of
from verdigris.core.network.numpy_mlp import decode_latents, evaluate_at_lod
from verdigris.core.network.spec import PRESETS, NetworkSpec

from ..bundles import made_up, make_bundle, stored, with_sums_of


def placed_latent(uv):
    channel = np.arange(8)[:, None]
    u, v = uv.T.astype(np.float64)
    return (u - 0.5) * (1 + 0.25 * channel) + v * (0.5 - 0.125 * channel)


def from_place(exported, uv, wi, wo):
    """The response with the latents that bundle_material.slang computes from uv."""
    parameters = exported.parameters.astype(np.float64)
    raw = decode_latents(
        parameters.spec, parameters, placed_latent(uv), wi.T.astype(float), wo.T.astype(float)
    )
    response = response_of(parameters.spec, raw).T
    response[(wi[:, 2] <= 0) | (wo[:, 2] <= 0)] = 0
    return response


def test_a_picture_uses_the_requested_level(software):
    exported = made_up(PRESETS["2x16"])
    points = choose_points(exported.parameters.layout)
    material = BundleMaterial(stored(exported), software)
    parameters = exported.parameters.astype(np.float64)
    for lod in (0.0, 1.3):
        material.lod = lod
        found = material.response(points.uv, points.wi, points.wo)
        lods = np.full(len(points), lod)
        wanted = evaluate_at_lod(parameters, points.uv, lods, points.wi, points.wo)
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)


def test_bundles_of_one_decoder_shape_share_compiled_code(software, monkeypatch):
    first, second = (made_up(PRESETS["2x16"], seed=seed) for seed in (1, 2))
    points = choose_points(first.parameters.layout)
    found = []
    for exported in (first, second, first):
        material = BundleMaterial(stored(exported), software)
        found.append(material.response(points.uv, points.wi, points.wo))
        # the others compile nothing
        monkeypatch.setattr(Device, "new_kernels", None)
    np.testing.assert_array_equal(found[0], found[2])
    assert np.abs(found[0] - found[1]).max() > 0.01


@pytest.fixture(scope="module")
def processor():
    """Where Slang spells out what cooperative vectors stand for."""
    import slangpy

    if not any(map(shutil.which, ("c++", "g++", "clang++", "cl"))):
        pytest.skip("there is no C++ compiler")
    options = open_device("software").compiler_options
    gpu = slangpy.Device(type=slangpy.DeviceType.cpu, compiler_options=dict(options))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(device_materials, "has_cooperative_vectors", lambda device: device.gpu is gpu)
        yield Device(gpu, "cpu", "processor", True, options)


def points_of(exported):
    """Places inside of the texture, and points for the directions."""
    points = choose_points(exported.parameters.layout)
    return (points.uv - np.floor(points.uv)).astype(np.float32), points


def cooperative_errors(exported, device, way):
    uv, points = points_of(exported)
    wanted = from_place(exported, uv, points.wi, points.wo)
    choice = RuntimeChoice("cooperative", is_optimal=False, way=way)
    material = BundleMaterial(stored(exported), device, choice, from_registers=True)
    found = material.response(uv, points.wi, points.wo)
    return np.abs(found - wanted) / np.maximum(wanted, 0.01)


def sums_of_loops(weights, bias, x, products):
    """What Slang spells out: every product and every sum rounded to a half, the bias last."""

    def half(values):
        return values.astype(np.float16).astype(np.float64)

    sums = np.zeros((len(weights), x.shape[1]))
    for column, row in zip(weights.T, x, strict=True):
        sums = half(sums + half(column[:, None] * row))
    return half(sums + bias)


def emulated_errors(exported):
    uv, points = points_of(exported)
    numbers = exported.parameters.astype(np.float64)
    return latent_errors(numbers, placed_latent(uv), points.wi.T, points.wo.T, 0.01)


@pytest.mark.parametrize(
    ("parameters", "too_coarse", "advised"),
    [
        (with_sums_of(0, width=16), None, "cooperative"),
        (with_sums_of(20, width=16), "cooperative", "careful"),
        (order_units(with_sums_of(200, 1, width=16, units=4)), "careful", "exacting"),
    ],
    ids=["cooperative", "careful", "exacting"],
)
def test_a_compiler_that_emulates_cooperative_vectors_agrees_with_what_is_advised(
    processor, parameters, too_coarse, advised, monkeypatch
):
    """The emulation that a bake chooses by, with the compiler's order of sums for a card's. Each
    arithmetic is compiled for a decoder that needs it, and for one that it is too coarse for."""
    exported = export_numbers(parameters)
    monkeypatch.setattr(half_floats, "half_sums", sums_of_loops)
    emulated = emulated_errors(exported)
    for name in filter(None, (too_coarse, advised)):
        found = cooperative_errors(exported, processor, WAYS[name]).max()
        assert found == pytest.approx(emulated[WAYS[name], 16], rel=0.05)
        assert found > 1e-4 and (found < Bounds().relative) == (name == advised)


def test_the_first_layer_loses_no_digit_of_its_inputs(processor):
    """Rows with a single power of two need no sums: what is lost is lost of the inputs."""
    exported = made_up(NetworkSpec(24, 1, "silu"))
    parameters = exported.parameters
    for layer in parameters.spec.layers[:-1]:
        weights = parameters.weights(layer)
        weights[:] = np.eye(*weights.shape, 4)
        parameters.bias(layer)[:] = 0
    last = parameters.weights(parameters.spec.layers[-1])
    last[:] = np.where(np.arange(last.size).reshape(last.shape) % 2, 1.5, -1.5)
    assert cooperative_errors(exported, processor, CAREFUL).max() < 2e-5


def test_emission_and_opacity_are_seen(software, tmp_path):
    """Two by two texels of emission; opacity is a constant 51 / 255."""
    glow = np.zeros((2, 2, 4), np.float16)
    glow[0, 0, :3], glow[1, 1, :3] = (4, 2, 1), (0, 0, 8)
    levels = [glow, glow.mean((0, 1), keepdims=True).astype(np.float16)]
    opacity = [np.full((1, 1, 1), 51, np.uint8)]
    material = BundleMaterial(
        make_bundle(tmp_path / "lamp.vdg", emission=levels, opacity=opacity), software
    )
    up = np.tile(np.float32([0, 0, 1]), (3, 1))
    uv = np.float32([[0.25, 0.25], [0.75, 0.75], [1.25, -0.75]])  # wraps, row 0 at the lowest v
    found = material.unlit(uv, up)[:, :3]
    np.testing.assert_allclose(found, [[4, 2, 1], [0, 0, 8], [4, 2, 1]], atol=0.02)
    np.testing.assert_allclose(material.unlit(uv, up)[:, 3], 0.2, atol=1e-3)
    material.lod = 1.0
    np.testing.assert_allclose(
        material.unlit(uv, up)[:, :3], np.tile([1, 0.5, 2.25], (3, 1)), atol=0.01
    )


def test_the_device_proves_a_bundle(bundle, software):
    result = verify(bundle, decoders_on(bundle, software).decoders)
    rows = {row.what: row for row in result.rows}
    assert result.holds
    assert rows["portable against the reference"].found < 1e-4


def test_a_decoder_that_is_wrong_by_two_percent_is_found(bundle, software):
    evaluator = QueryEvaluator([read_stored(bundle)], software)
    result = verify(bundle, [("bright", lambda *points: 1.02 * evaluator.response(*points))])
    assert next(row.what for row in result.rows if not row.holds) == "bright against the reference"
