"""A sample is seen in one light: what a generator writes for its surroundings adds nothing."""

import re

import numpy as np
import pytest

from verdigris.core.material.codegen import generate_teacher as generate
from verdigris.core.material.teacher.teacher import Teacher

from .surfaces import UV, closure, document, node, shader, surface_material

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
DOCUMENTS = {
    **{category: closure(category, {}) for category in CLOSURES},
    "a dielectric that transmits": closure("dielectric_bsdf", TRANSMITTING),
    "a Schlick lobe that transmits": closure("generalized_schlick_bsdf", TRANSMITTING),
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
    "gltf_pbr that transmits": shader("gltf_pbr", {"transmission": HALF}),
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


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_passes_that_are_left_out_added_nothing(name, monkeypatch):
    random = np.random.default_rng(3)
    uv = random.random((2000, 2)).astype(np.float32)
    pairs = random.normal(size=(2, 2000, 3))
    pairs[..., 2] = np.abs(pairs[..., 2]) + 0.01
    wi, wo = (pairs / np.linalg.norm(pairs, axis=2, keepdims=True)).astype(np.float32)
    teacher = Teacher(DOCUMENTS[name])
    monkeypatch.setattr(generate, "drop_unused_passes", lambda code: code)
    whole = Teacher(DOCUMENTS[name])
    assert SURROUNDED.search(whole.generated.source)
    assert not SURROUNDED.search(teacher.generated.source)
    np.testing.assert_allclose(teacher.response(uv, wi, wo), whole.response(uv, wi, wo), rtol=2e-6)
    np.testing.assert_allclose(teacher.unlit(uv, wo), whole.unlit(uv, wo), rtol=2e-6)
