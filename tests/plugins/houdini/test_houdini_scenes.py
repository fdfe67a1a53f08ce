"""Chains of LOPs, mirrored and flat objects, other panels."""

import importlib
from pathlib import Path

import numpy as np
import pytest
from houdini_nodes import PARMS
from pxr import Sdf, Sdr, Usd, UsdShade

from verdigris.core.hosts.host import BakedResult
from verdigris.core.hosts.look_layer import StageLook, write_looks, write_stage_with_looks

from ..hosts import by_name, flattened
from .scenes import LIBRARY, PLATE, texture_of


@pytest.mark.parametrize("shows_the_end", [True, False])
def test_a_result_does_not_change_what_the_stage_shows(shows_the_end, harness, tmp_path):
    scene = harness.houdini
    nested = by_name(harness.host, "nested")
    scene.add("/stage/lights", "null", input=LIBRARY, display=shows_the_end)
    scene.nodes[LIBRARY]["display"] = not shows_the_end
    harness.host.attach(nested, BakedResult(tmp_path / "a.vdg"))
    shown = [path for path, facts in scene.nodes.items() if facts["display"]]
    expected = "/stage/lights" if shows_the_end else "/stage/verdigris_result"
    assert [path for path in shown if path.startswith("/stage/")] == [expected]
    # the displayed node has the result in both cases
    assert scene.nodes["/stage/lights"]["input"] == "/stage/verdigris_result"


GLOWS = ("emission", "opacity")


def test_a_principled_shader_loses_emission_and_opacity_with_its_material(harness, tmp_path):
    def parms_with(*more):
        result = BakedResult(tmp_path / "a.vdg", flattened(tmp_path, *more))
        harness.host.attach(harness.first, result)
        return harness.houdini.nodes["/mat/gold_verdigris"]["parms"]

    switches = ("emitcolor_useTexture", "opaccolor_useTexture")
    factors = ("emitcolorr", "emitcolorg", "emitcolorb", "emitint")
    plain = dict(parms_with())
    assert not any(plain[name] for name in (*switches, *factors))
    found = dict(parms_with(*GLOWS))
    assert found["emitcolor_texture"] == "$HIP/emission.png"
    assert found["opaccolor_texture"] == "$HIP/opacity.png"
    # without this, the shader's default is no colour space
    assert found["opaccolor_textureColorSpace"] == "linear"
    assert found["basecolor_textureColorSpace"] == found["emitcolor_textureColorSpace"] == "sRGB"
    assert all(found[name] == 1 for name in (*switches, *factors))
    before = harness.snapshot()
    again = parms_with()
    assert not any(again[name] for name in (*switches, *factors))
    assert {name: value for name, value in again.items() if value} == {
        name: value for name, value in plain.items() if value
    }
    harness.undo()
    assert harness.snapshot() == before


def test_a_principled_shader_without_colour_spaces_gets_its_textures(
    harness, tmp_path, monkeypatch
):
    kind = "principledshader::2.0"
    older = [name for name in PARMS[kind] if not name.endswith("ColorSpace")]
    monkeypatch.setitem(PARMS, kind, older)
    result = BakedResult(tmp_path / "a.vdg", flattened(tmp_path, *GLOWS))
    harness.host.attach(harness.first, result)
    found = harness.houdini.nodes["/mat/gold_verdigris"]["parms"]
    assert set(found) == set(older) and found["opaccolor_useTexture"] == 1


