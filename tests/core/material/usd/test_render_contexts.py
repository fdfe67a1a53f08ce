"""Surfaces of the render contexts mtlx, kma and the universal one, and USD's preview surfaces.

The stages in data/ are written by hand as the applications write theirs; what they should evaluate
to is written in MaterialX here.
"""

from pathlib import Path

import numpy as np
import pytest
from pxr import Usd, UsdShade

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.report import describe
from verdigris.core.material.teacher.teacher import Teacher
from verdigris.core.material.usd.signatures import Signature
from verdigris.core.material.usd.usdshade import convert, has_surface, list_materials

from ..documents import document, material, with_surface
from ..surfaces import hemisphere, write_image

DATA = Path(__file__).parent / "data"
LOOKS = "/root/_materials"
SAME = 1e-4
ACESCG = with_surface(
    '<input name="base" type="float" value="1"/>'
    '<input name="base_color" type="color3" nodename="picture"/>'
    '<input name="specular" type="float" value="0"/>',
    '<image name="picture" type="color3"><input name="file" type="filename" value="plain.png" '
    'colorspace="acescg"/></image>',
)


def preview(ports, nodes=""):
    """A preview surface in MaterialX."""
    return document(
        f'{nodes}<UsdPreviewSurface name="shader" type="surfaceshader">{ports}</UsdPreviewSurface>',
        material(),
    )


def picture(name, kind, space, more=""):
    return (
        f'<image name="{name}" type="{kind}"><input name="file" type="filename" value="plain.png"'
        f' colorspace="{space}"/>{more}</image>'
    )


BLENDER = preview(
    '<input name="diffuseColor" type="color3" nodename="colour"/>',
    picture("colour", "color3", "srgb_texture"),
)
# u' = R(30 degrees) (u * scale) + translation, as USD specifies UsdTransform2d
TURNED = """
<texcoord name="uv" type="vector2"/>
<multiply name="scaled" type="vector2"><input name="in1" type="vector2" nodename="uv"/>
  <input name="in2" type="vector2" value="2, 0.5"/></multiply>
<separate2 name="s" type="multioutput">
  <input name="in" type="vector2" nodename="scaled"/></separate2>
<multiply name="xc" type="float"><input name="in1" type="float" nodename="s" output="outx"/>
  <input name="in2" type="float" value="0.8660254"/></multiply>
<multiply name="ys" type="float"><input name="in1" type="float" nodename="s" output="outy"/>
  <input name="in2" type="float" value="-0.5"/></multiply>
<multiply name="xs" type="float"><input name="in1" type="float" nodename="s" output="outx"/>
  <input name="in2" type="float" value="0.5"/></multiply>
<multiply name="yc" type="float"><input name="in1" type="float" nodename="s" output="outy"/>
  <input name="in2" type="float" value="0.8660254"/></multiply>
<add name="x" type="float"><input name="in1" type="float" nodename="xc"/>
  <input name="in2" type="float" nodename="ys"/></add>
<add name="y" type="float"><input name="in1" type="float" nodename="xs"/>
  <input name="in2" type="float" nodename="yc"/></add>
<combine2 name="turned" type="vector2"><input name="in1" type="float" nodename="x"/>
  <input name="in2" type="float" nodename="y"/></combine2>
<add name="place" type="vector2"><input name="in1" type="vector2" nodename="turned"/>
  <input name="in2" type="vector2" value="0.1, 0.2"/></add>
"""
MAYA = preview(
    '<input name="diffuseColor" type="color3" value="0.4, 0.3, 0.2"/>'
    '<input name="normal" type="vector3" nodename="normal"/>'
    '<input name="roughness" type="float" nodename="parts" output="outg"/>',
    TURNED
    + picture(
        "bumps",
        "vector3",
        "none",
        '<input name="texcoord" type="vector2" nodename="place"/>'
        '<input name="vaddressmode" type="string" value="mirror"/>',
    )
    + picture("rough", "color3", "srgb_texture")
    + '<separate3 name="parts" type="multioutput">'
    '<input name="in" type="color3" nodename="rough"/></separate3>'
    '<multiply name="twice" type="vector3"><input name="in1" type="vector3" nodename="bumps"/>'
    '<input name="in2" type="float" value="2"/></multiply>'
    '<subtract name="normal" type="vector3"><input name="in1" type="vector3" nodename="twice"/>'
    '<input name="in2" type="vector3" value="1, 1, 1"/></subtract>',
)
HOUDINI = preview(
    '<input name="diffuseColor" type="color3" value="0.1, 0.5, 0.3"/>'
    '<input name="opacity" type="float" value="0.25"/>'
    '<input name="opacityMode" type="integer" value="1"/>'
    '<input name="specularColor" type="color3" value="0.2, 0.3, 0.4"/>'
    '<input name="useSpecularWorkflow" type="integer" value="1"/>'
)


