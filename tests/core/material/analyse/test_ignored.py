"""Parts of a document that MaterialX ignores are reported, with a remedy."""

import numpy as np
import pytest

from verdigris.core.material.load.mtlx_document import load_document, parse_document
from verdigris.core.material.report import describe
from verdigris.core.material.teacher.teacher import Teacher

from ..documents import document, material, with_surface
from ..surfaces import glow, node, probe, write_image

COLOUR = node("constant", "colour", "color3", {"value": ("color3", "0.2, 0.4, 0.6")})
UNLIT = '<surface_unlit name="shader" type="surfaceshader">{}</surface_unlit>'
LAMBERT = (
    '<oren_nayar_diffuse_bsdf name="lobe" type="BSDF">{}</oren_nayar_diffuse_bsdf>'
    '<surface name="shader" type="surfaceshader">'
    '<input name="bsdf" type="BSDF" nodename="lobe"/></surface>'
)
OVERRIDE = '<override name="tint" type="color3" value="0, 1, 0"/>'


def dropped(made, **options):
    return [part for part in describe(made, **options)[0].parts if part.fate == "ignored"]


def reported(text):
    """What is ignored of the only material of a document."""
    return dropped(parse_document(text), probe=False)


def test_a_node_with_the_attribute_disable_is_baked_as_it_is_and_reported():
    inverted = '<invert name="shown" type="color3"{}><input name="in" type="color3" '
    inverted += 'value="0.2, 0.3, 0.4"/></invert>'
    made = probe(inverted.format(' disable="true"'), "shown")
    np.testing.assert_allclose(glow(Teacher(made), [[0.5, 0.5]])[0], [0.8, 0.7, 0.6], atol=1e-6)
    (part,) = dropped(made, probe=False)
    assert part.name == "attribute 'disable' of 'shown'"
    assert part.how.endswith("with such an input, or remove it")
    enabled = probe(inverted.format(' disable="false"'), "shown")
    assert all(each.fate == "kept" for each in describe(enabled, probe=False)[0].parts)


def heir_in_a_graph(of, own=""):
    """The report of a node in a graph that inherits from another, and what it reflects."""
    base = '<add name="{}" type="color3"><input name="in1" type="color3" nodename="{}"/>'
    base += '<input name="in2" type="color3" value="0.25, 0.5, 0.75"/></add>'
    heir = f'<add name="heir" type="color3" inherit="{of}">{own}</add>'
    graph = f'<nodegraph name="g">{COLOUR.replace("colour", "near")}{base.format("inner", "near")}'
    graph += f'{heir}<output name="out" type="color3" nodename="heir"/></nodegraph>'
    reads = '<input name="emission_color" type="color3" nodegraph="g" output="out"/>'
    made = parse_document(
        document(COLOUR, base.format("base", "colour"), graph, UNLIT.format(reads), material())
    )
    return dropped(made, probe=False), glow(Teacher(made), [[0.5, 0.5]])[0]


def test_a_node_in_a_graph_that_inherits_a_connection_is_reported_and_gets_the_values_alone():
    (part,), colour = heir_in_a_graph("base")
    assert part.name == "input 'in1' of 'g/heir'"
    assert part.how == (
        "it is connected in 'base', and a node in a graph inherits only values: write "
        "the input into the node, and connect it in its graph"
    )
    np.testing.assert_allclose(colour, [0.25, 0.5, 0.75], rtol=1e-6)
    own = '<input name="in1" type="color3" nodename="near"/>'
    parts, colour = heir_in_a_graph("base", own)
    assert parts == []
    np.testing.assert_allclose(colour, [0.45, 0.9, 1.35], rtol=1e-6)


def test_a_node_that_inherits_from_one_in_its_graph_is_reported_to_inherit_nothing():
    (part,), colour = heir_in_a_graph("inner")
    assert part.name == "inheritance of 'g/heir'"
    assert part.how.startswith("nodes inherit only from nodes outside of graphs")
    np.testing.assert_allclose(colour, 0)


