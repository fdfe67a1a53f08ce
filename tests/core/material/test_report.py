"""The report: what is kept, approximated and dropped, and what is there to bake."""

import re
import struct

import numpy as np
import OpenImageIO as oiio
import pytest

from verdigris.core.material.document import parse_document
from verdigris.core.material.images import read_info
from verdigris.core.material.report import describe
from verdigris.core.material.teacher import Teacher
from verdigris.core.material.texels import read_image

from . import closed_forms
from .documents import document, material, standard_surface, with_image, with_surface
from .furnace import integrated
from .surfaces import glow, node, probe, write_image

NO_SPECULAR = (
    '<input name="specular" type="float" value="0"/><input name="base" type="float" value="1"/>'
)

BLUE = '<input name="base_color" type="color3" value="0.2, 0.4, 0.6"/>'


def report(text, probe=False, **options):
    return describe(parse_document(text, **options), probe=probe)[0]


def fates(text):
    return {part.name: part.fate for part in report(text).parts}


def test_parts_in_use_are_listed_with_their_fate():
    inputs = (
        '<input name="coat" type="float" value="0.5"/>'
        '<input name="transmission" type="float" value="0.2"/>'
        '<input name="subsurface" type="float" value="0.3"/>'
        '<input name="emission" type="float" value="1"/>'
        '<input name="opacity" type="color3" value="1, 0.5, 1"/>'
    )
    found = fates(with_surface(inputs))
    assert found["coat"] == "kept"
    assert found["transmission"] == "dropped"
    assert found["subsurface"] == "approximated"
    assert found["emission"] == "kept"
    assert found["opacity"] == "kept"


def test_a_part_is_in_use_whatever_program_has_written_its_number():
    assert fates(with_surface('<input name="coat" type="float" value="0.5f"/>'))["coat"] == "kept"
    assert "coat" not in fates(with_surface('<input name="coat" type="float" value="0.0f"/>'))


def test_parts_that_are_switched_off_are_not_listed():
    found = fates(with_surface('<input name="emission_color" type="color3" value="1, 1, 1"/>'))
    assert set(found) == {"base", "specular"}


def test_displacement_and_nodes_without_geometry_are_dropped():
    text = document(
        '<geompropvalue name="wear" type="float"><input name="geomprop" type="string" '
        'value="wear"/></geompropvalue>',
        standard_surface('<input name="base" type="float" nodename="wear"/>'),
        '<displacement name="bumps" type="displacementshader"/>',
        '<surfacematerial name="m" type="material"><input name="surfaceshader" '
        'type="surfaceshader" nodename="shader"/><input name="displacementshader" '
        'type="displacementshader" nodename="bumps"/></surfacematerial>',
    )
    found = fates(text)
    assert found["displacement"] == "dropped"
    assert found["property of the geometry"] == "dropped"


@pytest.mark.parametrize(
    "behind",
    [
        '<image name="height" type="float">'
        '<input name="file" type="filename" value="not_there.exr"/></image>',
        '<of_some_plugin name="height" type="float"/>',
    ],
)
def test_nothing_is_asked_of_what_lies_behind_displacement(behind):
    text = document(
        behind,
        standard_surface(BLUE),
        '<displacement name="bumps" type="displacementshader">'
        '<input name="displacement" type="float" nodename="height"/></displacement>',
        '<surfacematerial name="m" type="material"><input name="surfaceshader" '
        'type="surfaceshader" nodename="shader"/><input name="displacementshader" '
        'type="displacementshader" nodename="bumps"/></surfacematerial>',
    )
    found, without = report(text, probe=True), report(with_surface(BLUE), probe=True)
    assert found.problem == "" and found.textures == ()
    assert fates(text)["displacement"] == "dropped"
    assert found.probe == without.probe and max(found.probe.albedo) > 0.5


def test_a_material_whose_surface_is_not_there_is_reported_beside_others():
    text = document(
        standard_surface(),
        *(
            f'<surfacematerial name="{name}" type="material"><input name="surfaceshader" '
            f'type="surfaceshader" {source}/></surfacematerial>'
            for name, source in (
                ("good", 'nodename="shader"'),
                ("lost", 'nodename="nothing"'),
                ("led", 'nodegraph="nowhere" output="out"'),
            )
        ),
    )
    problems = {each.name: each.problem for each in describe(parse_document(text), probe=False)}
    assert problems["good"] == ""
    assert "'nothing', which is not there" in problems["lost"]
    assert "'nowhere', which is not there" in problems["led"]


