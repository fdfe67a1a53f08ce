"""The layer with baked looks, over materials in every kind of arc, read by USD itself."""

import json
import re
import subprocess

import numpy as np
import pytest
from pxr import Usd, UsdShade, UsdValidation

from verdigris.core.hosts.host import ShaderLook, ShaderTexture
from verdigris.core.hosts.look_layer import StageLook, look_of, write_looks, write_stage_with_looks
from verdigris.core.material.load.mtlx_document import parse_document
from verdigris.core.material.usd.usdshade import convert
from verdigris.core.pictures.picture_files import write_data

from ...plugins.blender.test_in_blender import blender_python

PAINT = """
    {word} Material "{name}" (
        prepend apiSchemas = ["MaterialXConfigAPI"]
    )
    {{
        string config:mtlx:version = "1.39"
        token outputs:surface.connect = <{path}/preview.outputs:surface>
        token outputs:mtlx:surface.connect = <{path}/paint.outputs:out>
        token outputs:mtlx:displacement.connect = <{path}/lift.outputs:out>
        def Shader "lift"
        {{
            uniform token info:id = "ND_displacement_float"
            float inputs:displacement = 0.1
            token outputs:out
        }}
        def Shader "preview"
        {{
            uniform token info:id = "UsdPreviewSurface"
            token outputs:surface
        }}
        def Shader "paint"
        {{
            uniform token info:id = "ND_standard_surface_surfaceshader"
            token outputs:out
        }}
    }}
"""
HEAD = '#usda 1.0\n(\n    defaultPrim = "{}"\n    upAxis = "Z"\n    metersPerUnit = 0.01\n)\n'
KINDS = "base_color", "roughness", "metalness", "normal", "opacity"
PATHS = "/set/local", "/second/paint", "/first/paint"


@pytest.fixture
def show(tmp_path):
    """A stage with a material of its own, with one that it references, and with one in two
    instances; and the looks of all."""
    (tmp_path / "prop.usda").write_text(
        HEAD.format("prop")
        + 'def Xform "prop"\n{\n'
        + PAINT.format(word="def", name="paint", path="/prop/paint")
        + "}\n"
    )
    text = HEAD.format("set") + 'def Xform "set"\n{\n'
    text += PAINT.format(word="def", name="local", path="/set/local") + "}\n"
    for name, more in (("first", "instanceable = true\n"), ("second", ""), ("twin", "")):
        more = "instanceable = true\n" if name == "twin" else more
        text += f'def "{name}" (\n    references = @./prop.usda@\n    {more})\n{{\n}}\n'
    file = tmp_path / "show.usda"
    file.write_text(text)
    baked = tmp_path / "baked"
    baked.mkdir()
    (baked / "paint.vdg").mkdir()
    textures = {kind: baked / f"paint_{kind}.png" for kind in KINDS}
    for texture in textures.values():
        write_data(texture, np.full((2, 2, 1), 0.5, np.float32))
    return file, {path: StageLook(baked / "paint.vdg", textures) for path in PATHS}


def write(show, folder):
    file, looks = show
    layer, stage = folder / "show.looks.usda", folder / "show.baked.usda"
    notes = write_looks(Usd.Stage.Open(str(file)), looks, layer)
    write_stage_with_looks(file, layer, stage)
    return Usd.Stage.Open(str(stage)), notes


def surfaces(stage, path):
    material = UsdShade.Material.Get(stage, path)
    # a look displaces as its source
    (lift, *_) = material.ComputeDisplacementSource("mtlx")
    assert str(lift.GetPath()) == f"{path}/lift"
    found = (material.ComputeSurfaceSource(context)[0] for context in ("", "mtlx"))
    return [str(each.GetPath()).removeprefix(path) for each in found]


SOURCES = ["/preview", "/paint"]
LOOKS = ["/verdigris_look/preview", "/verdigris_look/materialx"]


