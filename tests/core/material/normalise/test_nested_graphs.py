"""Graphs inside graphs, and outputs that return an input, as LookdevX and Houdini write them."""

import numpy as np
import pytest

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.teacher.teacher import Teacher

from ..images import decoded_srgb
from ..surfaces import glow, node, probe, write_image

AT = np.float32([[0.2, 0.7]])
WRITTEN = np.array([0.5, 0.25, 0.75])
COLOUR = '<input name="given" type="color3" value="0.5, 0.25, 0.75"/>'
HANDED_ON = '<input name="given" type="color3" interfacename="given"/>'
HANDED = 'interfacename="file"'
OUT = '<output name="out" type="color3" {}/>'


def graph(name, *parts):
    return f'<nodegraph name="{name}">{"".join(parts)}</nodegraph>'


def read(port, name="read", kind="color3", category="dot"):
    return node(category, name, kind, {"in": ("color3", "@")}).replace('nodename=""', port)


def seen(text, **options):
    """What a graph called `outer` gives."""
    shown = read('nodegraph="outer" output="out"', "colour")
    return glow(Teacher(probe(text + shown, "colour", **options)), AT)[0]


def test_a_graph_in_a_graph_gives_what_its_nodes_give():
    inner = graph("inner", HANDED_ON, read('interfacename="given"'), OUT.format('nodename="read"'))
    outer = graph(
        "outer",
        COLOUR,
        inner,
        read('nodegraph="inner" output="out"'),
        OUT.format('nodename="read"'),
    )
    np.testing.assert_allclose(seen(outer), WRITTEN, atol=1e-6)
    straight = graph("outer", COLOUR, inner, OUT.format('nodegraph="inner" output="out"'))
    np.testing.assert_allclose(seen(straight), WRITTEN, atol=1e-6)


def test_an_input_of_a_graph_may_come_from_one_of_several_outputs():
    several = node("separate3", "several", "multioutput", {"in": ("color3", "0.5, 0.25, 0.75")})
    outer = graph(
        "outer",
        '<input name="given" type="float" nodename="several" output="outg"/>',
        '<convert name="grey" type="color3">'
        '<input name="in" type="float" interfacename="given"/></convert>',
        OUT.format('nodename="grey"'),
    )
    np.testing.assert_allclose(seen(several + outer), WRITTEN[1], atol=1e-6)
    with pytest.raises(DocumentError, match="and names none of its outputs: outr, outg, outb"):
        seen(several + outer.replace(' output="outg"', ""))


def test_graphs_in_graphs_are_connected_by_their_outputs():
    """Two deep, two side by side, several outputs, and nodes that have the same name in each."""
    deepest = graph(
        "deepest",
        HANDED_ON,
        read('interfacename="given"', kind="multioutput", category="separate3"),
        '<output name="red" type="float" nodename="read" output="outr"/>',
        '<output name="green" type="float" nodename="read" output="outg"/>',
        '<output name="same" type="color3" interfacename="given"/>',
    )
    swapped = "".join(
        f'<input name="in{at}" type="float" nodegraph="deepest" output="{output}"/>'
        for at, output in enumerate(("green", "red", "red"), 1)
    )
    first = graph(
        "first",
        HANDED_ON,
        deepest,
        f'<combine3 name="read" type="color3">{swapped}</combine3>',
        '<output name="swapped" type="color3" nodename="read"/>',
        '<output name="same" type="color3" nodegraph="deepest" output="same"/>',
    )
    both = "".join(
        f'<input name="{name}" type="color3" interfacename="{name}"/>' for name in ("in1", "in2")
    )
    ports = (
        '<input name="in1" type="color3" nodegraph="first" output="swapped"/>'
        '<input name="in2" type="color3" nodegraph="first" output="same"/>'
    )
    second = graph(
        "second",
        ports,
        f'<add name="read" type="color3">{both}</add>',
        OUT.format('nodename="read"'),
    )
    outer = graph("outer", COLOUR, first, second, OUT.format('nodegraph="second" output="out"'))
    np.testing.assert_allclose(seen(outer), np.add(WRITTEN, [0.25, 0.5, 0.5]), atol=1e-6)


