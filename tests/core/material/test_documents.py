"""Documents: what is found in them, what they may refer to, and what is refused."""

import zipfile

import numpy as np
import pytest

from verdigris.core.errors import DocumentError
from verdigris.core.material.document import load_document, parse_document
from verdigris.core.material.provenance import texture_files
from verdigris.core.material.report import describe
from verdigris.core.material.selection import select_materials
from verdigris.core.material.teacher import Teacher

from .documents import document, material, standard_surface, with_image, with_surface
from .surfaces import glow, node, write_image
from .test_textures import decoded_srgb

GRAPH = (
    '<nodegraph name="graph"><standard_surface name="inner" type="surfaceshader"/>'
    '<output name="out" type="surfaceshader" nodename="inner"/></nodegraph>'
)


def names(text, **options):
    return [found.name for found in parse_document(text, **options).materials]


def test_a_single_material_needs_no_name():
    assert parse_document(with_surface()).require_material().name == "material"


def test_several_materials_without_a_name_are_an_error_that_lists_them():
    text = document(standard_surface(), material(name="gold"), material(name="lead"))
    with pytest.raises(DocumentError, match=r"2 materials; name one with --material: gold, lead"):
        parse_document(text).require_material()
    assert parse_document(text).require_material("lead").name == "lead"


def test_an_unknown_material_is_an_error_that_lists_those_there_are():
    with pytest.raises(DocumentError, match=r"no material 'zinc'; it has: material"):
        parse_document(with_surface()).require_material("zinc")


def test_what_is_no_material_though_a_document_speaks_of_it_is_told_with_the_reason():
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
    assert loaded.left_out == {
        "bare": "nothing is connected to its surfaceshader",
        "fog": "it is a volume, and surfaces are baked",
        "none": "nothing is connected to its surfaceshader",
        "gone": "look 'hero' assigns it, and it is not there",
    }
    for name, reason in (("bare", "nothing is connected"), ("gone", "look 'hero' assigns it")):
        for ask in (loaded.require_material, lambda name: select_materials([loaded], [name])):
            with pytest.raises(DocumentError, match=f"material '{name}': {reason}"):
                ask(name)


def test_looks_are_told_with_the_material_that_they_assign():
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


def test_coordinates_read_and_turned_by_nodes_of_usd_are_those_of_the_sample():
    nodes = (
        '<UsdPrimvarReader name="reader" type="vector2">'
        '<input name="varname" type="string" value="st"/></UsdPrimvarReader>'
        '<UsdTransform2d name="turned" type="vector2">'
        '<input name="in" type="vector2" nodename="reader"/>'
        '<input name="rotation" type="float" value="90"/>'
        '<input name="scale" type="vector2" value="2, 1"/>'
        '<input name="translation" type="vector2" value="1, 0"/></UsdTransform2d>'
        '<separate2 name="apart" type="multioutput">'
        '<input name="in" type="vector2" nodename="turned"/></separate2>'
    )
    inputs = (
        '<input name="base" type="float" value="0"/><input name="specular" type="float" value="0"/>'
        '<input name="emission" type="float" nodename="apart" output="{}"/>'
    )
    uv = np.float32([[0.375, 0.625], [0.2, 0.9]])
    ahead = np.float32([[0, 0, 1]] * 2)
    for output, expected in (("outx", 1 - uv[:, 1]), ("outy", 2 * uv[:, 0])):
        teacher = Teacher(parse_document(with_surface(inputs.format(output), nodes)))
        np.testing.assert_allclose(teacher.unlit(uv, ahead)[:, 0], expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        ("float", '"0.25"', (0.25, 0.25, 0.25)),
        ("color3", '"0.1, 0.2, 0.3"', (0.1, 0.2, 0.3)),
        ("float", None, (0, 0, 0)),
    ],
)
def test_a_property_of_the_geometry_is_its_default_on_a_sample(kind, given, expected):
    default = f'<input name="default" type="{kind}" value={given}/>' if given else ""
    nodes = (
        f'<geompropvalue name="wear" type="{kind}">'
        f'<input name="geomprop" type="string" value="wear"/>{default}</geompropvalue>'
        '<convert name="shown" type="color3">'
        f'<input name="in" type="{kind}" nodename="wear"/></convert>'
        if kind != "color3"
        else f'<geompropvalue name="shown" type="{kind}">'
        f'<input name="geomprop" type="string" value="wear"/>{default}</geompropvalue>'
    )
    inputs = (
        '<input name="base" type="float" value="0"/><input name="specular" type="float" value="0"/>'
        '<input name="emission" type="float" value="1"/>'
        '<input name="emission_color" type="color3" nodename="shown"/>'
    )
    teacher = Teacher(parse_document(with_surface(inputs, nodes)))
    seen = teacher.unlit(np.float32([[0.5, 0.5]]), np.float32([[0, 0, 1]]))
    np.testing.assert_allclose(seen[0, :3], expected, rtol=1e-5)


