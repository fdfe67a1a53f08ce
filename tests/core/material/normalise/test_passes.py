"""The order of the passes over a document: for each constraint, a document that shows it."""

import MaterialX as mx
import pytest

from verdigris.core.material.graph.library import standard_library
from verdigris.core.material.normalise.passes import PASSES, normalise

NAMES = [each.name for each in PASSES]
CONSTRAINTS = [(first, each.name) for each in PASSES for first in each.after]
SURFACE = '<standard_surface name="white" type="surfaceshader"/>'
FILM = (
    '<standard_surface name="film" type="surfaceshader">'
    '<input name="thin_film_thickness" type="float" {source}/></standard_surface>'
)
FEEDS_FILM = FILM.format(source='nodegraph="outer" output="out"')
THICKNESS = '<input name="{name}" type="float" value="400" unit="nanometer" unittype="distance"/>'
READS_FILE = (
    '<image name="image" type="color3">'
    '<input name="file" type="filename" nodegraph="outer" output="out"/></image>'
)
CODE = '<implementation name="IM_own" nodedef="ND_own" target="genslang" file="own.slang"/>'

# (pass that must run first, pass that must run later) -> document
DOCUMENTS = {
    ("namespaced definitions", "library names"): """
        <nodedef name="ND_add_float" node="own" namespace="studio">
          <output name="out" type="color3"/></nodedef>
        <nodegraph name="NG_own" nodedef="studio:ND_add_float">
          <constant name="grey" type="color3"/>
          <output name="out" type="color3" nodename="grey"/></nodegraph>""",
    ("code beside graphs", "material definitions"): f"""
        <nodedef name="ND_own" node="own"><output name="out" type="material"/></nodedef>
        {CODE}
        <nodegraph name="NG_own" nodedef="ND_own">{SURFACE}
          <surfacematerial name="inner" type="material">
            <input name="surfaceshader" type="surfaceshader" nodename="white"/></surfacematerial>
          <output name="out" type="material" nodename="inner"/></nodegraph>
        <own name="material" type="material"/>""",
    ("inherited inputs", "disabled nodes"): """
        <image name="base" type="color3">
          <input name="disable" type="boolean" value="true"/></image>
        <image name="child" type="color3" inherit="base"/>""",
    ("inherited inputs", "black borders"): """
        <UsdUVTexture name="base" type="multioutput">
          <input name="file" type="filename" value="a.png"/>
          <input name="wrapS" type="string" value="black"/></UsdUVTexture>
        <UsdUVTexture name="child" type="multioutput" inherit="base">
          <input name="fallback" type="vector4" value="1, 1, 1, 1"/></UsdUVTexture>""",
    ("inherited inputs", "backs"): f"""{SURFACE}
        <surfacematerial name="base" type="material">
          <input name="surfaceshader" type="surfaceshader" nodename="white"/>
          <input name="backsurfaceshader" type="surfaceshader" nodename="back"/></surfacematerial>
        <standard_surface name="back" type="surfaceshader"/>
        <standard_surface name="front" type="surfaceshader"/>
        <surfacematerial name="child" type="material" inherit="base">
          <input name="surfaceshader" type="surfaceshader" nodename="front"/></surfacematerial>""",
    ("inherited inputs", "geometry properties"): """
        <geompropvalue name="base" type="float">
          <input name="geomprop" type="string" value="wear"/>
          <input name="default" type="float" value="0.5"/></geompropvalue>
        <geompropvalue name="child" type="float" inherit="base"/>""",
    ("disabled nodes", "geometry properties"): """
        <geompropvalue name="read" type="float">
          <input name="geomprop" type="string" value="wear"/>
          <input name="default" type="float" value="0.5"/>
          <input name="disable" type="boolean" value="true"/></geompropvalue>""",
    ("stale values", "nested graphs"): """
        <nodegraph name="outer"><constant name="grey" type="color3"/>
          <nodegraph name="inner"><input name="in" type="color3" nodename="grey"/>
            <dot name="read" type="color3">
              <input name="in" type="color3" interfacename="in" value="1, 0, 0"/></dot>
            <output name="out" type="color3" nodename="read"/></nodegraph>
          <output name="out" type="color3" nodegraph="inner" output="out"/></nodegraph>""",
    ("channel names", "types"): """
        <separate3 name="parts" type="multioutput"><input name="in" type="color3"/></separate3>
        <dot name="pair" type="vector2">
          <input name="in" type="vector2" nodename="parts" output="outx"/></dot>""",
    ("nested graphs", "types"): """
        <nodegraph name="outer"><input name="in" type="float" value="0.5"/>
          <output name="out" type="vector2" interfacename="in"/></nodegraph>
        <dot name="pair" type="vector2">
          <input name="in" type="vector2" nodegraph="outer" output="out"/></dot>""",
    ("types", "graph inputs"): """
        <nodegraph name="outer">
          <input name="tint" type="color3" value="0.5, 0.5, 0.5" colorspace="srgb_texture"/>
          <dot name="read" type="vector3">
            <input name="in" type="vector3" interfacename="tint"/></dot>
          <output name="out" type="vector3" nodename="read"/></nodegraph>""",
    ("code beside graphs", "graph inputs"): f"""
        <nodedef name="ND_own" node="own"><input name="file" type="filename"/>
          <output name="out" type="color3"/></nodedef>
        {CODE}
        <nodegraph name="NG_own" nodedef="ND_own"><image name="image" type="color3">
          <input name="file" type="filename" interfacename="file" colorspace="srgb_texture"/>
          </image><output name="out" type="color3" nodename="image"/></nodegraph>
        <own name="node" type="color3"><input name="file" type="filename" value="a.png"/></own>""",
    ("nested graphs", "graph inputs"): """
        <nodegraph name="outer">
          <input name="file" type="filename" value="a.png" colorspace="srgb_texture"/>
          <nodegraph name="inner"><input name="file" type="filename" interfacename="file"/>
            <image name="image" type="color3">
              <input name="file" type="filename" interfacename="file"/></image>
            <output name="out" type="color3" nodename="image"/></nodegraph>
          <output name="out" type="color3" nodegraph="inner" output="out"/></nodegraph>""",
    ("geometry properties", "file names"): f"""
        <nodegraph name="outer"><geompropvalueuniform name="read" type="filename">
          <input name="geomprop" type="string" value="texture"/>
          <input name="default" type="filename" value="a.png"/></geompropvalueuniform>
          <output name="out" type="filename" nodename="read"/></nodegraph>{READS_FILE}""",
    ("nested graphs", "file names"): f"""
        <nodegraph name="outer"><nodegraph name="inner"><constant name="name" type="filename">
          <input name="value" type="filename" value="a.png" colorspace="srgb_texture"/></constant>
          <output name="out" type="filename" nodename="name"/></nodegraph>
          <output name="out" type="filename" nodegraph="inner" output="out"/></nodegraph>
        {READS_FILE}""",
    ("geometry properties", "units"): f"""
        <geompropvalue name="read" type="float">
          <input name="geomprop" type="string" value="film"/>{THICKNESS.format(name="default")}
        </geompropvalue>""",
    ("nested graphs", "units"): f"""
        <nodegraph name="outer"><nodegraph name="inner"><constant name="thick" type="float">
          {THICKNESS.format(name="value")}</constant>
          <output name="out" type="float" nodename="thick"/></nodegraph>
          <output name="out" type="float" nodegraph="inner" output="out"/></nodegraph>
        {FEEDS_FILM}""",
    ("graph inputs", "units"): f"""
        <nodegraph name="outer">{THICKNESS.format(name="thick")}<dot name="read" type="float">
          <input name="in" type="float" interfacename="thick"/></dot>
          <output name="out" type="float" nodename="read"/></nodegraph>
        {FEEDS_FILM}""",
}


