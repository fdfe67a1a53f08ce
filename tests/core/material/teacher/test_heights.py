"""Heights of displaced materials against their formulas, and what is said of faulty ones."""

import numpy as np
import pytest

from verdigris.core.geometry.teacher_relief import find_relief
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.load.provenance import source_facts, texture_files
from verdigris.core.material.report import describe
from verdigris.core.material.teacher.heights import find_heights, heights_at
from verdigris.core.material.teacher.teacher import Teacher

from ..documents import document, standard_surface
from ..surfaces import write_image

SIZE = 64
CENTRES = (np.arange(SIZE) + 0.5) / SIZE
SURFACE = '<input name="surfaceshader" type="surfaceshader" nodename="shader"/>'
U = (
    '<texcoord name="uv" type="vector2"/><separate2 name="parts" type="multioutput">'
    '<input name="in" type="vector2" nodename="uv"/></separate2>'
    '<sin name="wave" type="float"><input name="in" type="float" nodename="turned"/></sin>'
    '<multiply name="turned" type="float"><input name="in1" type="float" nodename="parts" '
    'output="outx"/><input name="in2" type="float" value="6.2831853"/></multiply>'
)


def displaced(displacement, nodes=U, surface=SURFACE):
    return document(
        nodes,
        standard_surface(),
        f'<displacement name="bumps" type="displacementshader">{displacement}</displacement>',
        f'<surfacematerial name="m" type="material">{surface}<input name="displacementshader" '
        'type="displacementshader" nodename="bumps"/></surfacematerial>',
    )


def number(name, value, kind="float"):
    return f'<input name="{name}" type="{kind}" value="{value}"/>'


WAVE = '<input name="displacement" type="float" nodename="wave"/>'
VECTOR = (
    '<combine3 name="along" type="vector3"><input name="in1" type="float" value="5"/>'
    '<input name="in3" type="float" nodename="wave"/></combine3>'
)
OF_VECTOR = '<input name="displacement" type="vector3" nodename="along"/>'
PREVIEW = document(
    U,
    '<UsdPreviewSurface name="shader" type="surfaceshader"><input name="displacement" '
    'type="float" nodename="wave"/></UsdPreviewSurface>',
    f'<surfacematerial name="m" type="material">{SURFACE}</surfacematerial>',
)


def teacher_of(text):
    return Teacher(parse_document(text))