def test_an_output_may_hand_an_input_on_through_several_graphs():
    first = graph("first", COLOUR, OUT.format('interfacename="given"'))
    port = '<input name="given" type="color3" nodegraph="first" output="out"/>'
    outer = graph("outer", port, OUT.format('interfacename="given"'))
    for text in (first + outer, outer + first):
        np.testing.assert_allclose(seen(text), WRITTEN, atol=1e-6)


def test_a_file_keeps_its_colour_space_on_the_way_into_a_graph(tmp_path):
    texels = np.tile((WRITTEN * 255).round().astype(np.uint8), (2, 2, 1))
    (tmp_path / "below").mkdir()
    write_image(tmp_path / "below" / "plain.png", texels)
    file = '<input name="file" type="filename" {}/>'
    image = f'<tiledimage name="read" type="color3">{file.format(HANDED)}</tiledimage>'
    inner = graph("inner", file.format(HANDED), image, OUT.format('nodename="read"'))
    given = file.format('value="below/plain.png" colorspace="srgb_texture"')
    outer = graph("outer", given, inner, OUT.format('nodegraph="inner" output="out"'))
    got = seen(outer, search_paths=[tmp_path])
    np.testing.assert_allclose(got, decoded_srgb(WRITTEN), atol=2e-3)
    prefixed = image.replace(HANDED, 'value="plain.png" colorspace="srgb_texture"')
    inner = graph("inner", prefixed, OUT.format('nodename="read"'))
    inner = inner.replace('name="inner"', 'name="inner" fileprefix="below/"')
    outer = graph("outer", inner, OUT.format('nodegraph="inner" output="out"'))
    got = seen(outer, search_paths=[tmp_path])
    np.testing.assert_allclose(got, decoded_srgb(WRITTEN), atol=2e-3)


@pytest.mark.parametrize(
    ("output", "written"),
    [
        ('nodename="gone"', "connected to the node 'gone', which does not exist"),
        ('interfacename="gone"', "connected to no node of its graph"),
        ('interfacename="given"', "connected to no node of its graph"),
        ("", "connected to no node of its graph"),
    ],
)
def test_an_output_that_leads_nowhere_is_refused(output, written):
    round_about = '<input name="given" type="color3" nodegraph="outer" output="out"/>'
    with pytest.raises(
        DocumentError, match=rf"node 'colour', input 'in': .*'outer/out', .*{written}"
    ):
        seen(graph("outer", round_about, OUT.format(output)))


@pytest.mark.parametrize(
    ("wanted", "written"), [("gone", "which does not exist"), ("read", "which is not an output")]
)
def test_an_output_that_a_graph_has_not_is_distinguished_from_a_graph_that_is_not_there(
    wanted, written
):
    """A second element of a name is left out, so an output is lost that is called like a node."""
    inner = COLOUR + read('interfacename="given"') + OUT.format('nodename="read"')
    text = graph("pattern", inner) + read(f'nodegraph="pattern" output="{wanted}"', "colour")
    written = rf"connected to '{wanted}' of the graph 'pattern', {written}: its outputs are out$"
    with pytest.raises(DocumentError, match=written):
        Teacher(probe(text, "colour"))


DEFINED = (
    '<nodedef name="ND_own" node="own"><input name="given" type="color3" value="0.5, 0.25, 0.75"/>'
    '<output name="out" type="color3"/></nodedef><nodegraph name="NG_own" nodedef="ND_own">{}'
    '</nodegraph><own name="colour" type="color3"/>'
)


def test_the_graph_of_a_definition_may_hand_an_input_on():
    text = DEFINED.format(OUT.format('interfacename="given"'))
    got = glow(Teacher(probe(text, "colour")), AT)[0]
    np.testing.assert_allclose(got, WRITTEN, atol=1e-6)


def test_a_definition_whose_output_leads_nowhere_is_refused():
    text = DEFINED.format(OUT.format('nodename="gone"'))
    written = r"node 'colour' is defined by the output 'NG_own/out', .*'gone', which does not exist"
    with pytest.raises(DocumentError, match=written):
        Teacher(probe(text, "colour"))
