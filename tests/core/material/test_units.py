"""Values with units: a film is as thick as its author says."""

import numpy as np
import pytest

from verdigris.core.material.document import parse_document
from verdigris.core.material.teacher import Teacher

from .documents import document, material

IN = np.float32([[0.6, 0, 0.8], [0.3, 0.2, 0.93]])
OUT = np.float32([[-0.6, 0, 0.8], [-0.2, -0.3, 0.93]])
LOBE = (
    '<conductor_bsdf name="lobe" type="BSDF">'
    '<input name="roughness" type="vector2" value="0.4, 0.4"/>'
    '<input name="thinfilm_ior" type="float" value="1.5"/>{film}</conductor_bsdf>'
    '<surface name="shader" type="surfaceshader">'
    '<input name="bsdf" type="BSDF" nodename="lobe"/></surface>'
)
SHADERS = {
    "thinfilm_thickness": (LOBE, 400.0),
    "thin_film_thickness of standard_surface": (
        '<standard_surface name="shader" type="surfaceshader">'
        '<input name="metalness" type="float" value="1"/>'
        '<input name="thin_film_IOR" type="float" value="1.5"/>{film}</standard_surface>',
        400.0,
    ),
    "thin_film_thickness of open_pbr_surface": (
        '<open_pbr_surface name="shader" type="surfaceshader">'
        '<input name="thin_film_weight" type="float" value="1"/>{film}</open_pbr_surface>',
        0.4,
    ),
    "iridescence_thickness": (
        '<gltf_pbr name="shader" type="surfaceshader">'
        '<input name="iridescence" type="float" value="1"/>{film}</gltf_pbr>',
        400.0,
    ),
}


def test_an_angle_needs_no_word_of_what_it_is():
    turned = (
        '<texcoord name="uv" type="vector2"/><place2d name="turned" type="vector2">'
        '<input name="texcoord" type="vector2" nodename="uv"/>'
        '<input name="rotate" type="float" value="{}"/></place2d>'
        '<separate2 name="apart" type="multioutput">'
        '<input name="in" type="vector2" nodename="turned"/></separate2>'
        '<standard_surface name="shader" type="surfaceshader">'
        '<input name="specular" type="float" value="0"/>'
        '<input name="base" type="float" nodename="apart" output="outx"/></standard_surface>'
    )

    def seen(rotation):
        teacher = Teacher(parse_document(document(turned.format(rotation), material())))
        return teacher.response(np.float32([[0.8, 0.3]] * 2), IN, OUT)

    expected = seen("30")
    assert np.abs(seen("0") / expected - 1).min() > 0.01
    for rotation in ('30" unit="degree', '0.5235988" unit="radian'):
        np.testing.assert_allclose(seen(rotation), expected, rtol=1e-4)


@pytest.mark.parametrize("name", SHADERS)
def test_a_film_of_400_nanometres_is_that_in_any_unit(name):
    shader, in_its_own_unit = SHADERS[name]

    def seen(value, attributes=""):
        film = f'<input name="{name.split()[0]}" type="float" value="{value}"{attributes}/>'
        teacher = Teacher(parse_document(document(shader.format(film=film), material())))
        return teacher.response(np.full((2, 2), 0.5, np.float32), IN, OUT)

    expected, without = seen(in_its_own_unit), seen(0)
    assert np.abs(expected / without - 1).max() > 0.02
    for value, unit in (("400", "nanometer"), ("0.4", "micron"), ("0.0004", "millimeter")):
        given = seen(value, f' unittype="distance" unit="{unit}"')
        np.testing.assert_allclose(given, expected, rtol=1e-5)
    np.testing.assert_allclose(seen("0.4", ' unit="micron"'), expected, rtol=1e-5)
