"""Definitions of the document: like MaterialX's, of whole materials, by a graph or by code."""

from pathlib import Path

import MaterialX as mx
import numpy as np
import pytest

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.load.mtlx_document import load_document, parse_document
from verdigris.core.material.load.provenance import texture_files
from verdigris.core.material.report import describe
from verdigris.core.material.teacher.teacher import Teacher

from ..documents import DEFINITION, IMAGE, document, material, standard_surface, with_surface
from ..surfaces import glow, node, probe, write_image

AT = np.float32([[0.2, 0.7]])
UP = np.float32([[0, 0, 1]])
SURFACE = (
    '<standard_surface name="q" type="surfaceshader">'
    '<input name="base_color" type="color3" interfacename="c"/></standard_surface>'
)
COLOUR = '<input name="c" type="color3" value="{}"/>'
PLAIN = standard_surface('<input name="base_color" type="color3" value="0.2, 0.4, 0.6"/>')
GLOWING = (
    '<surface_unlit name="q" type="surfaceshader">'
    '<input name="emission_color" type="color3" {}/></surface_unlit>'
)
READS = 'interfacename="c"'
GIVEN = (0.2, 0.4, 0.6)


def response(text):
    return Teacher(parse_document(text)).response(AT, UP, UP)


def test_a_definition_of_a_whole_material_is_one():
    text = document(
        f'<nodedef name="ND_paint" node="paint">{COLOUR.format("0.9, 0.9, 0.9")}'
        '<output name="out" type="material"/></nodedef>',
        f'<nodegraph name="NG_paint" nodedef="ND_paint">'
        f"{GLOWING.format(READS)}"
        '<surfacematerial name="x" type="material">'
        '<input name="surfaceshader" type="surfaceshader" nodename="q"/></surfacematerial>'
        '<output name="out" type="material" nodename="x"/></nodegraph>',
        f'<paint name="wall" type="material">{COLOUR.format("0.2, 0.4, 0.6")}</paint>',
        f'<paint name="door" type="material">{COLOUR.format("0.6, 0.2, 0.2")}</paint>',
        '<look name="day"><materialassign name="a" material="door" geom="/door"/></look>',
    )
    loaded = parse_document(text)
    assert {each.name: each.looks for each in loaded.materials} == {"wall": (), "door": ("day",)}
    found = glow(Teacher(loaded, loaded.require_material("wall")), AT)
    np.testing.assert_allclose(found, [GIVEN], rtol=1e-6)


CODE = '<implementation name="IM_own" nodedef="ND_own" target="{}" file="own.x"/>'
GRAPH = (
    '<nodegraph name="NG_other" nodedef="ND_own" target="{}"><constant name="k" type="color3"/>'
    '<output name="out" type="color3" nodename="k"/></nodegraph>'
)


@pytest.mark.parametrize(
    "other", [CODE.format("genosl"), CODE.format("genglsl"), GRAPH.format("genmdl")]
)
def test_a_definition_with_something_else_for_another_renderer_is_its_graph(other, tmp_path):
    write_image(tmp_path / "red.png", np.tile(np.uint8((255, 51, 0)), (2, 2, 1)))
    image = '<input name="file" type="filename" value="red.png" colorspace="srgb_texture"/>'
    half = '<input name="in2" type="float" value="0.5"/>'
    text = document(
        other,
        '<nodedef name="ND_own" node="own"><output name="out" type="color3"/></nodedef>'
        f'<nodegraph name="NG_own" nodedef="ND_own"><image name="i" type="color3">{image}</image>'
        f'<multiply name="m" type="color3"><input name="in1" type="color3" nodename="i"/>{half}'
        '</multiply><output name="out" type="color3" nodename="m"/></nodegraph>',
        '<own name="colour" type="color3"/><surface_unlit name="s" type="surfaceshader">'
        '<input name="emission_color" type="color3" nodename="colour"/></surface_unlit>',
        material("s"),
    )
    loaded = parse_document(text, search_paths=tmp_path)
    expected = [0.5, 0.5 * ((0.2 + 0.055) / 1.055) ** 2.4, 0]
    np.testing.assert_allclose(glow(Teacher(loaded), AT)[0], expected, atol=1e-6)
    files = [facts.file for facts in describe(loaded, probe=False)[0].textures]
    assert files == [str(tmp_path / "red.png")]
    assert texture_files(loaded, loaded.require_material()) == (tmp_path / "red.png",)


