"""Mixes of opaque lobes with others above a layer are linear, as MaterialX specifies."""

import numpy as np
import pytest

from ..apart import responses_over_uv
from ..surfaces import hemisphere, node

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


def lobe(category, inputs):
    return node(category, "lobe", "BSDF", inputs)


def over_base(top, before):
    """This lobe over a diffuse one."""
    before += node("oren_nayar_diffuse_bsdf", "base", "BSDF", BASE)
    return before + lobe("layer", {"top": ("BSDF", f"@{top}"), "base": ("BSDF", "@base")})


def mixed(category):
    """Over a layer, from the one to the other by u."""
    shares = {"fg": ("BSDF", "@opaque"), "bg": ("BSDF", "@clear"), "mix": ("float", "@u")}
    mix = node(category, "opaque", "BSDF", OPAQUE[category])
    mix += node("dielectric_bsdf", "clear", "BSDF", CLEAR)
    return over_base("top", mix + node("mix", "top", "BSDF", shares))


def weighted(category):
    inputs = {**OPAQUE[category], "weight": ("float", "@u")}
    return over_base("top", node(category, "top", "BSDF", inputs))


BODIES = {
    "varnished": over_base("clear", node("dielectric_bsdf", "clear", "BSDF", CLEAR)),
    "base": lobe("oren_nayar_diffuse_bsdf", BASE),
    **{f"opaque {category}": lobe(category, inputs) for category, inputs in OPAQUE.items()},
    **{f"mixed {category}": mixed(category) for category in OPAQUE},
    **{f"weighted {category}": weighted(category) for category in OPAQUE},
}


@pytest.fixture(scope="module")
def found(samples):
    """What each of the bodies returns."""
    return dict(zip(BODIES, responses_over_uv(BODIES.values(), *samples), strict=True))


@pytest.mark.parametrize("category", OPAQUE)
def test_a_mix_over_a_layer_lets_through_what_each_share_of_it_does(category, samples, found):
    share = samples[0][:, :1]
    expected = share * found[f"opaque {category}"] + (1 - share) * found["varnished"]
    np.testing.assert_allclose(found[f"mixed {category}"], expected, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize("category", OPAQUE)
def test_an_opaque_lobe_lets_through_what_its_weight_leaves(category, samples, found):
    share = samples[0][:, :1]
    expected = share * found[f"opaque {category}"] + (1 - share) * found["base"]
    np.testing.assert_allclose(found[f"weighted {category}"], expected, rtol=1e-3, atol=1e-5)
