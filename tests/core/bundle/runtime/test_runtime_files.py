"""The shaders in runtime/, checked by other compilers and validators."""

import re
import struct
import subprocess
from pathlib import Path

import pytest

from verdigris.core.base.errors import DeviceError, VerdigrisError
from verdigris.core.bundle.files.weights import plan_tensors
from verdigris.core.bundle.runtime import runtime_files as runtime
from verdigris.core.bundle.runtime.device_materials import RECORD
from verdigris.core.bundle.runtime.runtime_files import (
    TARGETS,
    network_source,
    runtime_files,
    slang_files,
)
from verdigris.core.bundle.runtime.slang_compiler import (
    _compiler,
    compile_entry_point,
    compiler_version,
)
from verdigris.core.bundle.runtime.spirv import mended
from verdigris.core.bundle.runtime.text_forms import TEXTS, suffix_of
from verdigris.core.network.spec import PRESETS, NetworkSpec

from .dxc import compile_hlsl
from .shader_files import NETWORKS, require_tool, run

SPIRV_MAGIC = 0x07230203
# of SPIR-V's capabilities
FLOAT16, INT16, COOPERATIVE_VECTOR_NV, COOPERATIVE_MATRIX_KHR = 9, 22, 5394, 6022
# of DXC: the last that takes cooperative vectors for shader model 6.9
PREVIEW_OF_6_9 = (1, 8, 2505)
# VulkanMemoryModel and its scope of the device, of Vulkan 1.2
VULKAN_1_2 = {5345, 5346}
OP_CAPABILITY, OP_SOURCE, OP_DECORATE, OP_MEMBER_DECORATE = 17, 3, 71, 72
BINDING, OFFSET = 33, 35  # of SPIR-V's decorations


# What both networks have in common is read in one.
only_large = pytest.mark.parametrize("files", ["2x32 silu"], indirect=True)


