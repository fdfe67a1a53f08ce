"""The loaders of rungs, as the manual and the page print them, in each language."""

import re
from pathlib import Path

import numpy as np
import pytest

from verdigris.core.ladder.rungs.registry import RUNGS

from ...bundle.runtime.dxc import compile_hlsl
from ...bundle.runtime.shader_files import require_tool, run
from ...bundle.runtime.web_gpu import COMPILERS, open_gpu, run_shader

MANUAL = (Path(__file__).parents[4] / "docs/LADDER.md").read_text()
STORED_LIGHT = {kind.name: kind.snippet for kind in RUNGS if not kind.is_lit}
CURVE = np.array([-3.2, 3.6, 0.2])
MAPS = "lightMap", "shareMap", "mirrorMap", "detailMap", "colourMap"
GLSL = """#version 300 es
precision highp float;
uniform sampler2D lightMap, shareMap, mirrorMap, detailMap, colourMap;
uniform vec3 curve, mirrorCurve, r;
in vec2 uv0, uv1;
in vec4 vertexStored;
out vec4 colour;
"""
WGSL = """
@group(0) @binding(0) var<storage, read> given: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> answers: array<f32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u)
{
    if (id.x >= arrayLength(&given)) { return; }
    let place = octahedral(given[id.x].xyz);
    let light = toLight(abs(given[id.x].xyz), vec3f(-3.2, 3.6, 0.2));
    answers[5 * id.x] = place.x; answers[5 * id.x + 1] = place.y;
    for (var i = 0u; i < 3; i++) { answers[5 * id.x + 2 + i] = light[i]; }
}
"""


def parts_of(rung):
    """Functions, and the statements that use them."""
    functions, _, statements = STORED_LIGHT[rung].rpartition("}\n")
    return f"{functions}}}\n", statements


@pytest.mark.parametrize("rung", STORED_LIGHT)
def test_the_page_and_the_manual_have_the_same_statements(rung):
    plain = " ".join(MANUAL.split())
    for line in STORED_LIGHT[rung].splitlines():
        is_code = line.strip("{} ") and not line.startswith("//")
        assert not is_code or " ".join(line.split()) in plain, line


@pytest.mark.parametrize("rung", STORED_LIGHT)
def test_a_loader_compiles_in_a_browser_s_glsl_and_in_hlsl(rung, tmp_path):
    functions, statements = parts_of(rung)
    (tmp_path / "a.frag").write_text(
        f"{GLSL}{functions}void main() {{ {statements} colour = vec4(light, 1.0); }}\n"
    )
    run(require_tool("glslangValidator"), tmp_path / "a.frag")
    sampled = re.sub(r"texture\((\w+), ", r"\1.Sample(linearSampler, ", statements)
    maps = "".join(f"Texture2D<float4> {name};\n" for name in MAPS)
    hlsl = (
        f"#define vec2 float2\n#define vec3 float3\n{maps}SamplerState linearSampler;\n"
        f"float3 curve, mirrorCurve, r;\n{functions}"
        "float4 main(float2 uv0 : A, float2 uv1 : B, float4 vertexStored : C) : SV_Target\n"
        f"{{ {sampled} return float4(light, 1); }}\n"
    )
    assert compile_hlsl(hlsl.encode(), "ps_6_0", "main")[:4] == b"DXBC"


@pytest.mark.parametrize("package", COMPILERS)
def test_the_functions_in_wgsl_are_those_of_the_texts(package):
    opened = open_gpu(package)
    [functions] = re.findall(r"```wgsl\n(.*?)```", MANUAL, re.S)
    given = np.zeros((256, 4), np.float32)
    given[:, :3] = np.random.default_rng(2).uniform(-1, 1, (256, 3))
    bound = [(given, opened[0].BufferUsage.STORAGE), None]
    found = run_shader(opened, functions + WGSL, "main", bound, len(given), 5)
    x, y, z = (given[:, :3] / np.abs(given[:, :3]).sum(1, keepdims=True)).T.astype(float)
    # the corners of the map are below
    folded = np.copysign(1 - np.abs(z), x), np.copysign(1 - np.abs(x), z)
    place = np.clip(0.5 + 0.5 * np.where(y >= 0, (x, z), folded), 0.01, 0.99).T
    stored = np.abs(given[:, :3]).astype(float)
    a, b, c = CURVE
    light = stored / ((c * stored + a) * stored + b)
    np.testing.assert_allclose(found, np.concatenate([place, light], 1), rtol=1e-4, atol=1e-6)