def test_a_preview_surface_loses_emission_and_opacity_with_its_material(harness, tmp_path):
    nested = by_name(harness.host, "nested")

    def surface_with(*more):
        result = BakedResult(tmp_path / "a.vdg", flattened(tmp_path, *more))
        harness.host.attach(nested, result)
        stage = harness.houdini.hou.node("/stage/verdigris_result").stage()
        material = UsdShade.Material(stage.GetPrimAtPath("/materials/nested"))
        return stage, material.ComputeSurfaceSource()[0]

    _, surface = surface_with(*GLOWS)
    for name, kind, channels, space in (
        ("emissiveColor", "emission", "rgb", "sRGB"),
        ("opacity", "opacity", "r", "raw"),
    ):
        texture = texture_of(surface, name, channels)
        assert Path(texture.GetInput("file").Get().path) == tmp_path / f"{kind}.png"
        assert texture.GetInput("sourceColorSpace").Get() == space
    # a hole reflects nothing
    assert surface.GetInput("opacityMode").Get() == "presence"
    # the definition of USD has the same inputs and types, and this value
    known = Sdr.Registry().GetShaderNodeByIdentifier("UsdPreviewSurface")
    for given in surface.GetInputs():
        expected = known.GetShaderInput(given.GetBaseName())
        assert expected.GetTypeAsSdfType().GetSdfType() == given.GetTypeName()
    options = known.GetShaderInput("opacityMode").GetOptions()
    assert "presence" in [option[0] for option in options]

    stage, surface = surface_with()
    names = {each.GetBaseName() for each in surface.GetInputs()}
    assert names == {"diffuseColor", "roughness", "metallic", "normal"}
    for kind in GLOWS:
        assert not stage.GetPrimAtPath(f"/materials/nested/verdigris_look/preview_{kind}")


TURNS = {
    "turned": [[0, 1, 0], [-1, 0, 0], [0, 0, 1]],
    "stretched": [[2, 0, 0.5], [0, 3, 0], [0, 0.25, 1]],
    "mirrored": [[-1, 0, 0], [0, 2, 0], [0, 0, 1]],
    "flat": [[1, 0, 0], [0, 1, 0], [0, 0, 0]],
}


@pytest.mark.parametrize("turn", TURNS.values(), ids=TURNS)
def test_normals_are_correct_under_every_transform(turn, harness):
    matrix = np.eye(4)
    matrix[:3, :3] = turn
    harness.houdini.nodes[PLATE]["transform"] = matrix
    points = harness.houdini.geometries["/obj/plate/shape"]["points"]
    points["N"] = np.tile(np.float32([0, 0, 1]), (5, 1))
    mesh = harness.host.mesh(PLATE, harness.first)
    edges = mesh.position[:, 1:] - mesh.position[:, :1]
    np.testing.assert_allclose(np.einsum("tcx,tex->tce", mesh.normal, edges), 0, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(mesh.normal, axis=-1), 1, rtol=1e-6)
    # on the original side
    up = np.array([0, 0, 1]) @ np.array(turn)
    assert (mesh.normal @ up >= 0).all()


@pytest.mark.parametrize(
    ("tabs", "panels"),
    [(["Verdigris"], ["front"]), (["Another panel", None], ["Verdigris", "front"])],
)
def test_a_tab_with_another_panel_is_left_alone(tabs, panels, houdini):
    houdini.tabs = tabs
    importlib.import_module("verdigris.plugins.houdini.actions").bake()
    assert houdini.panels == panels


UNIVERSAL = """#usda 1.0
def Scope "materials" {
    def Material "nested" {
        token outputs:surface.connect = </materials/nested/shader.outputs:out>
        def Shader "shader" {
            uniform token info:id = "%s"
            token outputs:out
        }
    }
}
"""


def stage_with_result(harness, tmp_path, shader):
    """The stage of a material on the universal output, after a bake with textures."""
    script = importlib.import_module("verdigris.plugins.houdini.result_script")
    (tmp_path / "universal.usda").write_text(UNIVERSAL % shader)
    scene = harness.houdini
    scene.stages[LIBRARY] = str(tmp_path / "universal.usda")
    scene.add("/stage/writer", "pythonscript", input=LIBRARY)
    path = "/materials/nested"
    files = {kind: str(file) for kind, file in flattened(tmp_path).items()}
    text = script.result_script({path: str(tmp_path / "a.vdg")}, {path: files})
    scene.nodes["/stage/writer"]["parms"]["python"] = text
    stage = scene.hou.node("/stage/writer").stage()
    assert stage.GetAttributeAtPath(f"{path}.verdigris:bundle").Get()
    return stage, UsdShade.Material(stage.GetPrimAtPath(path))


