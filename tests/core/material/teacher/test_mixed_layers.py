"""Mixes of opaque lobes with others above a layer are linear, as MaterialX specifies."""

import numpy as np
import pytest

from verdigris.core.material.teacher.teacher import Teacher

from ..surfaces import closure, hemisphere, node, respond

OPAQUE = {
    "oren_nayar_diffuse_bsdf": {"color": ("color3", "0.2,0.4,0.8")},
    "burley_diffuse_bsdf": {"color": ("color3", "0.2,0.4,0.8")},
    "subsurface_bsdf": {"color": ("color3", "0.2,0.4,0.8")},
    "translucent_bsdf": {"color": ("color3", "0.2,0.4,0.8")},
    "conductor_bsdf": {"roughness": ("vector2", "0.4,0.4")},
}
CLEAR = {"roughness": ("vector2", "0.3,0.3")}
BASE = {"color": ("color3", "0.9,0.6,0.3")}
COUNT = 500


@pytest.fixture(scope="module")
def samples():
    random = np.random.default_rng(41)
    return random.random((COUNT, 2)), hemisphere(random, COUNT), hemisphere(random, COUNT)


def over_base(top, before):
    """A document of this lobe over a diffuse one."""
    before += node("oren_nayar_diffuse_bsdf", "base", "BSDF", BASE)
    return closure("layer", {"top": ("BSDF", f"@{top}"), "base": ("BSDF", "@base")}, before)


@pytest.mark.parametrize("category", OPAQUE)
def test_a_mix_over_a_layer_lets_through_what_each_share_of_it_does(category, samples):
    clear = node("dielectric_bsdf", "clear", "BSDF", CLEAR)
    shares = {"fg": ("BSDF", "@opaque"), "bg": ("BSDF", "@clear"), "mix": ("float", "@u")}
    mix = node(category, "opaque", "BSDF", OPAQUE[category]) + clear
    mix += node("mix", "top", "BSDF", shares)
    opaque = respond(Teacher(closure(category, OPAQUE[category])), *samples)
    varnished = respond(Teacher(over_base("clear", clear)), *samples)
    share = samples[0][:, :1]
    expected = share * opaque + (1 - share) * varnished
    got = respond(Teacher(over_base("top", mix)), *samples)
    np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("category", OPAQUE)
def test_an_opaque_lobe_lets_through_what_its_weight_leaves(category, samples):
    weighted = {**OPAQUE[category], "weight": ("float", "@u")}
    top = node(category, "top", "BSDF", weighted)
    opaque = respond(Teacher(closure(category, OPAQUE[category])), *samples)
    base = respond(Teacher(closure("oren_nayar_diffuse_bsdf", BASE)), *samples)
    share = samples[0][:, :1]
    got = respond(Teacher(over_base("top", top)), *samples)
    np.testing.assert_allclose(got, share * opaque + (1 - share) * base, rtol=1e-3, atol=1e-5)