def test_the_variants_choose_between_source_and_bake_wherever_a_material_is(show, tmp_path):
    stage, notes = write(show, tmp_path / "baked")
    assert notes == ()
    assert Usd.Stage.Open(str(show[0])).GetPrimAtPath("/first").IsInstance()
    for path in (*PATHS, "/twin/paint"):
        assert surfaces(stage, path) == LOOKS, path
    for path in PATHS[:2]:
        stage.GetPrimAtPath(path).GetVariantSet("look").SetVariantSelection("source")
        assert surfaces(stage, path) == SOURCES
    # instances are still instances, and share one prototype
    first, twin = (stage.GetPrimAtPath(f"/{name}") for name in ("first", "twin"))
    assert first.GetPrototype() == twin.GetPrototype() and first.IsInstance()
    [of_instances] = [each for each in stage.GetLayerStack() if "looks" in each.identifier]
    prim = of_instances.GetPrimAtPath("/_verdigris_looks/first/paint")
    prim.variantSelections["look"] = "source"
    assert surfaces(stage, "/twin/paint") == SOURCES


def test_a_second_layer_keeps_the_source_of_the_first(show, tmp_path):
    write(show, tmp_path / "baked")
    again = tmp_path / "baked" / "show.baked.usda"
    stage, _ = write((again, show[1]), tmp_path)
    for path in PATHS[:2]:
        assert surfaces(stage, path) == LOOKS
        stage.GetPrimAtPath(path).GetVariantSet("look").SetVariantSelection("source")
        assert surfaces(stage, path) == SOURCES


def test_files_are_relative_and_move_with_the_layer(show, tmp_path):
    write(show, tmp_path / "baked")
    text = (tmp_path / "baked" / "show.looks.usda").read_text()
    files = set(re.findall("@([^@]*)@", text))
    assert files == {"./paint.vdg", *(f"./paint_{kind}.png" for kind in KINDS)}
    stage = (tmp_path / "baked" / "show.baked.usda").read_text()
    assert re.findall("@([^@]*)@", stage) == ["./show.looks.usda", "../show.usda"]
    assert 'upAxis = "Z"' in text and 'upAxis = "Z"' in stage and "metersPerUnit = 0.01" in stage


def test_the_layer_is_valid_and_the_baked_material_compiles(show, tmp_path):
    stage, _ = write(show, tmp_path / "baked")
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    for checked in (stage, Usd.Stage.Open(str(tmp_path / "baked" / "show.looks.usda"))):
        found = UsdValidation.ValidationContext(validators).Validate(checked)
        said = [f"{each.GetName()}: {each.GetMessage()}" for each in found]
        # a layer has no prim to reference by default, and usd-core has no nodes of MaterialX
        expected = "MissingDefaultPrim", "MissingShaderIdInRegistry: shaderId 'ND_"
        assert [each for each in said if not each.startswith(expected)] == []
    for path in PATHS:
        found = convert(stage, path)
        loaded = parse_document(found.text)
        loaded.check(loaded.require_material(found.name))
        assert found.notes == ()


def test_a_fitted_shader_is_shown_in_renderers_of_materialx(show, tmp_path):
    file, looks = show
    base = ShaderTexture(tmp_path / "base.png", True, False)
    rough = ShaderTexture(tmp_path / "rough.png", False, False, 0.25, 0.75)
    values = {"base": 0.9, "coat": 0.5, "unknown": 1.0, "coat_color": (0.1, 0.2, 0.3)}
    shader = ShaderLook(
        "standard_surface", values, {"base_color": base, "specular_roughness": rough}
    )
    looks = {"/set/local": StageLook(tmp_path / "x.vdg", {}, shader)}
    stage, _ = write((file, looks), tmp_path)
    text = convert(stage, "/set/local").text
    [low] = re.findall(r'name="outlow" type="float" value="([^"]*)"', text)
    assert low == "0.25" and 'name="coat_color" type="color3" value="0.1, 0.2, 0.3"' in text
    assert 'colorspace="srgb_texture"' in text and "unknown" not in text
    assert surfaces(stage, "/set/local")[0] == "/verdigris_look/materialx"


