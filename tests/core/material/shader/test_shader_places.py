"""Variables of a shader that each place sets: its footprint, and where it is on a mesh."""

import numpy as np
import pytest

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.evaluator import Footprint
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.report import describe
from verdigris.core.material.teacher.teacher import Teacher

FILTERED = """
[VerdigrisFootprint] float2 width;
[VerdigrisPosition] float3 position;
[VerdigrisNormal] float3 normal;
[VerdigrisVertexColour] float3 paint;
float gain = 1;
float3 response(float2 uv, float3 wi, float3 wo)
{
    return gain * float3(width.x, width.y, abs(position.x));
}
float3 emission(float2 uv) { return paint * normal; }
float height(float2 uv) { return uv.x; }
"""
UP = np.float32([[0, 0, 1]])
PLACE = np.float32([[0.75, 0.5]])


def test_a_shader_that_filters_itself_gets_the_width_of_its_share_of_a_texel(tmp_path):
    (tmp_path / "a.slang").write_text(FILTERED)
    teacher = Teacher(load_document(tmp_path / "a.slang"))
    assert teacher.response(PLACE, UP, UP)[0].tolist() == [0, 0, 0.25]
    found = teacher.response(PLACE, UP, UP, footprint=Footprint(1 / 8, 1))
    np.testing.assert_allclose(found[0], [0.125, 0.125, 0.25])
    # four places share the texel
    found = teacher.response(PLACE, UP, UP, footprint=Footprint(1 / 8, 4))
    np.testing.assert_allclose(found[0, :2], [0.0625, 0.0625])
    np.testing.assert_allclose(teacher.unlit(PLACE, UP)[0], [0, 0, 1, 1])
    (report,) = describe(teacher.document, probe=False)
    assert [each.name for each in report.live] == ["gain"]
    assert [each.name for each in report.parts] == ["displacement"]


def test_such_a_variable_of_another_type_is_refused(tmp_path):
    (tmp_path / "a.slang").write_text(FILTERED.replace("float2 width", "float4 width"))
    with pytest.raises(DocumentError, match=r"'width' is marked .*: declare it as a float2, outs"):
        load_document(tmp_path / "a.slang")
