"""The teacher's hair against Chiang's model."""

import numpy as np
import pytest

from .. import closed_forms as forms
from ..apart import colours, responses
from ..surfaces import hemisphere, node, normalised

PAIRS = 2000
WHITE, BLACK = [1, 1, 1], [0, 0, 0]
TURN = 0.1
ROUGHNESSES = [(0.2, 0.5), (0.3, 0.7), (0.6, 0.9), (0.6, 0.9)]
ABSORPTION = [0.1, 0.4, 1.2]
TINTS = {
    "every way": ([0.9, 0.7, 0.5], [0.4, 0.8, 0.6], [0.7, 0.3, 0.9]),
    "off the surface": (WHITE, BLACK, BLACK),
    "straight through": (BLACK, WHITE, BLACK),
    "reflected inside": (BLACK, BLACK, WHITE),
}


def listed(values):
    return ",".join(map(str, values))


@pytest.fixture(scope="module")
def pairs():
    random = np.random.default_rng(31)
    return hemisphere(random, PAIRS, 0.1), hemisphere(random, PAIRS, 0.1)


def test_white_hair_of_the_closed_form_returns_what_it_receives():
    wi = normalised(np.random.default_rng(32).standard_normal((400_000, 3)))
    wo = np.tile(normalised(np.array([[0.5, 0.6, 0.4]])), (len(wi), 1))
    returned = forms.chiang_hair([WHITE] * 4, 1.55, ROUGHNESSES, 0, BLACK, wi, wo)
    assert returned.mean() * 4 * np.pi == pytest.approx(1, abs=0.01)


def tinted(tints):
    ways = ("R", "TT", "TRT")
    inputs = {
        "ior": ("float", "1.8"),
        "cuticle_angle": ("float", str(0.5 + TURN / np.pi)),
        "absorption_coefficient": ("vector3", listed(ABSORPTION)),
        **{f"tint_{way}": ("color3", listed(tints[at])) for at, way in enumerate(ways)},
        **{f"roughness_{w}": ("vector2", listed(ROUGHNESSES[at])) for at, w in enumerate(ways)},
    }
    return node("chiang_hair_bsdf", "lobe", "BSDF", inputs)


@pytest.fixture(scope="module")
def found(pairs):
    """What hair of each of the tints returns."""
    return dict(zip(TINTS, responses(list(map(tinted, TINTS.values())), *pairs), strict=True))


@pytest.mark.parametrize("name", TINTS)
def test_hair_follows_chiangs_model(name, pairs, found):
    ways = [*TINTS[name], TINTS[name][2]]
    expected = forms.chiang_hair(ways, 1.8, ROUGHNESSES, TURN, ABSORPTION, *pairs)
    np.testing.assert_allclose(found[name], expected, rtol=0.01, atol=1e-4)


def test_melanin_and_colours_give_the_absorption_that_their_papers_say():
    inputs = {"melanin_concentration": ("float", "0.5"), "melanin_redness": ("float", "0.25")}
    melanin = node("deon_hair_absorption_from_melanin", "absorbed", "vector3", inputs)
    inputs = {"color": ("color3", "0.5,0.3,0.1"), "azimuthal_roughness": ("float", "0.3")}
    coloured = node("chiang_hair_absorption_from_color", "absorbed", "vector3", inputs)
    brown, red = np.array([0.419, 0.697, 1.37]), np.array([0.187, 0.4, 1.05])
    spread = np.polynomial.Polynomial([5.969, -0.215, 2.532, -10.73, 5.574, 0.245])(0.3)
    shown = node("convert", "colour", "color3", {"in": ("vector3", "@absorbed")})
    got = colours([melanin + shown, coloured + shown])
    expected = (
        -np.log(1 - 0.5) * (0.75 * brown + 0.25 * red),
        (np.log([0.5, 0.3, 0.1]) / spread) ** 2,
    )
    np.testing.assert_allclose(got, expected, rtol=1e-3)