@pytest.mark.parametrize("is_bound", [True, False])
def test_a_graph_may_be_named_like_one_of_the_library(is_bound):
    name = "NG_standard_surface_surfaceshader_100"
    bound = f'<implementation name="IM_mine" nodedef="ND_mine" nodegraph="{name}"/>'
    text = document(
        f'<nodedef name="ND_mine" node="mine">{COLOUR.format("0.2, 0.4, 0.6")}'
        '<output name="out" type="surfaceshader"/></nodedef>',
        f'<nodegraph name="{name}"{"" if is_bound else chr(32) + "nodedef=" + chr(34)}'
        f"{'' if is_bound else 'ND_mine' + chr(34)}>{SURFACE}"
        '<output name="out" type="surfaceshader" nodename="q"/></nodegraph>',
        bound if is_bound else "",
        '<mine name="shader" type="surfaceshader"/>',
        material(),
    )
    assert [each.name for each in parse_document(text).materials] == ["material"]
    np.testing.assert_allclose(response(text), response(document(PLAIN, material())), rtol=1e-6)


def test_a_definition_may_be_named_like_one_of_another_node():
    own = (
        '<nodedef name="ND_checkerboard_color3" node="mine">'
        f'{COLOUR.format("0.25, 0.5, 0.75")}<output name="out" type="color3"/></nodedef>'
        '<nodegraph name="NG_q" nodedef="ND_checkerboard_color3">'
        f"{node('dot', 'd', 'color3', {'in': ('color3', '')}).replace('value=', 'interfacename=')}"
        '<output name="out" type="color3" nodename="d"/></nodegraph>'
    ).replace('interfacename=""', 'interfacename="c"')
    shader = (
        '<surface_unlit name="shader" type="surfaceshader">'
        '<input name="emission_color" type="color3" nodename="seen"/></surface_unlit>'
    )
    text = document(own, '<mine name="seen" type="color3"/>', shader, material())
    np.testing.assert_allclose(
        glow(Teacher(parse_document(text)), AT)[0], [0.25, 0.5, 0.75], atol=1e-6
    )
    checkers = node("checkerboard", "seen", "color3", {"color1": ("color3", "0, 1, 0")})
    text = document(own, checkers, shader, material())
    assert glow(Teacher(parse_document(text)), np.float32([[0.2, 0.01]]))[0] == pytest.approx(
        [0, 1, 0]
    )


def test_a_copy_of_the_library_in_a_document_is_nothing_of_its_own(tmp_path):
    library = Path(mx.__file__).parent / "libraries" / "bxdf" / "standard_surface.mtlx"
    (tmp_path / "copy.mtlx").write_bytes(library.read_bytes())
    path = tmp_path / "own.mtlx"
    path.write_text(document('<xi:include href="copy.mtlx"/>', PLAIN, material()))
    [report] = describe(load_document(path), probe=False)
    assert report.name == "material" and not report.problem
    assert {part.name for part in report.parts} == {"base", "specular"}


def test_nodes_of_an_included_document_with_a_namespace_may_have_values(tmp_path):
    """The code has a variable for each, and none with a colon."""
    (tmp_path / "kit.mtlx").write_text(
        document(
            node("geompropvalue", "g", "color3", {"default": ("color3", "0.5, 0.25, 0.75")}),
            node(
                "add", "sum", "color3", {"in1": ("color3", "@g"), "in2": ("color3", "0.1, 0.1, 0")}
            ),
            '<surface_unlit name="shader" type="surfaceshader">'
            '<input name="emission_color" type="color3" nodename="sum"/></surface_unlit>',
            material(),
        ).replace("<materialx", '<materialx namespace="kit"')
    )
    path = tmp_path / "own.mtlx"
    path.write_text(document('<xi:include href="kit.mtlx"/>'))
    loaded = load_document(path)
    assert [each.name for each in loaded.materials] == ["kit:material"]
    np.testing.assert_allclose(glow(Teacher(loaded), AT)[0], [0.6, 0.35, 0.75], atol=1e-6)


