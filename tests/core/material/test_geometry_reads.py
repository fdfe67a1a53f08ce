"""What nodes read from the geometry, of which a sample has its coordinates alone."""

import numpy as np
import pytest

from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.report import describe
from verdigris.core.material.teacher.teacher import Teacher

from .documents import with_surface
from .surfaces import node


def test_coordinates_read_and_turned_by_nodes_of_usd_are_those_of_the_sample():
    nodes = (
        '<UsdPrimvarReader name="reader" type="vector2">'
        '<input name="varname" type="string" value="st"/></UsdPrimvarReader>'
        '<UsdTransform2d name="turned" type="vector2">'
        '<input name="in" type="vector2" nodename="reader"/>'
        '<input name="rotation" type="float" value="90"/>'
        '<input name="scale" type="vector2" value="2, 1"/>'
        '<input name="translation" type="vector2" value="1, 0"/></UsdTransform2d>'
        '<separate2 name="apart" type="multioutput">'
        '<input name="in" type="vector2" nodename="turned"/></separate2>'
    )
    inputs = (
        '<input name="base" type="float" value="0"/><input name="specular" type="float" value="0"/>'
        '<input name="emission" type="float" nodename="apart" output="{}"/>'
    )
    uv = np.float32([[0.375, 0.625], [0.2, 0.9]])
    ahead = np.float32([[0, 0, 1]] * 2)
    for output, expected in (("outx", 1 - uv[:, 1]), ("outy", 2 * uv[:, 0])):
        teacher = Teacher(parse_document(with_surface(inputs.format(output), nodes)))
        np.testing.assert_allclose(teacher.unlit(uv, ahead)[:, 0], expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        ("float", '"0.25"', (0.25, 0.25, 0.25)),
        ("color3", '"0.1, 0.2, 0.3"', (0.1, 0.2, 0.3)),
        ("float", None, (0, 0, 0)),
    ],
)
def test_a_property_of_the_geometry_is_its_default_on_a_sample(kind, given, expected):
    default = f'<input name="default" type="{kind}" value={given}/>' if given else ""
    nodes = (
        f'<geompropvalue name="wear" type="{kind}">'
        f'<input name="geomprop" type="string" value="wear"/>{default}</geompropvalue>'
        '<convert name="shown" type="color3">'
        f'<input name="in" type="{kind}" nodename="wear"/></convert>'
        if kind != "color3"
        else f'<geompropvalue name="shown" type="{kind}">'
        f'<input name="geomprop" type="string" value="wear"/>{default}</geompropvalue>'
    )
    inputs = (
        '<input name="base" type="float" value="0"/><input name="specular" type="float" value="0"/>'
        '<input name="emission" type="float" value="1"/>'
        '<input name="emission_color" type="color3" nodename="shown"/>'
    )
    teacher = Teacher(parse_document(with_surface(inputs, nodes)))
    seen = teacher.unlit(np.float32([[0.5, 0.5]]), np.float32([[0, 0, 1]]))
    np.testing.assert_allclose(seen[0, :3], expected, rtol=1e-5)


@pytest.mark.parametrize("kind", ["float", "color3", "color4"])
def test_what_multiplies_by_paint_that_a_sample_has_not_is_itself(kind):
    text = with_surface(
        '<input name="emission" type="float" value="1"/>'
        '<input name="emission_color" type="color3" nodename="tinted"/>',
        f'<geomcolor name="paint" type="{kind}"/>',
        f'<convert name="plain" type="color3"><input name="in" type="{kind}" nodename="paint"/>'
        "</convert>" * (kind != "color3"),
        node(
            "multiply",
            "tinted",
            "color3",
            {
                "in1": ("color3", "0.7, 0.4, 0.1"),
                "in2": ("color3", "@paint" if kind == "color3" else "@plain"),
            },
        ),
    )
    seen = Teacher(parse_document(text)).unlit(np.float32([[0.5, 0.5]]), np.float32([[0, 0, 1]]))
    np.testing.assert_allclose(seen[0, :3], [0.7, 0.4, 0.1], rtol=1e-5)


@pytest.mark.parametrize("name", ["UV Map", "UVMap.001", "primvars:st", "DiffuseUV", "st"])
@pytest.mark.parametrize("category", ["geompropvalue", "UsdPrimvarReader"])
def test_coordinates_by_any_name_are_those_of_the_sample(category, name):
    port = "geomprop" if category == "geompropvalue" else "varname"
    text = with_surface(
        '<input name="emission" type="float" value="1"/>'
        '<input name="emission_color" type="color3" nodename="colour"/>',
        node(category, "uv", "vector2", {port: ("string", name)}),
        node("separate2", "apart", "multioutput", {"in": ("vector2", "@uv")}),
        '<combine3 name="colour" type="color3">'
        '<input name="in1" type="float" nodename="apart" output="outx"/>'
        '<input name="in2" type="float" nodename="apart" output="outy"/></combine3>',
    )
    loaded = parse_document(text)
    at = np.float32([[0.3, 0.8]])
    seen = Teacher(loaded).unlit(at, np.float32([[0, 0, 1]]))
    np.testing.assert_allclose(seen[0, :3], [0.3, 0.8, 0], rtol=1e-5, atol=1e-6)
    told = [p.fate for p in describe(loaded, probe=False)[0].parts if "coordinates" in p.name]
    assert told == ([] if name.endswith("st") else ["approximated"])
