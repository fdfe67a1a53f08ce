"""Gradients against finite differences, soft quantisation, tone curves, painted weights."""

import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.ladder.image_fit import (
    ImageFitSettings,
    Pixels,
    fit_model,
    loss_and_gradients,
    loss_of,
)
from verdigris.core.ladder.pbr import pbr_model
from verdigris.core.ladder.pbr.fit_pbr import FitSettings, PbrFit, fit_pbr
from verdigris.core.ladder.pbr.lit_pixels import LitPixels
from verdigris.core.ladder.views.reference import Responses, draw_lights
from verdigris.core.ladder.texels import Grid, soft_quantise
from verdigris.core.ladder.tone_curve import (
    CLAMP,
    REINHARD,
    ToneCurve,
    fit_curve,
    rounding_error,
)
from verdigris.core.ladder.unlit_models import (
    DetailAndColour,
    OneTexture,
    VertexColours,
    WithReflection,
    mirror_directions,
    mirror_uv,
)
from verdigris.core.pictures.metrics import display

CURVE = ToneCurve(-3.0, 3.4)


@pytest.fixture(scope="module")
def device():
    return open_device("software")


def directions(rng, count):
    found = rng.normal(size=(count, 3))
    found[:, 2] = np.abs(found[:, 2]) + 0.2
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def some_pixels(count=300, kind=np.float64, light=None):
    rng = np.random.default_rng(5)
    uv = rng.random((2, count)).astype(kind)
    shares = rng.dirichlet(np.ones(3), count).T.astype(kind)
    found = rng.random((3, count)) * 3 if light is None else light(uv)
    return Pixels(
        uv,
        rng.random((2, count)).astype(kind),
        rng.normal(size=(3, count)).astype(kind),
        rng.integers(0, 16, (3, count)),
        shares,
        found.astype(kind),
        rng.random(count).astype(kind) + 0.5,
    )


def grid(side, channels, kind=np.float64, height=None):
    values = np.random.default_rng(side + channels).random((side * (height or side), channels))
    return Grid(side, height or side, (0.2 + 0.6 * values).astype(kind))


def of_models(kind=np.float64):
    curved = ToneCurve(-3.0, 3.4, 0.3)
    return {
        "unlit": OneTexture(grid(4, 3, kind), CURVE),
        "reflection": WithReflection(
            grid(4, 3, kind), grid(5, 3, kind), grid(6, 3, kind), CURVE, curved
        ),
        "detail": DetailAndColour(grid(6, 1, kind), grid(3, 3, kind), CURVE),
        "vertex": VertexColours(grid(16, 3, kind, height=1), curved),
    }