@pytest.mark.parametrize("named", ["kit:ND_z", "ND_z"])
def test_a_definition_may_have_a_namespace_of_its_own(named):
    made = parse_document(
        document(
            '<nodedef name="ND_z" node="zz" namespace="kit"><input name="a" type="color3" '
            'value="1, 1, 1"/><output name="out" type="color3"/></nodedef>'
            f'<nodegraph name="NG_z" nodedef="{named}" namespace="kit"><dot name="i" type="color3">'
            '<input name="in" type="color3" interfacename="a"/></dot><output name="out" '
            'type="color3" nodename="i"/></nodegraph><kit:zz name="z" type="color3"><input '
            'name="a" type="color3" value="0.1, 0.9, 0.6"/></kit:zz>',
            '<surface_unlit name="shader" type="surfaceshader">'
            '<input name="emission_color" type="color3" nodename="z"/></surface_unlit>',
            material(),
        )
    )
    np.testing.assert_allclose(glow(Teacher(made), AT)[0], [0.1, 0.9, 0.6], atol=1e-6)


def test_a_volume_below_a_surface_is_dropped_whatever_makes_it():
    def layered(volume):
        return document(
            volume,
            '<dielectric_bsdf name="d" type="BSDF"/>',
            '<layer name="l" type="BSDF"><input name="top" type="BSDF" nodename="d"/>'
            '<input name="base" type="VDF" nodename="v"/></layer>',
            '<surface name="shader" type="surfaceshader">'
            '<input name="bsdf" type="BSDF" nodename="l"/></surface>',
            material(),
        )

    murky = (
        '<absorption_vdf name="a" type="VDF"><input name="absorption" type="vector3" '
        'value="1, 2, 3"/></absorption_vdf><add name="v" type="VDF">'
        '<input name="in1" type="VDF" nodename="a"/><input name="in2" type="VDF" nodename="a"/>'
        "</add>"
    )
    clear = '<anisotropic_vdf name="v" type="VDF"/>'
    assert "volume" in {
        part.name for part in describe(parse_document(layered(murky)), probe=False)[0].parts
    }
    np.testing.assert_array_equal(response(layered(murky)), response(layered(clear)))


SIDE = '<input name="{}" type="surfaceshader" {}/>'
TWO_SIDES = '<surfacematerial name="{}" type="material"{}>{}{}</surfacematerial>'
FRONT = SIDE.format("surfaceshader", 'nodename="q"')
PAINTED = GLOWING.format('value="0.2, 0.4, 0.6"')
LOST = (
    '<image name="i" type="color3"><input name="file" type="filename" value="lost.png"/></image>'
    '<standard_surface name="rear" type="surfaceshader">'
    '<input name="base_color" type="color3" nodename="i"/></standard_surface>'
)
FRAMED = f'<nodegraph name="g">{LOST}<output name="o" type="surfaceshader" nodename="rear"/>'
BACKS = {
    "with an image that is lost": (LOST, 'nodename="rear"'),
    "of a kind that is not known": (
        '<nonesuch name="rear" type="surfaceshader"/>',
        'nodename="rear"',
    ),
    "in a graph": (f"{FRAMED}</nodegraph>", 'nodegraph="g" output="o"'),
    "in a graph of one output": (f"{FRAMED}</nodegraph>", 'nodegraph="g"'),
}


@pytest.mark.parametrize(("nodes", "connection"), BACKS.values(), ids=BACKS)
def test_nothing_is_requested_of_the_back_of_a_surface(nodes, connection):
    back = SIDE.format("backsurfaceshader", connection)
    loaded = parse_document(
        document(PAINTED, nodes, TWO_SIDES.format("m", "", FRONT, back)), name="two"
    )
    [report] = describe(loaded, probe=False)
    assert (report.surface_model, report.textures, report.problem) == ("surface_unlit", (), "")
    assert [part.fate for part in report.parts if part.name == "back"] == ["approximated"]
    np.testing.assert_allclose(glow(Teacher(loaded), AT), [GIVEN], rtol=1e-6)


def test_what_is_behind_one_material_may_be_in_front_of_another():
    back = SIDE.format("backsurfaceshader", 'nodegraph="g" output="o"')
    front = SIDE.format("surfaceshader", 'nodegraph="g" output="o"')
    graph = (
        f'<nodegraph name="g">{PAINTED}<output name="o" type="surfaceshader" nodename="q"/>'
        "</nodegraph>"
    )
    loaded = parse_document(
        document(
            graph,
            standard_surface(name="white"),
            TWO_SIDES.format("m", "", SIDE.format("surfaceshader", 'nodename="white"'), back),
            TWO_SIDES.format("n", "", front, ""),
            TWO_SIDES.format("child", ' inherit="m"', front, ""),
        )
    )
    assert [each.name for each in loaded.materials] == ["m", "n", "child"]
    for name in ("n", "child"):
        found = glow(Teacher(loaded, loaded.require_material(name)), AT)
        np.testing.assert_allclose(found, [GIVEN], rtol=1e-6)
    backs = [
        report.name
        for report in describe(loaded, probe=False)
        for part in report.parts
        if part.name == "back"
    ]
    assert backs == ["m", "child"]