def with_channels(port="", output=""):
    graph = f'<nodegraph name="g">{COLOUR}<output name="out" type="color3" nodename="colour"'
    graph += f"{output}/></nodegraph>"
    reads = f'<input name="color" type="color3" nodegraph="g" output="out"{port}/>'
    return graph + LAMBERT.format(reads) + material()


@pytest.mark.parametrize(
    ("places", "where"),
    [({"port": ' channels="bgr"'}, "lobe/color"), ({"output": ' channels="bgr"'}, "g/out")],
)
def test_channels_count_up_to_version_1_38_and_are_reported_in_later_ones(places, where):
    text = with_channels(**places)
    (part,) = reported(document(text))
    assert part.name == f"channels 'bgr' of {where!r}"
    assert "up to version 1.38" in part.how and "separate and combine nodes" in part.how
    assert reported(document(with_channels())) == []
    older = f'<materialx version="1.38">{text}</materialx>'
    assert reported(older) == []
    for each, colour in ((document(text), [0.2, 0.4, 0.6]), (older, [0.6, 0.4, 0.2])):
        found = describe(parse_document(each))[0].probe.albedo
        np.testing.assert_allclose(found, colour, rtol=0.03)


def test_an_input_that_the_named_definition_does_not_have_is_reported():
    text = '<invert name="inverted" type="color3" nodedef="ND_invert_color3">'
    text += '<input name="amonut" type="color3" value="1, 1, 1"/></invert>'
    reads = '<input name="base_color" type="color3" nodename="inverted"/>'
    (part,) = reported(with_surface(reads, text))
    assert part.name == "input 'amonut' of 'inverted'"
    assert "'ND_invert_color3' has no such input" in part.how


def old_material(inside="", look=""):
    return (
        '<materialx version="1.35"><material name="painted"><shaderref name="shader" '
        'node="standard_surface"><bindinput name="base_color" type="color3" value="1, 0, 0" '
        f'publicname="tint"/></shaderref>{inside}</material>\n<look name="hero"><materialassign '
        f'name="a" material="painted" geom="*"/>\n{look}</look></materialx>'
    )


@pytest.mark.parametrize(
    ("places", "line", "holder"),
    [({"inside": OVERRIDE}, 1, "material 'painted'"), ({"look": OVERRIDE}, 3, "look 'hero'")],
)
def test_overrides_of_old_documents_are_reported_with_their_line(places, line, holder, tmp_path):
    path = tmp_path / "old.mtlx"
    path.write_text(old_material(**places))
    found = describe(load_document(path))[0]
    (part,) = [each for each in found.parts if each.fate == "ignored"]
    assert part.name == "override of 'tint'"
    assert part.how.startswith(f"line {line} of old.mtlx: {holder} sets it to '0, 1, 0', and")
    red, green, _ = found.probe.albedo
    assert red > 5 * green


def test_overrides_of_included_documents_are_reported_of_the_material_that_has_them(tmp_path):
    (tmp_path / "inner.mtlx").write_text(old_material(OVERRIDE))
    outer = tmp_path / "outer.mtlx"
    outer.write_text(
        '<materialx version="1.39" xmlns:xi="http://www.w3.org/2001/XInclude">'
        '<xi:include href="inner.mtlx"/><standard_surface name="plain" type="surfaceshader"/>'
        + material("plain", "other")
        + "</materialx>"
    )
    names = {
        each.name: [part.name for part in each.parts if part.fate == "ignored"]
        for each in describe(load_document(outer), probe=False)
    }
    assert names == {"painted": ["override of 'tint'"], "other": []}


def test_units_of_files_are_reported(tmp_path):
    write_image(tmp_path / "grey.png", np.full((2, 2, 1), 128, np.uint8))
    read = '<image name="read" type="float"><input name="file" type="filename" value="grey.png"{}/>'
    read += "</image>"
    base = '<input name="base" type="float" nodename="read"/>'
    path = tmp_path / "main.mtlx"
    path.write_text(with_surface(base, read.format(' unittype="distance" unit="centimeter"')))
    (part,) = dropped(load_document(path), probe=False)
    assert part.name == "unit 'centimeter' of 'read/file'"
    path.write_text(with_surface(base, read.format("")))
    assert dropped(load_document(path), probe=False) == []


