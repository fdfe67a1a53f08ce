"""The USD file of a ladder, read by USD itself."""

from pathlib import Path

import numpy as np
import pytest

from verdigris.core.base.device import open_device
from verdigris.core.geometry.mesh import load_mesh
from verdigris.core.ladder.mesh.mesh_surface import Surface
from verdigris.core.ladder.output.usd import write_usd
from verdigris.core.ladder.rung import Rung
from verdigris.core.ladder.texels.grid import Grid
from verdigris.core.ladder.texels.tone_curve import ToneCurve
from verdigris.core.ladder.textures.texture_files import Written
from verdigris.core.ladder.unlit.unlit_models import VertexColours
from verdigris.core.ladder.views.scene import Scene
from verdigris.core.ladder.views.visibility import DeviceSurface

pytest.importorskip("pxr", reason="USD is not installed: pip install usd-core")
from pxr import Usd, UsdGeom, UsdShade, UsdValidation

ROOT = Path(__file__).resolve().parents[4]
LIT = {each: f"pbr_{each}.png" for each in ("base_color", "orm", "normal", "emissive")}
LODS = [
    {"rung": "neural", "below_pixels": None, "flip": 0.01},
    {"rung": "unlit", "below_pixels": 64, "flip": 0.1},
]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("usd")
    for name in (*LIT.values(), "unlit_shown.png", "tray.vdg"):
        (folder / name).write_bytes(b"")
    mesh = load_mesh(ROOT / "examples/tray.obj")
    surface = Surface(mesh, {"st": mesh.uv, "st1": mesh.uv * 0.5}, name="tray")
    scene = Scene(
        None, DeviceSurface(open_device("software"), surface), None, 1.0, "st", "st1", False
    )
    count = surface.vertices[1]
    colours = VertexColours(Grid(count, 1, np.full((count, 3), 0.5, "f4")), ToneCurve(1, 1, 0))

    def rung(name, files, stored=None):
        return Rung(name, 8, 1, 0.0, None, stored), Written(files)

    rungs = [
        rung("neural", {}),
        (Rung("pbr", 8, 1, 0.0, None), Written(LIT, {"emissive_strength": 3.0})),
        rung("unlit", {"shown": "unlit_shown.png", "light": "unlit_light.png"}),
        rung("vertex", {}, colours),
    ]
    [name] = write_usd(scene, rungs, folder, "tray", LODS, "tray.vdg")
    return Usd.Stage.Open(str(folder / name)), mesh


def surface_of(stage, rung):
    root = stage.GetDefaultPrim()
    root.GetVariantSet("rung").SetVariantSelection(rung)
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/ladder/mesh"))
    material, _ = UsdShade.MaterialBindingAPI(mesh).ComputeBoundMaterial()
    source, _, _ = material.ComputeSurfaceSource()
    return mesh, material, source


def file_behind(surface, port):
    source = surface.GetInput(port).GetConnectedSources()[0][0].source
    shader = UsdShade.Shader(source.GetPrim())
    reader = UsdShade.Shader(shader.GetInput("st").GetConnectedSources()[0][0].source.GetPrim())
    return shader.GetInput("file").Get().path, reader.GetInput("varname").Get()


def test_the_mesh_has_its_triangles_and_both_uv_sets(written):
    stage, source = written
    mesh, *_ = surface_of(stage, "pbr")
    index = np.array(mesh.GetFaceVertexIndicesAttr().Get())
    place = np.array(mesh.GetPointsAttr().Get())[index].reshape(-1, 3, 3)
    np.testing.assert_array_equal(place, source.position)
    found = UsdGeom.PrimvarsAPI(mesh)
    for name, scale in (("st", 1), ("st1", 0.5)):
        uv = np.array(found.GetPrimvar(name).ComputeFlattened()).reshape(-1, 3, 2)
        np.testing.assert_allclose(uv, source.uv * scale, rtol=1e-6)


def test_each_rung_is_a_variant_with_its_textures(written):
    stage, _ = written
    assert stage.GetDefaultPrim().GetVariantSet("rung").GetVariantNames() == [
        "neural", "pbr", "unlit", "vertex",
    ]  # fmt: skip
    _, _, surface = surface_of(stage, "pbr")
    for port, use in (("diffuseColor", "base_color"), ("roughness", "orm"), ("normal", "normal")):
        assert file_behind(surface, port) == (f"./{LIT[use]}", "st")
    _, _, surface = surface_of(stage, "unlit")
    assert file_behind(surface, "emissiveColor") == ("./unlit_shown.png", "st1")
    assert surface.GetInput("diffuseColor").Get() == (0, 0, 0)
    mesh, _, surface = surface_of(stage, "vertex")
    reader = UsdShade.Shader(surface.GetInput("emissiveColor").GetConnectedSources()[0][0].source)
    name = reader.GetInput("varname").Get()
    assert UsdGeom.PrimvarsAPI(mesh).GetPrimvar(name).HasValue()


def test_the_neural_rung_names_its_bundle_and_levels_their_size(written):
    stage, _ = written
    mesh, material, surface = surface_of(stage, "neural")
    assert material.GetPrim().GetAttribute("verdigris:bundle").Get().path == "tray.vdg"
    assert file_behind(surface, "diffuseColor")[0] == "./pbr_base_color.png"
    assert not mesh.GetPrim().HasAttribute("verdigris:below_pixels")
    mesh, *_ = surface_of(stage, "unlit")
    assert mesh.GetPrim().GetAttribute("verdigris:below_pixels").Get() == 64


def test_the_validators_of_usd_find_no_fault(written):
    stage, _ = written
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    assert len(validators) > 10
    for rung in stage.GetDefaultPrim().GetVariantSet("rung").GetVariantNames():
        stage.GetDefaultPrim().GetVariantSet("rung").SetVariantSelection(rung)
        found = UsdValidation.ValidationContext(validators).Validate(stage)
        assert [each.GetMessage() for each in found] == []