def test_what_is_behind_renderman_surfaces_is_not_compiled():
    side = '<input name="material{}" type="BSDF" nodename="{}"/>'
    loaded = parse_document(
        document(
            '<LamaDiffuse name="a" type="BSDF"/><nonesuch name="b" type="BSDF"/>',
            f'<LamaSurface name="m" type="material">{side.format("Front", "a")}'
            f"{side.format('Back', 'b')}</LamaSurface>",
        )
    )
    [report] = describe(loaded, probe=False)
    assert report.problem == "" and "back" in [part.name for part in report.parts]
    # a Lambertian lobe of MaterialX's default colour, seen from above
    np.testing.assert_allclose(Teacher(loaded).response(AT, UP, UP), 0.18 / np.pi, rtol=1e-3)


def doubled(times):
    """Definitions each of which uses the one before it twice, the first once of a node."""
    text = ""
    for at in range(times + 1):
        category = f"double{at - 1}" if at else "dot"
        body = '<input name="in" type="color3" interfacename="in"/>'
        body = f'<{category} name="first" type="color3">{body}</{category}>'
        second = '<input name="in" type="color3" nodename="first"/>'
        body += f'<{category} name="second" type="color3">{second}</{category}>'
        text += (
            f'<nodedef name="ND_{at}" node="double{at}"><input name="in" type="color3"/>'
            f'<output name="out" type="color3"/></nodedef><nodegraph name="NG_{at}" '
            f'nodedef="ND_{at}">{body}<output name="out" type="color3" nodename="second"/>'
            "</nodegraph>"
        )
    return text + node(f"double{times}", "colour", "color3", {"in": ("color3", "@uv_colour")})


def test_definitions_that_use_each_other_without_bound_are_refused():
    few = probe(doubled(2), "colour")
    np.testing.assert_allclose(glow(Teacher(few), [[0.5, 0.75]]), [[0.5, 0.75, 0.25]])
    many = probe(doubled(40), "colour")
    count = 2 ** (40 + 2) - 2
    with pytest.raises(DocumentError, match=f"'material' has {count // 10**9:,},.* nodes"):
        many.check(many.require_material())


def test_a_definition_whose_graph_has_no_output_is_refused_by_name():
    body = '<nodedef name="ND_none" node="none"><output name="out" type="color3"/></nodedef>'
    body += '<nodegraph name="NG_none" nodedef="ND_none"><constant name="out" type="color3"/>'
    body += '<output name="out" type="color3" nodename="out"/></nodegraph>'
    with pytest.raises(DocumentError, match="'colour' is defined by 'NG_none', which has no out"):
        Teacher(probe(body + '<none name="colour" type="color3"/>', "colour"))


FILE = '<input name="file" type="filename" value="{}"/>'


@pytest.mark.parametrize(
    ("inputs", "written", "given", "expected"),
    [
        ("", 'value="inner.png"', "", "inner.png"),
        (FILE.format("default.png"), 'interfacename="file"', "", "default.png"),
        (FILE.format("default.png"), 'interfacename="file"', FILE.format("own.png"), "own.png"),
    ],
)
def test_images_are_found_in_nodes_that_the_document_defines(
    tmp_path, inputs, written, given, expected
):
    for name in ("inner.png", "default.png", "own.png"):
        write_image(tmp_path / name, np.zeros((2, 2, 3), np.uint8))
    nodes = DEFINITION.format(inputs=inputs, nodes=IMAGE.format(written=written))
    nodes += f'<wear name="worn" type="color3">{given}</wear>'
    shown = '<input name="base_color" type="color3" nodename="worn"/>'
    loaded = parse_document(with_surface(shown, nodes), [tmp_path])
    [report] = describe(loaded, probe=False)
    assert report.problem == ""
    assert [facts.file for facts in report.textures] == [str(tmp_path / expected)]
    assert report.varying_inputs == ("base_color",)
    assert texture_files(loaded, loaded.require_material()) == (tmp_path / expected,)