@pytest.mark.parametrize("kind", ["float", "color3", "color4"])
def test_what_multiplies_by_paint_that_a_sample_has_not_is_itself(kind):
    text = with_surface(
        '<input name="emission" type="float" value="1"/>'
        '<input name="emission_color" type="color3" nodename="tinted"/>',
        f'<geomcolor name="paint" type="{kind}"/>',
        f'<convert name="plain" type="color3"><input name="in" type="{kind}" nodename="paint"/>'
        "</convert>" * (kind != "color3"),
        node(
            "multiply",
            "tinted",
            "color3",
            {
                "in1": ("color3", "0.7, 0.4, 0.1"),
                "in2": ("color3", "@paint" if kind == "color3" else "@plain"),
            },
        ),
    )
    seen = Teacher(parse_document(text)).unlit(np.float32([[0.5, 0.5]]), np.float32([[0, 0, 1]]))
    np.testing.assert_allclose(seen[0, :3], [0.7, 0.4, 0.1], rtol=1e-5)


@pytest.mark.parametrize("name", ["UV Map", "UVMap.001", "primvars:st", "DiffuseUV", "st"])
@pytest.mark.parametrize("category", ["geompropvalue", "UsdPrimvarReader"])
def test_coordinates_by_any_name_are_those_of_the_sample(category, name):
    port = "geomprop" if category == "geompropvalue" else "varname"
    text = with_surface(
        '<input name="emission" type="float" value="1"/>'
        '<input name="emission_color" type="color3" nodename="colour"/>',
        node(category, "uv", "vector2", {port: ("string", name)}),
        node("separate2", "apart", "multioutput", {"in": ("vector2", "@uv")}),
        '<combine3 name="colour" type="color3">'
        '<input name="in1" type="float" nodename="apart" output="outx"/>'
        '<input name="in2" type="float" nodename="apart" output="outy"/></combine3>',
    )
    loaded = parse_document(text)
    at = np.float32([[0.3, 0.8]])
    seen = Teacher(loaded).unlit(at, np.float32([[0, 0, 1]]))
    np.testing.assert_allclose(seen[0, :3], [0.3, 0.8, 0], rtol=1e-5, atol=1e-6)
    told = [p.fate for p in describe(loaded, probe=False)[0].parts if "coordinates" in p.name]
    assert told == ([] if name.endswith("st") else ["approximated"])


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


def test_what_shares_a_name_with_something_before_it_is_told_with_its_line(tmp_path):
    red = f'<constant name="c" type="color3">{RED}</constant>'
    (tmp_path / "more.mtlx").write_text(document("", red, red))
    inputs = '<input name="base" type="float" value="1"/>\n' * 2
    path = tmp_path / "twins.mtlx"
    path.write_text(
        document('<xi:include href="more.mtlx"/>', standard_surface(inputs), material())
    )
    told = [part.how for part in describe(load_document(path), probe=False)[0].parts]
    assert [how[:43] for how in told if "counts" in how] == [
        "line 5 of twins.mtlx: line 4 has named some",
        "line 5 of more.mtlx: line 4 has named somet",
    ]


