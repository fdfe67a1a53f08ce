"""The shaders in text: read by naga, Tint and glslang, and evaluated as WGSL on the device."""

import os
import re
from dataclasses import replace

import numpy as np
import pytest

from verdigris.core.bundle.files.reference import make_reference
from verdigris.core.bundle.files.weights import constant_floats, plan_tensors
from verdigris.core.bundle.runtime.readable_text import readable
from verdigris.core.bundle.runtime.text_forms import ENTRY_LINE, as_es300

from ..bundles import made_up, stored
from .dxc import compile_hlsl
from .shader_files import NETWORKS, StrictFiles, require_tool, run
from .web_gpu import COMPILERS, QUERY, evaluate_spirv, evaluate_wgsl, open_gpu

LIVING = StrictFiles(replace(NETWORKS["2x5 leaky_smelu"], live_inputs=2))


@pytest.fixture(scope="module", params=COMPILERS, ids=COMPILERS.values())
def gpu(request):
    return open_gpu(request.param)


@pytest.fixture(scope="module")
def small():
    """A material, its reference, and queries: those of the reference, and again by the texture
    unit those on the coarsest level, whose one texel no filter changes."""
    exported = made_up(NETWORKS["2x5 leaky_smelu"])
    reference = make_reference(exported.exact)
    is_coarse = reference.lod >= len(exported.latents.levels)
    chosen = np.concatenate([np.arange(len(reference)), np.flatnonzero(is_coarse)])
    queries = np.zeros(len(chosen), QUERY)
    queries["uv"], queries["lod"] = reference.uv[chosen], reference.lod[chosen]
    queries["wi"], queries["wo"] = reference.wi[chosen], reference.wo[chosen]
    queries["random"], queries["random2"] = reference.sampler.random[chosen].T
    queries["is_sampled"][len(reference) :] = 1
    return exported, reference, queries, chosen


def require_agreement(found, reference, chosen):
    near = {"rtol": 1e-3, "atol": 1e-5}
    np.testing.assert_allclose(found[:, :3], reference.exported[chosen], **near)
    np.testing.assert_allclose(found[:, 3], reference.sampler.pdf[chosen], **near)
    np.testing.assert_allclose(found[:, 4:7], reference.sampler.drawn[chosen], atol=1e-3)
    drawn_pdf = reference.sampler.drawn_pdf[chosen]
    np.testing.assert_allclose(found[:, 7], drawn_pdf, rtol=5e-3, atol=1e-3)


def test_wgsl_is_the_decoder_and_the_sampler(gpu, small_files, small):
    exported, reference, queries, chosen = small
    spec, weights = exported.parameters.spec, stored(exported).weights
    constants = constant_floats(spec, plan_tensors(spec)[0], weights)
    code = small_files["portable.wgsl"].decode()
    found = evaluate_wgsl(gpu, code, stored(exported), constants, queries)
    require_agreement(found, reference, chosen)


@pytest.mark.parametrize("name", ["portable.spv", "portable.glsl"])
def test_naga_takes_spirv_and_glsl_which_are_the_same(name, small_files, small, tmp_path):
    """Of GLSL, what glslang makes of it. The device's compiler takes 20 seconds for each, so they
    are only evaluated on request."""
    opened = open_gpu("wgpu")
    code = small_files[name]
    if name.endswith(".glsl"):
        (tmp_path / name).write_bytes(code)
        (tmp_path / "portable.comp").write_bytes(small_files["portable.comp"])
        output = tmp_path / "portable.spv"
        options = ("-V", "--target-env", "vulkan1.1")
        run(require_tool("glslangValidator"), *options, tmp_path / "portable.comp", "-o", output)
        code = output.read_bytes()
    opened[1].create_shader_module(code=code)
    if not os.environ.get("VERDIGRIS_PIPELINES"):
        return
    exported, reference, queries, _ = small
    queries = queries[: len(reference)].copy()
    queries["is_sampled"] = 0  # which is the material here
    found = evaluate_spirv(opened, code, stored(exported), queries)
    require_agreement(found, reference, np.arange(len(reference)))


def test_other_compilers_take_the_wgsl_of_a_larger_decoder(gpu, large_files):
    gpu[1].create_shader_module(code=large_files["portable.wgsl"].decode())


ES_SHADER = """#version 300 es
precision highp float;
out vec4 color;
struct NeuralQuery { float mine; };
float frame(float level) { return 2.0 * level; }
#define NEURAL_NO_ENTRY_POINT
"""
ES_MAIN = """
void main()
{
    vec3 up = vec3(0.0, 0.0, 1.0);
    NeuralSurface surface = neuralPrepareSampled(gl_FragCoord.xy, frame(1.0), up);
    vec3 wi = neuralDraw(surface, vec2(0.5));
    color = vec4(neuralShade(surface, wi) / neuralPdf(surface, wi), 1.0);
    color.rgb += neuralEvaluate(gl_FragCoord.xy, 0.0, up, up);
}
"""


