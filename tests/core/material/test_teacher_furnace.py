"""What comes back of a uniform white surrounding.

A white furnace is meant to return no more than it receives. What MaterialX returns beyond that
follows from its definitions, which the teacher reproduces to 1e-3 (test_teacher_closed_forms.py):

- the fit to the albedo of GGX by which it restores lost bounces and dims what lies below a layer is
  up to 7% too low, worst at grazing views of the smoothest lobes;
- a dielectric dims the layer below by Schlick's curve, but reflects by Fresnel's;
- the sheen of Estevez and Kulla returns more than it receives below a roughness of 0.1;
- the qualitative Oren-Nayar model, and Burley's diffuse lobe of rough surfaces seen at a grazing
  angle, gain energy as published.

Each excess is pinned at the value it has: a MaterialX that gives another one is to be looked at.
"""

import numpy as np
import pytest

from verdigris.core.material.teacher import Teacher

from . import closed_forms as forms
from .furnace import COSINES, ggx_density, ggx_lobe, most_returned, returned, sequence
from .surfaces import closure, node, shader

LIMIT = 1.01
ROUGHNESSES = (0.1, 0.3, 1.0)
WHITE = ("color3", "1,1,1")
SMOOTH = ("float", "0.1")
ROUGH, ROUGH_PAIR = ("float", "@u"), ("vector2", "@uu")
PIN = 0.004  # how far a pinned maximum may lie from its value


def layered(top, inputs):
    parts = node("oren_nayar_diffuse_bsdf", "below", "BSDF", {"color": WHITE})
    parts += node(top, "above", "BSDF", inputs)
    return closure("layer", {"top": ("BSDF", "@above"), "base": ("BSDF", "@below")}, parts)


def one_lobe(alpha):
    return [alpha]


def no_lobe(alpha):
    return []


LOBES = {
    "lambert": (closure, "oren_nayar_diffuse_bsdf", {"color": WHITE}, no_lobe, 1.0),
    "energy-preserving Oren-Nayar": (
        closure,
        "oren_nayar_diffuse_bsdf",
        {"color": WHITE, "roughness": ROUGH, "energy_compensation": ("boolean", "true")},
        no_lobe,
        1.0,
    ),
    "qualitative Oren-Nayar": (
        closure,
        "oren_nayar_diffuse_bsdf",
        {"color": WHITE, "roughness": ROUGH},
        no_lobe,
        1.007,
    ),
    "burley": (
        closure,
        "burley_diffuse_bsdf",
        {"color": WHITE, "roughness": ROUGH},
        no_lobe,
        1.463,
    ),
    "white conductor": (
        closure,
        "conductor_bsdf",
        {"ior": ("color3", "0,0,0"), "extinction": WHITE, "roughness": ROUGH_PAIR},
        one_lobe,
        1.029,
    ),
    "dielectric": (closure, "dielectric_bsdf", {"roughness": ROUGH_PAIR}, one_lobe, 0.370),
    "sheen": (closure, "sheen_bsdf", {"color": WHITE, "roughness": ROUGH}, no_lobe, 0.983),
    "dielectric over lambert": (
        layered,
        "dielectric_bsdf",
        {"roughness": ROUGH_PAIR},
        one_lobe,
        1.013,
    ),
    "sheen over lambert": (
        layered,
        "sheen_bsdf",
        {"color": WHITE, "roughness": ROUGH},
        no_lobe,
        1.034,
    ),
}


@pytest.mark.parametrize("name", LOBES)
def test_a_white_lobe_returns_no_more_than_its_definition_does(name):
    build, category, inputs, lobes, expected = LOBES[name]
    teacher = Teacher(build(category, inputs))
    most = max(most_returned(teacher, [r, 0.5], lobes(r)) for r in ROUGHNESSES)
    assert most == pytest.approx(expected, abs=PIN)


def test_a_white_conductor_returns_what_the_fit_to_its_albedo_is_short_of():
    """One bounce returns E, all of them E / fit: the excess is the fit's error alone."""
    white = {"ior": ("color3", "0,0,0"), "extinction": WHITE, "roughness": ROUGH_PAIR}
    teacher = Teacher(closure("conductor_bsdf", white))
    for alpha in (0.01, *ROUGHNESSES):
        for cosine in COSINES:
            fit = forms.fitted_ggx_albedo(cosine, alpha).item()
            got = returned(teacher, [alpha, 0.5], cosine, [alpha]).max()
            assert got == pytest.approx(ggx_albedo(cosine, alpha) / fit, abs=1e-3)