@pytest.mark.parametrize("space", ["", "kit"])
def test_what_shares_a_name_with_something_included_is_told_with_both_files(space, tmp_path):
    own = f'<constant name="{space and "kit:"}c" type="color3">{RED}</constant>'
    included = document("", '<constant name="c" type="color3"/>')
    if space:
        included = included.replace("<materialx", f'<materialx namespace="{space}"')
    (tmp_path / "more.mtlx").write_text(included)
    path = tmp_path / "own.mtlx"
    path.write_text(document('<xi:include href="more.mtlx"/>', own, standard_surface(), material()))
    told = [part for part in describe(load_document(path), probe=False)[0].parts if part.how]
    [how] = [part.how for part in told if part.name == f"second '{space and 'kit:'}c'"]
    assert how.startswith("line 4 of own.mtlx: line 4 of more.mtlx has named something so before")


DEFINITION = (
    '<nodedef name="ND_wear" node="wear">{inputs}<output name="out" type="color3"/></nodedef>'
    '<nodegraph name="NG_wear" nodedef="ND_wear">{nodes}'
    '<output name="out" type="color3" nodename="inner"/></nodegraph>'
)
GIVEN = (
    '<nodegraph name="g"><input name="w" {}/><dot name="a" type="float">'
    '<input name="in" type="float" interfacename="w"/></dot>'
    '<output name="out" type="float" nodename="a"/></nodegraph>'
)
IMAGE = '<image name="inner" type="color3"><input name="file" type="filename" {said}/></image>'
FILE = '<input name="file" type="filename" value="{}"/>'


@pytest.mark.parametrize(
    ("inputs", "said", "given", "expected"),
    [
        ("", 'value="inner.png"', "", "inner.png"),
        (FILE.format("default.png"), 'interfacename="file"', "", "default.png"),
        (FILE.format("default.png"), 'interfacename="file"', FILE.format("own.png"), "own.png"),
    ],
)
def test_images_are_found_in_nodes_that_the_document_defines(
    tmp_path, inputs, said, given, expected
):
    for name in ("inner.png", "default.png", "own.png"):
        write_image(tmp_path / name, np.zeros((2, 2, 3), np.uint8))
    nodes = DEFINITION.format(inputs=inputs, nodes=IMAGE.format(said=said))
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
    assert "transmission" in [part.name for part in report.parts if part.fate == "dropped"]


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
    loaded = parse_document(text)
    message = "there is no version '9.1' of it" + (f": use {known}, or none$" if known else "$")
    with pytest.raises(DocumentError, match=message):
        loaded.check(loaded.require_material())


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


def test_a_document_of_a_later_version_is_refused_by_its_number():
    with pytest.raises(DocumentError, match=r"of MaterialX 9\.99; this reads up to 1\.39"):
        parse_document('<materialx version="9.99"/>')


def test_an_include_in_the_folder_is_read_and_its_file_is_known(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "shader.mtlx").write_text(document(standard_surface()))
    main = tmp_path / "main.mtlx"
    main.write_text(document('<xi:include href="parts/shader.mtlx"/>', material()))
    loaded = load_document(main)
    loaded.check(loaded.require_material())
    assert [file.name for file in loaded.files] == ["main.mtlx", "shader.mtlx"]
    assert len(list(loaded.nodes_of(loaded.require_material()))) == 2


def seen_of(path, name):
    """What a material of a document gives off at the middle, and the files that it reads."""
    loaded = load_document(path)
    found = loaded.require_material(name)
    files = [facts.file for facts in describe(loaded, name, probe=False)[0].textures]
    return glow(Teacher(loaded, found), [[0.5, 0.5]])[0], files


