"""The export for Unity: its scripts by mono's mcs, its shaders by DXC and against reference rows.
No Unity has run them."""

import json
import re
import shutil
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from ..runtime.dxc import compile_hlsl
from ..runtime.shader_files import require_tool, run
from ..runtime.web_gpu import open_gpu, run_shader
from .engine_bundles import (
    SPECS,
    export_to,
    largest_difference,
    open_container,
    queries_of,
    rows_above,
    texels_of,
)

HERE = Path(__file__).parent
PACKAGE = "Packages/com.verdigris.material"
INCLUDE = re.compile(r'^\s*#include "([^"]+)"', re.M)
KEYWORDS = {
    "NeuralVertex": ("vs_6_0", [()]),
    "NeuralFragment": (
        "ps_6_0",
        [(), ("_ADDITIONAL_LIGHTS",), ("_FORWARD_PLUS",), ("_CLUSTER_LIGHT_LOOP",)],
    ),
    "NeuralShadowVertex": ("vs_6_0", [(), ("_CASTING_PUNCTUAL_LIGHT_SHADOW",)]),
    "NeuralDepthVertex": ("vs_6_0", [()]),
    "NeuralDepthFragment": ("ps_6_0", [()]),
}


@pytest.fixture(scope="module", params=list(SPECS))
def written(request, tmp_path_factory):
    return export_to("unity", request.param, tmp_path_factory.mktemp("unity"))


def test_mcs_compiles_the_scripts_against_the_published_signatures(written, tmp_path):
    mcs = shutil.which("mcs")
    if mcs is None:
        pytest.skip("mcs is not installed: install mono-mcs")
    scripts = [path for name, path in written[1].items() if name.endswith(".cs")]
    # an importer and an asset are in files of their names
    names = {"VerdigrisImporter.cs", "VerdigrisExample.cs", "NeuralMaterial.cs"}
    assert {path.name for path in scripts} == names
    command = [mcs, "-t:library", "-warnaserror", f"-out:{tmp_path / 'a.dll'}"]
    run(*command, HERE / "unity_stubs.cs", *scripts)


def test_the_package_names_what_it_has(written):
    files = written[1]
    package = json.loads(files[f"{PACKAGE}/package.json"].read_text())
    assert package["name"] == PACKAGE.rpartition("/")[2]
    assert re.fullmatch(r"\d+\.\d+\.\d+", package["version"])
    names = {
        json.loads(path.read_text())["name"]
        for name, path in files.items()
        if name.endswith(".asmdef")
    }
    assert names == {"Verdigris", "Verdigris.Editor"}
    facts, _ = open_container(files["Assets/brass.verdigris"].read_bytes())
    shader = files[f"{PACKAGE}/Shaders/{facts['shader']}.shader"].read_text()
    properties = set(re.findall(r"^ +(?:\[[^]]*\] )*(_\w+) \(", shader, re.M))
    importer = files[f"{PACKAGE}/Editor/VerdigrisImporter.cs"].read_text()
    used = re.findall(r'"(_Neural\w+)"( \+ quad)?', importer)
    named = {f"{name}{quad}" for name, more in used for quad in (("0", "1") if more else ("",))}
    of_some = {"_NeuralHeights", "_NeuralRange", "_NeuralTransmitted", "_NeuralIndex"}
    assert (named & of_some) == of_some
    assert named - (of_some - properties) | {"_Cull"} == properties
    assert ("_NeuralHeights" in properties) == ("heights" in facts)
    assert ("_NeuralTransmitted" in properties) == ("transmitted" in facts)
    # the batcher of URP needs every number in the one buffer
    buffer = shader[shader.index("CBUFFER_START") : shader.index("CBUFFER_END")]
    numbers = set(re.findall(r"(_\w+) \(\"[^\"]*\", (?:Vector|Float)\)", shader))
    assert set(re.findall(r"float4? (_\w+);", buffer)) == numbers
    assert ("Blend One OneMinusSrcAlpha" in shader) == ("opacity" in facts)


def whole(files, text):
    """The text with the package's own includes; those of Unity are in the stubs."""

    def included(found):
        name = found[1]
        if name.startswith("Packages/com.unity."):
            return ""
        return whole(files, files[name].read_text())

    return INCLUDE.sub(included, text)


def shader_program(files):
    (path,) = [each for name, each in files.items() if name.endswith(".shader")]
    shader = path.read_text()
    shared = re.search(r"HLSLINCLUDE(.*?)ENDHLSL", shader, re.S)[1]
    passes = re.findall(r"HLSLPROGRAM(.*?)ENDHLSL", shader, re.S)
    assert shader.count("{") == shader.count("}")
    entries = set(re.findall(r"#pragma (?:vertex|fragment) (\w+)", "".join(passes)))
    assert entries == set(KEYWORDS)
    keywords = set(re.findall(r"\b_[A-Z_]+\b", "".join(passes)))
    assert {word for _, sets in KEYWORDS.values() for each in sets for word in each} <= keywords
    stubs = (HERE / "urp_stubs.hlsl").read_text()
    return stubs + re.sub(r"^\s*#pragma .*\n", "", whole(files, shared), flags=re.M)


def test_dxc_compiles_every_pass_with_every_keyword(written):
    program = shader_program(written[1])
    for entry, (profile, sets) in KEYWORDS.items():
        for words in sets:
            options = ("-WX", "-Wno-conversion", *(f"-D{word}=1" for word in words))
            assert compile_hlsl(program.encode(), profile, entry, options)