def version_of(dxc):
    printed = subprocess.run([dxc, "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(map(int, re.findall(r"(\d+)\.(\d+)\.(\d+)", printed)[-1]))


def instructions(code):
    words = struct.unpack(f"<{len(code) // 4}I", code)
    assert words[0] == SPIRV_MAGIC
    at = 5
    while at < len(words):
        count, operation = words[at] >> 16, words[at] & 0xFFFF
        yield at, operation, words[at + 1 : at + count]
        at += count


@only_large
def test_all_targets_are_there_and_small(files):
    for name in TARGETS:
        assert files[name]
    assert {*TARGETS, *(f"{name}.comp" for name in PORTABLE)} < {*files}
    assert {"neural_material.slang", "neural_network.slang"} < {*files}
    # opaque surfaces need one side
    assert "neural_sides.slang" not in files
    # a ninth of it is the reader in C with its sampler
    assert sum(map(len, files.values())) < 930_000


def test_only_the_cooperative_binary_needs_cooperative_vectors(files):
    needs = {
        name: {
            operands[0]
            for _, operation, operands in instructions(files[name])
            if operation == OP_CAPABILITY
        }
        for name in ("portable.spv", "cooperative.spv", "cooperative_matrix.spv")
    }
    assert COOPERATIVE_VECTOR_NV not in needs["portable.spv"]
    assert COOPERATIVE_VECTOR_NV in needs["cooperative.spv"]
    # what every maker of graphics cards has
    assert COOPERATIVE_MATRIX_KHR in needs["cooperative_matrix.spv"]
    assert not {each for each in needs["cooperative_matrix.spv"] if 5000 < each < 6000} - VULKAN_1_2
    # half floats are unpacked, not computed with
    assert not needs["portable.spv"] & {FLOAT16, INT16}


def test_binaries_have_the_version_that_their_extensions_ask_for(files):
    versions = {
        name: struct.unpack_from("<I", files[name], 4)[0] for name in TARGETS if "spv" in name
    }
    assert versions == {
        "portable.spv": 0x10300,
        "cooperative.spv": 0x10600,
        "cooperative_matrix.spv": 0x10600,
    }


@pytest.mark.parametrize("name", ["portable.spv", "cooperative.spv", "cooperative_matrix.spv"])
def test_spirv_names_no_language_that_a_validator_may_not_know(files, name):
    languages = [
        operands[0]
        for _, operation, operands in instructions(files[name])
        if operation == OP_SOURCE
    ]
    assert languages == [0]


def test_an_operation_of_no_words_ends_no_loop_but_is_an_error():
    damaged = struct.pack("<7I", 0x07230203, 0x10300, 0, 8, 0, 3, 0)
    with pytest.raises(DeviceError, match="the shader compiler wrote no valid SPIR-V"):
        mended(damaged)


@pytest.mark.parametrize(
    ("name", "target"), [("portable.spv", "vulkan1.1"), ("cooperative_matrix.spv", "vulkan1.3")]
)
def test_spirv_is_valid(files, tmp_path, name, target):
    validator = require_tool("spirv-val")
    path = tmp_path / name
    path.write_bytes(files[name])
    run(validator, "--target-env", target, str(path))


# Bindings 0, 1 and 5 are those of the entry point that is left out.
OWN_SHADER = """#version 450
#extension GL_GOOGLE_include_directive : require
#define NEURAL_NO_ENTRY_POINT
#include "{name}"
layout(local_size_x = 1) in;
layout(binding = 0) uniform Camera {{ mat4 view; }} camera;
layout(binding = 1) uniform sampler2D emission;
layout(std430, binding = 5) buffer Pixels {{ vec4 pixels[]; }};
struct NeuralQuery {{ int mine; }};
void main()
{{
    const vec3 up = normalize((camera.view * vec4(0, 0, 1, 0)).xyz);
    NeuralSurface surface = neuralPrepare(0u, vec2(0.5), 0.0, 0.0, up);
    const vec3 wi = neuralDraw(surface, vec2(0.5));
    const vec3 seen = neuralEvaluate(0u, vec2(0.5), 0.0, 0.0, up, up)
        + neuralShade(0u, surface, wi) / neuralPdf(surface, wi);
    pixels[0].xyz = seen + textureLod(emission, vec2(0.5), 0.0).rgb;
}}
"""


PORTABLE = ("portable", "portable_sampled", "portable_constants")


@pytest.mark.parametrize("name", [f"{name}.glsl" for name in PORTABLE])
def test_glsl_compiles_as_it_is_and_inside_another_shader(files, tmp_path, name):
    compiler = require_tool("glslangValidator")
    whole, own = tmp_path / name.replace("glsl", "comp"), tmp_path / "own.comp"
    (tmp_path / name).write_bytes(files[name])
    whole.write_bytes(files[whole.name])
    own.write_text(OWN_SHADER.format(name=name))
    for path in (whole, own):
        output = str(path.with_suffix(".spv"))
        run(compiler, "-V", "--target-env", "vulkan1.1", str(path), "-o", output)
    used = {
        operands[2]
        for _, operation, operands in instructions(own.with_suffix(".spv").read_bytes())
        if operation == OP_DECORATE and operands[1] == BINDING
    }
    buffer, sampler, constants = {3}, {6}, {7}
    others = {"portable": buffer, "portable_sampled": buffer | sampler}
    assert used == {0, 1, 2, 4, 5} | others.get(Path(name).stem, sampler | constants)
    if name != "portable_sampled.glsl":
        return
    # of scene packs
    several = ("-DNEURAL_TEXTURES=64", str(whole), "-o", str(tmp_path / "several.spv"))
    run(compiler, "-V", "--target-env", "vulkan1.1", *several)


@pytest.mark.parametrize("name", [f"{name}.hlsl" for name in PORTABLE])
def test_hlsl_compiles_in_a_compiler_that_did_not_write_it(files, tmp_path, name):
    """glslang reads HLSL, too."""
    compiler = require_tool("glslangValidator")
    (tmp_path / name).write_bytes(files[name])
    command = [compiler, "-D", "-V", "-S", "comp", "-e", "evaluateQueries"]
    run(*command, str(tmp_path / name), "-o", str(tmp_path / "whole.spv"))


@pytest.mark.parametrize("name", ["portable_sampled.hlsl", "portable_constants.hlsl"])
def test_direct3d_takes_the_plain_files(small_files, name):
    assert compile_hlsl(small_files[name], "cs_6_0", "evaluateQueries")[:4] == b"DXBC"


@pytest.mark.parametrize(
    ("name", "model"),
    [
        *((f"{name}.hlsl", "6_0") for name in PORTABLE),
        ("cooperative.hlsl", "6_9"),
        ("cooperative_6_10.hlsl", "6_10"),
    ],
)
def test_hlsl_compiles(files, tmp_path, name, model):
    compiler = require_tool("dxc")
    path, empty, profile = tmp_path / name, tmp_path / "empty.hlsl", f"cs_{model}"
    empty.write_text("[numthreads(1, 1, 1)] void main() {}")
    knows_profile = subprocess.run([compiler, "-T", profile, "-E", "main", empty], check=False)
    if knows_profile.returncode:
        pytest.skip(f"this dxc has no profile {profile}")
    path.write_bytes(files[name])
    options = ["-enable-16bit-types"] if model != "6_0" else []
    if model == "6_9" and version_of(compiler) > PREVIEW_OF_6_9:
        # as released, 6.9 has no cooperative vectors, but the compiler still knows them
        options += ["-Wno-hlsl-availability", "-Vd"]
    run(compiler, "-T", profile, *options, "-E", "evaluateQueries", "-WX", str(path))


OWN_SLANG = """import neural_material;
import neural_latents;
import neural_record;
StructuredBuffer<NeuralRecord> records;
ByteAddressBuffer weights;
Texture2DArray<float4> latents;
SamplerState linear;
RWStructuredBuffer<float4> pixels;

[shader("compute")]
[numthreads(1, 1, 1)]
void shade()
{
    const NeuralMaterial material = { records[0], weights, latents };
    const NeuralSampled filter = { linear };
    const float3 up = float3(0.0, 0.0, 1.0);
    const float3 seen = evaluate(material, float2(0.5), 0.0, up, up);
    pixels[0] = float4(seen + evaluate(material, filter, float2(0.5), 0.0, up, up), 0.0);
}
"""


@pytest.fixture
def slang_folder(tmp_path):
    """What an engine copies into its shader tree, and a shader of its own."""
    for name, data in slang_files(NETWORKS["2x5 leaky_smelu"]).items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "own.slang").write_text(OWN_SLANG)
    return tmp_path


@pytest.mark.parametrize(("kind", "model"), [(0, "sm_6_6"), (1, "sm_6_6"), (2, "sm_6_6")])
def test_the_documented_command_writes_hlsl_without_a_warning(slang_folder, kind, model):
    arguments = ["-entry", "evaluateQueries", "-stage", "compute", "-no-mangle"]
    arguments += [f"-DNEURAL_FILTER={kind}", "-DNEURAL_TEXTURES=64"]
    arguments += ["-target", "hlsl", "-profile", model, "-warnings-as-errors", "all"]
    text = compile_entry_point([slang_folder / "evaluate_queries.slang", *arguments])
    assert b"neuralPrepare_0(" in text and b"neuralLatents[int(64)]" in text


@pytest.mark.parametrize(
    ("target", "entry"), [("metal", b"[[kernel]] void shade("), ("wgsl", b"fn shade(")]
)
def test_a_shader_of_ones_own_compiles(slang_folder, target, entry):
    arguments = ["-stage", "compute", "-target", target]
    text = compile_entry_point([slang_folder / "own.slang", "-entry", "shade", *arguments])
    assert entry in text


@only_large
def test_text_holds_the_function_and_an_entry_point_that_can_be_left_out(files):
    calls = {
        "portable.hlsl": b"f16tof32",
        "portable_sampled.hlsl": b".SampleLevel(",
        "portable_constants.hlsl": b"cbuffer neuralFloats",
        "cooperative.hlsl": b"__builtin_MatVecMul",
        "cooperative_6_10.hlsl": b"dx::linalg::MultiplyAdd<",
        "portable.glsl": b"unpackHalf2x16",
        "portable_sampled.glsl": b"textureLod(sampler2DArray(",
        "portable_constants.glsl": b"uniform NeuralFloatsBlock",
    }
    for name, call in calls.items():
        shared, own = files[name].split(b"\n#ifndef NEURAL_NO_ENTRY_POINT\n")
        for function in (b"Prepare", b"Shade", b"Pdf", b"Draw"):
            assert len(re.findall(rb"^\w+ neural%s\(" % function, shared, re.M)) == 1
        assert len(re.findall(rb"^(float3|vec3) neuralEvaluate\(", shared, re.M)) == 1
        assert re.search(rb"^void (evaluateQueries|main)\(", own, re.M)
        assert own.endswith(b"#endif\n")
        assert call in shared
        for variable in (b"neuralQueries", b"neuralAnswers", b"neuralQueryCount", b"NeuralQuery"):
            assert variable in own and variable not in shared
        # how the includer lays out its matrices stays as it was
        assert b"_major" not in files[name]


@only_large
@pytest.mark.parametrize("name", [name for name in TARGETS if suffix_of(name) in TEXTS])
def test_names_are_those_of_people(files, name):
    text = files[name].decode()
    assert not re.findall(r"\b(?!_)\w+_\d+\b(?!\()", re.sub(r"#.*|//.*", "", text))
    assert not re.search(r"\b_S\d+\b|x24init|NeuralSampled_fetch", text)
    # nothing that another shader may have
    functions = re.findall(r"^(?:fn )?(?:[\w<>]+ )?(\w+)\([^;]*\)[^;]*\n\{", text, re.M)
    others = {each for each in functions if not each.startswith("neural")}
    # the compiler's own, for cooperative vectors
    others = {each for each in others if not each.startswith("__slang_linalg")}
    assert others <= {"main", "evaluateQueries", "layout"}


def test_the_modules_compile_alone(tmp_path):
    """Away from this project's other shaders: what an engine has is runtime/ and nothing else."""
    for name, data in slang_files(NETWORKS["2x32 silu"]).items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "engine.slang").write_text("""
import neural_material;
import neural_latents;
import neural_record;
import neural_environment;
TextureCube<float4> sky; TextureCube<float4> irradiance;
ConstantBuffer<NeuralRecord> record; ByteAddressBuffer weights; Texture2DArray<float4> latents;
SamplerState sampler; RWStructuredBuffer<float4> pixels;
[shader("compute")] [numthreads(8, 8, 1)]
void shade(uint3 thread: SV_DispatchThreadID)
{
    NeuralMaterial material = { record, weights, latents };
    NeuralSampled filter = { sampler };
    const float3 up = float3(0.0, 0.0, 1.0);
    pixels[thread.x] = float4(evaluate(material, filter, float2(thread.xy), 1.5, up, up), 1.0);
    const NeuralSurface surface = prepare(material, filter, float2(thread.xy), 1.5, up);
    const float3x3 toWorld = float3x3(1, 0, 0, 0, 1, 0, 0, 0, 1);
    const NeuralCubeMap map = { sky, irradiance, sampler, 128.0, toWorld };
    pixels[thread.x].rgb += environmentLight(material, surface, map, 16, float2(thread.xy));
}
""")
    # the guide's own command line, without a warning
    command = [tmp_path / "engine.slang", "-entry", "shade", "-warnings-as-errors", "all"]
    command += ["-target", "spirv", "-profile", "spirv_1_6", "-capability", "sm_6_0"]
    command += ["-DNEURAL_OPTIMAL=1", "-capability", "spvCooperativeVectorNV"]
    for is_cooperative in (0, 1):
        code = compile_entry_point([*command, f"-DNEURAL_COOPERATIVE={is_cooperative}"])
        needs = {operands[0] for _, kind, operands in instructions(code) if kind == OP_CAPABILITY}
        assert (COOPERATIVE_VECTOR_NV in needs) == is_cooperative
        # elements of arrays are 16 bytes apart in constant buffers: records have 128 bytes there
        places: dict[int, list[int]] = {}
        for _, kind, operands in instructions(code):
            if kind == OP_MEMBER_DECORATE and operands[2] == OFFSET:
                places.setdefault(operands[0], []).append(operands[3])
        assert [0, 32, *range(64, 128, 4)] in places.values()


