"""Scenes of Houdini in a strict fake, with real stages."""

import importlib
from pathlib import Path

import fake_houdini
import numpy as np
from pxr import Sdf, Usd, UsdGeom, UsdShade

from ..contract import Harness

USD_DATA = Path(__file__).parents[2] / "core" / "material" / "usd" / "data"
PLATE, LIBRARY = "/obj/plate", "/stage/materials"
GOLD = """#usda 1.0
def Scope "materials" {
    def Material "gold" {
        token outputs:mtlx:surface.connect = </materials/gold/surface.outputs:out>
        def Shader "surface" {
            uniform token info:id = "ND_standard_surface_surfaceshader"
            color3f inputs:base_color = (0.9, 0.6, 0.2)
            token outputs:out
        }
    }
}
"""


def open_host(houdini, folder):
    """A material of /mat on a plate, and a stage with materials of its own."""
    found = importlib.import_module("verdigris.plugins.houdini.adapter").HoudiniHost()
    (folder / "gold.usda").write_text(GOLD)
    houdini.add("/mat/gold", "mtlxstandard_surface", material=True)
    houdini.add("/mat/helper", "subnet")
    houdini.add("/mat/helper/colour", "mtlximage")
    houdini.stages["/mat/gold"] = str(folder / "gold.usda")
    houdini.add(PLATE, "geo")
    houdini.nodes[PLATE]["parms"]["shop_materialpath"] = "/mat/gold"
    houdini.add("/obj/plate/shape", "null", display=True)
    houdini.geometries["/obj/plate/shape"] = fake_houdini.plate()
    houdini.add(LIBRARY, "null", display=True)
    houdini.stages[LIBRARY] = str(folder / "stage.usda")
    write_stage(folder / "stage.usda")
    return found


def visible(houdini):
    """The scene without the hidden network, which the first translation makes."""
    found = houdini.state()
    return {path: facts for path, facts in found.items() if "verdigris_translator" not in path}


def write_stage(path):
    """The materials that can be baked of the Solaris fixture, and two meshes with them."""
    stage = Usd.Stage.CreateInMemory()
    stage.GetRootLayer().subLayerPaths.append(str(USD_DATA / "solaris.usda"))
    for name in ("karma", "preview", "bare", "absent"):
        stage.GetPrimAtPath(f"/materials/{name}").SetActive(False)
    plate = UsdGeom.Mesh.Define(stage, "/plate")
    plate.CreatePointsAttr([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0)])
    plate.CreateFaceVertexCountsAttr([4, 3])
    plate.CreateFaceVertexIndicesAttr([0, 1, 2, 3, 1, 4, 2])
    primvars = UsdGeom.PrimvarsAPI(plate)
    st = primvars.CreatePrimvar("st", Sdf.ValueTypeNames.TexCoord2fArray, "vertex")
    st.Set([(0, 0), (0.5, 0), (0.5, 1), (0, 1), (1, 0)])
    painted = primvars.CreatePrimvar("verdigris_weights", Sdf.ValueTypeNames.FloatArray, "uniform")
    painted.Set([2.0, 4.0])
    binding = UsdShade.MaterialBindingAPI.Apply(plate.GetPrim())
    binding.Bind(UsdShade.Material(stage.GetPrimAtPath("/materials/nested")))
    subset = binding.CreateMaterialBindSubset("edge", [1])
    UsdShade.MaterialBindingAPI.Apply(subset.GetPrim()).Bind(
        UsdShade.Material(stage.GetPrimAtPath("/materials/cascade"))
    )
    stage.GetRootLayer().Export(str(path))


def texture_of(surface, name, channels):
    """The texture of an input of a surface."""
    (source,) = UsdShade.Utils.GetValueProducingAttributes(surface.GetInput(name))
    assert source.GetName() == f"outputs:{channels}"
    return UsdShade.Shader(source.GetPrim())


class HoudiniHarness(Harness):
    """A material of /mat on a plate, and a stage with materials of its own."""

    def snapshot(self):
        return visible(self.houdini)

    def paint(self, mesh, weight):
        points = self.houdini.geometries["/obj/plate/shape"]["points"]
        points.setdefault("verdigris_weights", np.ones((5, 1)))
        points["verdigris_weights"][[0, 1, 2, 3]] = weight

    def undo(self):
        self.houdini.undo()
