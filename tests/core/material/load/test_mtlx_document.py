"""Materials and looks of a document."""

import numpy as np
import pytest

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.load.mtlx_document import parse_document, select_materials
from verdigris.core.material.teacher.teacher import Teacher

from ..documents import GRAPH, document, material, standard_surface, with_surface
from ..surfaces import node


def names(text, **options):
    return [found.name for found in parse_document(text, **options).materials]


def test_a_single_material_needs_no_name():
    assert parse_document(with_surface()).require_material().name == "material"


def test_several_materials_without_a_name_are_an_error_that_lists_them():
    text = document(standard_surface(), material(name="gold"), material(name="lead"))
    with pytest.raises(DocumentError, match=r"2 materials, gold, lead: name one of them"):
        parse_document(text).require_material()
    assert parse_document(text).require_material("lead").name == "lead"


def test_an_unknown_material_is_an_error_that_lists_those_there_are():
    with pytest.raises(DocumentError, match=r"no material 'zinc'; it has: material"):
        parse_document(with_surface()).require_material("zinc")


def test_what_is_no_material_though_a_document_speaks_of_it_is_reported_with_the_reason():
    text = document(
        standard_surface(),
        material(),
        '<surfacematerial name="bare" type="material"/>',
        '<volumematerial name="fog" type="material"/>',
        # as something of the library is called
        '<surfacematerial name="none" type="material"/>',
        '<look name="hero"><materialassign name="a" material="gone" geom="/tray"/>'
        '<materialassign name="b" material="material" geom="/cup"/>'
        '<materialassign name="c" material="bare" geom="/rim"/></look>',
    )
    loaded = parse_document(text)
    assert [each.name for each in loaded.materials] == ["material"]
    assert loaded.unbakeable == {
        "bare": "nothing is connected to its surfaceshader",
        "fog": "it is a volume, but only surfaces are baked",
        "none": "nothing is connected to its surfaceshader",
        "gone": "look 'hero' assigns it, and it does not exist",
    }
    for name, reason in (("bare", "nothing is connected"), ("gone", "look 'hero' assigns it")):
        for ask in (loaded.require_material, lambda name: select_materials([loaded], [name])):
            with pytest.raises(DocumentError, match=f"material '{name}': {reason}"):
                ask(name)


def test_looks_are_reported_with_the_material_that_they_assign():
    look = '<look name="hero"><materialassign name="assign" material="gold" geom="/tray"/></look>'
    text = document(standard_surface(), material(name="gold"), material(name="lead"), look)
    found = {m.name: m.looks for m in parse_document(text).materials}
    assert found == {"gold": ("hero",), "lead": ()}


def test_a_look_has_the_materials_of_the_look_that_it_inherits():
    look = '<look name="hero"><materialassign name="assign" material="gold" geom="/tray"/></look>'
    text = document(
        standard_surface(), material(name="gold"), look, '<look name="b" inherit="hero"/>'
    )
    assert parse_document(text).require_material().looks == ("hero", "b")


def test_a_material_that_inherits_has_the_surface_of_the_other():
    heir = '<surfacematerial name="heir" type="material" inherit="gold"/>'
    loaded = parse_document(document(standard_surface(), material(name="gold"), heir))
    teachers = [Teacher(loaded, found) for found in loaded.materials]
    assert [teacher.material.name for teacher in teachers] == ["gold", "heir"]
    ahead = np.float32([[0.6, 0, 0.8]])
    gold, heir = (teacher.response(np.float32([[0.5, 0.5]]), ahead, ahead) for teacher in teachers)
    assert gold.min() > 0.01
    np.testing.assert_array_equal(heir, gold)


def test_materials_that_inherit_each_other_are_refused():
    heirs = [
        f'<surfacematerial name="{name}" type="material" inherit="{other}"/>'
        for name, other in ("ab", "ba")
    ]
    with pytest.raises(DocumentError, match="MaterialX cannot read it"):
        parse_document(document(*heirs))


