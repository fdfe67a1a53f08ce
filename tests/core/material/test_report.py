"""The report of a material: parts of its shader, their fates, and varying inputs."""

import numpy as np
import pytest

from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.report import describe
from verdigris.core.material.teacher.teacher import Teacher

from .documents import document, material, standard_surface, with_surface
from .reports import fates, report
from .surfaces import node

BLUE = '<input name="base_color" type="color3" value="0.2, 0.4, 0.6"/>'


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
    assert found["transmission"] == "kept"
    assert found["subsurface"] == "approximated"
    assert found["emission"] == "kept"
    assert found["opacity"] == "kept"


def test_a_part_is_in_use_whatever_program_has_written_its_number():
    assert fates(with_surface('<input name="coat" type="float" value="0.5f"/>'))["coat"] == "kept"
    assert "coat" not in fates(with_surface('<input name="coat" type="float" value="0.0f"/>'))


def test_parts_that_are_switched_off_are_not_listed():
    found = fates(with_surface('<input name="emission_color" type="color3" value="1, 1, 1"/>'))
    assert set(found) == {"base", "specular"}


def test_displacement_is_kept_and_nodes_without_geometry_are_dropped():
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
    assert found["displacement"] == "kept"
    assert found["property 'wear' of the geometry"] == "approximated"


@pytest.mark.parametrize(
    "behind",
    [
        '<image name="height" type="float">'
        '<input name="file" type="filename" value="not_there.exr"/></image>',
        '<of_some_plugin name="height" type="float"/>',
    ],
)
def test_nothing_is_requested_of_what_lies_behind_displacement(behind):
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
    assert "'nothing', which does not exist" in problems["lost"]
    assert "'nowhere', which does not exist" in problems["led"]


def test_what_thin_walls_let_through_is_kept():
    inputs = '<input name="subsurface" type="float" value="0.5"/>'
    assert "subsurface of thin walls" not in fates(with_surface(inputs))
    inputs += '<input name="thin_walled" type="boolean" value="true"/>'
    assert fates(with_surface(inputs))["subsurface of thin walls"] == "kept"
    for is_thin, part in (("true", "subsurface of thin walls"), ("false", "subsurface")):
        text = document(
            '<subsurface_bsdf name="skin" type="BSDF"/><surface name="shader" type="surfaceshader">'
            '<input name="bsdf" type="BSDF" nodename="skin"/><input name="thin_walled" '
            f'type="boolean" value="{is_thin}"/></surface>',
            material(),
        )
        assert fates(text) == {part: "kept" if is_thin == "true" else "approximated"}


@pytest.mark.parametrize(
    ("mode", "threshold", "part", "coverage"),
    [("0", "0", "transmission", 1), ("1", "0", "opacity", 0.6), ("0", "0.7", "opacity", 0)],
)
def test_usd_opacity_is_a_map_unless_it_means_transmission(mode, threshold, part, coverage):
    text = document(
        '<UsdPreviewSurface name="shader" type="surfaceshader">'
        '<input name="opacity" type="float" value="0.6"/>'
        f'<input name="opacityMode" type="integer" value="{mode}"/>'
        f'<input name="opacityThreshold" type="float" value="{threshold}"/></UsdPreviewSurface>',
        material(),
    )
    found = report(text, probe=True)
    fates = {part.name: part.fate for part in found.parts}
    assert fates[part] == "kept"
    assert ("opacity" in fates) != ("transmission" in fates)
    assert found.probe.opacity == pytest.approx((coverage, coverage), abs=1e-3)


@pytest.mark.parametrize("name", ["subsurface_radius", "transmission_dispersion_scale"])
def test_a_colour_for_a_number_without_effect_is_a_notice(name):
    text = document(
        '<open_pbr_surface name="shader" type="surfaceshader">'
        '<input name="subsurface_weight" type="float" value="1"/>'
        f'<input name="{name}" type="color3" value="1, 0.5, 0.2"/></open_pbr_surface>',
        material(),
    )
    found = report(text, probe=name == "subsurface_radius")
    assert found.problem == "" and (found.probe is None or max(found.probe.albedo) > 0.5)
    [types] = [part for part in found.parts if part.name == "types"]
    assert f"shader/{name}: a color3 for a float, left out" in types.how


def test_a_wall_that_is_thin_in_places_is_approximated():
    nodes = (
        '<image name="where" type="float"/><ifgreater name="thin" type="boolean"><input '
        'name="value1" type="float" nodename="where"/></ifgreater>'
    )
    thin = '<input name="thin_walled" type="boolean" nodename="thin"/>'
    clear = '<input name="transmission" type="float" value="1"/>'
    assert fates(with_surface(thin + clear, nodes))["thin walls"] == "approximated"
    assert "thin walls" not in fates(with_surface(thin, nodes))


@pytest.mark.parametrize(
    ("height", "scale", "fate", "how"),
    [
        ("value='0.5'", "0.5", "ignored", "is 0.25 everywhere and left out: move the mesh"),
        ("value='0.0'", "0.5", "ignored", "is 0 everywhere"),
        ("nodename='noise'", "-1e6", "approximated", "times the width of uv"),
        ("nodename='noise'", "-0.1", "kept", "as a height map"),
        ("nodename='noise'", "nan", "dropped", "node 'bumps', input 'scale': the value 'nan'"),
        ("nodename='root'", "1", "ignored", "is not finite at 100% of the surface"),
    ],
)
def test_heights_without_use_are_named_when_they_are_evaluated(height, scale, fate, how):
    text = document(
        '<noise2d name="noise" type="float"/><sqrt name="root" type="float">'
        '<input name="in" type="float" value="-1"/></sqrt>',
        '<oren_nayar_diffuse_bsdf name="d" type="BSDF"/><surface name="shader" '
        'type="surfaceshader"><input name="bsdf" type="BSDF" nodename="d"/></surface>',
        f'<displacement name="bumps" type="displacementshader"><input name="displacement" '
        f'type="float" {height}/><input name="scale" type="float" value="{scale}"/></displacement>',
        material().replace(
            "</surfacematerial>",
            '<input name="displacementshader" type="displacementshader" nodename="bumps"/>'
            "</surfacematerial>",
        ),
    )
    [part] = [part for part in report(text, probe=True).parts if part.name == "displacement"]
    assert part.fate == fate and how in part.how


