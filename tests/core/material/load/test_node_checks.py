"""Faults of nodes, and of types that do not fit, are refused by name."""

import numpy as np
import pytest

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.teacher.teacher import Teacher

from ..documents import DEFINITION, IMAGE, document, material, standard_surface, with_surface
from ..surfaces import glow, node, probe

GIVEN = (
    '<nodegraph name="g"><input name="w" {}/><dot name="a" type="float">'
    '<input name="in" type="float" interfacename="w"/></dot>'
    '<output name="out" type="float" nodename="a"/></nodegraph>'
)


def require_refusal(text, message):
    loaded = parse_document(text)
    with pytest.raises(DocumentError, match=message):
        loaded.check(loaded.require_material())


def test_a_material_of_a_kind_that_is_not_known_is_listed_and_refused():
    mixed = (
        '<mix name="both" type="material"><input name="fg" type="material" nodename="material"/>'
        '<input name="bg" type="material" nodename="material"/></mix>'
    )
    loaded = parse_document(with_surface("", mixed))
    assert {each.name for each in loaded.materials} == {"material", "both"}
    with pytest.raises(
        DocumentError, match="node 'both' of the kind 'mix' and type 'material' has"
    ):
        loaded.check(loaded.require_material("both"))


@pytest.mark.parametrize(("kind", "known"), [("standard_surface", "1.0.0, 1.0.1"), ("mix", None)])
def test_a_version_that_is_not_there_is_refused_with_those_that_are(kind, known):
    text = document(f'<{kind} name="shader" type="surfaceshader" version="9.1"/>', material())
    message = "there is no version '9.1' of it" + (f": use {known}, or none$" if known else "$")
    require_refusal(text, message)


