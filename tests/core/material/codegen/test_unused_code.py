"""Functions and passes that a material does not use are removed, and the result stays."""

import re

import numpy as np
import pytest

from verdigris.core.material.codegen import code_repairs
from verdigris.core.material.codegen.code_repairs import drop_unused_functions
from verdigris.core.material.teacher.teacher import Teacher

from ..apart import each_of, look_at_each
from ..surfaces import UV, document, hemisphere, node, respond, shader, surface_material

CODE = """\
#define TWICE(x) doubled(x)
struct Pair
{
    float a;
float sum(float b) { return bySum(a, b); }
};
static const float kStart = atStart();

float atStart() { return 1.0; }
float bySum(float a, float b) { return a + b; }
float doubled(float x) { return 2.0 * x; }
float far(float x) { return x; } // unused: near(1.0)
/* float4 fragmentMain(float x) { return unused(x); } */
float near(float x)
{
    if (x > 0.0)
    {
        return far(x);
    }
    return near(-x);
}
float2 near(float2 x) { return x; }
float unused(float x)
{
#if TWO
    return alsoUnused(x); // }
#endif
}
float alsoUnused(
    float x) { return unused(x); }
[shader("fragment")]
float4 fragmentMain(float x) : SV_TARGET { return near(x); }
"""
UNUSED = """\
float unused(float x)
{
#if TWO
    return alsoUnused(x); // }
#endif
}
float alsoUnused(
    float x) { return unused(x); }
"""


def leave_out(repair, monkeypatch):
    """Generates code without one of the repairs."""
    kept = tuple(each for each in code_repairs.REPAIRS if each.apply is not repair)
    assert len(kept) == len(code_repairs.REPAIRS) - 1
    monkeypatch.setattr(code_repairs, "REPAIRS", kept)


def without_blank_lines(code):
    return [line for line in code.splitlines() if line.strip()]


def test_what_nothing_calls_goes_and_all_else_stays_as_it_was():
    found = drop_unused_functions(CODE)
    assert without_blank_lines(found) == without_blank_lines(CODE.replace(UNUSED, ""))


@pytest.mark.parametrize(
    "odd",
    [
        "#if A\nfloat odd() {\n#else\nfloat odd(int x) {\n#endif\n}\n",
        "float odd()\n{\n#if A\n    return 1; }\n#else\n    return 2; }\n#endif\n",
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_code_whose_braces_do_not_pair_up_stays_as_it_is(odd, is_first):
    code = odd + CODE if is_first else CODE + odd
    assert drop_unused_functions(code) == code


LAYERED = shader(
    "standard_surface",
    {
        "base_color": ("color3", "@uv_colour"),
        "metalness": ("float", "@u"),
        "coat": ("float", "0.5"),
        "sheen": ("float", "0.3"),
        "thin_film_thickness": ("float", "400"),
    },
)


def test_a_material_returns_the_same_without_them(monkeypatch):
    random = np.random.default_rng(3)
    seen = random.random((500, 2)), hemisphere(random, 500), hemisphere(random, 500)
    teacher = Teacher(LAYERED)
    leave_out(drop_unused_functions, monkeypatch)
    whole = Teacher(LAYERED)
    assert len(teacher.generated.source) < 0.8 * len(whole.generated.source)
    np.testing.assert_array_equal(respond(teacher, *seen), respond(whole, *seen))


CLOSURES = (
    "oren_nayar_diffuse_bsdf",
    "burley_diffuse_bsdf",
    "translucent_bsdf",
    "subsurface_bsdf",
    "sheen_bsdf",
    "conductor_bsdf",
    "dielectric_bsdf",
    "generalized_schlick_bsdf",
    "chiang_hair_bsdf",
)
SURROUNDED = re.compile(r"makeClosureData\(CLOSURE_TYPE_(INDIRECT|TRANSMISSION)")
HALF = ("float", "0.5")
TRANSMITTING = {"scatter_mode": ("string", "RT")}
LOBES = [
    *(node(category, "lobe", "BSDF", {}) for category in CLOSURES),
    node("dielectric_bsdf", "lobe", "BSDF", TRANSMITTING),
    node("generalized_schlick_bsdf", "lobe", "BSDF", TRANSMITTING),
]
DOCUMENTS = {
    "a model that transmits, glows and has holes": shader(
        "standard_surface",
        {
            "transmission": HALF,
            "emission": ("float", "@u"),
            "coat": HALF,
            "opacity": ("color3", "@uv_colour"),
        },
    ),
    "a thin model that transmits": shader(
        "open_pbr_surface",
        {"transmission_weight": HALF, "geometry_thin_walled": ("boolean", "true")},
    ),
    "a mix of surfaces": document(
        UV
        + node("dielectric_bsdf", "clear", "BSDF", TRANSMITTING)
        + node("surface", "glass", "surfaceshader", {"bsdf": ("BSDF", "@clear")})
        + node("conductor_bsdf", "shiny", "BSDF", {})
        + node("surface", "metal", "surfaceshader", {"bsdf": ("BSDF", "@shiny")})
        + node(
            "mix",
            "mixed",
            "surfaceshader",
            {
                "fg": ("surfaceshader", "@glass"),
                "bg": ("surfaceshader", "@metal"),
                "mix": ("float", "@u"),
            },
        )
        + surface_material("mixed")
    ),
}


def directions(count):
    """Over the hemisphere."""
    pairs = np.random.default_rng(3).normal(size=(2, count, 3))
    pairs[..., 2] = np.abs(pairs[..., 2]) + 0.01
    return (pairs / np.linalg.norm(pairs, axis=2, keepdims=True)).astype(np.float32)


def without_passes(made, monkeypatch):
    """Teachers of a document without the passes that are dropped, and with them."""
    teacher = Teacher(made)
    leave_out(code_repairs.drop_unused_passes, monkeypatch)
    whole = Teacher(made)
    assert SURROUNDED.search(whole.generated.source)
    assert not SURROUNDED.search(teacher.generated.source)
    return teacher, whole


def test_the_passes_that_are_dropped_added_nothing_to_a_lobe(monkeypatch):
    wi, wo = directions(100)
    got, expected = (
        look_at_each(len(LOBES), each, wi, wo)
        for each in without_passes(each_of(LOBES), monkeypatch)
    )
    np.testing.assert_allclose(got, expected, rtol=2e-6)
    # but one is of what shines through from behind
    assert [bool(lobe.any()) for lobe in expected].count(False) == 1


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_passes_that_are_dropped_added_nothing(name, monkeypatch):
    wi, wo = directions(500)
    uv = np.random.default_rng(3).random((500, 2)).astype(np.float32)
    teacher, whole = without_passes(DOCUMENTS[name], monkeypatch)
    np.testing.assert_allclose(teacher.response(uv, wi, wo), whole.response(uv, wi, wo), rtol=2e-6)
    np.testing.assert_allclose(teacher.unlit(uv, wo), whole.unlit(uv, wo), rtol=2e-6)