@pytest.mark.parametrize("version", ["1.38", "1.39", ""])
def test_a_normal_map_is_written_in_the_version_of_the_material(show, tmp_path, version):
    file, looks = show
    written = f'config:mtlx:version = "{version}"' if version else 'other = ""'
    file.write_text(file.read_text().replace('config:mtlx:version = "1.39"', written))
    stage, _ = write((file, looks), tmp_path)
    found = convert(stage, "/set/local")
    assert f'<materialx version="{version or "1.39"}"' in found.text and found.notes == ()
    if not version:
        # the source still has the version that USD supposes
        stage.GetPrimAtPath("/set/local").GetVariantSet("look").SetVariantSelection("source")
        assert '<materialx version="1.38"' in convert(stage, "/set/local").text
    loaded = parse_document(found.text)
    material = loaded.require_material(found.name)
    loaded.check(material)
    kinds = {each.getCategory(): each for each in loaded.nodes_of(material)}
    assert kinds["normalmap"].getNodeDef() is not None


def test_without_textures_the_bundle_alone_is_noted(show, tmp_path):
    file, _ = show
    stage, _ = write((file, {"/set/local": StageLook(tmp_path / "x.vdg")}), tmp_path)
    assert surfaces(stage, "/set/local") == SOURCES
    noted = stage.GetPrimAtPath("/set/local").GetAttribute("verdigris:bundle").Get()
    assert noted.path == "./x.vdg"


def test_a_material_in_nested_instances_is_named(tmp_path, show):
    outer = tmp_path / "outer.usda"
    outer.write_text(
        HEAD.format("set") + 'def "set" (\n    instanceable = true\n    references = '
        "@./inner.usda@\n)\n{\n}\n"
    )
    (tmp_path / "inner.usda").write_text(
        HEAD.format("in") + 'def "in"\n{\n    def "prop" (\n        instanceable = true\n        '
        "references = @./prop.usda@\n    )\n    {\n    }\n}\n"
    )
    _, notes = write((outer, {"/set/prop/paint": StageLook(tmp_path / "x.vdg")}), tmp_path)
    assert len(notes) == 1 and notes[0].startswith("/set/prop/paint is inside of an instance")


def test_the_look_of_a_bundle_is_what_lies_beside_it(tmp_path):
    bundle = tmp_path / "x.vdg"
    assert look_of(bundle) == StageLook(bundle)
    (tmp_path / "x_normal.png").write_bytes(b"")
    assert look_of(bundle).textures == {"normal": tmp_path / "x_normal.png"}
    port = {"file": "c.png", "is_colour": True, "is_direction": False, "low": 0, "high": 1}
    shader = {"category": "open_pbr_surface", "values": {}, "textures": {"base_color": port}}
    rungs = [
        {"name": "neural", "bundle": "x.vdg"},
        {"name": "pbr", "scene_shader": shader, "scene_textures": {"base_color": "b.png"}},
    ]
    report = {
        "format": "verdigris.ladder",
        "name": "x",
        "rungs": rungs,
        "uv_set_of_materials": "uv1",
    }
    (tmp_path / "ladder.json").write_text(json.dumps(report))
    look = look_of(bundle)
    assert look.shader.category == "open_pbr_surface" and look.shader.uv_set == "uv1"
    assert look.shader.textures["base_color"].file == tmp_path / "c.png"
    assert look_of(tmp_path / "other.vdg").shader is None
    (tmp_path / "x_normal.png").unlink()
    assert look_of(bundle).textures == {"base_color": tmp_path / "b.png"}
    (tmp_path / "ladder.json").write_text("{")
    assert look_of(bundle) == StageLook(bundle)


READ = """
import sys, bpy
bpy.utils.expose_bundled_modules()
from pxr import Usd, UsdShade, UsdUtils
stage = Usd.Stage.Open(sys.argv[1])
for path in sys.argv[2:]:
    material = UsdShade.Material.Get(stage, path)
    for context in ("", "mtlx"):
        print(material.ComputeSurfaceSource(context)[0].GetPath())
checker = UsdUtils.ComplianceChecker()
checker.CheckCompliance(sys.argv[1])
for said in (*checker.GetErrors(), *checker.GetFailedChecks(), *checker.GetWarnings()):
    print(said)
"""


def test_blenders_usd_reads_the_same_and_finds_no_fault(show, tmp_path):
    python = blender_python()
    if python is None:
        pytest.skip("no bpy: make it with `python3 packaging/bootstrap.py test --blender`")
    write(show, tmp_path / "baked")
    command = [str(python), "-P", "-c", READ, str(tmp_path / "baked" / "show.baked.usda"), *PATHS]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert said.splitlines() == [f"{path}{look}" for path in PATHS for look in LOOKS]
