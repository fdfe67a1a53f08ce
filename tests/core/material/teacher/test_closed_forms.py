"""The teacher's lobes against published models, at 400 random direction pairs each.

Colours, roughnesses and indices vary from pair to pair through uv. Half of the pairs lie near the
mirror direction, so that peaks are compared too. Albedos are integrals of the closed forms, in
double precision. Of anisotropic lobes, whose restored energy is a bound and no integral (see
test_teacher_furnace.py), what is restored is read off at the mirror direction of each view.
"""

import numpy as np
import pytest

from verdigris.core.material.teacher.teacher import Teacher

from .. import closed_forms as forms
from ..apart import BY_X, each_of, look_over_uv
from ..furnace import bounces, integrated
from ..surfaces import hemisphere, node, normalised

PAIRS = 400
TOLERANCE, VISIBLE = 1e-3, 1e-3
COLOUR = [0.8, 0.5, 0.2]
COLOUR_INPUT = ("color3", "0.8,0.5,0.2")
GOLD_N, GOLD_K = [0.183, 0.422, 1.373], [3.424, 2.346, 1.770]


@pytest.fixture(scope="module")
def pairs():
    random = np.random.default_rng(20)
    wi, wo = hemisphere(random, PAIRS), hemisphere(random, PAIRS)
    near = PAIRS // 2
    spread = random.uniform(0.01, 0.5, (near, 1))
    mirrored = wo[:near] * [-1, -1, 1] + spread * random.standard_normal((near, 3))
    mirrored[:, 2] = np.abs(mirrored[:, 2]) + 0.02
    wi[:near] = normalised(mirrored).astype(np.float32)
    return wi, wo


@pytest.fixture(scope="module")
def uv():
    """From 0.1 up, so that they serve as roughnesses."""
    values = np.random.default_rng(21).uniform(0.1, 1, (PAIRS, 2))
    return values.astype(np.float32).astype(np.float64)


TINTED = {"color": COLOUR_INPUT, "roughness": ("float", "@u")}
ROUGHNESSES = {"isotropic": "uu", "anisotropic": "uv"}


def lobe(category, before="", **inputs):
    return before + node(category, "lobe", "BSDF", inputs)


def microfacets(name):
    alphas = ("vector2", f"@{name}")
    index = node("add", "index", "float", {"in1": ("float", "@v"), "in2": ("float", "1.2")})
    gold = {
        "ior": ("color3", ",".join(map(str, GOLD_N))),
        "extinction": ("color3", ",".join(map(str, GOLD_K))),
    }
    schlick = {
        "color0": ("color3", "0.9,0.5,0.2"),
        "color82": ("color3", "0.9,0.7,1"),
        "color90": ("color3", "1,0.9,0.8"),
    }
    return {
        f"conductor {name}": lobe("conductor_bsdf", roughness=alphas, **gold),
        f"dielectric {name}": lobe(
            "dielectric_bsdf", index, ior=("float", "@index"), roughness=alphas
        ),
        f"schlick {name}": lobe("generalized_schlick_bsdf", roughness=alphas, **schlick),
    }


BODIES = {
    "lambert": lobe("oren_nayar_diffuse_bsdf", color=("color3", "@uv_colour")),
    "oren-nayar": lobe("oren_nayar_diffuse_bsdf", **TINTED),
    "energy-preserving oren-nayar": lobe(
        "oren_nayar_diffuse_bsdf", **TINTED, energy_compensation=("boolean", "true")
    ),
    "coloured burley": lobe("burley_diffuse_bsdf", **TINTED),
    "white burley": lobe(
        "burley_diffuse_bsdf", color=("color3", "1,1,1"), roughness=("float", "@u")
    ),
    "grey burley": lobe("burley_diffuse_bsdf", roughness=("float", "@u")),
    **microfacets("uu"),
    **microfacets("uv"),
    "white uv": lobe(
        "conductor_bsdf",
        ior=("color3", "0,0,0"),
        extinction=("color3", "1,1,1"),
        roughness=("vector2", "@uv"),
    ),
    "sheen": lobe("sheen_bsdf", **TINTED),
    "layer": lobe(
        "layer",
        node("oren_nayar_diffuse_bsdf", "below", "BSDF", {"color": COLOUR_INPUT})
        + node("dielectric_bsdf", "above", "BSDF", {"roughness": ("vector2", "@uu")}),
        top=("BSDF", "@above"),
        base=("BSDF", "@below"),
    ),
}


@pytest.fixture(scope="module")
def look(uv):
    """What each of the bodies returns of light along `wi` towards `wo`, by name."""
    teacher = Teacher(each_of(BODIES.values(), BY_X))

    def looked_at(wi, wo):
        return dict(zip(BODIES, look_over_uv(len(BODIES), teacher, uv, wi, wo), strict=True))

    return looked_at


@pytest.fixture(scope="module")
def found(look, pairs):
    return look(*pairs)


@pytest.fixture(scope="module")
def totals(uv, pairs, look):
    """What one bounce returns at each pair, for a roughness of u and of u and v."""
    cosines = pairs[1][:, 2]
    equal = [bounces(*at)[1].sum() for at in zip(cosines, uv[:, 0], strict=True)]
    mirrored = pairs[1] * [-1, -1, 1]
    once = forms.ggx(mirrored, pairs[1], uv[:, 0], uv[:, 1])
    return {"uu": np.array(equal), "uv": once / look(mirrored, pairs[1])["white uv"][:, 0]}