@only_large
def test_records_and_bindings_are_those_of_the_guide(files):
    places = {name: RECORD.fields[name][1] for name in RECORD.names}
    assert RECORD.itemsize == 128
    assert [places[name] for name in ("scale", "offset", "width", "texture", "weights")] == [
        *(0, 32, 64, 76, 80)
    ]
    assert (places["matrices"], places["live"]) == (84, 116)
    for name, register in (
        ("neuralRecords", "t1"),
        ("neuralWeights", "t2"),
        ("neuralLatents", "t3"),
        ("neuralFloats", "b1"),
        ("neuralSampler", "s0"),
    ):
        text = files["portable_constants.hlsl"].decode()
        assert re.search(rf"{name}\S* : register\({register}\)", text)
    for number, kind in (
        (2, "readonly buffer NeuralRecordBuffer"),
        (4, "uniform texture2DArray"),
        (6, "uniform sampler"),
        (7, "uniform NeuralFloatsBlock"),
    ):
        text = files["portable_constants.glsl"].decode()
        assert re.search(rf"binding = {number}\)\s+(layout\(std140\) )?{kind}", text)


def test_a_network_too_large_for_constants_does_without():
    assert runtime.targets_of(NETWORKS["2x32 silu"]) == TARGETS
    # 64 KB is what Direct3D and most of Vulkan let a shader see: 16,384 floats
    wide = runtime.targets_of(NetworkSpec(128, 2, "silu"))
    assert {*TARGETS} - {*wide} == {"portable_constants.hlsl", "portable_constants.glsl"}
    with_floats = {name for name, target in wide.items() if target.is_constant}
    assert with_floats == {"portable.wgsl", "portable.es300.glsl", "portable.metal"}
    assert all(wide[name].is_float_texture for name in with_floats)
    assert wide["cooperative.spv"].is_cooperative


