"""Shader files as teachers: values against formulas, in Slang and in HLSL."""

import json

import numpy as np
import pytest

from verdigris.core.base.errors import DocumentError
from verdigris.core.material.live_inputs.live_input import parse_wanted
from verdigris.core.material.load.changes import read_changes
from verdigris.core.material.load.mtlx_document import load_document, parse_document
from verdigris.core.material.load.provenance import changed_sources, source_facts
from verdigris.core.material.report import describe
from verdigris.core.material.teacher.teacher import Teacher

from ..surfaces import write_image

COMMON = """
#pragma once
static const float PI = 3.14159265;
float pow5(float x) { return x * x * x * x * x; }
"""
SHADER = """
#include "common.hlsli"
#include "common.hlsli"
/* int hidden; */ // float hidden2;
int model = 0;
[VerdigrisRange(0.05, 1)] [VerdigrisLabel("Roughness")] uniform float roughness = 0.4f;
static const float3 kWhite = float3(1, 1, 1);
struct Lobe { float roughness; float3 tint; };
cbuffer Look : register(b0)
{
    float3 tint = { 0.8, 0.4, 0.2 };
    float exponent : packoffset(c1) = 20, gain = 1;
}
[VerdigrisFile("base.png")] [VerdigrisColourSpace("srgb_texture")]
Texture2D<float4> baseMap : register(t0);
SamplerState linearSampler : register(s0);

float3 phong(float3 wi, float3 wo)
{
    float3 mirrored = float3(-wi.xy, wi.z);
    return tint * (exponent + 2) / (2 * PI) * pow(saturate(dot(mirrored, wo)), exponent);
}

float3 ggx(Lobe lobe, float3 wi, float3 wo)
{
    float3 h = normalize(wi + wo);
    float a2 = lobe.roughness * lobe.roughness;
    float d = h.z * h.z * (a2 - 1) + 1;
    float D = a2 / (PI * d * d);
    float lambda = wo.z * sqrt(a2 + (1 - a2) * wi.z * wi.z)
        + wi.z * sqrt(a2 + (1 - a2) * wo.z * wo.z);
    float3 F = lobe.tint + (kWhite - lobe.tint) * pow5(1 - dot(wi, h));
    return D * F * 0.5 / lambda;
}

[VerdigrisResponse]
float3 shade(float2 uv, float3 wi, float3 wo)
{
    Lobe lobe = { roughness, tint };
    float3 f = baseMap.Sample(linearSampler, uv).rgb / PI;
    if (model == 1) f = phong(wi, wo);
    if (model == 2) f = ggx(lobe, wi, wo);
    return gain * f * wi.z;
}

float3 emission(float2 uv) { return float3(uv, ddx(uv.x)); }
float opacity(float2 uv) { return 0.5; }
"""
LAMBERT, PHONG, GGX = range(3)


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    """A folder with the shader in both languages, what it includes, and its image."""
    folder = tmp_path_factory.mktemp("studio")
    (folder / "common.hlsli").write_text(COMMON)
    for suffix in (".slang", ".hlsl"):
        (folder / f"skin{suffix}").write_text(SHADER)
    write_image(folder / "base.png", np.full((4, 4, 3), (188, 128, 64), np.uint8))
    return folder


@pytest.fixture(scope="module")
def directions():
    random = np.random.default_rng(5)
    found = random.standard_normal((2, 200, 3))
    found[..., 2] = np.abs(found[..., 2]) + 0.05
    found /= np.linalg.norm(found, axis=-1, keepdims=True)
    wi, wo = found.astype(np.float32)
    return random.random((200, 2)).astype(np.float32), wi, wo


def teacher(studio, model, suffix=".slang", live=()):
    settings = {"parameters": {"model": {"value": model}, "gain": {"range": [0, 4]}}}
    (studio / "skin.json").write_text(json.dumps(settings))
    document = load_document(studio / f"skin{suffix}")
    return Teacher(document, live=[parse_wanted(each) for each in live])


def ggx(wi, wo, alpha, tint):
    h = wi + wo
    h /= np.linalg.norm(h, axis=1, keepdims=True)
    d = alpha**2 / (np.pi * (h[:, 2] ** 2 * (alpha**2 - 1) + 1) ** 2)

    def smith(cosine):
        return (np.sqrt(1 + alpha**2 * (1 / cosine**2 - 1)) - 1) / 2

    g = 1 / (1 + smith(wi[:, 2]) + smith(wo[:, 2]))
    fresnel = tint + (1 - tint) * (1 - (wi * h).sum(1))[:, None] ** 5
    return (d * g / (4 * wi[:, 2] * wo[:, 2]))[:, None] * fresnel * wi[:, 2:]