def test_what_thin_walls_let_through_is_dropped():
    inputs = '<input name="subsurface" type="float" value="0.5"/>'
    assert "subsurface of thin walls" not in fates(with_surface(inputs))
    inputs += '<input name="thin_walled" type="boolean" value="true"/>'
    assert fates(with_surface(inputs))["subsurface of thin walls"] == "dropped"


@pytest.mark.parametrize(
    ("mode", "threshold", "fate", "coverage"),
    [("0", "0", "dropped", 1), ("1", "0", "kept", 0.6), ("0", "0.7", "kept", 0)],
)
def test_usd_opacity_is_a_map_unless_it_means_transmission(mode, threshold, fate, coverage):
    text = document(
        '<UsdPreviewSurface name="shader" type="surfaceshader">'
        '<input name="opacity" type="float" value="0.6"/>'
        f'<input name="opacityMode" type="integer" value="{mode}"/>'
        f'<input name="opacityThreshold" type="float" value="{threshold}"/></UsdPreviewSurface>',
        material(),
    )
    found = report(text, probe=True)
    fates = {part.name: part.fate for part in found.parts}
    assert fates["opacity" if fate == "kept" else "transmission"] == fate
    assert ("opacity" in fates) != ("transmission" in fates)
    assert found.probe.opacity == pytest.approx((coverage, coverage), abs=1e-3)


def test_the_back_of_a_surface_is_dropped():
    port = '<input name="{}" type="surfaceshader" nodename="shader"/>'
    front, back = port.format("surfaceshader"), port.format("backsurfaceshader")
    material = '<surfacematerial name="m" type="material">{}</surfacematerial>'
    assert "back" not in fates(document(standard_surface(), material.format(front)))
    assert fates(document(standard_surface(), material.format(front + back)))["back"] == "dropped"


def test_fates_of_what_renderman_adds_are_those_of_what_it_stands_for():
    lobes = "".join(
        f'<{name} name="{name}_1" type="BSDF"/>' for name in ("LamaTranslucent", "LamaSSS")
    )
    ports = "".join(
        f'<input name="material{at}" type="BSDF" nodename="{name}_1"/>'
        for at, name in enumerate(("LamaTranslucent", "LamaSSS"), 1)
    )
    surface = (
        '<LamaSurface name="m" type="material">'
        '<input name="materialFront" type="BSDF" nodename="sum"/>'
        '<input name="materialBack" type="BSDF" nodename="sum"/>'
        '<input name="presence" type="float" value="0.5"/></LamaSurface>'
    )
    found = report(document(lobes, f'<LamaAdd name="sum" type="BSDF">{ports}</LamaAdd>', surface))
    assert found.surface_model == "LamaSurface"
    assert {part.name: part.fate for part in found.parts} == {
        "opacity": "kept",
        "LamaAdd": "kept",
        "subsurface": "approximated",
        "translucency": "dropped",
        "back": "dropped",
    }


def test_further_texture_coordinates_are_read_as_the_first():
    nodes = (
        '<texcoord name="second" type="vector2"><input name="index" type="integer" value="{}"/>'
        '</texcoord><separate2 name="apart" type="multioutput">'
        '<input name="in" type="vector2" nodename="second"/></separate2>'
    )
    base = '<input name="base" type="float" nodename="apart" output="outx"/>'
    assert fates(with_surface(base, nodes.format(1)))["texture coordinates 1"] == "approximated"
    assert set(fates(with_surface(base, nodes.format(0)))) == {"base", "specular"}


@pytest.mark.parametrize("index", ["0", "1"])
def test_what_a_definition_reads_by_default_varies_over_the_surface(index):
    own = (
        f'<geompropdef name="coordinates" type="vector2" geomprop="texcoord" index="{index}"/>'
        '<nodedef name="ND_own" node="own"><input name="at" type="vector2" '
        'defaultgeomprop="coordinates"/><output name="out" type="float"/></nodedef>'
        '<nodegraph name="NG_own" nodedef="ND_own"><magnitude name="far" type="float">'
        '<input name="in" type="vector2" interfacename="at"/></magnitude>'
        '<output name="out" type="float" nodename="far"/></nodegraph><own name="far" type="float"/>'
    )
    found = report(with_surface('<input name="base" type="float" nodename="far"/>', own))
    assert found.varying_inputs == ("base",)
    told = [part.name for part in found.parts if "coordinates" in part.name]
    assert told == (["texture coordinates 1"] if index == "1" else [])


