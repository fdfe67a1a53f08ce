"""A disabled node returns what its definition names, as specified."""

import numpy as np
import pytest

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.teacher.teacher import Teacher

from ..surfaces import glow, node, probe, shader

PLACES = np.random.default_rng(3).random((40, 2))
DISABLED = {"disable": ("boolean", "true")}
ENABLED = {"disable": ("boolean", "false")}
UV_COLOUR = ("color3", "@uv_colour")


def glow_of(body):
    return glow(Teacher(probe(body, "shown")), PLACES)


def by_uv(places):
    return np.concatenate([places, np.full((len(places), 1), 0.25)], 1)


@pytest.mark.parametrize(
    ("category", "inputs"),
    [
        ("invert", {"in": UV_COLOUR}),
        ("mix", {"fg": ("color3", "1,0,0"), "bg": UV_COLOUR, "mix": ("float", "1")}),
        ("blur", {"in": UV_COLOUR, "size": ("float", "1")}),
        ("range", {"in": UV_COLOUR, "outhigh": ("color3", "5,5,5")}),
    ],
)
def test_a_disabled_node_hands_its_default_input_on(category, inputs):
    got = glow_of(node(category, "shown", "color3", {**inputs, **DISABLED}))
    np.testing.assert_allclose(got, by_uv(PLACES), atol=1e-6)


def test_a_disabled_node_whose_default_input_is_a_value_gives_that():
    got = glow_of(
        node("multiply", "shown", "color3", {"in1": ("color3", "0.2,0.3,0.4"), **DISABLED})
    )
    np.testing.assert_allclose(got, np.broadcast_to([0.2, 0.3, 0.4], got.shape), atol=1e-6)


def test_a_disabled_node_to_which_nothing_is_given_hands_the_default_of_that_on():
    got = glow_of(node("contrast", "shown", "color3", {"pivot": ("color3", "9,9,9"), **DISABLED}))
    np.testing.assert_allclose(got, 0, atol=1e-6)


def test_a_disabled_image_is_black_and_its_file_is_not_requested_for():
    got = glow_of(node("image", "shown", "color3", {"file": ("filename", "gone.png"), **DISABLED}))
    np.testing.assert_allclose(got, 0, atol=1e-6)


def test_a_disabled_normal_map_hands_the_normal_of_the_surface_on():
    body = node("normalmap", "tilted", "vector3", {"in": ("vector3", "0.9,0.5,0.6"), **DISABLED})
    got = glow_of(body + node("convert", "shown", "color3", {"in": ("vector3", "@tilted")}))
    np.testing.assert_allclose(got, np.broadcast_to([0, 0, 1], got.shape), atol=1e-6)


def test_a_node_that_is_not_disabled_is_itself():
    got = glow_of(node("invert", "shown", "color3", {"in": UV_COLOUR, **ENABLED}))
    np.testing.assert_allclose(got, 1 - by_uv(PLACES), atol=1e-6)


@pytest.mark.parametrize("is_disabled", [True, False])
def test_the_input_of_a_graph_disables_what_reads_it(is_disabled):
    written = "true" if is_disabled else "false"
    inverted = '<invert name="inverted" type="color3"><input name="in" type="color3" '
    inverted += 'value="0.2, 0.3, 0.4"/><input name="disable" type="boolean" interfacename="off"/>'
    graph = (
        f'<nodegraph name="graph"><input name="off" type="boolean" value="{written}"/>{inverted}'
    )
    graph += '</invert><output name="out" type="color3" nodename="inverted"/></nodegraph>'
    graph += '<dot name="shown" type="color3"><input name="in" type="color3" nodegraph="graph"/>'
    expected = np.array([0.2, 0.3, 0.4])
    got = glow_of(graph + "</dot>")[0]
    np.testing.assert_allclose(got, expected if is_disabled else 1 - expected, atol=1e-6)


def test_a_definition_of_the_document_may_have_an_input_of_that_name_for_itself():
    defined = (
        '<nodedef name="ND_own" node="own"><input name="disable" type="boolean" value="false"/>'
        '<output name="out" type="color3" default="0.9, 0.9, 0.9"/></nodedef>'
        '<nodegraph name="NG_own" nodedef="ND_own"><ifequal name="chosen" type="color3">'
        '<input name="value1" type="boolean" interfacename="disable"/>'
        '<input name="value2" type="boolean" value="true"/>'
        '<input name="in1" type="color3" value="0.1, 0.2, 0.3"/></ifequal>'
        '<output name="out" type="color3" nodename="chosen"/></nodegraph>'
    )
    got = glow_of(defined + node("own", "shown", "color3", DISABLED))
    np.testing.assert_allclose(got, np.broadcast_to([0.1, 0.2, 0.3], got.shape), atol=1e-6)


@pytest.mark.parametrize("definition", ["", "ND_invert_color3"])
def test_what_another_node_may_disable_is_refused_by_name(definition):
    body = node("constant", "off", "boolean", {"value": ("boolean", "true")})
    inverted = node("invert", "shown", "color3", {"in": UV_COLOUR, "disable": ("boolean", "@off")})
    if definition:
        inverted = inverted.replace(">", f' nodedef="{definition}">', 1)
    made = probe(body + inverted, "shown")
    with pytest.raises(DocumentError, match=r"'shown'.*the input 'disable' must be .*: remove it"):
        made.check(made.require_material())


def test_what_names_nothing_to_pass_on_is_refused_by_name():
    made = shader("standard_surface", DISABLED)
    with pytest.raises(DocumentError, match=r"'surf'.*the input 'disable' must be .*: remove it"):
        made.check(made.require_material())