@pytest.mark.parametrize(
    ("text", "scale"),
    [
        (displaced(WAVE + number("scale", 0.1)), 0.1),
        (displaced(WAVE + number("scale", -0.2)), -0.2),
        (displaced(OF_VECTOR + number("scale", 0.3), U + VECTOR), 0.3),
        (PREVIEW, 1.0),
    ],
)
def test_heights_are_those_of_the_graph(text, scale):
    found = find_heights(teacher_of(text), SIZE)
    assert found.not_finite == 0
    expected = scale * np.sin(2 * np.pi * CENTRES)
    enlarged = np.kron(found.values, np.ones((SIZE // len(found.values),) * 2))
    step = 2 * np.pi * abs(scale) / len(found.values)
    np.testing.assert_allclose(enlarged, np.tile(expected, (SIZE, 1)), atol=step)
    (report,) = describe(parse_document(text), probe=False)
    fate = "approximated" if "vector3" in text else "kept"
    assert [part.fate for part in report.parts if part.name == "displacement"] == [fate]


def test_a_shader_file_has_heights(tmp_path):
    path = tmp_path / "bumpy.slang"
    path.write_text(
        "float3 response(float2 uv, float3 wi, float3 wo) { return wi.z / 3.14159; }\n"
        "float3 emission(float2 uv) { return 2.0; }\n"
        "float height(float2 uv) { return -0.25 * uv.y; }\n"
    )
    from verdigris.core.material.load.mtlx_document import load_document

    teacher = Teacher(load_document(path))
    found = find_heights(teacher, SIZE).values
    expected = -0.25 * CENTRES[:, None] * np.ones(SIZE)
    np.testing.assert_allclose(found, expected[:: SIZE // len(found)], atol=0.25 / len(found))
    assert teacher.unlit(np.zeros((1, 2)), np.array([[0, 0, 1.0]]))[0, 0] == 2


@pytest.mark.parametrize(
    ("displacement", "note"),
    [
        (number("displacement", 0.5), "the displacement is 0.5 everywhere and left out: move the"),
        (WAVE + number("scale", 1e4), "spans 1.99e+04 times the width of uv"),
        (
            '<input name="displacement" type="float" nodename="root"/>',
            "the displacement is not finite at 100% of the surface, and counts as 0 there",
        ),
        (
            '<input name="displacement" type="float" nodename="lost"/>',
            "the displacement is left out: ",
        ),
        (WAVE + number("scale", "nan"), "node 'bumps', input 'scale': the value 'nan' does not"),
        (WAVE + number("scale", "1, 2", "vector2"), "'bumps', input 'scale': has the type vector2"),
        (number("displacement", "1, 1, 1", "color3"), "input 'displacement': has the type color3"),
    ],
)
def test_faulty_heights_get_one_line(displacement, note):
    faulty = (
        '<subtract name="below" type="float"><input name="in1" type="float" nodename="wave"/>'
        '<input name="in2" type="float" value="2"/></subtract>'
        '<sqrt name="root" type="float"><input name="in" type="float" nodename="below"/></sqrt>'
        '<image name="lost" type="float"><input name="file" type="filename" '
        'value="not_there.png"/></image>'
    )
    found = find_relief(teacher_of(displaced(displacement, U + faulty)), SIZE)
    (told,) = found.notes
    assert note in told and "\n" not in told


RAMP = np.tile(((np.arange(8) + 0.5) / 8).astype(np.float32), (8, 1))


def write_tiles(folder, heights, surface="colour.&lt;UDIM&gt;.exr"):
    """A document with two tiles, and the heights of one file or of all tiles."""
    for number, values in ((1001, RAMP), (1002, 3 - 2 * RAMP)):
        write_image(folder / f"height.{number}.exr", values[..., None])
        write_image(folder / f"colour.{number}.exr", np.full((2, 2, 3), 0.5, np.float32))
    write_image(folder / "far.1004.exr", RAMP[..., None])
    image = '<image name="{}" type="{}"><input name="file" type="filename" value="{}"/></image>'
    base = '<input name="base_color" type="color3" nodename="c"/>'
    text = displaced(
        '<input name="displacement" type="float" nodename="h"/>',
        image.format("h", "float", heights) + image.format("c", "color3", surface),
    )
    text = text.replace(standard_surface(), standard_surface(base))
    return Teacher(parse_document(text, folder))


def test_heights_of_tiles_end_at_their_borders(tmp_path):
    found = heights_at(write_tiles(tmp_path, "height.&lt;UDIM&gt;.exr"), 16, 16).values
    np.testing.assert_allclose(found[:8, :8], RAMP, atol=0.02)
    np.testing.assert_allclose(found[:8, 8:], 3 - 2 * RAMP, atol=0.04)
    assert not found[8:].any()


def test_heights_of_one_image_repeat_in_all_tiles(tmp_path):
    found = heights_at(write_tiles(tmp_path, "height.1001.exr"), 16, 16).values
    # the image repeats, and its ends are filtered together
    inside = np.arange(1, 7)
    for row, column in ((0, 0), (0, 8), (8, 0), (8, 8)):
        part = found[row : row + 8, column + inside]
        np.testing.assert_allclose(part, RAMP[:, inside], atol=1e-6)


@pytest.mark.parametrize(
    ("heights", "surface"),
    [
        ("far.&lt;UDIM&gt;.exr", "colour.&lt;UDIM&gt;.exr"),
        ("height.&lt;UDIM&gt;.exr", "colour.1001.exr"),
    ],
)
def test_heights_of_tiles_that_the_surface_lacks_are_left_out(tmp_path, heights, surface):
    found = find_relief(write_tiles(tmp_path, heights, surface), SIZE)
    (told,) = found.notes
    assert found.heights is None and "has UDIM tiles that its surface does not have" in told


MIXED = (
    '<displacement name="other" type="displacementshader"><input name="displacement" type="float" '
    'value="2"/></displacement><displacement name="waves" type="displacementshader">'
    f'{WAVE}</displacement><mix name="bumps" type="displacementshader"><input name="fg" '
    'type="displacementshader" nodename="waves"/><input name="bg" type="displacementshader" '
    'nodename="other"/><input name="mix" type="float" value="0.25"/></mix>'
)


def test_displacements_are_mixed():
    plain = '<displacement name="bumps" type="displacementshader"></displacement>'
    text = displaced("").replace(plain, MIXED)
    found = find_heights(teacher_of(text), SIZE).values
    expected = 1.5 + 0.25 * np.sin(2 * np.pi * CENTRES)[:: SIZE // len(found)]
    np.testing.assert_allclose(found[3], expected, atol=2 / len(found))
    assert [part.fate for part in displacement_of(text)] == ["kept"]
    unknown = (
        MIXED.replace("<displacement name='other'", "")
        .replace('<displacement name="other"', '<strange name="other"')
        .replace('value="2"/></displacement>', 'value="2"/></strange>')
    )
    (part,) = displacement_of(displaced("").replace(plain, unknown))
    assert part.fate == "dropped" and "'strange'" in part.how


def displacement_of(text, probe=False):
    (report,) = describe(parse_document(text), probe=probe)
    assert not report.problem
    return [part for part in report.parts if part.name == "displacement"]


def test_a_report_tells_what_is_approximated_in_heights():
    nodes = '<time name="now" type="float"/><facingratio name="edge" type="float"/>'
    for name, part in (("now", "time"), ("edge", "displacement by view")):
        text = displaced(WAVE.replace("wave", name), nodes)
        (report,) = describe(parse_document(text), probe=False)
        assert {each.name: each.fate for each in report.parts}[part] == "approximated"


def test_an_error_about_heights_names_the_displacement():
    text = displaced(WAVE.replace("wave", "red"), '<constant name="red" type="color3"/>')
    (part,) = displacement_of(text)
    assert "'bumps', input 'displacement': has the type float" in part.how


def test_changes_of_heights_are_changes_of_the_material(tmp_path, monkeypatch):
    text = displaced(WAVE + number("scale", 0.1))
    other = displaced(WAVE + number("scale", 0.2))
    facts = [
        source_facts(found, found.require_material())["document_sha256"]
        for found in map(parse_document, (text, other, text))
    ]
    assert facts[0] == facts[2] != facts[1]
    (tmp_path / "height.png").write_bytes(b"an image")
    image = (
        '<image name="height" type="float"><input name="file" type="filename" '
        'value="height.png"/></image>'
    )
    read = parse_document(
        displaced('<input name="displacement" type="float" nodename="height"/>', image), tmp_path
    )
    assert texture_files(read, read.require_material()) == (tmp_path / "height.png",)
