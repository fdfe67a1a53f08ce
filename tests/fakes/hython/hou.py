"""The module hou of a hython: a fake Houdini with one material on a stage.

The calls that end it are recorded in the file FAKE_CALLS. It loses the exit code when the
interpreter ends by itself.
"""

import atexit
import os
import sys
from pathlib import Path

import fake_houdini

GOLD = """#usda 1.0
def Scope "materials" {
    def Material "gold" {
        token outputs:mtlx:surface.connect = </materials/gold/surface.outputs:out>
        def Shader "surface" {
            uniform token info:id = "ND_standard_surface_surfaceshader"
            token outputs:out
        }
    }
}
"""


def _record_release():
    with Path(os.environ["FAKE_CALLS"]).open("a") as file:
        file.write("releaseLicense\n")


_scene = fake_houdini.Scene()
_scene.window = False
_stage = Path(os.environ["FAKE_CALLS"]).with_name("gold.usda")
_stage.write_text(GOLD)
_scene.add("/mat/gold", "mtlxstandard_surface", material=True)
_scene.stages["/mat/gold"] = str(_stage)
print("Houdini has a license", flush=True)
atexit.register(os._exit, 0)
sys.modules[__name__] = fake_houdini.make_hou(_scene)
sys.modules[__name__].releaseLicense = _record_release
