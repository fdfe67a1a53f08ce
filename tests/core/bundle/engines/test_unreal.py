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
cbuffer View { float4x4 View_TranslatedWorldToClip; };
struct ViewState { float4x4 TranslatedWorldToClip; };
static ViewState ResolvedView;
float3 CustomExpression0(FMaterialPixelParameters Parameters, @INPUTS@)
{
@CODE@
}
Texture2D image; SamplerState imageSampler;
cbuffer Values { float3 values[9]; };
float4 main(float4 place : SV_Position, float2 uv : TEXCOORD0) : SV_Target
{
    ResolvedView.TranslatedWorldToClip = View_TranslatedWorldToClip;
    FMaterialPixelParameters parameters = (FMaterialPixelParameters)0;
    return float4(CustomExpression0(parameters, @GIVEN@), 1.0);
}
"""
# The name of Unreal that no input has.
TO_CLIP = {"TranslatedWorldToClip"}


@pytest.fixture(scope="module", params=list(SPECS))
def written(request, tmp_path_factory):
    return export_to("unreal", request.param, tmp_path_factory.mktemp("unreal"))


def facts_of(files):
    return json.loads(files[f"{PLUGIN}/Resources/brass/material.json"].read_text())


def kind_of(facts):
    return facts.get("passing", {}).get("kind")


def whole(files, name="brass.ush"):
    text = files[f"{PLUGIN}/Shaders/{name}"].read_text()
    return INCLUDE.sub(lambda found: whole(files, found[1]), text).replace("#pragma once\n", "")


def importer(files, monkeypatch):
    script = files[f"{PLUGIN}/Content/Python/verdigris_import.py"]
    ast.parse(script.read_text(), feature_version=(3, 9))
    monkeypatch.setitem(sys.modules, "unreal", fake_unreal)
    monkeypatch.setattr(fake_unreal, "assets", {})
    monkeypatch.setattr(fake_unreal.EditorAssetLibrary, "saved", [])
    spec = importlib.util.spec_from_file_location("verdigris_import", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def imported(files, monkeypatch):
    return importer(files, monkeypatch).import_material("brass")


def test_the_importer_builds_a_material_of_the_published_api(written, monkeypatch):
    _, files = written
    module = importer(files, monkeypatch)
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
    wanted |= {"MP_OPACITY_MASK"} if has_maps else set()
    wanted |= {"leaf": {"MP_SUBSURFACE_COLOR"}, "clear": {"MP_OPACITY"}, None: set()}[
        kind_of(facts)
    ]
    assert set(material.outputs) == wanted
    # every input of every node has a source
    for node in material.nodes:
        assert set(node.connected) == set(node.input_names()), node.get_name()
    customs = [
        each for each in material.nodes if isinstance(each, fake_unreal.MaterialExpressionCustom)
    ]
    (custom,) = [each for each in customs if "Latents" in each.input_names()]
    assert len(customs) == 1 + (kind_of(facts) == "clear")
    assert custom.values["include_file_paths"] == ["/Plugin/Verdigris/brass.ush"]
    words = set(re.findall(r"\b[A-Z]\w+", custom.values["code"])) - {"DDX", "DDY"}
    assert words == set(custom.input_names())
    numbers = fake_unreal.assets["/Game/Verdigris/brass/T_brass_latents"].values
    assert numbers["srgb"] is False and numbers["never_stream"] is True
    assert numbers["compression_settings"].name == "TC_VECTOR_DISPLACEMENTMAP"
    assert custom.connected["Latents"][0].values["texture"].values == numbers


def node_program(files, code):
    """A pixel shader with the custom node, as Unreal's translator writes it."""
    kinds = {
        **dict.fromkeys(("Latents", "Heights"), ("Texture2D", "image, imageSampler")),
        "UV": ("float2", "uv"),
        "Depth": ("float", "values[0].x"),
    }
    used = set(re.findall(r"\b[A-Z]\w+", code)) - {"DDX", "DDY", "ResolvedView"} - TO_CLIP
    declared, given = [], []
    for index, name in enumerate(sorted(used)):
        kind, value = kinds.get(name, ("float3", f"values[{index}]"))
        sampler = f", SamplerState {name}Sampler" if kind == "Texture2D" else ""
        declared.append(f"{kind} {name}{sampler}")
        given.append(value)
    text = NODE.replace("@PROGRAM@", whole(files)).replace("@CODE@", code)
    return text.replace("@INPUTS@", ", ".join(declared)).replace("@GIVEN@", ", ".join(given))


def test_dxc_compiles_the_custom_node(written):
    files = written[1]
    program = node_program(files, facts_of(files)["code"])
    assert compile_hlsl(program.encode(), "ps_6_0", "main")


def test_glass_is_seen_through_by_a_node_and_the_colour_of_the_scene(tmp_path, monkeypatch):
    _, files = export_to("unreal", "glass", tmp_path)
    facts = facts_of(files)
    assert compile_hlsl(node_program(files, facts["passing"]["code"]).encode(), "ps_6_0", "main")
    material = imported(files, monkeypatch).parent
    outputs = {"MP_OPACITY", "MP_BASE_COLOR", "MP_METALLIC", "MP_ROUGHNESS", "MP_NORMAL"}
    assert set(material.outputs) == outputs | {"MP_EMISSIVE_COLOR"}
    assert material.values["blend_mode"].name == "BLEND_TRANSLUCENT"
    assert material.values["two_sided"] is False
    for node in material.nodes:
        assert set(node.connected) == set(node.input_names()), node.get_name()


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
    ("(Texture2D latents, ", "("),
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
    # a flat height map
    read = "float4(heights.Load(int3(at, 0)).xyz, heights.Load(int3(at + int2(width, 0), 0)).x)"
    assert (read in program) == (exported.parameters.transmitted is not None)
    program = program.replace(read, "float4(0.0, 0.0, 0.0, 0.0)")
    program = re.sub(r"\b(Texture2D )?heights, ", "", program)
    program = re.sub(r"(kNeuralHeights = float4\().*\)", r"\g<1>128, 64, 0.1, 0.0)", program)
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