@pytest.mark.parametrize(
    ("surface", "inputs", "name"),
    [
        ("standard_surface", {"transmission": "1", "transmission_scatter": "2"}, "volume"),
        ("standard_surface", {"transmission": "1", "transmission_dispersion": "9"}, "dispersion"),
        ("open_pbr_surface", {"transmission_weight": "1", "transmission_scatter": "2"}, "volume"),
    ],
)
def test_only_what_happens_inside_of_a_glass_is_dropped(surface, inputs, name):
    ports = "".join(
        f'<input name="{port}" type="float" value="{value}"/>' for port, value in inputs.items()
    )
    text = document(
        f'<{surface} name="shader" type="surfaceshader">{ports}</{surface}>', material()
    )
    found = fates(text)
    assert found["transmission"] == "kept"
    assert [each for each, fate in found.items() if fate == "dropped"] == [name]


def test_the_back_of_a_surface_is_approximated():
    port = '<input name="{}" type="surfaceshader" nodename="shader"/>'
    front, back = port.format("surfaceshader"), port.format("backsurfaceshader")
    material = '<surfacematerial name="m" type="material">{}</surfacematerial>'
    assert "back" not in fates(document(standard_surface(), material.format(front)))
    assert (
        fates(document(standard_surface(), material.format(front + back)))["back"] == "approximated"
    )


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
        "subsurface of thin walls": "kept",
        "translucency": "kept",
        "back": "approximated",
    }


OWN_CHECKERS = (
    '<nodedef name="ND_mine" node="checkerboard"><input name="color1" type="color3" '
    'value="1, 1, 1"/><output name="out" type="color3"/></nodedef>',
    '<nodegraph name="NG_mine" nodedef="ND_{}"><constant name="k" type="color3"/>'
    '<output name="out" type="color3" nodename="k"/></nodegraph>',
)


@pytest.mark.parametrize(
    "parts", [("mine", OWN_CHECKERS), ("checkerboard_color3", OWN_CHECKERS[1:])]
)
def test_a_definition_of_a_node_that_materialx_has_is_reported_where_it_is_used(parts):
    kind, own = parts
    own = "".join(own).format(kind)
    inputs = '<input name="base_color" type="color3" nodename="c"/>'
    found = fates(with_surface(inputs, own, '<checkerboard name="c" type="color3"/>'))
    assert found["own definition of 'checkerboard'"] == "ignored"
    assert "own definition of 'checkerboard'" not in fates(with_surface("", own))


@pytest.mark.parametrize(("has_bsdf", "fate"), [(True, "kept"), (False, "ignored")])
def test_the_opacity_of_a_surface_that_only_glows_is_ignored(has_bsdf, fate):
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


def test_variants_that_a_look_assigns_are_ignored():
    variants = (
        '<variantset name="dyes"><variant name="green"><input name="base_color" type="color3" '
        'value="0, 1, 0"/></variant></variantset>'
        '<look name="hero"><materialassign name="a" material="{}" geom="*"/>'
        '<variantassign name="b" variantset="dyes" variant="green"/></look>'
    )
    parts = report(document(standard_surface(), material(), variants.format("material"))).parts
    reported = next(part for part in parts if part.name == "variant 'green'")
    assert reported.fate == "ignored"
    assert reported.how.startswith("look 'hero' assigns it from the set 'dyes', but ")
    others = document(standard_surface(), material(), variants.format("another"))
    assert "variant 'green'" not in fates(others)


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


def test_a_colour_space_that_is_not_known_is_reported_as_read_as_linear():
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


@pytest.mark.parametrize("name", ["a\udcff.mtlx", "\u6728.mtlx"])
def test_a_document_that_no_bundle_can_tell_of_cannot_be_baked(name):
    (found,) = describe(parse_document(with_surface(), name=name), probe=False)
    is_told = name.isprintable()
    assert found.problem == ("" if is_told else f"{name}: the file name is not Unicode: rename it")


def test_of_an_opacity_that_is_a_colour_the_luminance_counts_and_the_report_is_reported():
    text = with_surface('<input name="opacity" type="color3" value="1, 0.2, 0.2"/>')
    found = report(text, probe=True)
    [how] = [part.how for part in found.parts if part.name == "opacity"]
    assert "luminance" in how
    # by the weights of ACES, the default of MaterialX's node
    assert found.probe.opacity == pytest.approx([0.2722287 + 0.2 * (1 - 0.2722287)] * 2, abs=1e-3)


def test_of_a_glow_the_report_says_that_pictures_of_a_bake_leave_it_out():
    found = report(with_surface('<input name="emission" type="float" value="8"/>'))
    [how] = [part.how for part in found.parts if part.name == "emission"]
    assert how.endswith("which comparisons and the panel do not show")


@pytest.mark.parametrize(("kelvins", "is_told"), [(1000, True), (1666.5, True), (1667, False)])
def test_a_black_body_that_is_colder_than_its_fit_is_reported(kelvins, is_told):
    body = node("blackbody", "glow", "color3", {"temperature": ("float", str(kelvins))})
    lamp = '<input name="emission_color" type="color3" nodename="glow"/>'
    assert ("blackbody" in fates(with_surface(lamp, body))) == is_told
