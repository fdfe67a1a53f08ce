"""Proxies of responses with closed forms."""

from functools import partial

import numpy as np
import pytest

from verdigris.core.bundle.files.reference import lobes_at
from verdigris.core.bundle.proxies.light_sums import deviation_of_sampler, sums_by_sampler, sums_on
from verdigris.core.bundle.proxies.lobes import equal_shares, learned_frames, light_counts
from verdigris.core.bundle.proxies.make_proxies import (
    alpha_of_spread,
    make_proxies,
    numpy_respond_at,
)
from verdigris.core.bundle.proxies.proxy_texture import VIEW_COSINES, AlbedoBasis
from verdigris.core.bundle.proxies.quadrature import LightTask, polar, sum_lights
from verdigris.core.network.light.sampler import pdf
from verdigris.core.network.parameters import initialise
from verdigris.core.network.spec import LatentLayout, NetworkSpec
from verdigris.core.network.student import Student

from ..bundles import lively_parameters

UP = np.array([0, 0, 1])
COSINES = np.array([1, 0.8, 0.6, 0.45, 0.3, 0.2, 0.1, 0.05])


def plain_frames():
    """Parameters whose frames are the surface's, for responses that do not use them."""
    parameters = initialise(NetworkSpec(8, 1), LatentLayout(4, 4, 3), 0)
    parameters.frames()[:] = 0
    return parameters


def proxies_of(response, evaluations=20_000):
    """Proxies of one texel of a response, a function of wi and wo [N, 3]."""
    return make_proxies(
        plain_frames(), lambda lod: lambda uv, wi, wo: response(wi, wo), evaluations
    )


def values_of(made):
    count = len(COSINES)
    return made.proxies.at(np.full((count, 2), 0.5), np.full(count, 9.0))


def lambert(albedo, normal, wi, wo):
    lit = np.maximum(wi @ normal, 0) * (wi[:, 2] > 0) * (wo[:, 2] > 0)
    return (lit[:, None] * albedo / np.pi).astype(np.float32)


def ggx(alpha, wi, wo):
    """A conductor that reflects everything at a facet: D, G and cosines as in textbooks."""
    half = wi + wo
    half = half / np.linalg.norm(half, axis=1, keepdims=True)
    square = alpha**2
    normals = square / (np.pi * (half[:, 2] ** 2 * (square - 1) + 1) ** 2)

    def tail(cosine):
        return (np.sqrt(1 + square * (1 / cosine**2 - 1)) - 1) / 2

    cosines = np.maximum(wi[:, 2], 1e-6), np.maximum(wo[:, 2], 1e-6)
    seen = 1 / (1 + tail(cosines[0]) + tail(cosines[1]))
    value = normals * seen / (4 * cosines[1]) * (wi[:, 2] > 0)
    return np.repeat(value[:, None], 3, axis=1).astype(np.float32)


def brute_force(response, cosine, count=600):
    """Albedo from lights on a grid of half vectors around the normal: nothing of ours is used."""
    # tan of the polar angle spread over decades, where highlights of all widths are
    tan = np.concatenate([[0], np.logspace(-4, 3, count)])
    middle = np.sqrt(tan[1:] * np.maximum(tan[:-1], 1e-5))
    turn = 2 * np.pi * (np.arange(64) + 0.5) / 64
    z = 1 / np.sqrt(1 + middle**2)
    solid = np.abs(np.diff(1 / np.sqrt(1 + tan**2)))[:, None] * (2 * np.pi / 64)
    sine = np.sqrt(1 - z**2)
    half = np.stack(
        [sine[:, None] * np.cos(turn), sine[:, None] * np.sin(turn), z[:, None] + 0 * turn], -1
    )
    wo = np.array([np.sqrt(1 - cosine**2), 0, cosine])
    along = half @ wo
    wi = 2 * along[..., None] * half - wo
    weight = np.where(along > 0, 4 * along * solid, 0).ravel()
    lights = wi.reshape(-1, 3)
    value = response(lights, np.broadcast_to(wo, lights.shape))
    return (value * weight[:, None]).sum(0)


