"""Scenes of Maya in a strict fake."""

import importlib
from pathlib import Path

import fake_maya
import numpy as np

from ..contract import Harness
from ..hosts import by_name

DATA = Path(__file__).parent / "data"
USD_DATA = Path(__file__).parents[2] / "core" / "material" / "usd" / "data"
SHAPE = "|plate|plateShape"
QUAD, TRIANGLE = "|plate.f[0:0]", "|plate.f[1:1]"
BY_FACE = {"Standard_Surface1SG": [QUAD], "standardSurface2SG": [TRIANGLE]}

# Of MaterialX's acescg_to_lin_rec709.
ACESCG_TO_REC_709 = np.array(
    [
        [1.705050992658, -0.621792120657, -0.083258872001],
        [-0.130256417507, 1.140804736575, -0.010548319068],
        [-0.024003356805, -0.128968976065, 1.15297233287],
    ]
)


def open_scene(maya, name):
    host = importlib.import_module("verdigris.plugins.maya.adapter").MayaHost()
    host.open_scene(DATA / name)
    maya.add("|plate", "transform")
    maya.add(SHAPE, "mesh", mesh=fake_maya.plate())
    return host


def paint_colours(maya, mesh, corners, weight):
    """Paints as the brush does, whose colours are eighths of a weight."""
    colours = maya.require(mesh)["attributes"]["mesh"]["colours"]["verdigris_weights"]
    colours.update(dict.fromkeys(corners, (weight / 8,) * 3))


def add_native(maya, members):
    """A standardSurface of Maya's own."""
    maya.add("standardSurface2", "standardSurface")
    maya.add("standardSurface2SG", "shadingEngine")
    maya.connections["standardSurface2SG.surfaceShader"] = "standardSurface2.outColor"
    maya.members["standardSurface2SG"] = members
    return "standardSurface2"


def export(host, name):
    """A material through maya-usd, as materials are read whose surface only maya-usd knows."""
    material = by_name(host, name)
    materials = importlib.import_module("verdigris.plugins.maya.scene.materials")
    return materials.export_native(material.key, material.name, host.meshes(material))


def assigned(maya):
    return {engine: members for engine, members in maya.members.items() if members}


class MayaHarness(Harness):
    """A stack of documents and a plate with its first material."""

    def snapshot(self):
        return self.maya.state()

    def paint(self, mesh, weight):
        paint_colours(self.maya, mesh, (0, 1, 2), weight)

    def undo(self):
        self.maya.undo()
