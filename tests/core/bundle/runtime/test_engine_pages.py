"""The code of docs/RUNTIME.md and docs/engines/ compiles."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from verdigris.core.bundle.files.write import Contents, write_bundle
from verdigris.core.bundle.runtime.runtime_files import EXAMPLES, RUNTIME_SHADERS, slang_files
from verdigris.core.pictures.gbuffer import sphere_gbuffer
from verdigris.core.pictures.render import Lighting
from verdigris.shaders import SHADER_FOLDER

from ..bundles import made_up
from .dxc import compile_hlsl
from .shader_files import NETWORKS, compile_strictly, require_tool, run
from .web_gpu import COMPILERS, open_gpu

DOCS = Path(__file__).parents[4] / "docs"
PAGES = [DOCS / "RUNTIME.md", DOCS / "FORMAT.md", DOCS / "WRITING.md", *DOCS.glob("engines/*.md")]
PAGE = "engines/SHADERS.md"


def code_of(page, language, number=0):
    return re.findall(rf"```{language}\n(.*?)```", (DOCS / page).read_text(), re.S)[number]


def test_the_first_program_opens_and_checks_a_bundle(tmp_path):
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    if compiler is None:
        pytest.skip("there is no C compiler")
    write_bundle(tmp_path / "a.vdg", made_up(NETWORKS["2x5 leaky_smelu"]), Contents(name="tray"))
    (tmp_path / "first.c").write_text(code_of("RUNTIME.md", "c"))
    program = tmp_path / "first"
    run(compiler, "-I", RUNTIME_SHADERS, tmp_path / "first.c", "-o", program, "-lm")
    found = subprocess.run(
        [program, tmp_path / "a.vdg"], capture_output=True, text=True, check=True
    )
    assert re.fullmatch(
        r"tray: 16 x 8, largest difference 0\.00\d+ of what is allowed\n", found.stdout
    )


def test_the_commands_of_pages_are_those_that_are_tested():
    """glslang takes no space behind -I, which C compilers do."""
    for page in PAGES:
        assert not re.search(r"glslangValidator[^\n]* -I ", page.read_text()), page.name
    assert (
        "NAME.vdg/runtime/picture.comp -o picture.spv" in (DOCS / "engines/VULKAN.md").read_text()
    )


PIXEL = """float4 main(float2 uv : TEXCOORD0) : SV_Target
{ return float4(shadeSurface(uv, 64, float3(0, 0, 1), float3(0, 0, 1), 1), 1); }
"""


def test_direct3d_takes_the_first_shader(small_files):
    name = "portable_constants.hlsl"
    page = code_of("engines/D3D12.md", "hlsl").replace(
        f'#include "{name}"', small_files[name].decode()
    )
    text = f"#define NEURAL_NO_ENTRY_POINT\n{page}{PIXEL}"
    assert compile_hlsl(text.encode(), "ps_6_0", "main")[:4] == b"DXBC"


def test_the_first_shaders_compile(small_files, tmp_path):
    compiler = require_tool("glslangValidator")
    names = ("portable_constants.glsl", "portable_constants.hlsl", "portable_sampled.glsl")
    for name in names:
        (tmp_path / name).write_bytes(small_files[name])
    glsl = code_of("RUNTIME.md", "glsl") + (
        "layout(location = 0) out vec4 color;\n"
        "const vec3 up = vec3(0, 0, 1);\n"
        "void main() { color = vec4(shadeSurface(vec2(.5), 0., up, up, vec3(1)), 1); }\n"
    )
    output = tmp_path / "first.spv"
    run(compiler, "-V", f"-I{tmp_path}", EXAMPLES / "picture.comp", "-o", output)
    for text in (glsl, code_of("engines/SHADERS.md", "glsl")):
        (tmp_path / "first.frag").write_text(text)
        run(compiler, "-V", f"-I{tmp_path}", tmp_path / "first.frag", "-o", output)
    hlsl = code_of("engines/D3D12.md", "hlsl") + PIXEL
    (tmp_path / "first.hlsl").write_text("#define NEURAL_NO_ENTRY_POINT\n" + hlsl)
    command = [compiler, "-D", "-V", "-S", "frag", "-e", "main", f"-I{tmp_path}"]
    run(*command, tmp_path / "first.hlsl", "-o", output)


CPP = """#include <wsl/winadapter.h>
#include <directx/d3dx12.h>
#include <wrl/client.h>
#include <stdexcept>
#include <vector>
#define VERDIGRIS_IMPLEMENTATION
#include "verdigris.h"
using Microsoft::WRL::ComPtr;
void draw(ID3D12Device *device, ID3D12GraphicsCommandList *commands, ID3D12Resource *texture,
          ID3D12Resource *staging, ID3D12DescriptorHeap *heap)
{
"""


def test_the_host_code_of_direct3d_compiles(tmp_path):
    """With Microsoft's headers for Linux, whose stubs stand for Windows; they cannot run it."""
    compiler = next(filter(None, map(shutil.which, ("c++", "g++", "clang++"))), None)
    if compiler is None or not Path("/usr/include/directx/d3dx12.h").exists():
        pytest.skip("a C++ compiler or the package directx-headers-dev is missing")
    upload, host = (code_of("engines/D3D12.md", "cpp", number) for number in range(2))
    opened, mark, rest = host.partition("auto upload")
    source = tmp_path / "host.cpp"
    source.write_text(f"{CPP}{opened}{upload}{mark}{rest}}}\n")
    folders = ["-I", "/usr/include/wsl/stubs", "-I", RUNTIME_SHADERS]
    run(compiler, "-std=c++17", "-fsyntax-only", *folders, source)


IMPORTS = ("neural_material", "neural_latents", "neural_record")
GLOBALS = """
StructuredBuffer<NeuralRecord> records;
ByteAddressBuffer weights;
Texture2DArray<float4> latents;
TextureCube<float4> radianceMap, irradianceMap;
SamplerState sampler;
RWStructuredBuffer<float3> pixels;
static const uint kRounds = 2;
"""
MADE = """{
    const NeuralRecord record = records[0];
    const NeuralMaterial material = { record, weights, latents };
    const NeuralSampled filter = { sampler };
    const float2 uv = 0.5, random = 0.5;
    const float3 wo = float3(0, 0, 1), wi = wo, toSun = wo, sunIrradiance = 1.0;
    const float lod = 0.0, width = 64.0, visible = 1.0;
    const float3x3 toWorld = float3x3(1, 0, 0, 0, 1, 0, 0, 0, 1);
"""
KERNEL = f"[numthreads(1, 1, 1)]\nvoid shade()\n{MADE}"
MATRICES = ("spvCooperativeMatrixKHR", "spvCooperativeMatrixConversionsNV")


def test_the_slang_of_pages_compiles(tmp_path):
    """Each piece in a kernel of its own, with what the page says that it stands beside."""
    for name, data in slang_files(NETWORKS["2x5 leaky_smelu"]).items():
        (tmp_path / name).write_bytes(data)
    call, several, _, matrices, light = (code_of(PAGE, "hlsl", number) for number in range(5))
    assert re.findall(r"import (\w+);", call) == [*IMPORTS]
    # statements of a page, or a whole kernel of it
    pieces = [
        (call, "reflected + cheaper"),
        (several, "reflected + next.weight + direction * density"),
        (light, "seen"),
        (matrices.replace("\n{\n", f"\n{MADE}", 1), ""),
    ]
    for number, (code, result) in enumerate(pieces):
        imports = dict.fromkeys((*IMPORTS, *re.findall(r"import (\w+);", code)))
        body = re.sub(r"import \w+;.*\n", "", code)
        if result:
            body = f"{KERNEL}{{\n{body}pixels[0] = {result};\n}}\n}}"
        else:
            body = body.replace("const float3 reflected = ", "pixels[thread] = ")
        text = "".join(f"import {each};\n" for each in imports) + GLOBALS + body
        path = tmp_path / f"piece{number}.slang"
        path.write_text(text.replace("[numthreads", '[shader("compute")]\n[numthreads'))
        capabilities = ("sm_6_0", *(() if result else MATRICES))
        options = ("-target", "spirv", "-profile", "spirv_1_6", "-I", tmp_path)
        named = [each for name in capabilities for each in ("-capability", name)]
        assert compile_strictly(["-entry", "shade", "-stage", "compute", *options, *named, path])


def test_the_studio_is_that_of_pictures():
    page = (DOCS / "engines/SHADERS.md").read_text()
    shader = (SHADER_FOLDER / "pictures" / "shade_view.slang").read_text()
    (studio,) = [each for each in re.findall(r"```hlsl\n(.*?)```", page, re.S) if "softBox" in each]
    for function in studio.strip().split("\n\n"):
        assert function in shader
    light = Lighting()
    for numbers in (light.direction, light.colour):
        assert str(numbers) in page
    assert f"times {light.environment}," in page
    view = sphere_gbuffer(64)
    # all rays meet at the eye
    far = (5.098 - view.position[:, 2:]) / view.to_eye[:, 2:]
    assert np.abs((view.position + far * view.to_eye)[:, :2]).max() < 1e-3
    p, (u, v) = view.position, view.uv.T
    np.testing.assert_allclose(np.arctan2(p[:, 0], p[:, 2]) / np.pi + 0.5, u, atol=1e-6)
    np.testing.assert_allclose(np.arcsin(p[:, 1]) / np.pi + 0.5, v, atol=1e-5)


@pytest.mark.parametrize("package", COMPILERS, ids=COMPILERS.values())
def test_the_first_wgsl_compiles(package, small_files):
    _, device = open_gpu(package)
    page = code_of("engines/WEBGPU.md", "js")
    own = re.search(r"`\n(@fragment.*?)`", page, re.S)[1]
    (mark,) = re.findall(r"split\('(.*?)'\)", page)
    text = small_files["portable.wgsl"].decode().split(mark)[0]
    device.create_shader_module(code=text + own)
