"""Faults of lobes in MaterialX 1.39.5 that this project repairs.

Each test passes while the fault exists. If one fails, MaterialX has repaired the fault: remove
the repair that the test names, then the test.
"""

import re

import numpy as np
import pytest

from .. import closed_forms
from ..furnace import bounces, ggx_density, ggx_lobe, integrated, sequence, view
from ..surfaces import closure, node
from ..untouched import raw, source


def test_subsurface_takes_its_curvature_from_neighbouring_pixels():
    """overrides/nodes/mx_subsurface_bsdf.slang"""
    assert "fwidth(N)" in source("pbrlib/genglsl/lib/mx_microfacet_diffuse.glsl")


def test_the_energy_preserving_lobe_clamps_the_angle_between_light_and_view():
    """overrides/nodes/mx_oren_nayar_diffuse_bsdf.slang"""
    code = source("pbrlib/genglsl/mx_oren_nayar_diffuse_bsdf.glsl")
    assert "LdotV = clamp(dot(L, V), M_FLOAT_EPS, 1.0)" in code


@pytest.mark.parametrize(
    "lobe", ["oren_nayar_diffuse", "burley_diffuse", "subsurface", "translucent", "conductor"]
)
def test_an_opaque_lobe_lets_nothing_through_at_any_weight(lobe):
    """overrides/lib/opaque.slang"""
    before, _ = source(f"pbrlib/genglsl/mx_{lobe}_bsdf.glsl").split("if (weight < M_FLOAT_EPS)")
    assert "bsdf.throughput = vec3(0.0);" in before


def test_the_shares_of_a_mix_are_written_into_weights():
    """overrides/lib/opaque.slang"""
    mixed = {"fg": ("BSDF", "@one"), "bg": ("BSDF", "@other"), "mix": ("float", "@u")}
    lobes = "".join(node("burley_diffuse_bsdf", name, "BSDF", {}) for name in ("one", "other"))
    code = raw(closure("mix", mixed, lobes))
    assert "mx_add_bsdf(closureData" in code and "mx_mix_bsdf(closureData" not in code


def ggx_fit(cosine, alpha):
    """MaterialX's fit to what one bounce off a white GGX surface returns, as its source has it."""
    code = source("pbrlib/genglsl/lib/mx_microfacet_specular.glsl")
    body = code.split("vec3 mx_ggx_dir_albedo_analytic(")[1].split("vec2 AB")[0]
    rows = re.findall(r"vec4\(([^)]*)\)", body)
    table = np.array([[float(number) for number in row.split(",")] for row in rows])
    x, y = cosine, alpha
    terms = np.array([1, x, y, x * y, x**2, y**2, x**2 * y, x * y**2, x**2 * y**2])
    first, second, under, under_second = terms @ table
    return np.clip(first / under, 0, 1) + np.clip(second / under_second, 0, 1)


@pytest.mark.parametrize(("cosine", "alpha", "short"), [(0.1, 0.01, 0.06), (0.05, 0.01, 0.04)])
def test_the_albedo_of_ggx_is_fitted_too_low(cosine, alpha, short):
    """overrides/lib/ggx_lobe.slang: white lobes return as much more as the fit is short of."""
    assert ggx_fit(cosine, alpha) < bounces(cosine, alpha)[1].sum() * (1 - short)


@pytest.mark.parametrize("name", ["conductor", "dielectric", "generalized_schlick"])
def test_an_anisotropic_lobe_is_mrequested_by_one_roughness_for_all_azimuths(name):
    """overrides/lib/ggx_lobe.slang: a white metal returns several times what it receives."""
    code = source(f"pbrlib/genglsl/mx_{name}_bsdf.glsl")
    assert "mx_ggx_smith_G2(NdotL, NdotV, avgAlpha)" in code
    alphas, wo = (0.5, 0.05), view(0.05)
    wi = ggx_lobe(*sequence(1 << 13), wo, alphas)
    wi = wi[wi[:, 2] > 0]
    wide, mean = np.prod(alphas), np.sqrt(np.prod(alphas))
    density = closed_forms.ggx(wi, wo[None], *alphas)

    def visible(x2, y2):
        hidden = [
            (np.sqrt(1 + (x2 * w[..., 0] ** 2 + y2 * w[..., 1] ** 2) / w[..., 2] ** 2) - 1) / 2
            for w in (wi, wo)
        ]
        return 1 / (1 + sum(hidden))

    once = density * visible(wide, wide) / visible(alphas[0] ** 2, alphas[1] ** 2)
    returned = (once / ggx_density(wi, wo, alphas)).sum() / (1 << 13)
    assert returned / bounces(wo[2], mean)[1].sum() > 2.5


