"""The export for Unreal Engine 5: its shader by DXC and against reference rows, its importer on a
strict fake, its module by C++ and C# compilers with stubs. No Unreal has run them."""

import ast
import importlib.util
import json
import re
import shutil
import sys

import numpy as np
import pytest
import slangpy

from ..runtime.dxc import compile_hlsl
from ..runtime.shader_files import require_tool, run
from ..runtime.web_gpu import open_gpu, run_shader
from . import fake_unreal
from .engine_bundles import HERE, SPECS, export_to, largest_difference, queries_of, rows_above

PLUGIN = "Plugins/Verdigris"
STUBS = HERE / "unreal_stubs"
INCLUDE = re.compile(r'^#include "/Plugin/Verdigris/([^"]+)"', re.M)
# Unreal's macros, and the function that its translator writes of a custom node.
NODE = """
#define DDX ddx
#define DDY ddy
@PROGRAM@
struct FMaterialPixelParameters { float3 unused; };
float3 CustomExpression0(FMaterialPixelParameters Parameters, @INPUTS@)
{
@CODE@
}
Texture2D image; SamplerState imageSampler;
cbuffer Values { float3 values[6]; };
float4 main(float4 place : SV_Position, float2 uv : TEXCOORD0) : SV_Target
{
    FMaterialPixelParameters parameters = (FMaterialPixelParameters)0;
    return float4(CustomExpression0(parameters, @GIVEN@), 1.0);
}
"""


@pytest.fixture(scope="module", params=list(SPECS))
def written(request, tmp_path_factory):
    return export_to("unreal", request.param, tmp_path_factory.mktemp("unreal"))


def facts_of(files):
    return json.loads(files[f"{PLUGIN}/Resources/brass/material.json"].read_text())


def whole(files, name="brass.ush"):
    text = files[f"{PLUGIN}/Shaders/{name}"].read_text()
    return INCLUDE.sub(lambda found: whole(files, found[1]), text).replace("#pragma once\n", "")