@pytest.mark.parametrize(
    ("inputs", "nodes", "message"),
    [
        (
            '<input name="base" type="float" nodename="a"/>',
            '<add name="a" type="float"><input name="in1" type="float" nodename="b"/></add>'
            '<add name="b" type="float"><input name="in1" type="float" nodename="a"/></add>',
            "the graph has a cycle: a -> b -> a",
        ),
        (
            '<input name="base" type="float" nodename="a"/>',
            '<snowfall name="a" type="float"/>',
            "node 'a' is of the kind 'snowfall', which no library defines",
        ),
        (
            '<input name="base" type="float" nodename="a"/>',
            '<add name="a" type="float"><input name="in1" type="string" value="1"/></add>',
            "node 'a' of the kind 'add' and type 'float' fits no definition: its input 'in1' must "
            "have the type",
        ),
        ('<input name="base_colour" type="color3"/>', "", "did you mean 'base_color'"),
        (
            '<input name="base" type="color3"/>',
            "",
            "its input 'base' must have the type float, not color3",
        ),
        (
            '<input name="base" type="float" value="much"/>',
            "",
            "'much' does not have the type float",
        ),
        ('<input name="base" type="float" value="nan"/>', "", "'nan' does not have the type float"),
        (
            '<input name="thin_walled" type="boolean" value="2"/>',
            "",
            "input 'thin_walled': the value '2' does not have the type boolean: write true",
        ),
        (
            '<input name="base_color" type="color3" value="#ff8800"/>',
            "",
            "'#ff8800' does not have the type color3: write 3 numbers separated by commas",
        ),
        (
            '<input name="base_color" type="color3" value="0.5, 0.5"/>',
            "",
            "'0.5, 0.5' does not have the type color3: write 3 numbers separated by commas",
        ),
        ('<input name="base" type="float" nodename="gone"/>', "", "'gone', which does not exist"),
        (
            '<input name="base" type="float" nodename="a"/>',
            '<constant name="a" type="color3"/>',
            "has the type float and is connected to color3",
        ),
        ('<input name="base" type="float" value="0,5"/>', "", "'0,5' is not one number"),
        ('<input name="base" type="float" value="50%"/>', "", "type float: '50%' is not a number"),
        (
            '<input name="base_color" type="color3" value="1, 0.5 0x8"/>',
            "",
            "value '1, 0.5 0x8' does not have the type color3: '0x8' is not a number",
        ),
        (
            '<input name="base" type="float" nodename="a"/>',
            '<worleynoise2d name="a" type="float"><input name="style" type="integer" value="0.7"/>'
            "</worleynoise2d>",
            "'0.7' is not a whole number",
        ),
        (
            '<input name="base" type="float" nodename="a"/>',
            '<geompropvalue name="a" type="float"><input name="geomprop" type="string" '
            'value="wear"/><input name="default" type="float" value="0.25 + 0.5"/></geompropvalue>',
            "node 'a', input 'default': the value '0.25 . 0.5' .* '.' is not a number",
        ),
        (
            '<input name="thin_film_thickness" type="float" value="1" unittype="distance" '
            'unit="micrometer"/>',
            "",
            "node 'shader', input 'thin_film_thickness': the unit 'micrometer' is not a unit of "
            "distance: use "
            "one of nanometer, micron, ",
        ),
        (
            '<input name="thin_film_thickness" type="float" value="1" unit="angstrom"/>',
            "",
            "the unit 'angstrom' has no unittype: use one of distance, angle",
        ),
        (
            '<input name="base" type="float" nodename="a"/>',
            '<image name="a" type="float"><input name="uaddressmode" type="string" value="wrap"/>'
            "</image>",
            "node 'a', input 'uaddressmode': 'wrap' is not a choice: use one of constant, clamp, ",
        ),
        (
            '<input name="base_color" type="color3" nodename="a" output="colour"/>',
            '<UsdUVTexture name="a" type="multioutput"/>',
            "and names none of its outputs: r, g, b, a, rgb",
        ),
        (
            '<input name="base_color" type="color3" nodename="a" output="rgb"/>',
            '<UsdUVTexture name="a" type="multioutput">'
            '<input name="scale" type="vector2" value="2, 2"/></UsdUVTexture>',
            "node 'a' .* fits no definition: its input 'scale' must have the type color4, not "
            "vector2",
        ),
        (
            '<input name="base_color" type="color3" nodename="a"/>',
            DEFINITION.format(inputs="", nodes='<wear name="inner" type="color3"/>')
            + '<wear name="a" type="color3"/>',
            "the graph has a cycle: NG_wear/inner -> NG_wear/inner",
        ),
        (
            '<input name="base_color" type="color3" nodename="a"/>',
            DEFINITION.format(inputs="", nodes='<snow name="inner" type="color3"/>')
            + '<wear name="a" type="color3"/>',
            "node 'NG_wear/inner' is of the kind 'snow', which no library defines",
        ),
        (
            '<input name="base_color" type="color3" nodename="a"/>',
            DEFINITION.format(inputs="", nodes=IMAGE.format(written='interfacename="gone"'))
            + '<wear name="a" type="color3"/>',
            "reads the interface input 'gone', which does not exist",
        ),
        (
            '<input name="base" type="float" nodegraph="g" output="out"/>',
            '<nodegraph name="g" nodedef="ND_gone"><dot name="a" type="float">'
            '<input name="in" type="float" interfacename="w"/></dot>'
            '<output name="out" type="float" nodename="a"/></nodegraph>',
            "which does not exist: its graph implements 'ND_gone', which is not a definition",
        ),
        (
            '<input name="base" type="float" nodename="a"/>',
            '<extract name="a" type="float"><input name="in" type="color3" value="1, 1, 1"/>'
            '<input name="index" type="integer" value="3"/></extract>',
            "node 'a', input 'index': the index 3 does not exist: use 0 to 2",
        ),
        (
            '<input name="base" type="float" nodegraph="g" output="out"/>',
            GIVEN.format('type="float" value="0,5"'),
            "node 'g/a', input 'in': reads the input 'g/w': the value '0,5' is not one number",
        ),
        (
            '<input name="base" type="float" nodegraph="g" output="out"/>',
            GIVEN.format('type="float" nodename="gone"'),
            "node 'g/a', input 'in': reads the input 'g/w': is connected to 'gone', which does",
        ),
        (
            '<input name="base" type="float" nodegraph="g" output="out"/>',
            GIVEN.format('type="color3" value="1, 1, 1"'),
            "node 'g/a', input 'in': has the type float and reads the input 'w' of the type color3",
        ),
        (
            '<input name="base_color" type="color3" nodename="a"/>',
            DEFINITION.format(
                inputs='<input name="w" type="float" value="0,5"/>',
                nodes='<dot name="inner" type="color3">'
                '<input name="in" type="color3" value="1, 1, 1"/></dot>',
            )
            + '<wear name="a" type="color3"/>',
            "node 'a': its definition 'ND_wear', input 'w': the value '0,5' is not one number",
        ),
        (
            '<input name="base_color" type="color3" nodename="a"/>',
            '<nodedef name="ND_wear" node="wear"><output name="out" type="color3"/></nodedef>'
            '<wear name="a" type="color3"/>',
            "node 'a': the document defines 'wear' without a graph: add one",
        ),
        (
            '<input name="base_color" type="color3" nodename="a"/>',
            '<convert name="a" type="color3"><input name="in" type="vector3" nodename="b"/>'
            '</convert><transformmatrix name="b" type="vector3">'
            '<input name="mat" type="matrix33" value="1, 2, 3"/></transformmatrix>',
            "node 'b', input 'mat': the value '1, 2, 3' does not have the type matrix33: write 9",
        ),
        (
            '<input name="base" type="float" nodename="a"/>',
            '<image name="a" type="float"><input name="uaddressmode" type="string" nodename="b"/>'
            '</image><constant name="b" type="string"/>',
            "node 'a', input 'uaddressmode': is connected, but must be a value",
        ),
        (
            '<input name="tangent" type="vector3" nodename="a"/>',
            '<tangent name="a" type="vector3"><input name="index" type="integer" value="-1"/>'
            "</tangent>",
            "node 'a', input 'index': the index -1 does not exist: use 0 or more",
        ),
    ],
)
def test_a_faulty_node_is_refused_by_name(inputs, nodes, message):
    require_refusal(with_surface(inputs, nodes), message)


