"""Gradients against finite differences, soft quantisation, tone curves, painted weights."""

import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.ladder.fitting.fit_pbr import FitSettings, PbrFit, fit_pbr
from verdigris.core.ladder.fitting.image_fit import (
    RECORD,
    ImageFit,
    ImageFitSettings,
    OneTexture,
    Records,
    VertexColours,
    fit_model,
)
from verdigris.core.ladder.rungs.detail import DetailAndColour
from verdigris.core.ladder.rungs.reflection import WithReflection, mirror_directions, mirror_uv
from verdigris.core.ladder.texels import pbr_model
from verdigris.core.ladder.texels.grid import HARDEST, STEPS, Grid, fill_holes
from verdigris.core.ladder.texels.tone_curve import CLAMP, ToneCurve, fit_curve
from verdigris.core.ladder.views.lit_pixels import LitPixels
from verdigris.core.ladder.views.reference import Responses
from verdigris.core.network.latents.texels import gather
from verdigris.core.pictures.compare.metrics import display

from ..lights import lights_for, random_views

CURVE = ToneCurve(-3.0, 3.4)


def soft_quantise(values, softness):
    """The softly quantised values, as the formula in `grid` gives them. A `softness` of 0 leaves
    values as they are; 1 gives the hardest steps."""
    if softness <= 0:
        return values
    hard = HARDEST * softness
    middle = np.floor(values * STEPS) + 0.5
    bent = np.tanh(hard * (values * STEPS - middle))
    return (middle + bent * 0.5 / np.tanh(hard / 2)) / STEPS


@pytest.fixture(scope="module")
def device():
    return open_device("software")


class Pixels:
    """Random pixels, for the device and for sums in double precision."""

    def __init__(self, count=300, light=None, weight=None):
        rng = np.random.default_rng(5)
        # by unique uv, by first uv, by the mirror direction
        self.uv = rng.random((3, 2, count))
        self.share = rng.dirichlet(np.ones(3), count).T
        self.light = rng.random((3, count)) * 3 if light is None else light(self.uv[0])
        self.vertex = rng.integers(0, 16, (3, count))
        self.weight = rng.random(count) + 0.5 if weight is None else weight(self.uv[0])
        self.count = count

    def records(self, device):
        columns = (*self.uv, self.vertex, self.share, self.light, self.weight[None])
        rows = np.concatenate(columns).T.astype(np.float32)
        assert rows.shape[1] == RECORD
        return Records(device, self.count, device.new_buffer(rows))

    def shade(self, model, softness=0.0):
        """Light of a model, (3, N)."""
        values = np.zeros((9, self.count))
        for read in model.reads:
            stored = soft_quantise(read.grid.values.astype(np.float64), softness)
            corners = self.vertex, self.share
            if read.place < 3:
                corners = read.grid.corners(self.uv[read.place])
            values[read.value : read.value + read.grid.channels] = gather(stored, *corners)
        light = model.curve.to_light(values[:3])
        if isinstance(model, WithReflection):
            light = light + values[3:6] * model.mirror_curve.to_light(values[6:])
        return 4 * values[3] ** 2 * light if isinstance(model, DetailAndColour) else light

    def losses(self, model, softness=0.0):
        away = display(self.shade(model, softness)) - display(self.light)
        return (np.sqrt(away**2 + 0.02**2) - 0.02).mean(0)

    def loss(self, model, softness=0.0):
        return float((self.losses(model, softness) * self.weight).mean())


def grid(side, channels, height=None):
    values = np.random.default_rng(side + channels).random((side * (height or side), channels))
    return Grid(side, height or side, (0.2 + 0.6 * values).astype(np.float32))


def of_models():
    curved = ToneCurve(-3.0, 3.4, 0.3)
    return {
        "unlit": OneTexture(grid(4, 3), CURVE),
        "reflection": WithReflection(grid(4, 3), grid(5, 3), grid(6, 3), CURVE, curved),
        "detail": DetailAndColour(grid(6, 1), grid(3, 3), CURVE),
        "vertex": VertexColours(grid(16, 3, height=1), curved),
    }