def test_files_beside_an_included_document_are_those_that_it_means(tmp_path):
    """Libraries give the images of each material the same names, in a folder of each."""
    colours = {"": (10, 20, 30), "gold": (200, 100, 50), "lead": (60, 70, 80), "zinc": (1, 2, 3)}
    prefixes = {"gold": "maps/", "lead": "", "zinc": ""}
    file = {"gold": "diffuse.png", "lead": "maps/diffuse.png", "zinc": "maps/diffuse.&lt;UDIM>.png"}
    for name, colour in colours.items():
        folder = tmp_path / name / "maps"
        folder.mkdir(parents=True)
        for stem in ("diffuse", "diffuse.1001"):
            write_image(folder / f"{stem}.png", np.tile(np.uint8(colour), (2, 2, 1)))
    for name in file:
        read = f'<input name="file" type="filename" value="{file[name]}"/>'
        image = f'<image name="{name}_map" type="color3">{read}</image>'
        ports = f'<input name="emission_color" type="color3" nodename="{name}_map"/>'
        shader = f'<surface_unlit name="{name}_glow" type="surfaceshader">{ports}</surface_unlit>'
        text = document(image, shader, material(f"{name}_glow", name))
        prefixed = text.replace("<materialx", f'<materialx fileprefix="{prefixes[name]}"', 1)
        (tmp_path / name / "made.mtlx").write_text(prefixed)
    main = tmp_path / "main.mtlx"
    main.write_text(document(*(f'<xi:include href="{name}/made.mtlx"/>' for name in file)))
    for name in file:
        got, (read,) = seen_of(main, name)
        np.testing.assert_allclose(got * 255, colours[name], atol=1e-3)
        assert f"/{name}/maps" in (tmp_path / read).resolve().as_posix()


def test_a_file_that_is_not_beside_an_included_document_is_looked_for_as_ever(tmp_path):
    (tmp_path / "parts").mkdir()
    write_image(tmp_path / "grey.png", np.full((2, 2, 3), 51, np.uint8))
    (tmp_path / "parts" / "made.mtlx").write_text(with_image("grey.png"))
    main = tmp_path / "main.mtlx"
    main.write_text(document('<xi:include href="parts/made.mtlx"/>'))
    loaded = load_document(main)
    assert texture_files(loaded, loaded.require_material()) == (tmp_path / "grey.png",)
    assert loaded.root.getNode("picture").getInputValue("file") == "grey.png"


def test_materials_of_an_included_namespace_are_found_under_their_names_there(tmp_path):
    half = '<input name="in2" type="color3" value="0.5, 0.5, 0.5"/>'
    shared = (
        '<nodedef name="ND_half" node="half"><input name="of" type="color3" value="0.8, 0.4, 0.2" '
        'colorspace="srgb_texture"/>'
        '<output name="out" type="color3"/></nodedef><nodegraph name="NG_half" nodedef="ND_half">'
        '<multiply name="m" type="color3"><input name="in1" type="color3" interfacename="of"/>'
        f'{half}</multiply><output name="out" type="color3" nodename="m"/></nodegraph>'
        '<half name="m" type="color3"/><nodegraph name="graph">'
        '<input name="given" type="color3" nodename="m"/><dot name="m" type="color3">'
        '<input name="in" type="color3" interfacename="given"/></dot>'
        '<output name="out" type="color3" nodename="m"/></nodegraph>'
    )
    glows = '<input name="emission_color" type="color3" {}/>'
    unlit = '<surface_unlit name="{}" type="surfaceshader">{}</surface_unlit>'
    look = '<look name="shown"><materialassign name="a" material="gold" geom="/"/></look>'
    in_graph = unlit.format("shader", glows.format('nodegraph="graph" output="out"'))
    text = document(shared, in_graph, material(name="gold"), look)
    (tmp_path / "shared.mtlx").write_text(text.replace("<materialx", '<materialx namespace="ours"'))
    here = unlit.format("shader", glows.format('nodename="m"')) + material(name="lead")
    uses = '<ours:half xmlns:ours="ours" name="m" type="color3"/>'
    main = tmp_path / "main.mtlx"
    main.write_text(document('<xi:include href="shared.mtlx"/>', uses, here))
    loaded = load_document(main)
    looks = {found.name: found.looks for found in loaded.materials}
    assert looks == {"ours:gold": ("ours:shown",), "lead": ()}
    at = np.float32([[0.5, 0.5]]), np.float32([[0, 0, 1]])
    expected = [*0.5 * decoded_srgb(np.array([0.8, 0.4, 0.2])), 1]
    for name in looks:
        got = Teacher(loaded, loaded.require_material(name)).unlit(*at)[0]
        np.testing.assert_allclose(got, expected, atol=1e-6)


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