@pytest.mark.parametrize("value", ["1.5f", " +1", "-.5", "2.", "1e-3", "1E+2"])
def test_a_number_may_be_written_as_programs_do(value):
    loaded = parse_document(with_surface(f'<input name="coat" type="float" value="{value}"/>'))
    loaded.check(loaded.require_material())


@pytest.mark.parametrize("kind", ["conical_edf", "measured_edf"])
def test_a_node_that_there_is_no_code_of_is_refused_by_name(kind):
    text = document(
        f'<{kind} name="lamp" type="EDF"/>',
        '<surface name="shader" type="surfaceshader">'
        '<input name="edf" type="EDF" nodename="lamp"/></surface>',
        material(),
    )
    message = f"node 'lamp' is of the kind '{kind}' and type 'EDF', for which MaterialX has no code"
    require_refusal(text, message)


def test_a_whole_number_given_to_a_graph_is_read_as_a_number():
    nodes = GIVEN.format('type="integer" value="1"')
    inputs = '<input name="base" type="float" nodegraph="g" output="out"/>'
    loaded = parse_document(with_surface(inputs, nodes))
    loaded.check(loaded.require_material())


def test_a_fault_in_a_node_that_no_material_uses_harms_nobody():
    loaded = parse_document(with_surface("", '<snowfall name="alone" type="float"/>'))
    loaded.check(loaded.require_material())


@pytest.mark.parametrize(("category", "port"), [("mix", "fg"), ("mix", "bg"), ("dot", "in")])
def test_an_unlit_surface_that_is_mixed_is_refused_by_name(category, port):
    text = document(
        '<surface_unlit name="lamp" type="surfaceshader"/>',
        f'<{category} name="shader" type="surfaceshader">'
        f'<input name="{port}" type="surfaceshader" nodename="lamp"/></{category}>',
        material(),
    )
    message = f"node 'shader', input '{port}': is connected to 'lamp', an unlit surface"
    require_refusal(text, message)


def test_a_definition_that_is_named_and_is_not_there_is_refused_with_those_there_are():
    text = document(
        '<surface name="shader" type="surfaceshader" nodedef="ND_nothing"/>', material()
    )
    require_refusal(text, "nodedef 'ND_nothing' does not exist for it: use ND_surfac")


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
        "document: node 'shader', input 'base': is connected to the output 'g/out', which has "
        "the type float and is connected to color3: insert a convert node"
    )


def test_the_output_of_a_definition_is_refused_in_the_same_way():
    defined = (
        '<nodedef name="ND_own" node="own"><output name="out" type="float"/></nodedef>'
        f'<nodegraph name="NG_own" nodedef="ND_own">{COLOUR}'
        '<output name="out" type="float" nodename="colour"/></nodegraph>'
    )
    reads = '<input name="base" type="float" nodename="a"/>'
    reported = refusal(with_surface(reads, defined + '<own name="a" type="float"/>'))
    assert (
        "node 'a' is defined by the output 'NG_own/out', which has the type float and is"
        in reported
    )


@pytest.mark.parametrize(
    ("reads", "before"),
    [
        ('<input name="base" type="float" nodename="colour" channels="g"/>', COLOUR),
        (BASE, graph('type="float" channels="g"')),
    ],
)
def test_channels_are_named_where_they_would_have_made_the_type_fit(reads, before):
    reported = refusal(with_surface(reads, before))
    assert reported.endswith(
        "has the type float and is connected to color3: channels 'g' are supported up to version "
        "1.38, so insert an extract or combine node"
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
    ("given", "reported"),
    [
        (("light", "lightshader"), "connect a node with the type surfaceshader"),
        (("oren_nayar_diffuse_bsdf", "BSDF"), "insert a surface node"),
        (("uniform_edf", "EDF"), "insert a surface node"),
        (("constant", "color3"), "insert a convert node"),
    ],
)
def test_what_is_no_surface_is_refused_with_what_makes_one_of_it(given, reported):
    category, kind = given
    text = document(node(category, "shader", kind, {}), material())
    assert refusal(text).endswith(f"is connected to {kind}: {reported}")
