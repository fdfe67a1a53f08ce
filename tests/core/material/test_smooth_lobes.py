"""Mirrors: as narrow as is learnt, with all of their light, and told of."""

import numpy as np
import pytest

from verdigris.core.material.analyse.adjusted_lobes import LEAST_ALPHA
from verdigris.core.material.analyse.features import APPROXIMATED
from verdigris.core.material.teacher.teacher import Teacher

from .documents import document, material
from .furnace import returned, sequence
from .reports import report
from .surfaces import closure, respond

WHITE_METAL = {"ior": ("color3", "0,0,0"), "extinction": ("color3", "1,1,1")}


def white_metal(alpha):
    roughness = ("vector2", f"{alpha}, {alpha}")
    return Teacher(closure("conductor_bsdf", {**WHITE_METAL, "roughness": roughness}))


@pytest.mark.parametrize("alpha", [0, 0.001])
def test_a_mirror_returns_all_light_as_a_lobe_that_can_be_seen(alpha):
    mirror = white_metal(alpha)
    for cosine in (0.2, 0.35, 0.6, 1.0):
        got = returned(mirror, [0.5, 0.5], cosine, [LEAST_ALPHA])
        np.testing.assert_allclose(got, 1, atol=4e-3)


def test_a_mirrors_light_lies_within_the_angle_that_the_documentation_says():
    """Half of it within 0.6 degrees of the mirror direction, seen from straight above."""
    turn, height = sequence(1 << 14)
    angle = np.radians(3) * height  # on rings around the mirror direction
    flat = np.stack([np.cos(2 * np.pi * turn), np.sin(2 * np.pi * turn)], 1)
    wi = np.column_stack([np.sin(angle)[:, None] * flat, np.cos(angle)]).astype(np.float32)
    wo = np.tile(np.float32([0, 0, 1]), (len(wi), 1))
    seen = respond(white_metal(0), np.tile([0.5, 0.5], (len(wi), 1)), wi, wo)[:, 0]
    share = seen * 2 * np.pi * np.sin(angle) * np.radians(3) / len(wi)
    assert share[angle < np.radians(0.573)].sum() == pytest.approx(0.5, abs=0.01)


NAMED = {
    "standard_surface": ({"specular_roughness": 0.05}, {"highlight"}),
    "standard_surface, coat": ({"coat": 1, "coat_roughness": 0}, {"coat's highlight"}),
    "standard_surface, no coat": ({"coat_roughness": 0}, set()),
    "standard_surface, rough": ({"specular_roughness": 0.08}, set()),
    "open_pbr_surface": ({"coat_weight": 1}, {"coat's highlight"}),
    "open_pbr_surface, no specular": ({"specular_weight": 0, "specular_roughness": 0}, set()),
    "gltf_pbr": ({"roughness": 0.07, "clearcoat": 0.5}, {"highlight", "clearcoat's highlight"}),
    "UsdPreviewSurface": ({"roughness": 0.0}, {"highlight"}),
    "disney_principled": ({"roughness": 0.0}, {"highlight"}),
}


@pytest.mark.parametrize("name", NAMED)
def test_highlights_that_are_widened_are_named(name):
    inputs, wanted = NAMED[name]
    category = name.split(",")[0]
    written = "".join(
        f'<input name="{each}" type="float" value="{value}"/>' for each, value in inputs.items()
    )
    text = f'<{category} name="shader" type="surfaceshader">{written}</{category}>'
    parts = report(document(text, material())).parts
    widened = {part.name: part for part in parts if "highlight" in part.name}
    assert {*widened} == wanted
    assert all(part.fate == APPROXIMATED for part in widened.values())


def test_a_lobe_that_is_wide_enough_is_as_it_was():
    """The closed form at the mirror direction from straight above: 1 / (4 pi alpha^2)."""
    up = np.float32([[0, 0, 1]])
    got = respond(white_metal(0.02), np.float32([[0.5, 0.5]]), up, up)
    np.testing.assert_allclose(got, 1 / (4 * np.pi * 0.02**2), rtol=1e-3)