def test_code_that_a_document_brings_in_a_file_is_refused(tmp_path):
    (tmp_path / "own.slang").write_text("void own(float3 given, out float3 result) {}")
    own = (
        '<nodedef name="ND_own" node="own"><input name="given" type="color3" value="1, 0, 0"/>'
        '<output name="out" type="color3"/></nodedef><implementation name="IM_own" '
        f'nodedef="ND_own" file="{tmp_path / "own.slang"}" function="own" target="genslang"/>'
        '<own name="painted" type="color3"/>'
    )
    text = with_surface('<input name="base_color" type="color3" nodename="painted"/>', own)
    with pytest.raises(DocumentError, match=r"node 'painted' is .* the file '.*own\.slang', which"):
        Teacher(parse_document(text, search_paths=[tmp_path]))


def test_an_include_outside_the_folders_is_refused_unless_allowed(tmp_path):
    (tmp_path / "shader.mtlx").write_text(document(standard_surface()))
    inner = tmp_path / "inner"
    inner.mkdir()
    main = inner / "main.mtlx"
    main.write_text(document('<xi:include href="../shader.mtlx"/>', material()))
    with pytest.raises(DocumentError, match=r"outside the folders .*--allow-outside"):
        load_document(main)
    assert load_document(main, allow_outside=True).require_material()
    assert load_document(main, search_paths=[tmp_path]).require_material()


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
def test_a_document_in_another_encoding_is_refused_with_the_right_one(tmp_path, encoding):
    path = tmp_path / "main.mtlx"
    text = f'<?xml version="1.0" encoding="{encoding}"?><!-- müde -->{with_surface()}'
    path.write_text(text, encoding=encoding)
    with pytest.raises(DocumentError, match=r"main\.mtlx: not a .* in UTF-8 .*: save it in that"):
        load_document(path)


@pytest.mark.parametrize("suffix", ["usda", "usdc"])
def test_a_stage_is_refused_with_the_command_that_takes_it(tmp_path, suffix):
    path = tmp_path / f"set.{suffix}"
    pytest.importorskip("pxr.Usd").Stage.CreateNew(str(path)).Save()
    with pytest.raises(DocumentError, match=rf"is a USD stage.*'verdigris scene run .*{suffix}'"):
        load_document(path)


def test_a_stage_in_a_package_is_refused_with_the_command_that_takes_it(tmp_path):
    path = tmp_path / "set.usdz"
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("set.usda", "#usda 1.0")
    with pytest.raises(DocumentError, match=r"is a USD stage.*'verdigris scene run .*set\.usdz'"):
        load_document(path)


def test_an_archive_a_picture_and_a_folder_are_refused_as_what_they_are(tmp_path):
    with zipfile.ZipFile(tmp_path / "library.zip", "w") as archive:
        archive.writestr("main.mtlx", with_surface())
    write_image(tmp_path / "wood.png", np.zeros((2, 2, 3), np.uint8))
    (tmp_path / "textures").mkdir()
    for name, message in (
        ("library.zip", r"library\.zip: is an archive .*: unpack it with its textures"),
        ("wood.png", r"wood\.png: is no text, .*: name one \(\.mtlx\)"),
        ("textures", r"textures: is a folder: name a MaterialX document \(\.mtlx\) in it"),
    ):
        with pytest.raises(DocumentError, match=message):
            load_document(tmp_path / name)


def test_documents_that_include_each_other_are_refused(tmp_path):
    for name, other in (("a", "b"), ("b", "a")):
        text = document(f'<xi:include href="{other}.mtlx"/>')
        (tmp_path / f"{name}.mtlx").write_text(text)
    with pytest.raises(DocumentError, match="include each other"):
        load_document(tmp_path / "a.mtlx")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello", "not valid XML"),
        ("<html/>", "the root element is <html>"),
        ('<!DOCTYPE m [<!ENTITY a "aa">]><materialx version="1.39">&a;</materialx>', "entity 'a'"),
        ("<materialx>" + "<a>" * 100 + "</a>" * 100 + "</materialx>", "nested deeper than 64"),
        (document(), "no material with a surface: it has no nodes"),
        (document('<constant name="c" type="float"/>'), "nodes are of the kinds constant"),
        (document('<surfacematerial name="m" type="material"/>'), "connect a surface shader"),
    ],
)
def test_what_is_not_a_material_document_is_refused_with_the_reason(text, message):
    with pytest.raises(DocumentError, match=message):
        parse_document(text).require_material()