def test_patterns_in_space_are_told_whether_they_are_given_places_or_not():
    base = '<input name="base" type="float" nodename="noise"/>'
    noise = '<noise3d name="noise" type="float">{}</noise3d>'
    given = noise.format('<input name="position" type="vector3" nodename="p"/>')
    place = '<position name="p" type="vector3"/>'
    assert fates(with_surface(base, given, place))["place in space"] == "approximated"
    assert fates(with_surface(base, noise.format("")))["place in space"] == "approximated"
    parts = report(with_surface(base, given, place)).parts
    [told] = [part.how for part in parts if part.name == "place in space"]
    # no bake takes a mesh
    assert "a flat unit square, whatever the mesh" in told
    flat = noise.format("").replace("noise3d", "noise2d")
    assert "place in space" not in fates(with_surface(base, flat))


SLOPE = node("normal", "n", "vector3", {"space": ("string", "world")})
UP = {"in1": ("vector3", "@n"), "in2": ("vector3", "0,1,0")}
VIEW = {"in1": ("vector3", "@n"), "in2": ("vector3", "@v")}
MASKS = {
    "y": (node("extract", "m", "float", {"in": ("vector3", "@n")}), True),
    "up": (node("dotproduct", "m", "float", UP), True),
    "angle": (
        node("viewdirection", "v", "vector3", {}) + node("dotproduct", "m", "float", VIEW),
        False,
    ),
}


ALONG = node("tangent", "t", "vector3", {"space": ("string", "world")})
LOOK = node("viewdirection", "v", "vector3", {"space": ("string", "world")})
MASKS |= {
    "y of a product": (
        ALONG
        + node("multiply", "p", "vector3", {"in1": ("vector3", "@n"), "in2": ("vector3", "@t")})
        + node("extract", "m", "float", {"in": ("vector3", "@p")}),
        True,
    ),
    "y of the view": (LOOK + node("extract", "m", "float", {"in": ("vector3", "@v")}), True),
    "length": (node("magnitude", "m", "float", {"in": ("vector3", "@n")}), True),
}


@pytest.mark.parametrize("mask", MASKS)
def test_a_mask_of_where_a_surface_faces_is_told(mask):
    nodes, is_told = MASKS[mask]
    found = fates(with_surface('<input name="base" type="float" nodename="m"/>', SLOPE, nodes))
    assert found.get("direction in space") == ("approximated" if is_told else None)


def test_a_normal_that_is_used_as_one_is_not_told():
    inputs = '<input name="coat_normal" type="vector3" nodename="n"/>'
    assert "direction in space" not in fates(with_surface(inputs, SLOPE))
    turned = node("normalize", "u", "vector3", {"in": ("vector3", "@n")})
    inputs = inputs.replace('"n"', '"u"') + '<input name="tangent" type="vector3" nodename="t"/>'
    assert "direction in space" not in fates(with_surface(inputs, SLOPE, turned, ALONG))


def test_settings_that_a_graph_is_given_are_told_as_those_of_its_nodes():
    text = document(
        '<nodegraph name="g"><input name="set" type="integer" value="1"/>'
        '<input name="which" type="string" value="spec"/>'
        '<input name="how" type="string" value="cubic"/>'
        '<texcoord name="uv" type="vector2">'
        '<input name="index" type="integer" interfacename="set"/></texcoord>'
        '<image name="i" type="color3"><input name="layer" type="string" interfacename="which"/>'
        '<input name="filtertype" type="string" interfacename="how"/>'
        '<input name="texcoord" type="vector2" nodename="uv"/></image>'
        '<output name="out" type="color3" nodename="i"/></nodegraph>',
        standard_surface('<input name="base_color" type="color3" nodegraph="g" output="out"/>'),
        material(),
    )
    found = fates(text)
    assert found["texture coordinates 1"] == "approximated"
    assert found["layer 'spec' of an image"] == "dropped"
    assert found["cubic filtering"] == "approximated"


@pytest.mark.parametrize(
    ("value", "is_told"),
    [
        ("0.6, 0, 0.8", True),
        ("0.6f, 0f, 0.8f", True),
        ("0, 0, 1", False),
        ("0.0f, 0.0f, 1.0f", False),
        ("0.0, 0.0, 0.0", False),
    ],
)
def test_a_value_that_the_surface_overrules_is_told(value, is_told):
    found = fates(with_surface(f'<input name="coat_normal" type="vector3" value="{value}"/>'))
    assert ("value of 'coat_normal'" in found) == is_told