@pytest.mark.parametrize("softness", [0.0, 0.1])
@pytest.mark.parametrize("name", list(of_models()))
def test_gradients_of_unlit_rungs_match_finite_differences(device, name, softness):
    model, pixels = of_models()[name], Pixels()
    fit = ImageFit(model, pixels.records(device))
    if softness == 0:
        assert pytest.approx(pixels.shade(model), rel=1e-4, abs=1e-5) == fit.shade().T
    fit.differentiate(slice(0, pixels.count), softness)
    assert fit.loss == pytest.approx(pixels.loss(model, softness), rel=1e-4)
    for read in model.reads:
        # gradients are those by softly quantised values
        read.grid.values = soft_quantise(read.grid.values.astype(np.float64), softness)
    for read, gradient in zip(model.reads, fit.gradients, strict=True):
        values = read.grid.values
        for texel in (0, len(values) // 2):
            for channel in range(read.grid.channels):
                before, ends = values[texel, channel], []
                for side in (1e-6, -1e-6):
                    values[texel, channel] = before + side
                    ends.append(pixels.loss(model))
                values[texel, channel] = before
                expected = pixels.count * (ends[0] - ends[1]) / 2e-6
                assert gradient[texel, channel] == pytest.approx(expected, rel=5e-3, abs=1e-2)


def test_a_mesh_has_more_vertices_than_a_texture_is_wide(device):
    count = 40_000
    pixels = Pixels(3)
    pixels.vertex = np.array([[0, count - 1, 5], [1, 2, 3], [count // 2, 4, 6]])
    values = np.random.default_rng(7).random((count, 3)).astype(np.float32)
    model = VertexColours(Grid(count, 1, values), CURVE)
    fit = ImageFit(model, pixels.records(device))
    assert pytest.approx(pixels.shade(model), rel=1e-4) == fit.shade().T


def test_a_step_moves_only_texels_that_are_between_two_bytes_once_quantisation_is_hard(device):
    model, pixels = of_models()["unlit"], Pixels()
    stored = model.texture.values
    is_between = np.arange(16) % 2 == 1
    stored[:] = (np.rint(stored * 255) + np.where(is_between, 0.45, 0)[:, None]) / 255
    before = stored.copy()
    fit = ImageFit(model, pixels.records(device))
    fit.differentiate(slice(0, pixels.count), 1.0)
    signs = np.sign(fit.gradients[0])
    fit.step(slice(0, pixels.count), 1e-3, 0, 1.0)
    fit.finish()
    # Adam's first step is as long as its rate
    moved = model.texture.values - before
    assert moved[is_between] == pytest.approx(-1e-3 * signs[is_between], rel=1e-2)
    assert np.abs(moved[~is_between]).max() < 1e-6


def test_means_at_texels_are_those_of_double_precision(device):
    model, pixels = of_models()["unlit"], Pixels(2000)
    means, weight = ImageFit(model, pixels.records(device)).means(0.6)
    indices, shares = model.texture.corners(pixels.uv[0])
    total = np.bincount(indices.ravel(), shares.ravel(), 16)
    assert weight == pytest.approx(total, abs=1e-2)
    for channel, each in enumerate(CURVE.to_stored(0.6 * pixels.light)):
        expected = np.bincount(indices.ravel(), (shares * each).ravel(), 16) / total
        assert means[:, channel] == pytest.approx(expected, abs=2e-4)


def test_means_of_one_colour_keep_it_however_many_pixels_share_it(device):
    # more than 32 bits of fixed point hold
    pixels = Pixels(150_000, lambda uv: np.full_like(uv[:1], 0.5).repeat(3, 0))
    model = OneTexture(Grid.of(1, 1, np.zeros(3)), CLAMP)
    means, weight = ImageFit(model, pixels.records(device)).means()
    assert means == pytest.approx(np.full((1, 3), 0.5), abs=1e-4)
    assert weight == pytest.approx([150_000], rel=1e-4)


def test_holes_are_filled_ring_by_ring():
    texture = Grid.of(8, 8, np.zeros(1))
    texture.image[2, 2], texture.image[2, 4] = 1.0, 3.0
    seen = np.zeros((8, 8), bool)
    seen[2, 2] = seen[2, 4] = True
    fill_holes(texture, seen.reshape(-1))
    image = texture.image[..., 0]
    assert image[2, 3] == 2 and image[1, 2] == 1 and image[3, 4] == 3
    assert image[1, 3] == pytest.approx((1 + 2 + 3) / 3)
    assert (image >= 1).all() and (image <= 3).all()


def test_gradients_of_gltf_textures_match_finite_differences(device):
    rng = np.random.default_rng(2)
    count = 800
    drawn = (*samples_of(rng, count), rng.random(count).astype(np.float32) + 0.5)
    samples = Responses.upload(device, *drawn)
    textures = Grid(4, 4, 0.3 + 0.4 * rng.random((16, pbr_model.CHANNELS)).astype(np.float32))
    fit = PbrFit(samples, device)
    fit.start(textures, 0)
    fit.differentiate(slice(0, count))
    decoded = pbr_model.decode(textures.values).astype(np.float64)
    assert fit.loss == pytest.approx(mean_deviance(decoded, *drawn), rel=1e-5)
    step = 1e-4
    for texel in (0, 9):
        for channel in range(pbr_model.CHANNELS):
            ends = []
            for side in (step, -step):
                values = decoded.copy()
                values[texel, channel] += side
                ends.append(mean_deviance(values, *drawn))
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
        Responses.upload(device, *samples_of(rng, 1), np.zeros(1, np.float32)), device,
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
    wo = random_views(rng, count)
    wi = lights_for(rng, wo)
    uv, value = rng.random((2, count)), rng.random((3, count)) / 2
    return uv.astype(np.float32), wi.T, wo.T, value.astype(np.float32)


def mean_deviance(decoded, *drawn):
    """Of power 4/3, by its integral: the slope (v - t) / v^(4/3), from the target to the value."""
    uv, wi, wo, target, weight = (each.astype(np.float64) for each in drawn)
    value = pbr_model.evaluate(Grid(4, 4, decoded).sample(uv), wi, wo) + 1e-3
    target = target + 1e-3

    def below(v, t):
        # the integral of the slope: 3/2 v^(2/3) + 3 t v^(-1/3)
        return 1.5 * np.cbrt(v) ** 2 + 3 * t / np.cbrt(v)

    # from where the slope is that of a ratio of 20, (1 - 20) v^(-1/3)
    knee = target / 20
    limited = below(knee, target) - 19 * 1.5 * (np.cbrt(value) ** 2 - np.cbrt(knee) ** 2)
    loss = np.where(value < knee, limited, below(value, target)) - below(target, target)
    return float((loss.mean(0) * weight).mean())


def test_soft_quantisation_keeps_bytes_and_hardens_to_rounding():
    bytes_ = np.arange(256) / 255
    for softness in (0.05, 0.5, 1.0):
        assert soft_quantise(bytes_, softness) == pytest.approx(bytes_, abs=1e-12)
    between = (np.arange(255) + np.linspace(0.05, 0.4, 255)) / 255
    hard = soft_quantise(between, 1.0)
    assert hard == pytest.approx(np.rint(between * 255) / 255, abs=0.1 / 255)


def test_fitting_through_soft_quantisation_beats_rounding_after(device):
    source = Grid(16, 16, np.random.default_rng(0).random((256, 3)).astype(np.float32))
    pixels = Pixels(4000, lambda uv: CURVE.to_light(source.sample(uv)))
    losses = []
    for is_soft in (True, False):
        model = OneTexture(Grid(16, 16, source.values.copy()), CURVE)
        fit_model(model, pixels.records(device), ImageFitSettings(200, 4000, is_soft=is_soft))
        assert np.array_equal(np.rint(model.texture.values * 255) / 255, model.texture.values)
        losses.append(pixels.loss(model))
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


def rounding_error(light, curve):
    """Mean absolute error of displayed light after storing it in bytes."""
    stored = np.rint(curve.to_stored(light) * 255) / 255
    return np.abs(display(curve.to_light(stored)) - display(light)).mean()


def test_fitted_tone_curves_beat_clamping_and_reinhard_on_hdr_light():
    # of Reinhard et al. 2002, but for light up to 1000
    reinhard = ToneCurve(-0.999, 1.0)
    rng = np.random.default_rng(1)
    light = np.exp(rng.normal(-1.2, 1.6, 8_000))
    errors = [rounding_error(light, each) for each in (fit_curve(light), CLAMP, reinhard)]
    assert errors[0] < 0.7 * min(errors[1:])


def test_detail_and_low_colours_beat_one_texture_of_as_many_bytes(device):
    def light(uv):
        fine = 0.6 + 0.4 * np.sin(60 * uv[0]) * np.sin(60 * uv[1])
        return fine * np.stack([0.2 + uv[0], 0.9 - 0.6 * uv[1], 0.3 + 0 * uv[0]])

    pixels = Pixels(8000, light)
    pixels.uv[1] = pixels.uv[0]
    detail = DetailAndColour(
        Grid.of(32, 32, np.full(1, 0.5)), Grid.of(16, 16, np.full(3, 0.5)), CURVE
    )
    texture = OneTexture(Grid.of(25, 25, np.full(3, 0.5)), CURVE)
    sizes = [sum(each.grid.values.size for each in model.reads) for model in (detail, texture)]
    assert sizes[0] <= sizes[1]
    for model in (detail, texture):
        fit_model(model, pixels.records(device), ImageFitSettings(200, 4000))
    assert pixels.loss(detail) < 0.8 * pixels.loss(texture)


def is_painted(uv):
    # narrower than the texels, so that painted and other places share them
    return np.sin(40 * uv[0]) > 0


@pytest.mark.parametrize("name", list(of_models()))
def test_painted_weights_lower_the_error_where_they_are(device, name):
    def painted_error(weight):
        pixels = Pixels(
            1000, lambda uv: np.stack([0.3 + is_painted(uv)] * 3),
            lambda uv: np.where(is_painted(uv), weight, 1),
        )  # fmt: skip
        model = of_models()[name]
        fit_model(model, pixels.records(device), ImageFitSettings(100, 1000))
        return pixels.losses(model)[is_painted(pixels.uv[0])].mean()

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
        samples = Responses.upload(device, uv, wi, wo, value, weights)
        found, _ = fit_pbr(samples, 2, device, FitSettings(steps=60, batch=2000, layers=()))
        decoded = Grid(2, 2, pbr_model.decode(found.values)).sample(uv)
        error = np.abs(pbr_model.evaluate(decoded, wi, wo) - value).mean(0)
        return error[painted].mean()

    assert painted_error(8.0) < 0.7 * painted_error(1.0)


@pytest.mark.parametrize("layer", ["", "anisotropy"])
def test_a_material_that_gltf_can_hold_is_found(device, layer):
    rng = np.random.default_rng(4)
    uv, wi, wo, _ = samples_of(rng, 4000)
    stored = np.tile(np.array(pbr_model.START, np.float32), (4, 1))
    stored[:, pbr_model.BASE] = [[0.8, 0.3, 0.2], [0.9, 0.7, 0.2], [0.2, 0.5, 0.8], [0.5, 0.5, 0.5]]
    stored[:, pbr_model.ROUGHNESS] = [0.3, 0.6, 0.4, 0.7]
    stored[:, pbr_model.METALNESS] = [0, 1, 0, 1]
    if layer == "anisotropy":
        stored[:, pbr_model.STRETCH] = [0.5, 0.2]
    decoded = Grid(2, 2, pbr_model.decode(stored)).sample(uv)
    value = pbr_model.evaluate(decoded, wi, wo).astype(np.float32)
    samples = Responses.upload(device, uv, wi, wo, value, np.ones(4000, np.float32))
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


def test_gltf_textures_of_few_samples_a_texel_are_nearly_as_good_as_coarser_ones(device):
    def drawn(seed, count):
        rng = np.random.default_rng(seed)
        uv, wi, wo, _ = samples_of(rng, count)
        stored = np.tile(np.array(pbr_model.START, np.float32), (count, 1))
        # detail below any texel
        stored[:, pbr_model.METALNESS] = 1
        stored[:, pbr_model.ROUGHNESS] = rng.uniform(0.2, 0.5, count)
        value = pbr_model.evaluate(pbr_model.decode(stored).T, wi, wo).astype(np.float32)
        return uv, wi, wo, value

    few, fresh = drawn(1, 16_000), drawn(2, 8000)
    samples = Responses.upload(device, *few, np.ones(16_000, np.float32))

    def error_of(size):
        settings = FitSettings(steps=100, batch=2000, layers=())
        found, _ = fit_pbr(samples, size, device, settings)
        texels = Grid(size, size, pbr_model.decode(found.values)).sample(fresh[0])
        again = pbr_model.evaluate(texels, *fresh[1:3])
        return np.abs(np.cbrt(again) - np.cbrt(fresh[3])).mean()

    assert error_of(64) < 1.1 * error_of(16)