def test_files_that_the_advice_forbids_are_left_out():
    spec = NETWORKS["2x32 silu"]
    cooperative = {name for name, target in TARGETS.items() if target.is_cooperative}
    assert cooperative == {"cooperative.hlsl", "cooperative_6_10.hlsl", "cooperative.spv"}
    assert runtime.targets_of(spec, "cooperative") == TARGETS
    assert {*runtime.targets_of(spec, "portable")} == {*TARGETS} - cooperative
    for advised, way in (("careful", 1), ("exacting", 2)):
        found = runtime.targets_of(spec, advised)
        assert {name for name, target in found.items() if target != TARGETS[name]} == cooperative
        for name in cooperative:
            assert f"-DNEURAL_CAREFUL={way}" in found[name].defines
            assert "-DNEURAL_CAREFUL=0" in TARGETS[name].defines


@pytest.mark.parametrize(
    ("preset", "advised", "constants"),
    [
        *(("2x32", "careful", 1), ("2x32", "exacting", 1)),
        *(("3x64", "careful", 0), ("3x64", "exacting", 0)),
        *(("3x64", "cooperative", 1), ("3x64", None, 1)),
    ],
)
def test_wide_careful_code_reads_no_constants(preset, advised, constants):
    found = runtime.targets_of(PRESETS[preset], advised)
    assert {*found} == {*TARGETS}
    for name in ("cooperative.hlsl", "cooperative.spv"):
        assert f"-DNEURAL_CONSTANTS={constants}" in found[name].defines
    assert "-DNEURAL_CONSTANTS=1" in found["portable_constants.hlsl"].defines