def test_a_lambertian_response_is_all_diffuse():
    albedo = np.array([0.8, 0.3, 0.05])
    made = proxies_of(partial(lambert, albedo, np.array([0, 0, 1])))
    values = values_of(made)
    # a byte of sRGB and noise of the quadrature
    np.testing.assert_allclose(values.diffuse, np.tile(albedo, (8, 1)), rtol=0.015)
    np.testing.assert_allclose(values.albedo(COSINES), np.tile(albedo, (8, 1)), rtol=0.02)
    np.testing.assert_allclose(values.mean_albedo(), np.tile(albedo, (8, 1)), rtol=0.02)
    assert values.specular(COSINES).max() < 0.012
    np.testing.assert_allclose(values.normal, np.tile([0, 0, 1], (8, 1)), atol=0.01)
    assert made.largest_albedo == pytest.approx(0.8, rel=0.02)


def test_a_tilted_lambertian_response_has_its_normal_and_albedo():
    normal = np.array([np.sin(0.3), 0, np.cos(0.3)])
    values = values_of(proxies_of(partial(lambert, np.full(3, 0.5), normal)))
    np.testing.assert_allclose(values.normal[0], normal, atol=0.03)
    np.testing.assert_allclose(values.diffuse[0], 0.5, rtol=0.05)


@pytest.mark.parametrize("alpha", [0.1, 0.3])
def test_a_conductor_reflects_what_brute_force_finds(alpha):
    values = values_of(proxies_of(partial(ggx, alpha), 60_000))
    wanted = np.array([brute_force(partial(ggx, alpha), each) for each in COSINES])
    np.testing.assert_allclose(values.albedo(COSINES), wanted, rtol=0.02)
    np.testing.assert_allclose(values.normal[0], [0, 0, 1], atol=0.02)
    # the tail of a broad highlight counts as diffuse, and what is left is narrower
    assert values.roughness[0] ** 2 == pytest.approx(alpha, rel=2 * alpha)
    assert values.diffuse.max() < 0.02 + 1.5 * alpha**2


def sheen(cosine):
    return 0.04 + 0.6 * (1 - cosine) * np.array([1.0, 0.4, 0.2])


def film(cosine):
    """Interference: its phase is the cosine's in the film, and other channels turn elsewhere."""
    inside = np.sqrt(1 - (1 - cosine**2) / 1.5**2)
    turns = np.cos(2 * np.pi * inside * np.array([2.2, 3.0, 3.7]))
    return 0.1 + 0.6 * (1 - cosine) ** 5 + 0.09 * turns


@pytest.mark.parametrize("albedo", [sheen, film])
def test_every_material_has_curves_of_its_own(albedo):
    def response(wi, wo):
        lit = np.maximum(wi[:, 2:], 0) * (wo[:, 2:] > 0) / np.pi
        return (albedo(wo[:, 2:]) * lit).astype(np.float32)

    found = values_of(proxies_of(response, 60_000)).albedo(COSINES)
    wanted = albedo(COSINES[:, None])
    np.testing.assert_allclose(found, wanted, rtol=0.02, atol=0.002)


def test_curves_of_many_films_are_fitted_better_than_by_fixed_functions():
    random = np.random.default_rng(3)
    thickness = random.uniform(0.9, 1.1, (200, 1, 1))
    inside = np.sqrt(1 - (1 - VIEW_COSINES[:, None] ** 2) / 1.5**2)
    exact = 0.2 + 0.1 * np.cos(2 * np.pi * inside * thickness * np.array([1.8, 2.2, 2.7]))
    basis = AlbedoBasis.of(exact * random.uniform(0.9, 1.1, exact.shape))
    fitted = np.einsum("cvi,nci->nvc", basis.functions, basis.fit(exact))
    fixed = (1 - VIEW_COSINES[:, None]) ** (0, 2, 5, 10)
    flat = np.einsum("vw,nwc->nvc", fixed @ np.linalg.pinv(fixed), exact)
    own, others = (np.median(np.abs(each / exact - 1)) for each in (fitted, flat))
    assert own < 0.02 and others > 3 * own


def test_albedo_is_never_above_1_and_the_energy_is_still_measured():
    made = proxies_of(partial(lambert, np.full(3, 1.4), np.array([0, 0, 1])))
    assert made.largest_albedo == pytest.approx(1.4, rel=0.02)
    values = values_of(made)
    assert max(values.albedo(COSINES).max(), values.diffuse.max()) <= 1


