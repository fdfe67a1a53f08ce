"""HLSL as engines write it, with what Slang does not have: templates, methods that change their
object, enumerators without a type, resources without a size. The text is of these tests."""

import numpy as np
import pytest

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.load.mtlx_document import load_document
from verdigris.core.material.report import describe
from verdigris.core.material.shader.from_hlsl import from_hlsl
from verdigris.core.material.teacher.teacher import Teacher

INTEROP = """
#ifndef INTEROP
#define INTEROP
#ifdef __cplusplus
#include "../engine/math.h"
#else
#define GLUE(a, b) a##b
#define FRAME(name, type, slot) ConstantBuffer<type> name : register(GLUE(b, slot))
#endif
enum SLOT { BASE_SLOT, SLOT_COUNT };
struct Frame { uint flags; float exposure; float4 slots[SLOT_COUNT]; };
FRAME(gFrame, Frame, 1);
#endif
"""
ENGINE = """
#include "interop.h"
#define half min16float
#define half3 min16float3
Texture2D<float4> bindless[] : register(t0, space2);
SamplerState samplers[] : register(s0, space2);
#define depthMap bindless[7]
struct Sky { struct Packed { uint bits; float open(); }; float value; };
float Sky::Packed::open()
{
    return bits / 255.0;
}
template<typename T>
T square(T a)
{
    // of any type
    return a * a;
}
template<typename T> float least(T v) { return min(v.x, min(v.y, v.z)); }
struct DepthImage
{
    float operator[](uint2 pixel) { return depthMap[pixel].x; }
    float at(float2 uv, float level = 0) { return depthMap.SampleLevel(samplers[0], uv, level).x; }
};
static const DepthImage depthImage;
struct Lobe
{
    half roughness;
    float3 tint;
    inline void init() { roughness = 1; tint = 0; }
    void update()
    {
        if (gFrame.flags & 1)
            tint = 0;
        clamped();
#ifdef CLEAR_COAT
        tint *= depthMap.SampleLevel(samplers[0], 0, 0).x;
#endif
    }
    void clamped() { roughness = saturate(roughness); }
    float wide() { const float own = square(roughness); return own + least(tint) * BASE_SLOT; }
    float3 response(in Frame frame, float cosine) { return tint * wide() * cosine; }
};
float4 main(float4 at : SV_Position) : SV_Target { return depthImage[uint2(at.xy)]; }
"""
OWN = """
#include <engine.hlsli>
float roughness = 0.5;
float3 response(float2 uv, float3 wi, float3 wo)
{
    Lobe lobe;
    lobe.init();
    lobe.roughness = roughness;
    lobe.tint = float3(1, 0.5, 0.25);
    lobe.update();
    return lobe.response(gFrame, wi.z);
}
"""


@pytest.fixture
def engine(tmp_path):
    folder = tmp_path / "engine"
    folder.mkdir()
    (folder / "interop.h").write_text(INTEROP)
    (folder / "engine.hlsli").write_text(ENGINE)
    (tmp_path / "own.slang").write_text(OWN)
    return tmp_path


def test_code_of_an_engine_that_slang_does_not_have_becomes_slang(engine):
    document = load_document(engine / "own.slang", engine / "engine")
    wi = np.float32([[0.6, 0, 0.8], [0, 0, 1]])
    found = Teacher(document).response(np.zeros((2, 2), np.float32), wi, wi)
    expected = np.array([1, 0.5, 0.25]) * 0.25 * wi[:, 2:]
    np.testing.assert_allclose(found, expected, rtol=2e-3)
    (report,) = describe(document, probe=False)
    # numbers of an engine's buffers can be set, and other constants read as 0
    assert [each.name for each in report.live] == ["exposure", "roughness"]
    (zero,) = report.parts
    assert zero.how == "slots: float4[1]: they read as 0"


def test_errors_in_code_that_is_used_keep_their_file_and_line(engine):
    text = OWN.replace("lobe.update();", "lobe.update(); float x = missing;")
    (engine / "own.slang").write_text(text)
    with pytest.raises(DocumentError, match=r"own\.slang\(10\): undefined identifier 'missing'"):
        load_document(engine / "own.slang", engine / "engine")
    lines = ENGINE.split("\n")
    number = next(n for n, line in enumerate(lines, 1) if "clamped() {" in line)
    text = ENGINE.replace("saturate(roughness);", "saturate(roughnes);")
    (engine / "engine" / "engine.hlsli").write_text(text)
    (engine / "own.slang").write_text(OWN)
    expected = rf"engine\.hlsli\({number}\): undefined identifier 'roughnes'"
    with pytest.raises(DocumentError, match=expected):
        load_document(engine / "own.slang", engine / "engine")
    # a condition that is on needs what it includes
    (engine / "own.slang").write_text(f"#define __cplusplus 1\n{OWN}")
    with pytest.raises(DocumentError, match=r"interop\.h\(5\): '\.\./engine/math\.h' was not fo"):
        load_document(engine / "own.slang", engine / "engine")


def test_lines_stay_in_their_places_and_methods_that_read_stay_as_they_are():
    found = from_hlsl(ENGINE)
    assert found.count("\n") == ENGINE.count("\n")
    assert found.count("[mutating]") == 3
    assert "float2 square(float2 a)" in found and "float2 least" not in found
    assert from_hlsl("float3 f(float3 x) { return x; }\n") == "float3 f(float3 x) { return x; }\n"
