"""Outputs of graphs whose type is not that of what they are connected to."""

import numpy as np
import pytest

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher

from .documents import document, material, standard_surface, with_surface
from .surfaces import glow, node, probe

COLOUR = node("constant", "colour", "color3", {"value": ("color3", "0.2, 0.4, 0.6")})


def refusal(text):
    made = parse_document(text)
    with pytest.raises(DocumentError) as refused:
        made.check(made.require_material())
    return str(refused.value)


def graph(output):
    return (
        f'<nodegraph name="g">{COLOUR}<output name="out" nodename="colour" {output}/></nodegraph>'
    )


BASE = '<input name="base" type="float" nodegraph="g" output="out"/>'


def test_an_output_of_another_type_is_refused_with_the_node_to_put_between():
    assert refusal(with_surface(BASE, graph('type="float"'))) == (
        "document: node 'shader', input 'base': is connected to the output 'g/out', which takes "
        "float and is connected to color3: put a convert node between"
    )


def test_the_output_of_a_definition_is_refused_in_the_same_way():
    defined = (
        '<nodedef name="ND_own" node="own"><output name="out" type="float"/></nodedef>'
        f'<nodegraph name="NG_own" nodedef="ND_own">{COLOUR}'
        '<output name="out" type="float" nodename="colour"/></nodegraph>'
    )
    reads = '<input name="base" type="float" nodename="a"/>'
    told = refusal(with_surface(reads, defined + '<own name="a" type="float"/>'))
    assert "node 'a' is defined by the output 'NG_own/out', which takes float and is" in told


@pytest.mark.parametrize(
    ("reads", "before"),
    [
        ('<input name="base" type="float" nodename="colour" channels="g"/>', COLOUR),
        (BASE, graph('type="float" channels="g"')),
    ],
)
def test_channels_are_named_where_they_would_have_made_the_type_fit(reads, before):
    told = refusal(with_surface(reads, before))
    assert told.endswith(
        "takes float and is connected to color3: channels 'g' count in documents up to version "
        "1.38, so put an extract or combine node between"
    )
    older = document(before, standard_surface(reads), material()).replace("1.39", "1.38")
    made = parse_document(older)
    made.check(made.require_material())


def test_a_colour_may_come_out_as_a_vector():
    body = graph('type="vector3"') + '<convert name="shown" type="color3">'
    body += '<input name="in" type="vector3" nodegraph="g" output="out"/></convert>'
    got = glow(Teacher(probe(body, "shown")), [[0.5, 0.5]])[0]
    np.testing.assert_allclose(got, [0.2, 0.4, 0.6], atol=1e-6)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("light", "lightshader"), "connect a node of the type surfaceshader"),
        (("oren_nayar_diffuse_bsdf", "BSDF"), "put a surface node between"),
        (("uniform_edf", "EDF"), "put a surface node between"),
        (("constant", "color3"), "put a convert node between"),
    ],
)
def test_what_is_no_surface_is_refused_with_what_makes_one_of_it(given, told):
    category, kind = given
    text = document(node(category, "shader", kind, {}), material())
    assert refusal(text).endswith(f"is connected to {kind}: {told}")