def test_opengl_es_takes_the_file_and_a_shader_around_it(small_files, tmp_path):
    compiler = require_tool("glslangValidator")
    text = small_files["portable.es300.glsl"].decode()
    for name, shader in (
        ("whole", "#version 300 es\n" + text),
        ("own", ES_SHADER + text + ES_MAIN),
    ):
        path = tmp_path / f"{name}.frag"
        path.write_text(shader)
        run(compiler, path)
    # what WebGL 2 and OpenGL ES 3.00 do not have
    assert not re.search(r"\b(buffer|binding|std430|std140|texture2D\w*)\b|= \{|\[\[", text)


def test_wgsl_without_its_entry_point_leaves_the_bindings_from_four_on_free(large_files):
    shared, own = large_files["portable.wgsl"].decode().split(f"\n{ENTRY_LINE}\n")
    bindings = r"@binding\((\d+)\)"
    assert {*re.findall(bindings, shared)} == {"0", "1", "2", "3"}
    assert {*re.findall(bindings, own)} == {"4", "5", "6"}


COMPILED = """struct Pair_0
{
    float texture_0;
    float first_0;
};

float scaled_0(Pair_0 _S1, float output_0)
{
    float y_0 = 0.01999999955296516 * _S1.first_0;
    int i_0 = 0;
    [[dont_unroll]]
    for(;;)
    {
        if(i_0 < 3)
        {
        }
        else
        {
            break;
        }
        float y_1 = y_0 + output_0;
        y_0 = y_1;
        i_0 = i_0 + 1;
    }
    return y_0 + _S1.texture_0;
}
"""
READABLE = """struct NeuralPair
{
    float textureIndex;
    float first;
};
float neuralScaled(NeuralPair t1, float unit)
{
    float y = 0.02 * t1.first;
    int i = 0;
    [[dont_unroll]]
    for(; i < 3; i = i + 1)
    {
        float y2 = y + unit;
        y = y2;
    }
    return y + t1.textureIndex;
}
"""


def test_the_compilers_text_becomes_readable():
    assert readable(COMPILED).strip() == READABLE.strip()


def test_lists_blocks_and_samplers_become_those_of_opengl_es():
    text = """#extension GL_EXT_control_flow_attributes : require
layout(binding = 0)
layout(std140) uniform NeuralRecordBlock
{
    uint width;
}neuralRecord;
layout(binding = 2)
uniform texture2DArray neuralLatents;
layout(binding = 3)
uniform sampler neuralSampler;
const uint kPlaces[2] = { 1U, 2U };
vec4 look(sampler s, vec3 at)
{
    [[unroll]]
    return textureLod(sampler2DArray(neuralLatents,s), at, 0.0);
}
vec4 both(vec3 at, float s)
{
    return look(neuralSampler, at) * s;
}
"""
    assert (
        as_es300(text).split("sampler2DArray;\n", 1)[1].strip() + "\n"
        == """uniform NeuralRecord neuralRecord;
uniform sampler2DArray neuralLatents;
const uint kPlaces[2] = uint[2]( 1U, 2U );
vec4 look(vec3 at)
{
    return textureLod(neuralLatents, at, 0.0);
}
vec4 both(vec3 at, float s)
{
    return look(at) * s;
}
"""
    )


def test_other_compilers_take_the_wgsl_of_live_inputs(gpu):
    """Tests of the browser package evaluate it."""
    gpu[1].create_shader_module(code=LIVING["portable.wgsl"].decode())


@pytest.mark.parametrize("name", ["portable.hlsl", "portable_constants.hlsl"])
def test_live_values_can_be_left_out_in_hlsl(name):
    call = "neuralEvaluate(0, uv, 0, 0, float3(0, 0, 1), float3(0, 0, 1){})"
    main = "float4 main(float2 uv : TEXCOORD0) : SV_Target {{ return float4({}, 1); }}"
    head = "#define NEURAL_NO_ENTRY_POINT\n" + LIVING[name].decode()
    still, moved = (
        compile_hlsl((head + main.format(call.format(live))).encode(), "ps_6_0", "main")
        for live in ("", ", float3(0, 0, 0)")
    )
    assert still[:4] == moved[:4] == b"DXBC" and still != moved


def test_opengl_es_takes_live_values(tmp_path):
    text = LIVING["portable.es300.glsl"].decode()
    main = ES_MAIN.replace(", up)", ", up, up)")
    for name, shader in (("whole", "#version 300 es\n" + text), ("own", ES_SHADER + text + main)):
        path = tmp_path / f"{name}.frag"
        path.write_text(shader)
        run(require_tool("glslangValidator"), path)