OWN_CHECKERS = (
    '<nodedef name="ND_mine" node="checkerboard"><input name="color1" type="color3" '
    'value="1, 1, 1"/><output name="out" type="color3"/></nodedef>',
    '<nodegraph name="NG_mine" nodedef="ND_{}"><constant name="k" type="color3"/>'
    '<output name="out" type="color3" nodename="k"/></nodegraph>',
)


@pytest.mark.parametrize(
    "parts", [("mine", OWN_CHECKERS), ("checkerboard_color3", OWN_CHECKERS[1:])]
)
def test_a_definition_of_a_node_that_materialx_has_is_told_where_it_is_used(parts):
    kind, own = parts
    own = "".join(own).format(kind)
    inputs = '<input name="base_color" type="color3" nodename="c"/>'
    found = fates(with_surface(inputs, own, '<checkerboard name="c" type="color3"/>'))
    assert found["own definition of 'checkerboard'"] == "dropped"
    assert "own definition of 'checkerboard'" not in fates(with_surface("", own))


@pytest.mark.parametrize("kind", ["float", "vector3", "color3"])
def test_the_colour_space_of_an_image_is_told_where_it_counts(kind, tmp_path):
    write_image(tmp_path / "i.exr", np.full((2, 2, 3), 0.5, np.float32))
    file = '<input name="file" type="filename" value="i.exr" colorspace="srgb_texture"/>'
    shown = node("convert", "shown", "color3", {"in": (kind, "@i")})
    shown = shown.replace("convert", "dot") if kind == "color3" else shown
    text = f'<image name="i" type="{kind}">{file}</image>{shown}'
    made = probe(text, "shown", search_paths=[tmp_path])
    is_decoded = glow(Teacher(made), [[0.5, 0.5]])[0, 0] < 0.4
    told = describe(made, probe=False)[0].textures[0].colour_space
    assert (told, is_decoded) == (
        ("srgb_texture", True) if kind == "color3" else ("numbers as stored", False)
    )


@pytest.mark.parametrize(("has_bsdf", "fate"), [(True, "kept"), (False, "dropped")])
def test_the_opacity_of_a_surface_that_only_glows_is_dropped(has_bsdf, fate):
    ports = {"edf": ("EDF", "@glow"), "opacity": ("float", "0.5")}
    ports |= {"bsdf": ("BSDF", "@dark")} if has_bsdf else {}
    body = node("uniform_edf", "glow", "EDF", {})
    body += node("oren_nayar_diffuse_bsdf", "dark", "BSDF", {"weight": ("float", "0")})
    body += node("surface", "shader", "surfaceshader", ports)
    text = document(body, material())
    assert fates(text)["opacity"] == fate
    up = np.float32([[0, 0, 1]])
    coverage = Teacher(parse_document(text)).unlit(np.float32([[0.5, 0.5]]), up)[0, 3]
    assert coverage == pytest.approx(0.5 if has_bsdf else 1.0, abs=1e-3)


def test_a_blur_that_a_sample_cannot_see_is_dropped(tmp_path):
    texels = np.random.default_rng(5).integers(0, 255, (8, 8, 3)).astype(np.uint8)
    write_image(tmp_path / "i.png", texels)
    image = node("image", "i", "color3", {"file": ("filename", "i.png")})
    ports = {"in": ("color3", "@i"), "size": ("float", "1")}
    blurred = probe(image + node("blur", "soft", "color3", ports), "soft", search_paths=[tmp_path])
    uv = np.random.default_rng(6).random((50, 2))
    sharp = glow(Teacher(probe(image, "i", search_paths=[tmp_path])), uv)
    np.testing.assert_allclose(glow(Teacher(blurred), uv), sharp, atol=1e-6)
    parts = describe(blurred, probe=False)[0].parts
    assert [part.fate for part in parts if part.name == "blur"] == ["dropped"]


def test_variants_that_a_look_assigns_are_dropped():
    variants = (
        '<variantset name="dyes"><variant name="green"><input name="base_color" type="color3" '
        'value="0, 1, 0"/></variant></variantset>'
        '<look name="hero"><materialassign name="a" material="{}" geom="*"/>'
        '<variantassign name="b" variantset="dyes" variant="green"/></look>'
    )
    parts = report(document(standard_surface(), material(), variants.format("material"))).parts
    told = next(part for part in parts if part.name == "variant 'green'")
    assert told.fate == "dropped"
    assert told.how.startswith("look 'hero' assigns it from the set 'dyes': ")
    others = document(standard_surface(), material(), variants.format("another"))
    assert "variant 'green'" not in fates(others)