@pytest.mark.parametrize(
    ("inputs", "nodes", "message"),
    [
        (
            '<input name="base" type="float" nodename="a"/>',
            '<add name="a" type="float"><input name="in1" type="float" nodename="b"/></add>'
            '<add name="b" type="float"><input name="in1" type="float" nodename="a"/></add>',
            "the graph goes round: a -> b -> a",
        ),
        (
            '<input name="base" type="float" nodename="a"/>',
            '<snowfall name="a" type="float"/>',
            "node 'a' is of the kind 'snowfall', which no library defines",
        ),
        (
            '<input name="base" type="float" nodename="a"/>',
            '<add name="a" type="float"><input name="in1" type="string" value="1"/></add>',
            "node 'a' of the kind 'add' and type 'float' fits no definition: its input 'in1' takes",
        ),
        ('<input name="base_colour" type="color3"/>', "", "did you mean 'base_color'"),
        ('<input name="base" type="color3"/>', "", "its input 'base' takes float, not color3"),
        ('<input name="base" type="float" value="much"/>', "", "'much' is not of the type float"),
        ('<input name="base" type="float" value="nan"/>', "", "'nan' is not of the type float"),
        (
            '<input name="thin_walled" type="boolean" value="1"/>',
            "",
            "input 'thin_walled': the value '1' is not of the type boolean: write true or false",
        ),
        (
            '<input name="base_color" type="color3" value="#ff8800"/>',
            "",
            "'#ff8800' is not of the type color3: write 3 numbers with commas between",
        ),
        (
            '<input name="base_color" type="color3" value="0.5"/>',
            "",
            "'0.5' is not of the type color3: write 3 numbers with commas between",
        ),
        ('<input name="base" type="float" nodename="gone"/>', "", "'gone', which is not there"),
        (
            '<input name="base" type="float" nodename="a"/>',
            '<constant name="a" type="color3"/>',
            "takes float and is connected to color3",
        ),
        ('<input name="base" type="float" value="0,5"/>', "", "'0,5' is not one number"),
        ('<input name="base" type="float" value="50%"/>', "", "type float: '50%' is no number"),
        (
            '<input name="base_color" type="color3" value="1, 0.5 0x8"/>',
            "",
            "value '1, 0.5 0x8' is not of the type color3: '0x8' is no number",
        ),
        (
            '<input name="base" type="float" nodename="a"/>',
            '<worleynoise2d name="a" type="float"><input name="style" type="integer" value="0.7"/>'
            "</worleynoise2d>",
            "'0.7' is no whole number",
        ),
        (
            '<input name="base" type="float" nodename="a"/>',
            '<geompropvalue name="a" type="float"><input name="geomprop" type="string" '
            'value="wear"/><input name="default" type="float" value="0.25 + 0.5"/></geompropvalue>',
            "node 'a', input 'default': the value '0.25 . 0.5' .* '.' is no number",
        ),
        (
            '<input name="thin_film_thickness" type="float" value="1" unittype="distance" '
            'unit="micrometer"/>',
            "",
            "node 'shader', input 'thin_film_thickness': the unit 'micrometer' is no distance: use "
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
            "node 'a', input 'uaddressmode': 'wrap' is not known: use one of constant, clamp, ",
        ),
        (
            '<input name="base_color" type="color3" nodename="a" output="colour"/>',
            '<UsdUVTexture name="a" type="multioutput"/>',
            "without naming one of its outputs: r, g, b, a, rgb",
        ),
        (
            '<input name="base_color" type="color3" nodename="a" output="rgb"/>',
            '<UsdUVTexture name="a" type="multioutput">'
            '<input name="scale" type="vector4" value="2, 2, 2, 1"/></UsdUVTexture>',
            "node 'a' .* fits no definition: its input 'scale' takes color4, not vector4",
        ),
        (
            '<input name="base_color" type="color3" nodename="a"/>',
            DEFINITION.format(inputs="", nodes='<wear name="inner" type="color3"/>')
            + '<wear name="a" type="color3"/>',
            "the graph goes round: NG_wear/inner -> NG_wear/inner",
        ),
        (
            '<input name="base_color" type="color3" nodename="a"/>',
            DEFINITION.format(inputs="", nodes='<snow name="inner" type="color3"/>')
            + '<wear name="a" type="color3"/>',
            "node 'NG_wear/inner' is of the kind 'snow', which no library defines",
        ),
        (
            '<input name="base_color" type="color3" nodename="a"/>',
            DEFINITION.format(inputs="", nodes=IMAGE.format(said='interfacename="gone"'))
            + '<wear name="a" type="color3"/>',
            "reads the interface input 'gone', which is not there",
        ),
        (
            '<input name="base" type="float" nodename="a"/>',
            '<extract name="a" type="float"><input name="in" type="color3" value="1, 1, 1"/>'
            '<input name="index" type="integer" value="3"/></extract>',
            "node 'a', input 'index': there is no 3: use 0 to 2",
        ),
        (
            '<input name="base" type="float" nodegraph="g" output="out"/>',
            GIVEN.format('type="float" value="0,5"'),
            "node 'g/a', input 'in': reads the input 'g/w': the value '0,5' is not one number",
        ),
        (
            '<input name="base" type="float" nodegraph="g" output="out"/>',
            GIVEN.format('type="float" nodename="gone"'),
            "node 'g/a', input 'in': reads the input 'g/w': is connected to 'gone', which is not",
        ),
        (
            '<input name="base" type="float" nodegraph="g" output="out"/>',
            GIVEN.format('type="color3" value="1, 1, 1"'),
            "node 'g/a', input 'in': takes float and reads the input 'w', which is color3",
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
            "node 'a': the document defines 'wear' without a graph: give it one",
        ),
        (
            '<input name="base_color" type="color3" nodename="a"/>',
            '<convert name="a" type="color3"><input name="in" type="vector3" nodename="b"/>'
            '</convert><transformmatrix name="b" type="vector3">'
            '<input name="mat" type="matrix33" value="1, 2, 3"/></transformmatrix>',
            "node 'b', input 'mat': the value '1, 2, 3' is not of the type matrix33: write 9",
        ),
        (
            '<input name="base" type="float" nodename="a"/>',
            '<image name="a" type="float"><input name="uaddressmode" type="string" nodename="b"/>'
            '</image><constant name="b" type="string"/>',
            "node 'a', input 'uaddressmode': is connected, and is a choice .*: write it as a value",
        ),
        (
            '<input name="tangent" type="vector3" nodename="a"/>',
            '<tangent name="a" type="vector3"><input name="index" type="integer" value="-1"/>'
            "</tangent>",
            "node 'a', input 'index': there is no -1: use 0 or more",
        ),
    ],
)
def test_a_faulty_node_is_refused_by_name(inputs, nodes, message):
    loaded = parse_document(with_surface(inputs, nodes))
    with pytest.raises(DocumentError, match=message):
        loaded.check(loaded.require_material())


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
    loaded = parse_document(text)
    message = f"node 'lamp' is of the kind '{kind}' and type 'EDF', for which MaterialX has no code"
    with pytest.raises(DocumentError, match=message):
        loaded.check(loaded.require_material())


def test_a_whole_number_given_to_a_graph_is_read_as_a_number():
    nodes = GIVEN.format('type="integer" value="1"')
    inputs = '<input name="base" type="float" nodegraph="g" output="out"/>'
    loaded = parse_document(with_surface(inputs, nodes))
    loaded.check(loaded.require_material())


def test_a_fault_in_a_node_that_no_material_uses_harms_nobody():
    loaded = parse_document(with_surface("", '<snowfall name="alone" type="float"/>'))
    loaded.check(loaded.require_material())