def test_the_constants_are_the_places_in_the_file():
    spec = NETWORKS["2x5 leaky_smelu"]
    tensors, size = plan_tensors(spec)
    source = network_source(spec)
    for name, count, kind in (("kMatrices", 3, "layer"), ("kHeadMatrices", 4, "(head|split)")):
        places = [each for each in tensors if re.fullmatch(kind + r"\d\.weights", each.name)]
        matrices = ", ".join(str(each.offset) for each in places)
        assert f"{name}[{count}] = {{ {matrices} }};" in source
    assert f"kWeightBytes = {size};" in source
    assert "kActivation = kLeakySmelu;" in source


def test_compiled_shaders_are_kept_and_a_cache_that_cannot_be_written_costs_only_time(
    tmp_path, monkeypatch
):
    one = "portable_sampled.glsl"
    monkeypatch.setattr(runtime, "TARGETS", {one: TARGETS[one]})
    monkeypatch.setenv("VERDIGRIS_CACHE_DIR", str(tmp_path))
    spec = NETWORKS["2x5 leaky_smelu"]
    first = runtime_files(spec)
    (kept,) = (tmp_path / "runtime").iterdir()
    assert {path.name for path in kept.iterdir()} == {one}

    def fail(*_):
        raise AssertionError("compiled again")

    with monkeypatch.context() as patch:
        patch.setattr(runtime, "_compile", fail)
        assert runtime_files(spec) == first
    monkeypatch.setattr(runtime, "cache_folder", lambda: None)
    assert runtime_files(spec) == first  # the same bytes from the same sources


