"""Scenes of Maya in a strict fake."""

import importlib
from pathlib import Path

import fake_maya

from ..contract import Harness

DATA = Path(__file__).parent / "data"
USD_DATA = Path(__file__).parents[2] / "core" / "material" / "usd" / "data"
SHAPE = "|plate|plateShape"
QUAD, TRIANGLE = "|plate.f[0:0]", "|plate.f[1:1]"
BY_FACE = {"Standard_Surface1SG": [QUAD], "standardSurface2SG": [TRIANGLE]}


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