def test_closed_forms_hold_and_both_languages_give_the_same_bits(studio, directions):
    uv, wi, wo = directions
    tint = np.array([0.8, 0.4, 0.2])
    base = ((np.array([188, 128, 64]) / 255 + 0.055) / 1.055) ** 2.4
    along = np.clip((wi * (-1, -1, 1) * wo).sum(1), 0, 1)
    expected = {
        LAMBERT: base / np.pi * wi[:, 2:],
        PHONG: tint * 22 / (2 * np.pi) * along[:, None] ** 20 * wi[:, 2:],
        GGX: ggx(wi.astype(float), wo.astype(float), 0.4, tint),
    }
    for model, values in expected.items():
        found = teacher(studio, model).response(uv, wi, wo)
        # emission and response are multiplied by the coverage
        np.testing.assert_allclose(found, 0.5 * values, rtol=2e-3, atol=1e-5)
        np.testing.assert_array_equal(teacher(studio, model, ".hlsl").response(uv, wi, wo), found)


def test_live_inputs_vary_globals_and_members_of_blocks(studio, directions):
    uv, wi, wo = directions
    opened = teacher(studio, GGX, live=("roughness=0.1..0.9", "tint=0,0,0..1,1,1", "gain=0..2"))
    live = np.tile(np.float32([0.25, 0.5, 0.75]), (len(uv), 1))
    expected = 0.5 * 1.5 * ggx(wi.astype(float), wo.astype(float), 0.3, np.full(3, 0.5))
    np.testing.assert_allclose(
        opened.response(uv, wi, wo, live=live), expected, rtol=2e-3, atol=1e-5
    )
    # the default of a live input is the shader's own value
    assert opened.live[0] == pytest.approx((0.4 - 0.1) / 0.8)
    unlit = opened.unlit(uv, wo)
    np.testing.assert_allclose(unlit[:, :2], 0.5 * uv, atol=1e-6)
    assert set(unlit[:, 3]) == {0.5}


def test_a_report_lists_parameters_and_a_digest_sees_included_files(studio):
    document = teacher(studio, LAMBERT).document
    (report,) = describe(document, probe=False)
    offered = {each.name: each.input for each in report.live}
    assert set(offered) == {"roughness", "tint", "exponent", "gain"}
    assert (offered["roughness"].low, offered["roughness"].high) == ((0.05,), (1.0,))
    assert offered["roughness"].label == "Roughness"
    assert [(each.file, each.colour_space) for each in report.textures] == [
        (str(studio / "base.png"), "srgb_texture")
    ]
    names = ["skin.slang", "common.hlsli", "skin.json"]
    assert [path.name for path in document.files] == names
    before = source_facts(document, document.require_material())
    # a host that keeps the text opens the same document
    again = parse_document(document.text, studio, document.name)
    facts = source_facts(again, again.require_material())
    assert changed_sources(before, facts) == []
    (studio / "common.hlsli").write_text(COMMON + "// changed\n")
    again = load_document(studio / "skin.slang")
    facts = source_facts(again, again.require_material())
    assert changed_sources(before, facts) == ["skin.slang has changed"]


def test_errors_of_the_compiler_name_the_file_the_line_and_the_code(tmp_path):
    (tmp_path / "lib.hlsli").write_text("float helper() { return missing_one; }\n")
    (tmp_path / "bad.slang").write_text(
        '#include "lib.hlsli"\n'
        "float3 response(float2 uv, float3 wi, float3 wo)\n{\n    return colour * helper();\n}\n"
    )
    with pytest.raises(DocumentError) as failure:
        load_document(tmp_path / "bad.slang")
    text = str(failure.value)
    assert "lib.hlsli(1): undefined identifier 'missing_one'" in text
    assert f"{tmp_path / 'bad.slang'}(4): undefined identifier 'colour', in 'return colour" in text


def test_inputs_are_set_and_names_are_defined_as_a_document_is_loaded(tmp_path):
    (tmp_path / "lit.slang").write_text(
        "float gain = 1; float3 tint = float3(1, 1, 1);\n#ifdef TWICE\nint times = TWICE;\n#endif\n"
        "float3 response(float2 uv, float3 wi, float3 wo) {\n#ifdef TWICE\n    gain *= times;\n"
        "#endif\n    return gain * tint; }\n".replace("gain *= times;", "return gain * times;")
    )
    up = np.float32([[0, 0, 1]])
    place = np.float32([[0.5, 0.5]])

    def value(inputs=(), defines=()):
        document = load_document(tmp_path / "lit.slang", changes=read_changes(inputs, defines))
        return Teacher(document).response(place, up, up)[0]

    np.testing.assert_allclose(value(["gain=0.25", "tint=1, 0.5, 0"]), [0.25, 0.125, 0])
    np.testing.assert_allclose(value(["gain=0.25", "times=3"], ["TWICE=2"]), 0.75)
    for inputs, defines, expected in (
        (["times=3"], (), "has no input 'times' to set: it has gain, tint"),
        (["gain=much"], (), "input 'gain' has the type float, unlike 'much'"),
        (["gain"], (), "'gain' sets no input: use NAME=VALUE"),
        ((), ["A B"], "'A B' cannot be defined"),
    ):
        with pytest.raises(DocumentError, match=expected):
            value(inputs, defines)