def test_a_graph_output_and_a_bare_shader_count_as_materials():
    assert names(document(GRAPH)) == ["out"]
    assert names(document(standard_surface(name="bare"))) == ["bare"]


def test_a_surface_of_renderman_is_a_material():
    body = node("LamaDiffuse", "red", "BSDF", {"color": ("color3", "0.5, 0.1, 0.1")})
    body += node("LamaDiffuse", "blue", "BSDF", {"color": ("color3", "0.1, 0.1, 0.6")})
    both = {"material1": ("BSDF", "@red"), "material2": ("BSDF", "@blue")}
    body += node("LamaMix", "mixed", "BSDF", {**both, "mix": ("float", "0.25")})
    ports = {"materialFront": ("BSDF", "@mixed"), "presence": ("float", "0.5")}
    surface = node("LamaSurface", "leaf", "material", ports)
    made = parse_document(document(body, surface))
    assert [material.name for material in made.materials] == ["leaf"]
    light, view = np.float32([[0.36, 0.48, 0.8]]), np.float32([[0, 0, 1]])
    teacher, at = Teacher(made), np.float32([[0.5, 0.5]])
    expected = 0.5 * np.array([[0.4, 0.1, 0.225]]) * 0.8 / np.pi
    np.testing.assert_allclose(teacher.response(at, light, view), expected, rtol=1e-3)
    np.testing.assert_allclose(teacher.unlit(at, view)[0, 3], 0.5, atol=1e-3)


def test_a_graph_that_feeds_a_material_is_not_a_second_one():
    fed = (
        '<surfacematerial name="gold" type="material"><input name="surfaceshader" '
        'type="surfaceshader" nodegraph="graph" output="out"/></surfacematerial>'
    )
    assert names(document(GRAPH, fed)) == ["gold"]


def test_a_graph_that_feeds_the_graph_of_a_material_is_not_a_second_one():
    inner = (
        '<nodegraph name="whole"><input name="shader" type="surfaceshader" nodegraph="graph" '
        'output="out"/><surfacematerial name="m" type="material"><input name="surfaceshader" '
        'type="surfaceshader" interfacename="shader"/></surfacematerial>'
        '<output name="gold" type="material" nodename="m"/></nodegraph>'
    )
    assert names(document(GRAPH, inner)) == ["gold"]
    # what takes it and makes no surface of it leaves it as one
    other = '<nodegraph name="whole"><input name="shader" type="surfaceshader" nodegraph="graph"/>'
    assert names(document(GRAPH, f"{other}</nodegraph>")) == ["out"]


def test_a_document_of_version_1_38_is_upgraded():
    text = (
        '<materialx version="1.38">'
        '<standard_surface name="shader" type="surfaceshader">'
        '<input name="base_color" type="color3" nodename="swizzled"/></standard_surface>'
        '<constant name="source" type="color3"><input name="value" type="color3" '
        'value="0.1, 0.2, 0.3"/></constant>'
        '<swizzle name="swizzled" type="color3"><input name="in" type="color3" '
        'nodename="source"/><input name="channels" type="string" value="bgr"/></swizzle>'
        f"{material()}</materialx>"
    )
    loaded = parse_document(text)
    loaded.check(loaded.require_material())
    categories = {node.getCategory() for node in loaded.nodes_of(loaded.require_material())}
    assert "swizzle" not in categories


def test_a_graph_whose_surface_goes_into_a_mix_is_no_material_of_its_own():
    text = document(
        '<nodegraph name="g"><standard_surface name="under" type="surfaceshader"/>'
        '<output name="out" type="surfaceshader" nodename="under"/></nodegraph>',
        '<standard_surface name="over" type="surfaceshader"/>',
        '<mix name="shader" type="surfaceshader">'
        '<input name="fg" type="surfaceshader" nodegraph="g" output="out"/>'
        '<input name="bg" type="surfaceshader" nodename="over"/></mix>',
        material(),
    )
    assert names(text) == ["material"]