def test_a_material_that_returns_more_than_it_receives_says_so():
    bright = '<input name="base_color" type="color3" value="3, 3, 3"/>'
    told = report(with_surface(bright + NO_SPECULAR), probe=True).verdict
    found = re.match(r"can be baked: reflects (\d+)% of the light, more than it receives", told)
    assert int(found[1]) == pytest.approx(300, abs=3)
    white = '<input name="base_color" type="color3" value="1, 1, 1"/>'
    assert "more" not in report(with_surface(white), probe=True).verdict


def test_inputs_that_vary_over_the_surface_are_named():
    inputs = (
        '<input name="base" type="float" nodename="noise"/>'
        '<input name="metalness" type="float" nodename="fixed"/>'
    )
    nodes = (
        '<noise2d name="noise" type="float"/>'
        '<constant name="fixed" type="float">'
        '<input name="value" type="float" value="1"/></constant>'
    )
    assert report(with_surface(inputs, nodes)).varying_inputs == ("base",)


def test_a_colour_space_that_is_not_known_is_said_to_be_read_as_linear():
    text = with_surface(
        '<input name="base_color" type="color3" value="1, 0, 0" colorspace="lin_martian"/>'
    )
    part = next(p for p in report(text).parts if "lin_martian" in p.name)
    assert part.fate == "approximated"
    four = '<dot name="four" type="color4"><input name="in" type="color4" value="1, 0, 0, 1" '
    four += 'colorspace="lin_venus"/></dot><convert name="three" type="color3">'
    four += '<input name="in" type="color4" nodename="four"/></convert>'
    text = with_surface('<input name="base_color" type="color3" nodename="three"/>', four)
    assert fates(text)["colour space lin_venus"] == "approximated"


def test_a_layer_of_an_image_is_dropped(tmp_path):
    spec = oiio.ImageSpec(2, 2, 6, "half")
    spec.channelnames = ("R", "G", "B", "worn.R", "worn.G", "worn.B")
    target = oiio.ImageOutput.create(str(tmp_path / "layers.exr"))
    assert target.open(str(tmp_path / "layers.exr"), spec)
    texels = np.full((2, 2, 6), 0.8, np.float16)
    texels[..., 3:] = 0.2
    assert target.write_image(texels) and target.close()
    layer = '<input name="layer" type="string" value="worn"/></image>'
    text = (
        with_image("layers.exr")
        .replace("</image>", layer)
        .replace('<input name="base_color"', NO_SPECULAR + '<input name="base_color"')
    )
    found = report(text, probe=True, search_paths=[tmp_path])
    assert {part.name: part.fate for part in found.parts}["layer 'worn' of an image"] == "dropped"
    assert found.probe.albedo == pytest.approx((0.8, 0.8, 0.8), abs=0.01)


def exif(orientation):
    """The segment of a JPEG in which cameras say how they were held: a TIFF's header."""
    entry = struct.pack("<HHIHH", 0x0112, 3, 1, orientation, 0)
    header = b"II*\0" + struct.pack("<IH", 8, 1) + entry + bytes(4)
    return b"\xff\xe1" + struct.pack(">H", len(header) + 8) + b"Exif\0\0" + header


@pytest.mark.parametrize("orientation", [1, 3, 6])
def test_an_image_that_viewers_turn_is_read_as_it_is_stored_and_told(orientation, tmp_path):
    path = tmp_path / "phone.jpg"
    write_image(path, np.uint8([0] * 8 + [255] * 8).repeat(16 * 3).reshape(16, 16, 3))
    data = path.read_bytes()
    path.write_bytes(data[:2] + exif(orientation) + data[2:])
    loaded = parse_document(with_image("phone.jpg"), [tmp_path])
    info = read_info("phone.jpg", "document: picture", loaded.search)
    # rows of an image go up
    texels = read_image(info, "document: picture").levels[0]
    assert texels[0, :, 0].min() > 250 and texels[-1, :, 0].max() < 5
    told = [
        part
        for part in report(with_image("phone.jpg"), search_paths=[tmp_path]).parts
        if part.name == "orientation of phone.jpg"
    ]
    assert [part.fate for part in told] == ([] if orientation == 1 else ["dropped"])
    assert all(f"the file says {orientation}, by which viewers turn" in part.how for part in told)