def test_what_a_defined_node_leaves_to_its_users_may_be_anything():
    surface = (
        '<nodedef name="ND_glassy" node="glassy"><input name="clear" type="float" value="0"/>'
        '<output name="out" type="surfaceshader"/></nodedef>'
        '<nodegraph name="NG_glassy" nodedef="ND_glassy">'
        '<standard_surface name="inner" type="surfaceshader">'
        '<input name="transmission" type="float" interfacename="clear"/></standard_surface>'
        '<output name="out" type="surfaceshader" nodename="inner"/></nodegraph>'
        '<glassy name="shader" type="surfaceshader">'
        '<input name="clear" type="float" value="1"/></glassy>'
    )
    [report] = describe(parse_document(document(surface, material())), probe=False)
    assert "transmission" in [part.name for part in report.parts if part.fate == "kept"]


def test_code_that_does_not_compile_is_shown_with_what_is_wrong_in_it():
    own = (
        '<nodedef name="ND_own" node="own"><input name="given" type="color3" value="1, 0, 0"/>'
        '<output name="out" type="color3"/></nodedef><implementation name="IM_own" '
        'nodedef="ND_own" sourcecode="{{given}} * twice" target="genslang"/>'
        '<own name="painted" type="color3"/>'
    )
    text = with_surface('<input name="base_color" type="color3" nodename="painted"/>', own)
    teacher = Teacher(parse_document(text))
    up = np.float32([[0, 0, 1]])
    with pytest.raises(DocumentError, match=r"compile for .*identifier 'twice', in '.* \* twice;'"):
        teacher.response(np.float32([[0.5, 0.5]]), up, up)


def test_code_that_a_document_brings_in_a_file_is_compiled_and_refused_outside(tmp_path):
    folder = tmp_path / "document"
    folder.mkdir()
    code = "void own(float3 given, out float3 result) { result = given.zyx; }"
    (tmp_path / "own.slang").write_text(code)
    own = (
        '<nodedef name="ND_own" node="own"><input name="given" type="color3" value="1, 0, 0"/>'
        '<output name="out" type="color3"/></nodedef><implementation name="IM_own" '
        'nodedef="ND_own" file="../own.slang" function="own" target="genslang"/>'
        '<own name="painted" type="color3"/>'
    )
    text = with_surface('<input name="base_color" type="color3" nodename="painted"/>', own)
    up = np.float32([[0, 0, 1]])
    found = Teacher(parse_document(text, search_paths=[folder]))
    red, _, blue = found.response(np.float32([[0.5, 0.5]]), up, up)[0]
    assert blue > red + 0.2
    with pytest.raises(DocumentError, match=r"own\.slang, outside of the allowed folders"):
        parse_document(text, search_paths=[folder], confined=True)


STRUCT = (
    '<typedef name="pair"><member name="ss" type="float" value="0.5"/>'
    '<member name="tt" type="float" value="0.5"/></typedef>'
    '<nodedef name="ND_first" node="first"><input name="in" type="pair" value="{0.1;0.2}"/>'
    '<output name="out" type="float"/></nodedef>'
    '<implementation name="IM_first" nodedef="ND_first" target="genglsl" sourcecode="{{in}}.ss"/>'
)


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ('<input name="in" type="pair" value="{0.1;0.5}"/>', "node 'a', input 'in'"),
        (
            '<input name="in" type="pair" value="{0.1;0.5}" unittype="distance" unit="inch"/>',
            "node 'a', input 'in'",
        ),
        ("", "node 'a': its definition 'ND_first', input 'in'"),
    ],
)
def test_a_value_of_a_struct_is_refused_on_one_line(given, place):
    """As in struct_texcoord.mtlx of MaterialX's test suite (stdlib/structs)."""
    used = f'<first name="a" type="float">{given}</first>'
    text = document(
        STRUCT, used, standard_surface('<input name="base" type="float" nodename="a"/>'), material()
    )
    loaded = parse_document(text)
    (reported,) = describe(loaded)
    with pytest.raises(DocumentError) as refusal:
        loaded.check(loaded.require_material())
    message = (
        f"{place}: has the type pair, a struct, which is not supported: use an input for each "
        "member"
    )
    assert message in str(refusal.value)
    assert message in reported.problem