def shown_by(material):
    """The shader of viewports and that of renderers with MaterialX, in each variant."""
    looks, found = material.GetPrim().GetVariantSet("look"), {}
    for variant in looks.GetVariantNames():
        looks.SetVariantSelection(variant)
        universal, rendered = (
            material.ComputeSurfaceSource(context)[0].GetPrim() for context in ("", "mtlx")
        )
        found[variant] = universal.GetName(), rendered.GetName()
    return found


def test_a_materialx_surface_on_the_universal_output_is_kept_for_renderers(harness, tmp_path):
    shader = "ND_standard_surface_surfaceshader"
    _, material = stage_with_result(harness, tmp_path, shader)
    assert material.ComputeSurfaceSource("mtlx")[0].GetIdAttr().Get() == shader
    assert material.GetPrim().GetVariantSet("look").GetVariantSelection() == "source"
    assert shown_by(material) == {
        "source": ("preview", "shader"),
        "baked": ("preview", "materialx"),
    }


def test_a_preview_surface_of_the_artist_is_the_source(harness, tmp_path):
    _, material = stage_with_result(harness, tmp_path, "UsdPreviewSurface")
    assert material.ComputeSurfaceSource()[0].GetPrim().GetName() == "shader"
    # which renderers with MaterialX read, too
    assert shown_by(material) == {"source": ("shader",) * 2, "baked": ("preview",) * 2}


def test_the_variants_are_those_of_a_layer_with_looks_also_above_one(harness, tmp_path):
    """Both ways give the same shaders, and a LOP above a stage that has the layer keeps its
    source."""
    shader = "ND_standard_surface_surfaceshader"
    files = flattened(tmp_path, *GLOWS)
    source, layer = tmp_path / "source.usda", tmp_path / "a.looks.usda"
    source.write_text(UNIVERSAL.replace("outputs:surface.", "outputs:mtlx:surface.") % shader)
    look = StageLook(tmp_path / "a.vdg", files)
    path = "/materials/nested"
    write_looks(Usd.Stage.Open(str(source)), {path: look}, layer)
    write_stage_with_looks(source, layer, tmp_path / "both.usda")
    script = importlib.import_module("verdigris.plugins.houdini.result_script")
    scene, found, stages = harness.houdini, {}, {}
    texts = {kind: str(file) for kind, file in files.items()}
    for name in ("source", "both"):
        scene.stages[LIBRARY] = str(tmp_path / f"{name}.usda")
        scene.add(f"/stage/{name}", "pythonscript", input=LIBRARY)
        text = script.result_script({}, {path: texts})
        scene.nodes[f"/stage/{name}"]["parms"]["python"] = text
        # prims expire with their stage
        stages[name] = scene.hou.node(f"/stage/{name}").stage()
        found[name] = UsdShade.Material(stages[name].GetPrimAtPath(path))
        rendered = {key: names[1] for key, names in shown_by(found[name]).items()}
        assert rendered == {"source": "shader", "baked": "materialx"}
    stages["layer"] = Usd.Stage.Open(str(tmp_path / "both.usda"))
    by_layer = UsdShade.Material(stages["layer"].GetPrimAtPath(path))
    by_layer.GetPrim().GetVariantSet("look").SetVariantSelection("baked")
    found["source"].GetPrim().GetVariantSet("look").SetVariantSelection("baked")
    assert inputs_of(found["source"]) == inputs_of(by_layer)


def inputs_of(material):
    """All that a surface of MaterialX reads, by the names of inputs."""

    def read(shader):
        values = {}
        for port in shader.GetInputs():
            fed = port.GetConnectedSources()[0]
            value = port.Get()
            values[port.GetBaseName()] = (
                read(UsdShade.Shader(fed[0].source.GetPrim()))
                if fed
                else str(value.resolvedPath or value.path).rpartition("/")[2]
                if isinstance(value, Sdf.AssetPath)
                else value
            )
        return shader.GetIdAttr().Get(), values

    return read(material.ComputeSurfaceSource("mtlx")[0])
