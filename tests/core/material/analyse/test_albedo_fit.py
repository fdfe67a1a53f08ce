"""The fits of lobes' albedos: that the Slang files hold what the scripts write, and how close it
comes to integrals that the scripts have no part in."""

import albedo_anisotropy
import albedo_fit
import numpy as np
import pytest
from albedo_anisotropy import ScaledLobes, Views
from ggx_integrals import anisotropic_ggx_lobe

from verdigris.core.material.teacher.teacher import Teacher

from .. import closed_forms as forms
from ..furnace import ggx_density, ggx_lobe, sequence, view
from ..surfaces import closure, respond

# none of these pairs is fitted
PAIRS = ((0.9, 0.017), (0.7, 0.25), (0.45, 0.03), (0.28, 0.13), (0.13, 0.16), (0.03, 0.075))
DEGREES = (0, 8, 35, 62, 84)
COSINES = (0.02, 0.05, 0.12, 0.3, 0.5, 0.8, 1.0)


@pytest.fixture(scope="module")
def views():
    return Views.of(
        (cosine, np.radians(degrees), *pair)
        for pair in PAIRS
        for degrees in DEGREES
        for cosine in COSINES
    )


@pytest.fixture(scope="module")
def scales(views):
    model = albedo_anisotropy.MODEL
    source = albedo_anisotropy.OUTPUT.read_text()
    return model(albedo_fit.from_slang(albedo_anisotropy.NAME, model, source), views.inputs())


@pytest.fixture(scope="module")
def integrals(views):
    """What one bounce off white facets returns, and off those of an index of 1.5, by the closed
    form at quasi-random directions."""
    found = []
    for cosine, azimuth, pair in zip(views.cosine, views.azimuth, views.alphas, strict=True):
        wo = view(cosine, azimuth)
        wi = ggx_lobe(*sequence(1 << 14), wo, pair)
        above = wi[wi[:, 2] > 1e-6]
        share = forms.ggx(above, wo[None], *pair) / ggx_density(above, wo, pair) / len(wi)
        at_half = (above * forms.half_vector(above, wo[None])).sum(1)
        found.append((share.sum(), share @ forms.fresnel(at_half, 1.5, 0)[:, 0]))
    return np.array(found)


def test_the_isotropic_fits_are_as_they_were_written():
    source = albedo_fit.OUTPUT.read_text()
    models = {"ggxFit": albedo_fit.GGX_MODEL, "sheenFit": albedo_fit.SHEEN_MODEL}
    parts = [
        albedo_fit.as_slang(name, model, albedo_fit.from_slang(name, model, source))
        for name, model in models.items()
    ]
    assert albedo_fit.as_file("albedo_fit", parts) == source


def test_the_anisotropic_fit_is_as_it_was_written():
    source = albedo_anisotropy.OUTPUT.read_text()
    name, model = albedo_anisotropy.NAME, albedo_anisotropy.MODEL
    assert albedo_anisotropy.as_source(albedo_fit.from_slang(name, model, source)) == source


def test_a_fit_that_is_not_there_is_requested_for():
    with pytest.raises(ValueError, match=r"no function ggxFit in albedo_fit.slang: write .* again"):
        albedo_fit.from_slang("ggxFit", albedo_fit.GGX_MODEL, "")


def test_anisotropic_lobes_are_integrated_as_the_closed_form_is(views, integrals):
    lobes = views.lobes()
    totals = [lobe.total for lobe in lobes]
    np.testing.assert_allclose(totals, integrals[:, 0], rtol=2e-3)


def test_equal_roughnesses_are_integrated_as_one():
    for cosine in COSINES:
        both = anisotropic_ggx_lobe(cosine, 0.7, (0.3, 0.3), 80).total
        assert both == pytest.approx(albedo_fit.ggx_lobe(cosine, 0.3).total, abs=2e-4)


def test_anisotropic_light_is_hardly_underestimated_and_little_overestimated(
    views, scales, integrals
):
    ratio = integrals[:, 0] / ScaledLobes(views).totals(scales)
    assert ratio.max() < 1.008
    assert ratio.min() > 0.88
    assert np.median(ratio) > 0.95


def test_what_lies_below_an_anisotropic_dielectric_is_dimmed_enough(views, scales, integrals):
    scaled = ScaledLobes(views)
    reflectance = forms.fresnel(scaled.cosines(scales).ravel(), 1.5, 0)[:, 0]
    albedo = scaled.totals(scales) * (scaled.shares * reflectance.reshape(-1, 2)).sum(1)
    over = albedo - integrals[:, 1]
    assert over.min() > -0.008
    assert over.max() < 0.1


def test_equal_roughnesses_are_not_scaled():
    views = Views.of((cosine, 0.4, 0.3, 0.3) for cosine in COSINES)
    scaled = ScaledLobes(views)
    wild = np.full((len(COSINES), 2), 50.0)
    np.testing.assert_array_equal(scaled.totals(wild), scaled.total)
    np.testing.assert_array_equal(scaled.cosines(wild), scaled.places)


def test_the_shader_scales_lobes_as_the_script_does(views, scales):
    """At the mirror direction, what a white conductor returns is one bounce over its total."""
    inputs = {"ior": ("color3", "0,0,0"), "extinction": ("color3", "1,1,1")}
    teacher = Teacher(closure("conductor_bsdf", {**inputs, "roughness": ("vector2", "@uv")}))
    wo = np.array([view(*at) for at in zip(views.cosine, views.azimuth, strict=True)])
    wo = wo.astype(np.float32).astype(np.float64)
    wi = wo * [-1, -1, 1]
    once = forms.ggx(wi, wo, *views.alphas.T)
    kept = once < 1e4  # material.slang cuts higher peaks
    got = once / respond(teacher, views.alphas, wi, wo)[:, 0]
    assert kept.mean() > 0.8
    np.testing.assert_allclose(got[kept], ScaledLobes(views).totals(scales)[kept], rtol=2e-3)