def rewritten(text, order):
    """The document after the passes of these names, or the error that one of them raises."""
    root = mx.createDocument()
    mx.readFromXmlString(root, f'<materialx version="1.39">{text}</materialx>')
    root.setDataLibrary(standard_library())
    functions = {each.name: each.apply for each in PASSES}
    try:
        for name in order:
            functions[name](root)
    except (mx.Exception, LookupError, AttributeError) as failure:
        return repr(failure)
    return mx.writeToXmlString(root)


def needed_by(name):
    """All passes that must run before this one."""
    after = next(each.after for each in PASSES if each.name == name)
    return {*after, *(earlier for each in after for earlier in needed_by(each))}


def with_later_first(first, later):
    """The order in which `later` runs directly before `first`, and all else as declared."""
    between = NAMES[NAMES.index(first) : NAMES.index(later)]
    moved = [each for each in between if each in needed_by(later) and each != first] + [later]
    rest = [each for each in NAMES if each not in moved]
    place = rest.index(first)
    return rest[:place] + moved + rest[place:]


def test_names_are_unique_and_each_pass_has_a_reason():
    assert len(set(NAMES)) == len(NAMES)
    assert all(each.why.endswith(".") for each in PASSES)
    issues = [each.upstream for each in PASSES if each.upstream]
    assert all(each.startswith("https://github.com/AcademySoftwareFoundation/") for each in issues)


@pytest.mark.parametrize(("first", "later"), CONSTRAINTS)
def test_the_order_keeps_each_constraint(first, later):
    assert NAMES.index(first) < NAMES.index(later)


@pytest.mark.parametrize(("first", "later"), CONSTRAINTS)
def test_each_constraint_is_needed_by_a_document(first, later):
    text = DOCUMENTS[first, later]
    assert rewritten(text, NAMES) != rewritten(text, with_later_first(first, later))


def test_no_document_stands_for_a_constraint_that_is_not_declared():
    assert set(DOCUMENTS) == set(CONSTRAINTS)


def test_former_names_of_what_a_pass_renames_are_returned():
    root = mx.createDocument()
    root.addNode("standard_surface", "material", "surfaceshader")
    root.setDataLibrary(standard_library())
    assert normalise(root).former_names == {"material_2": "material"}