@pytest.mark.parametrize("softness", [0.0, 0.1])
@pytest.mark.parametrize("name", list(of_models()))
def test_gradients_of_unlit_rungs_match_finite_differences(name, softness):
    model, pixels = of_models()[name], some_pixels()
    _, gradients = loss_and_gradients(model, pixels, softness)
    # a softer step than rounding's, which finite differences can follow
    step = 1e-6 if softness == 0 else 1e-8
    for stored, gradient in zip(model.grids, gradients, strict=True):
        for texel in (0, len(stored.values) // 2):
            for channel in range(stored.channels):
                before = stored.values[texel, channel]
                ends = []
                for side in (step, -step):
                    stored.values[texel, channel] = before + side
                    ends.append(loss_and_gradients(model, pixels, softness)[0])
                stored.values[texel, channel] = before
                expected = (ends[0] - ends[1]) / (2 * step)
                assert gradient[texel, channel] == pytest.approx(expected, rel=2e-3, abs=1e-7)


def test_gradients_of_gltf_textures_match_finite_differences(device):
    rng = np.random.default_rng(2)
    count = 800
    samples = Responses(*samples_of(rng, count), rng.random(count).astype(np.float32) + 0.5)
    textures = Grid(4, 4, 0.3 + 0.4 * rng.random((16, pbr_model.CHANNELS)).astype(np.float32))
    fit = PbrFit(samples, device)
    fit.start(textures, 0)
    fit.differentiate(slice(0, count))
    decoded = pbr_model.decode(textures.values).astype(np.float64)
    assert fit.loss == pytest.approx(mean_deviance(decoded, samples), rel=1e-5)
    step = 1e-4
    for texel in (0, 9):
        for channel in range(pbr_model.CHANNELS):
            ends = []
            for side in (step, -step):
                values = decoded.copy()
                values[texel, channel] += side
                ends.append(mean_deviance(values, samples))
            expected = count * (ends[0] - ends[1]) / (2 * step)
            assert fit.gradient[texel, channel] == pytest.approx(expected, rel=2e-3, abs=5e-3)


def test_gradients_of_gltf_textures_by_pictures_match_finite_differences(device):
    rng = np.random.default_rng(8)
    count, directions_each = 300, 6
    uv, wi, wo, _ = samples_of(rng, count * directions_each)
    uv, wo = uv[:, :count], wo[:, :count]
    brought = rng.random((3, count * directions_each)).astype(np.float32)
    targets = rng.random((4, count)).astype(np.float32)
    exposure = 1.5
    arrays = {
        "gOrder": rng.permutation(count),
        "gPlaces": uv.T,
        "gIncoming": np.concatenate([wi, brought]).T,
        "gOutgoing": wo.T,
        "gTargets": targets.T,
    }
    buffers = {name: buffer_of(device, values) for name, values in arrays.items()}
    fit = PbrFit(
        Responses(*samples_of(rng, 1), np.zeros(1, np.float32)), device,
        LitPixels(count, directions_each, exposure, buffers),
    )  # fmt: skip
    textures = Grid(4, 4, 0.3 + 0.4 * rng.random((16, pbr_model.CHANNELS)).astype(np.float32))
    fit.start(textures, 0)
    fit.differentiate(slice(0, 1), pixels=slice(0, count))

    def loss_of(decoded):
        texels = Grid(4, 4, decoded).sample(uv.astype(np.float64)).repeat(directions_each, 1)
        each = pbr_model.evaluate(texels, wi, wo.repeat(directions_each, 1)) * brought
        light = each.reshape(3, count, directions_each).sum(-1)
        away = display(light * exposure) - display(targets[:3] * exposure)
        return ((np.sqrt(away**2 + 0.02**2) - 0.02).mean(0) * targets[3]).mean()

    decoded = pbr_model.decode(textures.values).astype(np.float64)
    assert fit.loss_of_pixels == pytest.approx(loss_of(decoded), rel=1e-5)
    for channel in range(pbr_model.CHANNELS):
        ends = []
        for side in (1e-4, -1e-4):
            values = decoded.copy()
            values[5, channel] += side
            ends.append(loss_of(values))
        expected = fit.weight_of_pixels * count * (ends[0] - ends[1]) / 2e-4
        assert fit.gradient[5, channel] == pytest.approx(expected, rel=5e-3, abs=2e-2)


def buffer_of(device, values):
    import slangpy

    usage = slangpy.BufferUsage.shader_resource | slangpy.BufferUsage.unordered_access
    flat = np.ascontiguousarray(values, np.float32).reshape(-1)
    return device.gpu.create_buffer(element_count=flat.size, struct_size=4, usage=usage, data=flat)


def samples_of(rng, count):
    wo = directions(rng, count).astype(np.float32)
    wi = draw_lights(rng, wo)
    uv, value = rng.random((2, count)), rng.random((3, count)) / 2
    return uv.astype(np.float32), wi.T, wo.T, value.astype(np.float32)


def mean_deviance(decoded, samples):
    """Of power 4/3, by its integral: the slope (v - t) / v^(4/3), from the target to the value."""
    uv, wi, wo, target = (
        each.astype(np.float64) for each in (samples.uv, samples.wi, samples.wo, samples.value)
    )
    value = pbr_model.evaluate(Grid(4, 4, decoded).sample(uv), wi, wo) + 1e-3
    target = target + 1e-3

    def below(v, t):
        # the integral of the slope: 3/2 v^(2/3) + 3 t v^(-1/3)
        return 1.5 * np.cbrt(v) ** 2 + 3 * t / np.cbrt(v)

    # from where the slope is that of a ratio of 20, (1 - 20) v^(-1/3)
    knee = target / 20
    limited = below(knee, target) - 19 * 1.5 * (np.cbrt(value) ** 2 - np.cbrt(knee) ** 2)
    loss = np.where(value < knee, limited, below(value, target)) - below(target, target)
    return float((loss.mean(0) * samples.weight).mean())


def test_soft_quantisation_keeps_bytes_and_hardens_to_rounding():
    bytes_ = np.arange(256) / 255
    for softness in (0.05, 0.5, 1.0):
        assert soft_quantise(bytes_, softness)[0] == pytest.approx(bytes_, abs=1e-12)
    between = (np.arange(255) + np.linspace(0.05, 0.4, 255)) / 255
    hard, _ = soft_quantise(between, 1.0)
    assert hard == pytest.approx(np.rint(between * 255) / 255, abs=0.1 / 255)


def test_fitting_through_soft_quantisation_beats_rounding_after():
    source = Grid(16, 16, np.random.default_rng(0).random((256, 3)).astype(np.float32))
    pixels = some_pixels(4000, np.float32, lambda uv: CURVE.to_light(source.sample(uv)))
    losses = []
    for is_soft in (True, False):
        model = OneTexture(Grid(16, 16, source.values.copy()), CURVE)
        fit_model(model, pixels, ImageFitSettings(200, 4000, is_soft=is_soft))
        assert np.array_equal(np.rint(model.texture.values * 255) / 255, model.texture.values)
        losses.append(loss_of(model, pixels))
    assert losses[0] < 0.96 * losses[1]


@pytest.mark.parametrize("curve", [CURVE, ToneCurve(-1.2, 1.3, 0.5), ToneCurve(4.0, 0.5, -0.2)])
def test_tone_curves_are_inverted_and_have_their_slope(curve):
    stored = np.linspace(0, 1, 101)
    light = curve.to_light(stored)
    assert (np.diff(light) > 0).all()
    assert curve.to_stored(light) == pytest.approx(stored, abs=1e-9)
    step = 1e-6
    slope = (curve.to_light(stored + step) - curve.to_light(stored - step)) / (2 * step)
    assert curve.slope(stored) == pytest.approx(slope, rel=1e-5)
    assert curve.largest == pytest.approx(light[-1])


def test_fitted_tone_curves_beat_clamping_and_reinhard_on_hdr_light():
    rng = np.random.default_rng(1)
    light = np.exp(rng.normal(-1.2, 1.6, 8_000))
    first, second = fit_curve(light), fit_curve(light, is_second_order=True)
    errors = [rounding_error(light, each) for each in (first, CLAMP, REINHARD)]
    assert errors[0] < 0.7 * min(errors[1:])
    assert rounding_error(light, second) < 1.05 * errors[0]


def test_detail_and_low_colours_beat_one_texture_of_as_many_bytes():
    def light(uv):
        fine = 0.6 + 0.4 * np.sin(60 * uv[0]) * np.sin(60 * uv[1])
        return fine * np.stack([0.2 + uv[0], 0.9 - 0.6 * uv[1], 0.3 + 0 * uv[0]])

    pixels = some_pixels(8000, np.float32, light)
    pixels.detail_uv[:] = pixels.uv
    detail = DetailAndColour(
        Grid.of(32, 32, np.full(1, 0.5)), Grid.of(16, 16, np.full(3, 0.5)), CURVE
    )
    texture = OneTexture(Grid.of(25, 25, np.full(3, 0.5)), CURVE)
    sizes = [sum(each.values.size for each in model.grids) for model in (detail, texture)]
    assert sizes[0] <= sizes[1]
    for model in (detail, texture):
        fit_model(model, pixels, ImageFitSettings(200, 4000))
    assert loss_of(detail, pixels) < 0.8 * loss_of(texture, pixels)


def is_painted(uv):
    # narrower than the texels, so that painted and other places share them
    return np.sin(40 * uv[0]) > 0


@pytest.mark.parametrize("name", list(of_models()))
def test_painted_weights_lower_the_error_where_they_are(name):
    def painted_error(weight):
        pixels = some_pixels(1000, np.float32, lambda uv: np.stack([0.3 + is_painted(uv)] * 3))
        painted = is_painted(pixels.uv)
        pixels.weight[:] = np.where(painted, weight, 1)
        model = of_models(np.float32)[name]
        fit_model(model, pixels, ImageFitSettings(100, 1000))
        pixels.weight[:] = 1
        return loss_of(model, pixels.take(np.flatnonzero(painted)))

    assert painted_error(8.0) < 0.7 * painted_error(1.0)


def test_painted_weights_lower_the_error_of_gltf_textures_where_they_are(device):
    rng = np.random.default_rng(4)
    uv, wi, wo, _ = samples_of(rng, 2000)
    painted = is_painted(uv)
    texels = np.repeat(pbr_model.decode(np.array([pbr_model.START], np.float32)), 2000, 0).T
    texels[pbr_model.BASE] = np.where(painted, 0.9, 0.2)
    value = pbr_model.evaluate(texels, wi, wo).astype(np.float32)

    def painted_error(weight):
        weights = np.where(painted, weight, 1).astype(np.float32)
        samples = Responses(uv, wi, wo, value, weights)
        found, _ = fit_pbr(samples, 2, device, FitSettings(steps=60, batch=2000, layers=()))
        decoded = Grid(2, 2, pbr_model.decode(found.values)).sample(uv)
        error = np.abs(pbr_model.evaluate(decoded, wi, wo) - value).mean(0)
        return error[painted].mean()

    assert painted_error(8.0) < 0.7 * painted_error(1.0)


@pytest.mark.parametrize("layer", ["", "anisotropy"])
def test_a_material_that_gltf_can_hold_is_found(device, layer):
    rng = np.random.default_rng(3)
    uv, wi, wo, _ = samples_of(rng, 4000)
    stored = np.tile(np.array(pbr_model.START, np.float32), (4, 1))
    stored[:, pbr_model.BASE] = [[0.8, 0.3, 0.2], [0.9, 0.7, 0.2], [0.2, 0.5, 0.8], [0.5, 0.5, 0.5]]
    stored[:, pbr_model.ROUGHNESS] = [0.3, 0.6, 0.4, 0.7]
    stored[:, pbr_model.METALNESS] = [0, 1, 0, 1]
    if layer == "anisotropy":
        stored[:, pbr_model.STRETCH] = [0.5, 0.2]
    decoded = Grid(2, 2, pbr_model.decode(stored)).sample(uv)
    value = pbr_model.evaluate(decoded, wi, wo).astype(np.float32)
    samples = Responses(uv, wi, wo, value, np.ones(4000, np.float32))
    found, layers = fit_pbr(samples, 2, device, FitSettings(steps=200, batch=2000))
    assert layer in layers if layer else layers == ()
    assert np.abs(found.values - stored)[:, : pbr_model.METALNESS + 1].mean() < 0.05
    again = pbr_model.evaluate(Grid(2, 2, pbr_model.decode(found.values)).sample(uv), wi, wo)
    assert np.abs(np.log1p(again) - np.log1p(value)).mean() < 0.01


def test_the_map_of_mirrored_light_holds_each_direction_once():
    found = mirror_directions(16)
    assert np.linalg.norm(found, axis=0) == pytest.approx(np.ones(256), abs=1e-6)
    v, u = ((np.indices((16, 16)) + 0.5) / 16).reshape(2, -1)
    assert mirror_uv(found) == pytest.approx(np.stack([u, v]), abs=1e-6)