def ggx_albedo(cosine, alpha, count=1 << 14):
    """What one bounce off a white GGX surface returns: an integral of the closed form."""
    wo = np.array([np.sqrt(1 - cosine**2), 0.0, cosine])
    wi = ggx_lobe(*sequence(count), wo, alpha)
    wi = wi[wi[:, 2] > 1e-4]
    values = forms.ggx(wi, np.tile(wo, (len(wi), 1)), alpha, alpha)
    return (values / ggx_density(wi, wo, alpha)).sum() / count


SWITCHED = 10


def variants(category, base, rows):
    """A shading model of which v picks a row of inputs."""
    names = sorted({name for row in rows.values() for name in row})
    parts = node("multiply", "tenfold", "float", {"in1": ("float", "@v"), "in2": ("float", "10")})
    parts += node("floor", "pick", "float", {"in": ("float", "@tenfold")})
    inputs = dict(base)
    for name in names:
        kind = "color3" if name.lower().endswith("color") else "float"
        choices = {
            f"in{at + 1}": (kind, str(row.get(name, "0,0,0" if kind == "color3" else "0")))
            for at, row in enumerate(rows.values())
        }
        parts += node("switch", f"pick_{name}", kind, {**choices, "which": ("float", "@pick")})
        inputs[name] = (kind, f"@pick_{name}")
    return shader(category, inputs, parts)


WHITE_MODELS = {
    "standard_surface": (
        {"base": ("float", "1"), "base_color": WHITE, "specular_roughness": ROUGH},
        {
            "diffuse": ({}, 1.0),
            "specular": ({"specular": 1}, 1.026),
            "metal": ({"specular": 1, "metalness": 1}, 1.067),
            "coat": ({"specular": 1, "coat": 1}, 1.032),
            "sheen": ({"specular": 1, "sheen": 1}, 1.027),
        },
    ),
    "open_pbr_surface": (
        {"base_color": WHITE, "specular_roughness": ROUGH, "coat_roughness": SMOOTH},
        {
            "diffuse": ({}, 1.0),
            "rough diffuse": ({"base_diffuse_roughness": 1}, 1.0),
            "specular": ({"specular_weight": 1}, 1.026),
            "metal": ({"specular_weight": 1, "base_metalness": 1}, 1.068),
            "coat": ({"specular_weight": 1, "coat_weight": 1}, 1.023),
            "fuzz": ({"specular_weight": 1, "fuzz_weight": 1}, 1.012),
        },
    ),
    "gltf_pbr": (
        {"base_color": WHITE, "roughness": ROUGH, "clearcoat_roughness": SMOOTH},
        {
            "dielectric": ({}, 1.06),
            "metal": ({"metallic": 1}, 1.068),
            "clearcoat": ({"clearcoat": 1}, 1.027),
            "sheen": ({"sheen_color": "1,1,1", "sheen_roughness": 0.5}, 1.011),
            "smooth sheen": ({"sheen_color": "1,1,1", "sheen_roughness": 0.1}, 1.741),
        },
    ),
    "disney_principled": (
        {"baseColor": WHITE, "roughness": ROUGH, "clearcoatGloss": ("float", "0.9")},
        {
            "dielectric": ({}, 1.446),
            "metal": ({"metallic": 1}, 1.068),
            "clearcoat": ({"clearcoat": 1}, 1.43),
            "sheen": ({"sheen": 1}, 1.102),
        },
    ),
    "UsdPreviewSurface": (
        {"diffuseColor": WHITE, "roughness": ROUGH, "clearcoatRoughness": SMOOTH},
        {
            "dielectric": ({}, 1.06),
            "metal": ({"metallic": 1}, 1.067),
            "clearcoat": ({"clearcoat": 1}, 1.06),
        },
    ),
}


@pytest.mark.parametrize("category", WHITE_MODELS)
def test_a_white_model_returns_no_more_than_its_definition_does(category):
    base, rows = WHITE_MODELS[category]
    teacher = Teacher(variants(category, base, {name: row for name, (row, _) in rows.items()}))
    found = {}
    for at, name in enumerate(rows):
        uv = [[roughness, (at + 0.5) / SWITCHED] for roughness in ROUGHNESSES]
        lobes = [[max(point[0] ** 2, 0.01), 0.01] for point in uv]
        cosines = (0.05, 0.1, 0.35, 1.0)
        found[name] = max(
            most_returned(teacher, *each, cosines) for each in zip(uv, lobes, strict=True)
        )
    expected = {name: most for name, (_, most) in rows.items()}
    assert found == pytest.approx(expected, abs=PIN)