def test_a_dielectric_dims_what_lies_below_by_schlicks_curve():
    """overrides/nodes/mx_dielectric_bsdf.slang: it reflects by Fresnel's, up to 0.035 more."""
    code = source("pbrlib/genglsl/mx_dielectric_bsdf.glsl")
    assert "mx_ggx_dir_albedo(NdotV, avgAlpha, F0, 1.0) * comp" in code
    cosine = np.array([0.35])
    assert closed_forms.fresnel(cosine, 1.5, 0)[0, 0] > 0.04 + 0.96 * (1 - cosine[0]) ** 5 + 0.01


def test_a_film_is_dropped_of_what_dims_what_lies_below():
    """overrides/lib/ggx_lobe.slang: the albedo is made of F0 and white, without the film."""
    for node_name in ("dielectric", "generalized_schlick"):
        code = source(f"pbrlib/genglsl/mx_{node_name}_bsdf.glsl")
        assert "mx_ggx_dir_albedo(NdotV, avgAlpha, fd)" not in code


def test_a_coloured_schlick_lobe_lets_the_mean_of_its_channels_through():
    """overrides/nodes/mx_generalized_schlick_bsdf.slang"""
    code = source("pbrlib/genglsl/mx_generalized_schlick_bsdf.glsl")
    assert "bsdf.throughput = vec3(1.0 - avgDirAlbedo * weight)" in code


def test_smooth_sheen_returns_more_than_it_receives():
    """overrides/nodes/mx_sheen_bsdf.slang: the lobe is used as it is, whatever it returns."""
    code = source("pbrlib/genglsl/mx_sheen_bsdf.glsl")
    assert "color * mx_imageworks_sheen_brdf(NdotL, NdotV, NdotH, roughness);" in code
    assert integrated(lambda *at: closed_forms.sheen([1.0], 0.01, *at), 0.05) > 1.5


def test_sheen_dims_what_lies_below_by_another_albedo_than_its_own():
    """overrides/nodes/mx_sheen_bsdf.slang"""
    code = source("pbrlib/genglsl/lib/mx_microfacet_sheen.glsl")
    body = code.split("float mx_imageworks_sheen_dir_albedo_analytic(")[1].split("return")[0]
    rows = np.array([row.split(",") for row in re.findall(r"vec2\(([^)]*)\)", body)], float)
    cosine, roughness = 0.1, 0.3
    terms = [1, cosine, roughness, cosine * roughness, cosine**2, roughness**2]
    over, under = terms @ rows
    albedo = integrated(lambda *at: closed_forms.sheen([1.0], roughness, *at), cosine)
    assert abs(over / under - albedo) > 0.02


def test_burleys_lobe_gains_energy():
    """overrides/nodes/mx_burley_diffuse_bsdf.slang: as published, and used as it is."""
    code = source("pbrlib/genglsl/mx_burley_diffuse_bsdf.glsl")
    assert "bsdf.response *= mx_burley_diffuse(NdotV, NdotL, LdotH, roughness);" in code
    assert integrated(lambda *at: closed_forms.burley([1.0], 1.0, *at), 0.05) > 1.4


def test_the_qualitative_oren_nayar_lobe_gains_energy():
    """overrides/nodes/mx_oren_nayar_diffuse_bsdf.slang: as published, and used as it is."""
    code = source("pbrlib/genglsl/mx_oren_nayar_diffuse_bsdf.glsl")
    assert "mx_oren_nayar_diffuse(NdotV, NdotL, LdotV, roughness) * color;" in code
    albedos = [
        integrated(lambda *at, r=r: closed_forms.oren_nayar([1.0], r, *at), cosine)
        for r in (0.1, 0.2, 0.3, 0.5)
        for cosine in (0.05, 0.1, 0.2, 0.35)
    ]
    assert max(albedos) > 1.005