def test_the_importer_builds_a_material_of_the_published_api(written, monkeypatch):
    _, files = written
    script = files[f"{PLUGIN}/Content/Python/verdigris_import.py"]
    ast.parse(script.read_text(), feature_version=(3, 9))
    monkeypatch.setitem(sys.modules, "unreal", fake_unreal)
    monkeypatch.setattr(fake_unreal, "assets", {})
    monkeypatch.setattr(fake_unreal.EditorAssetLibrary, "saved", [])
    spec = importlib.util.spec_from_file_location("verdigris_import", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with pytest.raises(RuntimeError, match=r"has no material\.json: name one of brass$"):
        module.import_material("bras")
    instance = module.import_material("brass")
    nodes = len(instance.parent.nodes)
    # again, after another bake: the same assets
    assert module.import_material("brass") is instance and len(instance.parent.nodes) == nodes
    assert {*fake_unreal.EditorAssetLibrary.saved} == {*fake_unreal.assets.values()}
    material, facts = instance.parent, facts_of(files)
    assert material.is_compiled
    has_maps = "opacity" in facts["textures"]
    wanted = {"MP_BASE_COLOR", "MP_METALLIC", "MP_ROUGHNESS", "MP_NORMAL", "MP_EMISSIVE_COLOR"}
    assert set(material.outputs) == wanted | ({"MP_OPACITY_MASK"} if has_maps else set())
    # every input of every node has a source
    for node in material.nodes:
        assert set(node.connected) == set(node.input_names()), node.get_name()
    (custom,) = [
        each for each in material.nodes if isinstance(each, fake_unreal.MaterialExpressionCustom)
    ]
    assert custom.values["include_file_paths"] == ["/Plugin/Verdigris/brass.ush"]
    words = set(re.findall(r"\b[A-Z]\w+", custom.values["code"])) - {"DDX", "DDY"}
    assert words == set(custom.input_names())
    numbers = fake_unreal.assets["/Game/Verdigris/brass/T_brass_latents"].values
    assert numbers["srgb"] is False and numbers["never_stream"] is True
    assert numbers["compression_settings"].name == "TC_VECTOR_DISPLACEMENTMAP"
    assert custom.connected["Latents"][0].values["texture"].values == numbers


def test_dxc_compiles_the_custom_node(written):
    files = written[1]
    facts = facts_of(files)
    inputs = {
        "Latents": "image, imageSampler",
        "UV": "uv",
        **{
            name: f"values[{index}]"
            for index, name in enumerate(
                ("Position", "Normal", "View", "ToLight", "LightColor", "Live")
            )
        },
    }
    declared = [
        "Texture2D Latents, SamplerState LatentsSampler" if name == "Latents" else f"{kind} {name}"
        for name, kind in zip(inputs, ["", "float2", *["float3"] * 6], strict=True)
    ]
    text = NODE.replace("@PROGRAM@", whole(files)).replace("@CODE@", facts["code"])
    text = text.replace("@INPUTS@", ", ".join(declared)).replace(
        "@GIVEN@", ", ".join(inputs.values())
    )
    assert compile_hlsl(text.encode(), "ps_6_0", "main")


def test_compilers_take_the_module_with_stubs(written, tmp_path):
    files = written[1]
    source = f"{PLUGIN}/Source/Verdigris"
    plugin = json.loads(files[f"{PLUGIN}/Verdigris.uplugin"].read_text())
    # materials are compiled later, and look for the mapped folder
    assert plugin["Modules"] == [
        {"Name": "Verdigris", "Type": "Runtime", "LoadingPhase": "PostConfigInit"}
    ]
    compiler = next(filter(None, map(shutil.which, ("c++", "g++", "clang++"))), None)
    mcs = shutil.which("mcs")
    if compiler is None or mcs is None:
        pytest.skip("a C++ compiler or mcs is not installed: install g++ and mono-mcs")
    code = files[f"{source}/Private/VerdigrisModule.cpp"]
    run(compiler, "-std=c++17", "-fsyntax-only", "-Wall", "-Werror", f"-I{STUBS}", code)
    target = f"-out:{tmp_path / 'a.dll'}"
    rules = files[f"{source}/Verdigris.Build.cs"]
    run(mcs, "-t:library", "-warnaserror", target, STUBS / "ModuleRules.cs", rules)


_STAND_INS = (
    ("m.latents.Load(", "fetchAtlas("),
    ("    Texture2D latents;\n", "    int unused;\n"),
    ("Texture2D latents, float2 meshUv", "float2 meshUv"),
    ("    m.latents = latents;\n", "    m.unused = 0;\n"),
    # the numbers of the text, in a buffer: the software device copies arrays at each call
    ("return kNeuralNumbers[i]", "return numbers[i]"),
)
NUMBERS = re.compile(r"static const float4 kNeuralNumbers\[\d+\] = \{(.*?)\};\n", re.S)


def test_the_light_of_the_node_gives_the_reference_rows(written, tmp_path):
    exported, files = written
    columns, wanted = rows_above(exported)
    height, width = exported.latents.size
    queries = queries_of(columns, {"latents": {"width": width, "height": height}})
    atlas = np.array(slangpy.Bitmap(files[f"{PLUGIN}/Resources/brass/T_brass_latents.png"]))
    program = whole(files)
    numbers = np.float32(
        re.findall(r"[-+.\de]+(?=[,)])", NUMBERS.search(program)[1].replace("float4(", ""))
    )
    program = NUMBERS.sub("", program)
    for engine, own in _STAND_INS:
        assert engine in program
        program = program.replace(engine, own)
    text = (HERE / "unreal_rows.hlsl").read_text().replace("@PROGRAM@", program)
    source, output = tmp_path / "a.hlsl", tmp_path / "a.spv"
    source.write_text(text.replace("@ATLAS_WIDTH@", str(atlas.shape[1])))
    run(
        require_tool("glslangValidator"),
        *("-D", "-V", "-e", "main", "-S", "comp", "--target-env", "vulkan1.1"),
        *(source, "-o", output),
    )
    texels = np.ones((*atlas.shape[:2], 4), "<f4")
    texels[..., :3] = atlas / np.float32(255)
    gpu, _ = opened = open_gpu("wgpu")
    storage, count = gpu.BufferUsage.STORAGE, 2 * len(wanted)
    bound = [
        (np.uint32([count, 0, 0, 0]), gpu.BufferUsage.UNIFORM),
        (queries, storage),
        None,
        (texels, storage),
        (numbers, storage),
    ]
    found = run_shader(opened, output.read_bytes(), "main", bound, count, numbers=4)
    for each in found.reshape(2, -1, 4):
        assert largest_difference(each[:, :3] / [1, 0.5, 0.25], wanted) < 2e-3


def test_images_are_upright_and_normals_are_those_of_unreal(written):
    """Row 0 of an image is the top, v = 1; y of normals points down."""
    _, files = written
    from verdigris.core.bundle.files.read import open_bundle

    folder = files[f"{PLUGIN}/Verdigris.uplugin"].parents[3] / "brass.vdg"
    proxies = open_bundle(folder).proxies()
    stored = proxies.levels[0]
    base, rough, normal = (
        np.array(slangpy.Bitmap(files[f"{PLUGIN}/Resources/brass/T_brass_{kind}.png"]))
        for kind in ("base", "roughness", "normal")
    )
    assert base.shape[:2] == rough.shape[:2] == normal.shape[:2] == stored.shape[1:3]
    np.testing.assert_array_equal(rough[::-1, :, 0], stored[0, ..., 3])
    x, y = (stored[layer, ..., 3] / 255 * 2 - 1 for layer in (1, 2))
    length = np.sqrt(np.maximum(x * x + y * y, 1))
    found = normal[::-1].astype(float) / 127.5 - 1
    np.testing.assert_allclose(found[..., 0], x / length, atol=0.02)
    np.testing.assert_allclose(found[..., 1], -y / length, atol=0.02)