def test_a_shader_that_transmits_answers_for_light_from_below(tmp_path, directions):
    uv, wi, wo = directions
    leaf = "float3 leaf(float2 uv, float3 wi, float3 wo) { return abs(wi.z) * (wi.z < 0 ? 2 : 1); }"
    (tmp_path / "leaf.slang").write_text(f"[VerdigrisResponse] [VerdigrisTransmission] {leaf}")
    found = Teacher(load_document(tmp_path / "leaf.slang"))
    assert found.index_below == 1
    np.testing.assert_allclose(found.response(uv, wi, wo)[:, 0], wi[:, 2], rtol=1e-6)
    below = wi * np.float32([1, 1, -1])
    np.testing.assert_allclose(found.response(uv, below, wo)[:, 0], 2 * wi[:, 2], rtol=1e-6)
    (tmp_path / "leaf.slang").write_text(f"[VerdigrisResponse] [VerdigrisTransmission(9)] {leaf}")
    with pytest.raises(DocumentError, match="index of the solid below is 9: use 1 for a thin wall"):
        load_document(tmp_path / "leaf.slang")


# What headers of engines declare beside a BRDF.
ENGINE = """
#ifndef GUARD
#define GUARD
#define PI 3.14159265f
#define SAMPLE(map, uv) map.Sample(LinearSampler, uv)
cbuffer Frame : register(b0)
{
    row_major float4x4 ViewProjection;
    float4 Weights[4];
    float Time;
};
struct Light { float3 colour; float intensity; };
TextureCube Sky : register(t5);
StructuredBuffer<Light> Lights : register(t7);
SamplerState LinearSampler : register(s0);
SamplerComparisonState ShadowSampler : register(s1);
RWTexture2D<float4> Target;
Texture2D BaseColor : register(t0);
struct VSOut { float4 pos : SV_Position; float2 uv : TEXCOORD0; };
struct Surface { float3 base; half rough; };
Surface Load(float2 uv)
{
    Surface s;
    s.base = SAMPLE(BaseColor, uv).rgb;
    s.rough = (half)0.5;
    return s;
}
float4 Ambient(float3 n)
{
    float4 sky = Sky.SampleLevel(LinearSampler, n, 0) * Lights[0].intensity;
    return sky + mul(float4(n, 1), ViewProjection);
}
float4 PSMain(VSOut i) : SV_Target { clip(0.5 - i.uv.x); return Ambient(float3(0, 0, 1)); }
[numthreads(8, 8, 1)] void CSMain(uint3 id : SV_DispatchThreadID) { Target[id.xy] = 0; }
inline float3 Schlick(in const float3 f0, float f90, float u) { return f0 + (f90.xxx - f0) * u; }
#endif
"""


def test_variables_of_an_engine_that_the_response_does_not_use_are_left_out(tmp_path, directions):
    uv, wi, wo = directions
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "engine.hlsli").write_text(ENGINE)
    (tmp_path / "lib" / "helper.slang").write_text(
        "module helper; public float one() { return 1; }"
    )
    (tmp_path / "own.hlsl").write_text(
        "import helper;\n#include <engine.hlsli>\n"
        "namespace Own { float half_() { return one() / 2; } }\n"
        "float3 response(float2 uv, float3 wi, float3 wo)\n{\n    Surface s = Load(uv);\n"
        "    return s.base / PI * wi.z * Own::half_() * Schlick(1.xxx, 1, wo.z);\n}\n"
    )
    document = load_document(tmp_path / "own.hlsl", tmp_path / "lib")
    found = Teacher(document).response(uv, wi, wo)
    np.testing.assert_allclose(found[:, 1], wi[:, 2] / np.pi / 2, rtol=1e-5)
    (report,) = describe(document, probe=False)
    (left, image) = report.parts
    assert left.how.startswith(
        "ViewProjection: float4x4; Weights: float4[4]; Time: float; Sky: Text"
    )
    assert (image.name, image.how[-31:]) == ("image 'BaseColor'", "white: set this input to a file")
    assert [path.name for path in document.files] == ["own.hlsl", "helper.slang", "engine.hlsli"]
    text = (tmp_path / "own.hlsl").read_text().replace("wo.z", "Ambient(wo).x")
    (tmp_path / "own.hlsl").write_text(text)
    with pytest.raises(DocumentError, match="'Sky' has the type TextureCube<float4>: use float"):
        load_document(tmp_path / "own.hlsl", tmp_path / "lib")