def test_reciprocity_is_the_difference_of_both_ways():
    def biased(wi, wo):
        return lambert(np.full(3, 0.5), np.array([0, 0, 1]), wi, wo) * (
            1 + 0.5 * (wi[:, 2:] - wo[:, 2:])
        )

    # the pairs of directions differ in cosine by 0, .44, 0 and .443
    middle, most = proxies_of(biased).reciprocity
    assert middle == pytest.approx(0.22, abs=0.01) and most == pytest.approx(0.443, abs=0.01)
    assert proxies_of(partial(lambert, np.ones(3), np.array([0, 0, 1]))).reciprocity[1] < 1e-5


def test_the_mean_albedo_counts_every_view_by_its_cosine():
    albedo = np.full(3, 0.5)
    values = values_of(proxies_of(lambda wi, wo: lambert(albedo * wo[:, 2:], UP, wi, wo)))
    # 2 times the integral of .5 m^2; flatter views than the flattest cosine count as that one
    np.testing.assert_allclose(values.mean_albedo(), 1 / 3, rtol=0.02)


@pytest.mark.parametrize("alpha", [0.05, 0.2, 0.7])
def test_the_spread_of_normals_gives_alpha_back(alpha):
    # normals of a GGX distribution, by inversion
    u = (np.arange(200_000) + 0.5) / 200_000
    tangent = alpha**2 * u / (1 - u)
    spread = np.array([(tangent / (1 + tangent)).mean()])
    assert alpha_of_spread(spread)[0] == pytest.approx(alpha, rel=0.01)


def test_a_device_sums_as_numpy_does(software):
    parameters = lively_parameters(NetworkSpec(8, 1, "silu"), LatentLayout(4, 4, 3))
    random = np.random.default_rng(1)
    uv = random.random((40, 2)).astype(np.float32)
    wo = polar(random.uniform(0.03, 1, 40), 2 * np.pi * random.random(40))
    task = LightTask(
        learned_frames(parameters, uv, np.zeros(40, np.float32)),
        uv,
        wo,
        random.random((2, 40), np.float32),
        (0.02 * wo).astype(np.float32),
        light_counts(equal_shares(parameters.spec.frame_count), 60),
    )
    wanted = sum_lights(numpy_respond_at(parameters)(0.0), task)
    found = sums_on(Student(parameters, software))(None, task)
    for name in ("albedo", "half", "square"):
        there = getattr(wanted, name)
        scale = np.abs(there).max(axis=tuple(range(1, there.ndim)), keepdims=True)
        np.testing.assert_allclose(getattr(found, name) / scale, there / scale, atol=1e-3)


def test_lights_of_the_sampler_give_the_same_sums():
    """Two estimates of one integral, whose lights come of different lobes."""
    parameters = lively_parameters()
    random = np.random.default_rng(8)
    count = 24
    uv = random.random((count, 2)).astype(np.float32)
    frames = learned_frames(parameters, uv, np.zeros(count, np.float32))
    task = LightTask(
        frames,
        uv,
        polar(random.uniform(0.2, 1, count), 2 * np.pi * random.random(count)),
        random.random((2, count), np.float32),
        np.zeros((3, count), np.float32),
        light_counts(equal_shares(len(frames.axes)), 4000),
    )
    respond = numpy_respond_at(parameters)(0.0)
    wanted, found = (over(respond, task) for over in (sum_lights, sums_by_sampler(parameters, 0.0)))
    errors = np.abs(found.albedo / wanted.albedo - 1)
    assert np.median(errors) < 0.02
    assert errors.max() < 0.2
    np.testing.assert_allclose(found.half, wanted.half, rtol=0.2, atol=0.02)


def test_the_deviation_of_the_sampler_is_that_of_its_weights():
    """Of its own density none is left but that of draws below the horizon; a diffuse response
    deviates more."""
    parameters = lively_parameters()

    def density(uv, wi, wo):
        lobes = lobes_at(parameters, uv, np.zeros(len(uv), np.float32), wo)
        return np.repeat(pdf(lobes, wi.T)[:, None] * (wi[:, 2:] > 0), 3, axis=1)

    def diffuse(uv, wi, wo):
        return np.repeat(np.maximum(wi[:, 2:], 0), 3, axis=1)

    own, other = (
        deviation_of_sampler(parameters, respond, 0.0, np.random.default_rng(1))
        for respond in (density, diffuse)
    )
    # b of all draws below: deviation sqrt(b / (1 - b))
    assert own < 1
    assert other > 1.2 * own