@pytest.fixture(scope="module")
def karma():
    return Usd.Stage.Open(str(DATA / "karma.usda"))


@pytest.fixture(scope="module")
def previews():
    return Usd.Stage.Open(str(DATA / "preview.usda"))


@pytest.fixture(scope="module")
def samples():
    random = np.random.default_rng(0)
    uv = random.uniform(0, 2, (300, 2)) * [1, 0.5]
    directions = (hemisphere(random, 300, 0.05) for _ in range(2))
    return tuple(part.astype(np.float32) for part in (uv, *directions))


def opened(found):
    return parse_document(found.text, found.folders, found.name)


def teacher(loaded):
    return Teacher(loaded, loaded.require_material())


def by_hand(text):
    return teacher(parse_document(text, [DATA / "textures"]))


def assert_same(found, expected, samples):
    one, other = found.response(*samples), expected.response(*samples)
    assert other.max() > 0.01 and np.ptp(other) > 0.01
    assert np.abs(one - other).max() < SAME
    uv, _, wo = samples
    assert np.abs(found.unlit(uv, wo) - expected.unlit(uv, wo)).max() < SAME


def test_a_material_of_karmas_builder_evaluates_like_the_same_written_by_hand(karma, samples):
    found = convert(karma, "builder")
    assert 'colorspace="acescg"' in found.text
    assert_same(teacher(opened(found)), by_hand(ACESCG), samples)


def test_a_displacement_is_reported_whatever_node_and_file_it_has(karma):
    (report,) = describe(opened(convert(karma, "builder")), probe=False)
    assert not report.problem
    assert [part.fate for part in report.parts if part.name == "displacement"] == ["dropped"]


@pytest.mark.parametrize(
    ("left", "colour"),
    [
        (("mtlx:surface", "kma:surface", "surface"), "0, 1, 0"),
        (("kma:surface", "surface"), "1, 0, 0"),
        (("surface",), "0, 0, 1"),
    ],
)
def test_of_several_outputs_mtlx_is_used_then_kma_then_the_universal_one(left, colour):
    stage = Usd.Stage.Open(str(DATA / "karma.usda"), Usd.Stage.LoadAll)
    with Usd.EditContext(stage, stage.GetSessionLayer()):
        for name in {"mtlx:surface", "kma:surface", "surface"} - {*left}:
            output = stage.GetPrimAtPath("/materials/several").GetAttribute(f"outputs:{name}")
            output.SetConnections([])
        found = convert(stage, "/materials/several")
    assert found.text.count("color") and f'value="{colour}"' in found.text
    assert sum(f'value="{each}"' in found.text for each in ("0, 1, 0", "1, 0, 0", "0, 0, 1")) == 1
    assert not found.notes


def test_a_node_of_materialx_on_the_universal_output_is_found_through_a_graph(karma):
    assert 'value="1, 0, 0"' in convert(karma, "universal").text


