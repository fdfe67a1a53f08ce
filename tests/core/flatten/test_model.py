"""What flattened textures shade to: closed forms, gradients against differences, and the twin."""

import numpy as np
import pytest
from flattened import Flattened

from verdigris.core.baking.measure.measure import draw_held_out, measure_student
from verdigris.core.base.device import open_device
from verdigris.core.base.errors import DeviceError
from verdigris.core.flatten.flat_model import (
    ALBEDO,
    CHANNELS,
    F0,
    NORMAL,
    ROUGHNESS,
    FlatTextures,
    shade,
    shade_backward,
    start_textures,
    with_mips,
)
from verdigris.core.flatten.viewport import flatten, loss_and_gradients
from verdigris.core.network.spec import LatentLayout
from verdigris.core.sampling.draw_samples import TRAINING_SAMPLE
from verdigris.core.settings.bake_settings import BakeSettings


def hemisphere(random, count):
    z, turn = random.uniform(0.1, 1, count), random.uniform(0, 2 * np.pi, count)
    sine = np.sqrt(1 - z**2)
    return np.stack([sine * np.cos(turn), sine * np.sin(turn), z])


def random_texels(random, count):
    texel = random.uniform(0.1, 0.9, (CHANNELS, count))
    texel[NORMAL] = random.uniform(-0.4, 0.4, (2, count))
    return texel


def one_texel(albedo, f0, roughness, slant=(0.0, 0.0)):
    texel = np.zeros((CHANNELS, 1))
    texel[ALBEDO], texel[F0] = albedo, f0
    texel[ROUGHNESS], texel[NORMAL, 0] = roughness, slant
    return texel


def straight_up():
    return np.array([[0.0], [0.0], [1.0]])


def test_given_no_f0_when_seen_from_above_then_it_is_lambert():
    tape = shade(one_texel(0.6, 0.0, 0.5), straight_up(), straight_up())
    np.testing.assert_allclose(tape.value, 0.6 / np.pi, rtol=1e-12)


def test_given_a_mirror_pair_along_the_normal_then_it_is_the_peak_of_ggx():
    # D = 1 / (pi alpha^2), V = 1/4, F = F0
    tape = shade(one_texel(0.0, 0.3, 0.5), straight_up(), straight_up())
    np.testing.assert_allclose(tape.value, 0.3 / (np.pi * 0.25**2) / 4, rtol=1e-12)


def test_given_a_tilted_normal_then_the_peak_is_around_it():
    slant = np.array([0.6, 0.0])
    normal = np.array([[0.6], [0.0], [0.8]])
    tilted = shade(one_texel(0.2, 0.3, 0.4, slant), normal, normal)
    upright = shade(one_texel(0.2, 0.3, 0.4), straight_up(), straight_up())
    np.testing.assert_allclose(tilted.value, upright.value, rtol=1e-12)


def test_given_light_behind_the_stored_normal_then_nothing_is_reflected():
    wi = np.array([[-0.995], [0.0], [0.1]])
    assert not shade(one_texel(0.5, 0.5, 0.5, (0.9, 0.0)), wi, straight_up()).value.any()


def test_given_the_roughest_white_metal_seen_from_above_then_single_scattering_keeps_1_less_ln_2():
    # D = 1 / pi and V = 1 / (2 (1 + n.wi)): the integral of n.wi / (1 + n.wi) from 0 to 1
    cosine = (np.arange(1000) + 0.5) / 1000
    wi = np.stack([np.sqrt(1 - cosine**2), 0 * cosine, cosine])
    texel = np.broadcast_to(one_texel(0.5, 1.0, 1.0), (CHANNELS, 1000))
    value = shade(texel, wi, np.broadcast_to(straight_up(), wi.shape)).value
    assert value[0].mean() * 2 * np.pi == pytest.approx(1 - np.log(2), rel=1e-5)


