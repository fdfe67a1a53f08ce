"""The report tells how much light a material returns, and where it would be too much."""

import re

import numpy as np
import pytest

from . import closed_forms
from .documents import document, material, standard_surface, with_surface
from .furnace import integrated
from .reports import NO_SPECULAR, fates, report


def test_a_material_that_returns_more_than_it_receives_says_so():
    bright = '<input name="base_color" type="color3" value="3, 3, 3"/>'
    told = report(with_surface(bright + NO_SPECULAR), probe=True).verdict
    found = re.match(r"can be baked: reflects (\d+)% of the light, more than it receives", told)
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


def test_what_lets_all_light_through_is_said_to_reflect_almost_nothing():
    found = clear(("specular_weight", 0))
    assert found.probe.reflects_nearly_nothing
    assert "nothing to learn" in found.verdict


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
def test_energy_that_is_removed_is_told_where_there_is_any(inputs, smoothest):
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


def test_the_energy_of_a_sheen_that_is_off_is_not_told():
    assert "smooth sheen" not in fates(
        with_surface('<input name="sheen_roughness" type="float" value="0.02"/>')
    )


def test_a_colour_that_is_no_number_is_told_to_count_as_black():
    nothing = '<divide name="ratio" type="float"><input name="in1" type="float" value="0"/>'
    nothing += '<input name="in2" type="float" value="0"/></divide>'
    inputs = '<input name="base" type="float" nodename="ratio"/>'
    inputs += '<input name="specular" type="float" nodename="ratio"/>'
    found = report(with_surface(inputs, nothing), probe=True)
    assert found.probe.albedo == (0, 0, 0)
    assert found.verdict.endswith(
        "What comes out as no number, as of a division by 0, counts as black."
    )
