"""Nodes that a document implements with code in files, in Slang and in GLSL."""

import numpy as np
import pytest

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.live_inputs.live_input import parse_wanted
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.load.provenance import changed_sources, source_facts
from verdigris.core.material.report import describe
from verdigris.core.material.teacher.teacher import Teacher

from ..documents import document, material

DEFINITIONS = """
<nodedef name="ND_studio_stripes" node="studio_stripes"><input name="place" type="vector2"/>
<input name="count" type="float" value="4"/><input name="tint" type="color3" value="1, 0.5, 0"/>
<output name="out" type="color3"/></nodedef>
<implementation name="IM_studio_stripes" nodedef="ND_studio_stripes" file="code/stripes.slang"
 function="studio_stripes" target="genslang"/>
<nodedef name="ND_studio_dots" node="studio_dots"><input name="place" type="vector2"/>
<output name="out" type="float"/></nodedef>
<implementation name="IM_studio_dots" nodedef="ND_studio_dots" file="dots.glsl"
 function="studio_dots" target="genglsl"/>
<texcoord name="uv" type="vector2"/>
<studio_stripes name="stripes" type="color3"><input name="place" type="vector2" nodename="uv"/>
<input name="count" type="float" value="4"/></studio_stripes>
<studio_dots name="dots" type="float"><input name="place" type="vector2" nodename="uv"/>
</studio_dots><surface_unlit name="shader" type="surfaceshader">
<input name="emission" type="float" nodename="dots"/>
<input name="emission_color" type="color3" nodename="stripes"/></surface_unlit>
"""
STRIPES = """#include "common.slang"
void studio_stripes(float2 place, float count, float3 tint, out float3 result)
{
    result = tint * studioWave(place.x * count);
}
"""
DOTS = """void studio_dots(vec2 place, out float result)
{
    vec2 cell = fract(place * 3.0) - vec2(0.5);
    result = mix(1.0, 0.5, step(0.3, length(cell)));
}
"""


@pytest.fixture
def studio(tmp_path):
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "common.slang").write_text(
        "#pragma once\nfloat studioWave(float x) { return frac(x) < 0.5 ? 1.0 : 0.25; }\n"
    )
    (tmp_path / "code" / "stripes.slang").write_text(STRIPES)
    (tmp_path / "library").mkdir()
    (tmp_path / "library" / "dots.glsl").write_text(DOTS)
    (tmp_path / "doc.mtlx").write_text(document(DEFINITIONS, material()))
    return tmp_path


def load(studio):
    return load_document(studio / "doc.mtlx", studio / "library", confined=True)


def test_nodes_in_slang_and_glsl_compute_what_their_files_say(studio):
    opened = load(studio)
    names = ["doc.mtlx", "stripes.slang", "common.slang", "dots.glsl"]
    assert [path.name for path in opened.files] == names
    (report,) = describe(opened, probe=False)
    assert [each.how for each in report.parts if each.name.startswith("code of")] == [
        "studio_stripes in code/stripes.slang (Slang)",
        "studio_dots in dots.glsl (GLSL, read as Slang)",
    ]
    uv = np.random.default_rng(2).random((500, 2)).astype(np.float32)
    up = np.tile(np.float32([0, 0, 1]), (500, 1))
    stripes = np.where((uv[:, 0] * 4) % 1 < 0.5, 1, 0.25)[:, None] * [1, 0.5, 0]
    dots = np.where(np.linalg.norm((uv * 3) % 1 - 0.5, axis=1) < 0.3, 1, 0.5)
    found = Teacher(opened).unlit(uv, up)[:, :3]
    np.testing.assert_allclose(found, stripes * dots[:, None], atol=1e-5)
    teacher = Teacher(opened, live=[parse_wanted("count=2..6")])
    live = np.full((500, 1), 0.25, np.float32)
    stripes = np.where((uv[:, 0] * 3) % 1 < 0.5, 1, 0.25)[:, None] * [1, 0.5, 0]
    found = teacher.unlit(uv, up, live=live)[:, :3]
    np.testing.assert_allclose(found, stripes * dots[:, None], atol=1e-5)


def test_faults_of_code_name_its_file_and_line_and_changes_are_seen(studio):
    before = load(studio)
    facts = source_facts(before, before.require_material())
    (studio / "library" / "dots.glsl").write_text(DOTS.replace("fract", "fractional"))
    opened = load(studio)
    now = source_facts(opened, opened.require_material())
    assert changed_sources(facts, now) == ["doc.mtlx has changed"]
    with pytest.raises(DocumentError, match=r"dots\.glsl\(3\): undefined identifier 'fractional'"):
        Teacher(opened)
    (studio / "library" / "dots.glsl").write_text(f'#include "/etc/hostname"\n{DOTS}')
    with pytest.raises(DocumentError, match=r"dots\.glsl\(1\): .* outside of the allowed folders"):
        load(studio)
    (studio / "library" / "dots.glsl").unlink()
    with pytest.raises(DocumentError, match=r"IM_studio_dots: 'dots\.glsl' was not found"):
        load(studio)