def test_bundles_of_other_advice_share_what_is_the_same_and_nothing_else(tmp_path, monkeypatch):
    names = ("portable_sampled.glsl", "cooperative.hlsl")
    monkeypatch.setattr(runtime, "TARGETS", {name: TARGETS[name] for name in names})
    monkeypatch.setenv("VERDIGRIS_CACHE_DIR", str(tmp_path))
    found = {
        advised: runtime_files(NETWORKS["2x5 leaky_smelu"], advised)
        for advised in ("cooperative", "careful", "exacting", "portable")
    }
    assert len([*tmp_path.glob("runtime/*")]) == 4
    assert len({files["portable_sampled.glsl"] for files in found.values()}) == 1
    assert "cooperative.hlsl" not in found["portable"]
    products = {
        name: files["cooperative.hlsl"].count(b"MulAdd<") + files["cooperative.hlsl"].count(b"Mul<")
        for name, files in found.items()
        if name != "portable"
    }
    # two halves of each input of the first layer, and the second layer; then the second alone
    assert products == {"cooperative": 3, "careful": 1, "exacting": 1}


def test_a_version_opens_no_compiler():
    _compiler.cache_clear()
    assert compiler_version()
    # which takes .3 s
    assert "session" not in vars(_compiler())


def test_the_error_contains_the_output_of_the_compiler(tmp_path):
    (tmp_path / "wrong.slang").write_text('[shader("compute")] void main() { nonsense(); }')
    with pytest.raises(VerdigrisError, match="undefined identifier 'nonsense'"):
        compile_entry_point([Path(tmp_path / "wrong.slang"), "-entry", "main", "-target", "spirv"])


def test_texts_of_other_code_are_not_taken_from_the_cache(monkeypatch, tmp_path):
    name = "portable.glsl"
    key = runtime._key({}, name, TARGETS[name])
    assert runtime._key({}, name, TARGETS[name]) == key
    changed = tmp_path / "text_forms.py"
    changed.write_text(Path(runtime.text_forms.__file__).read_text() + "# changed\n")
    monkeypatch.setattr(runtime.text_forms, "__file__", str(changed))
    runtime._form.cache_clear()
    assert runtime._key({}, name, TARGETS[name]) != key
    runtime._form.cache_clear()