def test_a_node_that_only_karma_has_is_named_in_the_notes_if_another_output_can_be_used(karma):
    found = convert(karma, "hair_with_preview")
    assert 'value="0, 0, 1"' in found.text
    (note,) = found.notes
    assert "/hair_with_preview/hair: the output 'kma:surface'" in note and "'kma_hair'" in note


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("hair", r"/materials/hair/hair: 'kma_hair' is a node of Karma only"),
        ("other_renderer", r"surface only for other renderers \(arnold:surface\)"),
    ],
)
def test_a_material_without_a_surface_of_materialx_is_refused_with_its_nodes(karma, name, message):
    with pytest.raises(DocumentError, match=message):
        convert(karma, name)


def test_an_input_behind_a_node_that_only_karma_has_keeps_its_plain_value(karma):
    surface = UsdShade.Shader(karma.GetPrimAtPath("/materials/worn/mtlxstandard_surface"))
    surface.GetInput("base").Set(0.25)
    found = convert(karma, "worn")
    assert '<input name="base" type="float" value="0.25" />' in found.text
    (note,) = found.notes
    assert note.startswith(
        "/materials/worn/curvature is 'kma_curvature', a node of Karma only, so "
        "/materials/worn/mtlxstandard_surface.base has its plain value"
    )
    # code instead of a definition
    shader = UsdShade.Shader(karma.GetPrimAtPath("/materials/worn/curvature"))
    shader.GetImplementationSourceAttr().Set("sourceCode")
    (note,) = convert(karma, "worn").notes
    assert "curvature is defined by code, and not by MaterialX, so" in note


def test_a_definition_of_the_document_counts_as_one_of_materialx(karma):
    own = Signature("kma_hair", "hair", {"out": "surfaceshader"}, {}, True)
    found = convert(karma, "hair_with_preview", {"kma_hair": own})
    assert 'nodedef="kma_hair"' in found.text and not found.notes


def test_materials_with_a_surface_of_materialx_are_told_from_others(karma, previews):
    there = [path for path in list_materials(karma) if has_surface(karma, path)]
    assert [path.rpartition("/")[2] for path in there] == [
        *("builder", "several", "universal", "hair_with_preview", "worn")
    ]
    assert all(has_surface(previews, path) for path in list_materials(previews))


@pytest.mark.parametrize(
    ("name", "expected"), [("blender", BLENDER), ("maya", MAYA), ("houdini", HOUDINI)]
)
def test_a_preview_surface_evaluates_like_the_same_in_materialx(previews, name, expected, samples):
    found = convert(previews, f"{LOOKS}/{name}")
    assert_same(teacher(opened(found)), by_hand(expected), samples)


def test_the_displacement_of_a_preview_surface_is_reported(previews):
    (report,) = describe(opened(convert(previews, "houdini")), probe=False)
    assert [part.fate for part in report.parts if part.name == "displacement"] == ["kept"]


@pytest.mark.parametrize(
    ("name", "kind", "channels", "space"),
    [
        ("a.png", np.uint8, 3, "srgb_texture"),
        ("a.png", np.uint8, 1, "none"),
        ("a.png", np.uint16, 3, "none"),
        ("a.exr", np.float32, 3, "none"),
        ("a.<UDIM>.png", np.uint16, 3, "none"),
        ("missing.png", None, 3, "srgb_texture"),
    ],
)
def test_the_colour_space_auto_is_that_of_usds_rule(tmp_path, name, kind, channels, space):
    if kind is not None:
        texels = np.ones((2, 2, channels), kind)
        write_image(tmp_path / name.replace("<UDIM>", "1001"), texels)
    text = (DATA / "preview.usda").read_text().replace('token inputs:sourceColorSpace = "sRGB"', "")
    (tmp_path / "s.usda").write_text(text.replace("./textures/plain.png", f"./{name}"))
    found = convert(Usd.Stage.Open(str(tmp_path / "s.usda")), "blender")
    assert f'colorspace="{space}"' in found.text
