"""Names of nodes do not decide what a material is."""

import numpy as np
import pytest

from verdigris.core.base.errors import TextureError
from verdigris.core.material.codegen.code_names import rename_nodes_for_code
from verdigris.core.material.graph.library import standard_library
from verdigris.core.material.teacher.teacher import Teacher

from .surfaces import glow, node, probe
from .untouched import raw

COLOUR = 0.5
SRGB = ((COLOUR + 0.055) / 1.055) ** 2.4


def doubled(name, colour_space="lin_rec709"):
    """A node that doubles a grey which it takes in a colour space."""
    grey = f'value="{COLOUR}, {COLOUR}, {COLOUR}" colorspace="{colour_space}"'
    return (
        f'<multiply name="{name}" type="color3"><input name="in1" type="color3" {grey}/>'
        '<input name="in2" type="float" value="2"/></multiply>'
    )


def in_graph(name, body, result):
    output = f'<output name="out" type="color3" nodename="{result}"/>'
    return f'<nodegraph name="{name}">{body}{output}</nodegraph>'


def in_definition(name, body, result):
    definition = (
        f'<nodedef name="ND_{name}" node="{name}"><output name="out" type="color3"/></nodedef>'
    )
    return definition + in_graph(name, body, result).replace(">", f' nodedef="ND_{name}">', 1)


def added(first, second, name="sum"):
    return (
        f'<add name="{name}" type="color3"><input name="in1" type="color3" {first}/>'
        f'<input name="in2" type="color3" {second}/></add>'
    )


def given_off(body):
    return glow(Teacher(probe(body, "sum")), [[0.5, 0.5]])[0]


TWO_GRAPHS = added('nodegraph="first" output="out"', 'nodegraph="second" output="out"')


@pytest.mark.parametrize(
    ("spaces", "expected"),
    [
        (("lin_rec709", "lin_rec709"), 4 * COLOUR),
        (("srgb_texture", "lin_rec709"), 2 * SRGB + 2 * COLOUR),
        (("srgb_texture", "srgb_texture"), 4 * SRGB),
    ],
)
def test_nodes_of_two_graphs_may_have_one_name(spaces, expected):
    first, second = (
        in_graph(name, doubled("tint", space), "tint")
        for name, space in zip(("first", "second"), spaces, strict=True)
    )
    np.testing.assert_allclose(given_off(first + second + TWO_GRAPHS), expected, atol=1e-5)


def test_a_node_of_a_graph_may_have_the_name_of_one_outside():
    inside = in_graph("first", doubled("tint", "srgb_texture"), "tint")
    outside = doubled("tint", "srgb_texture")
    sum_of_both = added('nodegraph="first" output="out"', 'nodename="tint"')
    np.testing.assert_allclose(given_off(inside + outside + sum_of_both), 4 * SRGB, atol=1e-5)


@pytest.mark.parametrize("name", ["tint.001", "base tint", "1", "tint-a", "a:tint", "名"])
def test_a_node_may_have_a_name_that_code_cannot_have(name):
    outermost = doubled(name)
    graph = in_graph("first", doubled(name), name)
    definition = in_definition("second", doubled(name), name)
    use = node("second", "used", "color3", {})
    of_graphs = added('nodegraph="first" output="out"', 'nodename="used"', "of_graphs")
    both = added(f'nodename="{name}"', 'nodename="of_graphs"')
    body = outermost + graph + definition + use + of_graphs + both
    np.testing.assert_allclose(given_off(body), 6 * COLOUR, atol=1e-5)


def test_a_missing_image_is_told_by_the_name_that_its_node_has_in_the_document():
    image = (
        '<image name="tint" type="color3">'
        '<input name="file" type="filename" value="{}.png"/></image>'
    )
    graphs = (in_graph(name, image.format(name), "tint") for name in ("first", "second"))
    with pytest.raises(TextureError, match="second/tint/file"):
        Teacher(probe("".join(graphs).replace("first.png", "") + TWO_GRAPHS, "sum"))


def test_a_node_without_a_use_for_another_name_keeps_its_own():
    made = probe(in_graph("first", doubled("tint"), "tint") + doubled("sum"), "sum")
    assert "sum_in2_tmp" in Teacher(made).generated.source


def test_what_is_written_before_a_node_is_called_after_it_in_all_graphs():
    """Why node_names.py is there; with a colour space in both, MaterialX would crash."""
    body = "".join(in_graph(name, doubled("tint"), "tint") for name in ("first", "second"))
    made = probe(body.replace(' colorspace="lin_rec709"', "") + TWO_GRAPHS, "sum")
    assert raw(made).count("const float tint_in2_tmp") == 2


def test_names_that_become_the_same_are_told_apart_by_their_order():
    """And not by that of a set, which differs between processes: so would the code."""
    names = [f"tint{sign}1" for sign in "-. +~^"]
    root = probe("".join(map(doubled, names)) + doubled("sum"), "sum").root
    renamed, _ = rename_nodes_for_code(root, root, root, standard_library())

    def tints(document):
        named = (each.getName() for each in document.getNodes())
        return [name for name in named if name.startswith("tint")]

    assert tints(renamed) == [f"tint_1_{number}" for number in range(2, 2 + len(names))]
    assert tints(root) == names