def largest_error(got, expected):
    expected = np.broadcast_to(expected, got.shape)
    visible = expected > VISIBLE
    assert visible.mean() > 0.5, "hardly anything was compared"
    assert np.abs(got - expected)[~visible].max(initial=0) < TOLERANCE * VISIBLE
    return (np.abs(got - expected)[visible] / expected[visible]).max()


def cosine_at_half(pairs):
    return (pairs[0] * forms.half_vector(*pairs)).sum(1)


def test_lambert_is_colour_over_pi_times_cosine(uv, pairs, found):
    colour = np.c_[uv, np.full(PAIRS, 0.25)]
    assert largest_error(found["lambert"], forms.lambert(colour, pairs[0])) < TOLERANCE


def test_oren_nayar_follows_the_qualitative_model(uv, pairs, found):
    expected = forms.oren_nayar(COLOUR, uv[:, 0], *pairs)
    assert largest_error(found["oren-nayar"], expected) < TOLERANCE


def test_energy_preserving_oren_nayar_follows_its_paper(uv, pairs, found):
    expected = forms.energy_preserving_oren_nayar(COLOUR, uv[:, 0], *pairs)
    assert largest_error(found["energy-preserving oren-nayar"], expected) < TOLERANCE


@pytest.mark.parametrize(("name", "colour"), [("coloured", COLOUR), ("white", [1, 1, 1])])
def test_burley_diffuse_follows_its_paper_as_far_as_it_gains_nothing(
    uv, pairs, found, name, colour
):
    albedo = [
        integrated(lambda wi, wo, u=u: forms.burley(max(colour), u, wi, wo), cosine)
        for u, cosine in zip(uv[:, 0], pairs[1][:, 2], strict=True)
    ]
    expected = forms.burley(colour, uv[:, 0], *pairs) / np.maximum(1, albedo)[:, None]
    assert np.mean(np.greater(albedo, 1)) > 0.01, "nothing was taken off"
    assert largest_error(found[f"{name} burley"], expected) < TOLERANCE


@pytest.mark.parametrize("roughness", ROUGHNESSES.values(), ids=ROUGHNESSES)
class TestMicrofacets:
    def expected(self, reflectance, uv, pairs, roughness, totals):
        alpha_y = uv[:, 0] if roughness == "uu" else uv[:, 1]
        return forms.specular(reflectance, totals[roughness], *pairs, uv[:, 0], alpha_y)

    def test_a_conductor_has_fresnels_reflectance(self, uv, pairs, roughness, totals, found):
        reflectance = forms.fresnel(cosine_at_half(pairs), GOLD_N, GOLD_K)
        expected = self.expected(reflectance, uv, pairs, roughness, totals)
        assert largest_error(found[f"conductor {roughness}"], expected) < TOLERANCE

    def test_a_dielectric_has_fresnels_reflectance(self, uv, pairs, roughness, totals, found):
        reflectance = forms.fresnel(cosine_at_half(pairs), uv[:, 1:] + 1.2, 0.0)
        expected = self.expected(reflectance, uv, pairs, roughness, totals)
        assert largest_error(found[f"dielectric {roughness}"], expected) < TOLERANCE

    def test_generalised_schlick_runs_through_its_three_colours(
        self, uv, pairs, roughness, totals, found
    ):
        colours = ([0.9, 0.5, 0.2], [0.9, 0.7, 1], [1, 0.9, 0.8])
        reflectance = forms.schlick(cosine_at_half(pairs), *colours)
        expected = self.expected(reflectance, uv, pairs, roughness, totals)
        assert largest_error(found[f"schlick {roughness}"], expected) < TOLERANCE


def test_sheen_follows_the_inverted_gaussian_of_sines(uv, pairs, found):
    expected = forms.sheen(COLOUR, uv[:, 0], *pairs)
    assert largest_error(found["sheen"], expected) < TOLERANCE


def test_a_dielectric_over_lambert_lets_through_what_it_does_not_reflect(uv, pairs, totals, found):
    reflectance = forms.fresnel(cosine_at_half(pairs), 1.5, 0.0)
    expected = forms.specular(reflectance, totals["uu"], *pairs, uv[:, 0], uv[:, 0])
    reflected = []
    for cosine, alpha in zip(pairs[1][:, 2], uv[:, 0], strict=True):
        at_half, share = bounces(cosine, alpha)
        by_facet = forms.fresnel(at_half, 1.5, 0.0)[:, 0]
        reflected.append(share @ (by_facet * (1 + by_facet * (1 - share.sum()) / share.sum())))
    expected = expected + (1 - np.array(reflected))[:, None] * forms.lambert(COLOUR, pairs[0])
    assert largest_error(found["layer"], expected) < TOLERANCE


def test_nothing_is_reflected_from_below_or_towards_below(pairs, look):
    wi, wo = pairs
    below = np.float64([1, 1, -1])
    for got in (look(wi * below, wo), look(wi, wo * below)):
        assert [name for name, each in got.items() if each.any()] == []


def test_the_teacher_is_reciprocal_where_the_model_is(pairs, look, found):
    wi, wo = pairs
    there = found["grey burley"] / wi[:, 2:]
    back = look(wo, wi)["grey burley"] / wo[:, 2:]
    np.testing.assert_allclose(there, back, rtol=1e-5)
