"""Names that the library, or an element before, has too."""

import numpy as np
import pytest

from verdigris.core.material.load.mtlx_document import load_document, parse_document
from verdigris.core.material.report import describe
from verdigris.core.material.teacher.teacher import Teacher

from ..documents import GRAPH, document, material, standard_surface, with_surface

RED = '<input name="value" type="color3" value="0.8, 0.1, 0.1"/>'


@pytest.mark.parametrize("name", ["float", "none", "surfaceshader", "UV0", "NG_tiledimage_float"])
def test_nodes_may_have_names_that_the_library_has_too(name):
    def rough_red(node):
        graph = (
            f'<nodegraph name="graph"><input name="tint" type="color3" nodename="{node}"/>'
            f'<multiply name="{node}" type="color3"><input name="in1" type="color3" '
            'interfacename="tint"/><input name="in2" type="float" value="0.5"/></multiply>'
            f'<output name="out" type="color3" nodename="{node}"/></nodegraph>'
        )
        inputs = (
            f'<input name="base_color" type="color3" nodename="{node}"/>'
            '<input name="specular_color" type="color3" nodegraph="graph" output="out"/>'
        )
        red = f'<constant name="{node}" type="color3">{RED}</constant>'
        return Teacher(parse_document(with_surface(inputs, red, graph)))

    ahead = np.float32([[0.6, 0, 0.8], [-0.6, 0, 0.8]])
    seen, expected = (
        rough_red(node).response(np.float32([[0.5, 0.5]] * 2), ahead, ahead[:1].repeat(2, 0))
        for node in (name, "red")
    )
    assert expected[:, 0].min() > 2 * expected[:, 1].min() > 0
    np.testing.assert_array_equal(seen, expected)


def test_shaders_graphs_and_materials_keep_the_names_that_the_library_has_too():
    graph = GRAPH.replace('"graph"', '"distance"')
    look = '<look name="hero"><materialassign name="a" material="integer" geom="/tray"/></look>'
    text = document(
        graph,
        standard_surface(name="surfaceshader"),
        material("surfaceshader", "material"),
        '<surfacematerial name="integer" type="material" inherit="material"/>',
        '<surfacematerial name="graphed" type="material"><input name="surfaceshader" '
        'type="surfaceshader" nodegraph="distance" output="out"/></surfacematerial>',
        look,
    )
    loaded = parse_document(text)
    assert {m.name: m.looks for m in loaded.materials} == {
        "material": (),
        "integer": ("hero",),
        "graphed": (),
    }
    for found in loaded.materials:
        loaded.check(loaded.require_material(found.name))


def test_what_shares_a_name_with_something_before_it_is_reported_with_its_line(tmp_path):
    red = f'<constant name="c" type="color3">{RED}</constant>'
    (tmp_path / "more.mtlx").write_text(document("", red, red))
    inputs = '<input name="base" type="float" value="1"/>\n' * 2
    path = tmp_path / "twins.mtlx"
    path.write_text(
        document('<xi:include href="more.mtlx"/>', standard_surface(inputs), material())
    )
    reported = [part.how for part in describe(load_document(path), probe=False)[0].parts]
    assert [how.partition(" has")[0] for how in reported if "ignored" in how] == [
        "line 5 of twins.mtlx is ignored, because line 4",
        "line 5 of more.mtlx is ignored, because line 4",
    ]


@pytest.mark.parametrize("space", ["", "kit"])
def test_what_shares_a_name_with_something_included_is_reported_with_both_files(space, tmp_path):
    own = f'<constant name="{space and "kit:"}c" type="color3">{RED}</constant>'
    included = document("", '<constant name="c" type="color3"/>')
    if space:
        included = included.replace("<materialx", f'<materialx namespace="{space}"')
    (tmp_path / "more.mtlx").write_text(included)
    path = tmp_path / "own.mtlx"
    path.write_text(document('<xi:include href="more.mtlx"/>', own, standard_surface(), material()))
    reported = [part for part in describe(load_document(path), probe=False)[0].parts if part.how]
    [how] = [part.how for part in reported if part.name == f"second '{space and 'kit:'}c'"]
    assert how.startswith("line 4 of own.mtlx is ignored, because line 4 of more.mtlx has the same")