def test_dxc_compiles_glass(tmp_path):
    program = shader_program(export_to("unity", "glass", tmp_path)[1])
    assert compile_hlsl(program.encode(), "ps_6_0", "NeuralFragment", ("-WX", "-Wno-conversion"))


def test_dxc_compiles_the_custom_function_of_shader_graph(written):
    """As a graph calls it: with a texture and its sampler in one value."""
    files = written[1]
    (path,) = [
        each
        for name, each in files.items()
        if "Shaders/neural_" in name and name[-5:] == ".hlsl" and "_urp" not in name
    ]
    main = """
Texture2DArray latents; SamplerState linearRepeat; Texture2D numbers;
cbuffer Graph { float4 q[4]; float3 to[4]; };
float4 main(float4 place : SV_Position, float2 uv : TEXCOORD0) : SV_Target
{
    UnityTexture2DArray a; a.tex = latents; a.samplerstate = linearRepeat;
    UnityTexture2D b; b.tex = numbers; b.samplerstate = linearRepeat;
    float3 found;
    NeuralResponse_float(
        a, b, q[0], q[1], q[2], q[3], uv, place.xyz, to[0], to[1], to[2], to[3], found);
    return float4(found, 1.0);
}
"""
    text = (HERE / "urp_stubs.hlsl").read_text() + whole(files, path.read_text()) + main
    assert compile_hlsl(text.encode(), "ps_6_0", "main")


# Textures become buffers and constants, derivatives those of the query.
_STAND_INS = (
    ("m.latents.SampleLevel(m.latentsSampler, ", "exactLod("),
    ("m.numbers.Load(", "fetchNumber("),
    ("    Texture2DArray latents;\n    SamplerState latentsSampler;\n    Texture2D numbers;\n", ""),
    ("    m.latents = _NeuralLatents;\n", ""),
    ("    m.latentsSampler = sampler_NeuralLatents;\n", ""),
    ("    m.numbers = _NeuralNumbers;\n", ""),
    ("SAMPLE_TEXTURE2D_LOD(", "constantLod("),
    ("SAMPLE_TEXTURE2D_GRAD(", "constantGrad("),
    # a flat height map
    ("_NeuralHeights.Load(int3(place, level))", "float4(0.0, 0.0, 0.0, 0.0)"),
    ("SAMPLE_TEXTURE2D(", "constantTexture("),
    ("ddx(", "derivativeX("),
    ("ddy(", "derivativeY("),
)
_RESOURCE = re.compile(r"^\s*(TEXTURE2D(_ARRAY)?\(_\w+\);)( SAMPLER\(\w+\);)?\n", re.M)


def _as_variables(buffer):
    return re.sub(r"^( +)float", r"\1static float", buffer[1], flags=re.M)


def test_the_forward_pass_gives_the_reference_rows(written, tmp_path):
    exported, files = written
    columns, wanted = rows_above(exported)
    facts, arrays = open_container(files["Assets/brass.verdigris"].read_bytes())
    queries = queries_of(columns, facts)
    program = shader_program(files)
    # behind the macros of the stubs
    head, body = program.split("struct Light\n", 1)
    for engine, own in _STAND_INS:
        body = body.replace(engine, own)
    program = _RESOURCE.sub("", f"{head}struct Light\n{body}")
    for buffer in (
        r"CBUFFER_START\(UnityPerMaterial\)(.*?)CBUFFER_END",
        r"cbuffer Unity\n\{(.*?)\};",
    ):
        program = re.sub(buffer, _as_variables, program, flags=re.S)
    rows = (HERE / "unity_rows.hlsl").read_text()
    before, after = rows.split("@PROGRAM@")
    for word in ("width", "height", "layers", "levels"):
        before = before.replace(f"@{word.upper()}@", str(facts["latents"][word]))
    for name, at in product(("scale", "offset"), (0, 1)):
        numbers = ", ".join(map(repr, facts[name][4 * at : 4 * at + 4]))
        after = after.replace(f"@{name.upper()}{at}@", f"float4({numbers})")
    source, output = tmp_path / "a.hlsl", tmp_path / "a.spv"
    relief = "#define HAS_RELIEF\n" if "heights" in facts else ""
    source.write_text(relief + before + program + after)
    run(
        require_tool("glslangValidator"),
        *("-D", "-V", "-e", "main", "-S", "comp", "--target-env", "vulkan1.1"),
        *(source, "-o", output),
    )
    gpu, _ = opened = open_gpu("wgpu")
    storage = gpu.BufferUsage.STORAGE
    bound = [
        (np.uint32([queries.shape[0] * queries.shape[1], 0, 0, 0]), gpu.BufferUsage.UNIFORM),
        (queries, storage),
        None,
        (np.frombuffer(arrays["numbers.bin"], "<f2").astype(np.float32), storage),
        (texels_of(exported), storage),
    ]
    count = 2 * len(wanted)
    found = run_shader(opened, output.read_bytes(), "main", bound, count, numbers=4)
    found = found.reshape(2, -1, 4)
    # the stub's main light, half shadowed, then emission; its surroundings are dark
    light = 0.5 * np.pi * np.array([1, 0.5, 0.25])
    for each in found:
        assert largest_difference((each[:, :3] - [0.5, 0.25, 0.125]) / light, wanted) < 2e-3
    np.testing.assert_allclose(found[..., 3], 0.75)