@pytest.mark.parametrize(
    ("value", "reported_parts"), [("red", ["token 'which' of 'z'"]), ("grey", [])]
)
def test_tokens_of_nodes_are_reported_where_they_say_something_else(
    value, reported_parts, tmp_path
):
    write_image(tmp_path / "grey.png", np.full((2, 2, 3), 128, np.uint8))
    token = '<token name="which" type="string" value="{}"/>'
    nodes = (
        f'<nodedef name="ND_z" node="zz">{token.format("grey")}<output name="out" type="color3"/>'
        '</nodedef><nodegraph name="NG_z" nodedef="ND_z"><image name="i" type="color3"><input '
        'name="file" type="filename" value="[which].png"/></image><output name="out" type="color3" '
        f'nodename="i"/></nodegraph><zz name="z" type="color3">{token.format(value)}</zz>'
    )
    path = tmp_path / "main.mtlx"
    path.write_text(with_surface('<input name="base_color" type="color3" nodename="z"/>', nodes))
    assert [part.name for part in dropped(load_document(path), probe=False)] == reported_parts


def several_outputs(named):
    """A glow of a graph with two outputs, of which one is named or none."""
    green = COLOUR.replace("colour", "green").replace("0.2, 0.4, 0.6", "0, 1, 0")
    graph = f'<nodegraph name="g">{COLOUR}{green}<output name="first" type="color3" '
    graph += 'nodename="colour"/><output name="second" type="color3" nodename="green"/></nodegraph>'
    reads = f'<input name="emission_color" type="color3" nodegraph="g"{named}/>'
    return parse_document(document(graph, UNLIT.format(reads), material()))


def test_a_graph_of_several_outputs_of_which_none_is_named_is_reported():
    made = several_outputs("")
    reported_parts = [
        part for part in describe(made, probe=False)[0].parts if part.fate == "approximated"
    ]
    assert [part.name for part in reported_parts] == ["input 'emission_color' of 'shader'"]
    assert reported_parts[0].how == (
        "it is connected to 'g' and names none of its outputs (first, second): the first is "
        "baked, so name the intended output"
    )
    np.testing.assert_allclose(glow(Teacher(made), [[0.5, 0.5]])[0], [0.2, 0.4, 0.6], rtol=1e-6)
    named = several_outputs(' output="second"')
    assert all(part.fate == "kept" for part in describe(named, probe=False)[0].parts)
    np.testing.assert_allclose(glow(Teacher(named), [[0.5, 0.5]])[0], [0, 1, 0], rtol=1e-6)


@pytest.mark.parametrize("category", ["image", "tiledimage", "triplanarprojection"])
@pytest.mark.parametrize("wanted", ["closest", "linear", "cubic"])
def test_cubic_filtering_is_reported_where_an_image_asks_for_it(category, wanted, tmp_path):
    write_image(tmp_path / "i.png", np.full((2, 2, 3), 100, np.uint8))
    file = "filex" if category == "triplanarprojection" else "file"
    ports = {file: ("filename", "i.png"), "filtertype": ("string", wanted)}
    made = probe(node(category, "shown", "color3", ports), "shown", search_paths=[tmp_path])
    found = {part.name: part for part in describe(made, probe=False)[0].parts}
    assert ("cubic filtering" in found) == (wanted == "cubic")
    if wanted == "cubic":
        assert found["cubic filtering"].fate == "approximated"


def test_a_node_that_filters_no_image_may_call_an_input_so():
    defined = (
        '<nodedef name="ND_own" node="own"><input name="filtertype" type="string" value="cubic"/>'
        '<output name="out" type="color3"/></nodedef><nodegraph name="NG_own" nodedef="ND_own">'
        f'{COLOUR}<output name="out" type="color3" nodename="colour"/></nodegraph>'
    )
    made = probe(
        defined + node("own", "shown", "color3", {"filtertype": ("string", "cubic")}), "shown"
    )
    assert "cubic filtering" not in {part.name for part in describe(made, probe=False)[0].parts}