@pytest.mark.parametrize("channel", range(CHANNELS))
def test_gradients_agree_with_central_differences(channel):
    random = np.random.default_rng(channel)
    wi, wo = hemisphere(random, 100), hemisphere(random, 100)
    texel = random_texels(random, 100)
    weights = random.standard_normal((3, 100))
    found = shade_backward(shade(texel, wi, wo), weights)[channel]
    step = 1e-6
    up, down = texel.copy(), texel.copy()
    up[channel] += step
    down[channel] -= step
    change = (weights * (shade(up, wi, wo).value - shade(down, wi, wo).value)).sum(0)
    np.testing.assert_allclose(found, change / (2 * step), rtol=1e-5, atol=1e-6)


def random_batch(random, count):
    batch = np.zeros(count, TRAINING_SAMPLE)
    batch["uv"] = random.random((count, 2))
    batch["wi"], batch["wo"] = hemisphere(random, count).T, hemisphere(random, count).T
    batch["response"] = random.random((count, 3))
    return batch


def test_the_loss_passes_its_gradient_to_the_texels():
    random = np.random.default_rng(5)
    layout = LatentLayout(4, 4)
    textures = FlatTextures(layout, random_texels(random, layout.texel_count).T.copy())
    batch = random_batch(random, 64)
    found = loss_and_gradients(textures, batch).texels
    step = 1e-6
    for texel, channel in ((0, 1), (3, 4), (9, 6), (15, 7), (6, 8)):
        values = []
        for sign in (1, -1):
            textures.texels[texel, channel] += sign * step
            values.append(loss_and_gradients(textures, batch).loss)
            textures.texels[texel, channel] -= sign * step
        difference = (values[0] - values[1]) / (2 * step)
        assert found[texel, channel] == pytest.approx(difference, rel=1e-4, abs=1e-8)


def test_mips_are_means_and_normals_stay_unit():
    textures = start_textures(2, 2)
    textures.texels[:, ROUGHNESS] = 0.1, 0.2, 0.3, 0.8
    textures.texels[:, NORMAL] = [[0.6, 0.0], [-0.6, 0.0], [0.6, 0.0], [0.6, 0.0]]
    coarse = with_mips(textures).level(1)[0, 0]
    assert coarse[ROUGHNESS] == pytest.approx(0.35)
    # mean (0.3, 0, 0.8), made unit
    np.testing.assert_allclose(coarse[NORMAL], [0.3 / np.hypot(0.3, 0.8), 0], atol=1e-7)


@pytest.fixture(scope="module")
def device():
    try:
        return open_device("software")
    except DeviceError as error:
        pytest.skip(str(error))


def test_the_device_shades_the_same(device):
    random = np.random.default_rng(7)
    layout = LatentLayout(4, 4)
    textures = with_mips(FlatTextures(layout, random_texels(random, 16).T.copy()))
    wi, wo = (hemisphere(random, 16).T.astype(np.float32) for _ in range(2))
    for level, size in ((0, 4), (1, 2)):
        rows, columns = np.divmod(np.arange(size * size), size)
        uv = ((np.stack([columns, rows], 1) + 0.5) / size).astype(np.float32)
        count = len(uv)
        expected = shade(textures.level(level).reshape(-1, CHANNELS).T, wi[:count].T, wo[:count].T)
        found = Flattened(textures, device, level).response(uv, wi[:count], wo[:count])
        np.testing.assert_allclose(found, expected.value.T, rtol=2e-4, atol=1e-6)


def test_given_a_teacher_of_the_same_form_when_fitted_then_its_texels_are_found(device):
    random = np.random.default_rng(11)
    texels = np.tile(random_texels(random, 1).T, (16, 1))
    texels[:, ROUGHNESS] = 0.5
    teacher = Flattened(FlatTextures(LatentLayout(4, 4), texels), device)
    settings = BakeSettings(resolution=4, iterations=600, batch=256)
    found = flatten(teacher, settings)
    np.testing.assert_allclose(found.level(0).reshape(-1, CHANNELS), texels, atol=0.03)
    held_out = draw_held_out(teacher, 1000)
    assert measure_student(Flattened(found, device), held_out).log_mae < 2e-3