def test_a_missing_texture_is_the_reason_why_it_cannot_be_baked(tmp_path):
    found = report(with_image("gone.png"), search_paths=[tmp_path])
    assert "cannot be baked" in found.verdict
    assert "picture" in found.problem
    assert "gone.png" in found.problem
    assert str(tmp_path) in found.problem


@pytest.mark.parametrize("name", ["a\udcff.mtlx", "\u6728.mtlx"])
def test_a_document_that_no_bundle_can_tell_of_cannot_be_baked(name):
    (found,) = describe(parse_document(with_surface(), name=name), probe=False)
    is_told = name.isprintable()
    assert found.problem == ("" if is_told else f"{name}: the file's name is no Unicode: rename it")


def test_a_texture_is_described_by_its_header(tmp_path):
    import OpenImageIO as oiio

    pixels = np.zeros((4, 8, 3), np.float32)
    oiio.ImageBuf(pixels).write(str(tmp_path / "a.exr"))
    texture = report(with_image("a.exr"), search_paths=[tmp_path]).textures[0]
    assert (texture.width, texture.height, texture.channels) == (8, 4, 3)
    assert texture.kind == "float"
    assert texture.colour_space == "lin_rec709"


@pytest.mark.parametrize(("cells", "left_out"), [([1001], 0), ([1001, 1002, 1011], 2), ([1003], 1)])
def test_tiles_outside_of_the_unit_square_are_said_to_be_left_out(tmp_path, cells, left_out):
    for cell in cells:
        write_image(tmp_path / f"t.{cell}.png", np.full((2, 2, 3), 99, np.uint8))
    [found] = describe(parse_document(with_image("t.&lt;UDIM&gt;.png"), [tmp_path]), probe=False)
    said = [part.how for part in found.parts if (part.name, part.fate) == ("UDIM tiles", "dropped")]
    assert [how.partition(" lie")[0] for how in said] == (
        [f"{left_out} of {len(cells)}"] if left_out else []
    )


def test_clear_glass_is_said_to_reflect_almost_nothing():
    shader = (
        '<open_pbr_surface name="shader" type="surfaceshader">'
        '<input name="transmission_weight" type="float" value="1"/>'
        '<input name="specular_roughness" type="float" value="0"/></open_pbr_surface>'
    )
    found = report(document(shader, material()), probe=True)
    assert found.probe.reflects_nearly_nothing
    assert "nothing to learn" in found.verdict


@pytest.mark.parametrize("colour", [(0.2, 0.5, 0.8)])
def test_the_probed_albedo_of_a_lambertian_surface_is_its_colour(colour):
    inputs = (
        '<input name="base" type="float" value="1"/>'
        '<input name="specular" type="float" value="0"/>'
        f'<input name="base_color" type="color3" value="{", ".join(map(str, colour))}"/>'
    )
    found = report(with_surface(inputs), probe=True)
    np.testing.assert_allclose(found.probe.albedo, colour, rtol=0.03)
    assert found.probe.emission == (0.0, 0.0, 0.0)
    assert found.probe.opacity == pytest.approx((1.0, 1.0), abs=2e-4)


@pytest.mark.parametrize(
    ("inputs", "smoothest"),
    [
        ('<input name="sheen_roughness" type="float" value="0.02"/>', 0.02),
        ('<input name="sheen_roughness" type="float" value="0.3"/>', None),
        (
            '<input name="sheen_roughness" type="float" value="0.02"/>'
            '<input name="sheen_color" type="color3" value="0.3, 0.2, 0.1"/>',
            None,
        ),
        ('<input name="sheen_roughness" type="float" nodename="noise"/>', 0.005),
    ],
)
def test_energy_that_is_removed_is_told_where_there_is_any(inputs, smoothest):
    text = document(
        '<noise2d name="noise" type="float"/>',
        standard_surface('<input name="sheen" type="float" value="1"/>' + inputs),
        material(),
    )
    found = [part for part in report(text).parts if part.name == "smooth sheen"]
    assert [part.fate for part in found] == ["approximated"] * bool(smoothest)
    if smoothest:
        gain = integrated(lambda *at: closed_forms.sheen([1.0], smoothest, *at), 0.02)
        assert f"energy above one removed: it would return up to {gain:.2g} times" in found[0].how


def test_the_energy_of_a_sheen_that_is_off_is_not_told():
    assert "smooth sheen" not in fates(
        with_surface('<input name="sheen_roughness" type="float" value="0.02"/>')
    )
