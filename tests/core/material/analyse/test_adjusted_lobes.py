"""The report lists lobes that would gain energy, and highlights that are widened."""

import re

import numpy as np
import pytest

from verdigris.core.material.analyse.adjusted_lobes import LEAST_ALPHA
from verdigris.core.material.analyse.features import APPROXIMATED
from verdigris.core.material.teacher.teacher import Teacher

from .. import closed_forms
from ..documents import document, material, standard_surface, with_surface
from ..furnace import integrated, returned, sequence
from ..reports import NO_SPECULAR, fates, report
from ..surfaces import closure, respond


def test_a_material_that_returns_more_than_it_receives_is_reported():
    bright = '<input name="base_color" type="color3" value="3, 3, 3"/>'
    reported = report(with_surface(bright + NO_SPECULAR), probe=True).verdict
    found = re.match(r"can be baked: reflects (\d+)% of the light, more than it receives", reported)
    assert int(found[1]) == pytest.approx(300, abs=3)
    white = '<input name="base_color" type="color3" value="1, 1, 1"/>'
    assert "more" not in report(with_surface(white), probe=True).verdict


def clear(*inputs):
    written = "".join(
        f'<input name="{name}" type="float" value="{value}"/>' for name, value in inputs
    )
    shader = (
        '<open_pbr_surface name="shader" type="surfaceshader">'
        f'<input name="transmission_weight" type="float" value="1"/>{written}</open_pbr_surface>'
    )
    return report(document(shader, material()), probe=True)


def test_what_lets_all_light_through_is_not_reported_as_black():
    found = clear(("specular_weight", 0))
    assert max(found.probe.albedo) < 0.01 and not found.probe.shows_nearly_nothing
    assert "can be baked: reflects 0% of the light, transmits" in found.verdict


def test_the_probed_albedo_of_smooth_glass_is_fresnels():
    """Of light from all around glass of an index of 1.5 reflects 9.18%, seen from all around."""
    found = clear(("specular_roughness", 0), ("specular_ior", 1.5))
    np.testing.assert_allclose(found.probe.albedo, 0.0918, rtol=0.04)


@pytest.mark.parametrize("colour", [(0.2, 0.5, 0.8)])
def test_the_probed_albedo_of_a_lambertian_surface_is_its_colour(colour):
    inputs = (
        '<input name="base" type="float" value="1"/>'
        '<input name="specular" type="float" value="0"/>'
        f'<input name="base_color" type="color3" value="{", ".join(map(str, colour))}"/>'
    )
    found = report(with_surface(inputs), probe=True)
    np.testing.assert_allclose(found.probe.albedo, colour, rtol=0.03)
    assert found.probe.emission == (0.0, 0.0, 0.0)
    assert found.probe.opacity == pytest.approx((1.0, 1.0), abs=2e-4)


@pytest.mark.parametrize(
    ("inputs", "smoothest"),
    [
        ('<input name="sheen_roughness" type="float" value="0.02"/>', 0.02),
        ('<input name="sheen_roughness" type="float" value="0.3"/>', None),
        (
            '<input name="sheen_roughness" type="float" value="0.02"/>'
            '<input name="sheen_color" type="color3" value="0.3, 0.2, 0.1"/>',
            None,
        ),
        ('<input name="sheen_roughness" type="float" nodename="noise"/>', 0.005),
    ],
)
def test_energy_that_is_removed_is_reported_where_there_is_any(inputs, smoothest):
    text = document(
        '<noise2d name="noise" type="float"/>',
        standard_surface('<input name="sheen" type="float" value="1"/>' + inputs),
        material(),
    )
    found = [part for part in report(text).parts if part.name == "smooth sheen"]
    assert [part.fate for part in found] == ["approximated"] * bool(smoothest)
    if smoothest:
        gain = integrated(lambda *at: closed_forms.sheen([1.0], smoothest, *at), 0.02)
        assert f"energy above one removed: it would return up to {gain:.2g} times" in found[0].how


def test_the_energy_of_a_sheen_that_is_off_is_not_reported():
    assert "smooth sheen" not in fates(
        with_surface('<input name="sheen_roughness" type="float" value="0.02"/>')
    )


def test_a_colour_that_is_no_number_is_reported_to_count_as_black():
    nothing = '<divide name="ratio" type="float"><input name="in1" type="float" value="0"/>'
    nothing += '<input name="in2" type="float" value="0"/></divide>'
    inputs = '<input name="base" type="float" nodename="ratio"/>'
    inputs += '<input name="specular" type="float" nodename="ratio"/>'
    found = report(with_surface(inputs, nothing), probe=True)
    assert found.probe.albedo == (0, 0, 0)
    assert found.verdict.endswith(
        "A result that is not a number, as after a division by 0, counts as black."
    )


WHITE_METAL = {"ior": ("color3", "0,0,0"), "extinction": ("color3", "1,1,1")}


@pytest.fixture(scope="module")
def white_metal():
    """Its alpha is u."""
    return Teacher(closure("conductor_bsdf", {**WHITE_METAL, "roughness": ("vector2", "@uu")}))


@pytest.mark.parametrize("alpha", [0, 0.001])
def test_a_mirror_returns_all_light_as_a_lobe_that_can_be_seen(white_metal, alpha):
    for cosine in (0.2, 0.35, 0.6, 1.0):
        got = returned(white_metal, [alpha, 0.5], cosine, [LEAST_ALPHA])
        np.testing.assert_allclose(got, 1, atol=4e-3)


def test_a_mirrors_light_lies_within_the_angle_that_the_documentation_reports(white_metal):
    """Half of it within 0.6 degrees of the mirror direction, seen from straight above."""
    turn, height = sequence(1 << 14)
    angle = np.radians(3) * height  # on rings around the mirror direction
    flat = np.stack([np.cos(2 * np.pi * turn), np.sin(2 * np.pi * turn)], 1)
    wi = np.column_stack([np.sin(angle)[:, None] * flat, np.cos(angle)]).astype(np.float32)
    wo = np.tile(np.float32([0, 0, 1]), (len(wi), 1))
    seen = respond(white_metal, np.tile([0, 0.5], (len(wi), 1)), wi, wo)[:, 0]
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


def test_a_lobe_that_is_wide_enough_is_as_it_was(white_metal):
    """The closed form at the mirror direction from straight above: 1 / (4 pi alpha^2)."""
    up = np.float32([[0, 0, 1]])
    got = respond(white_metal, np.float32([[0.02, 0.5]]), up, up)
    np.testing.assert_allclose(got, 1 / (4 * np.pi * 0.02**2), rtol=1e-3)
