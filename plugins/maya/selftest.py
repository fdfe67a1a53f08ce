"""The self-test of the plug-in in Maya. The launcher selftest.py runs it in mayapy."""

from __future__ import annotations

from collections.abc import Sequence

from verdigris.plugins.common.host_test import run_program
from verdigris.plugins.maya.without_window import start


def make_scene() -> None:
    """Makes an unsaved scene: a plane with a standardSurface, which needs the USD export."""
    from maya import cmds

    cmds.file(newFile=True, force=True)
    plane = cmds.polyPlane(name="scratch", subdivisionsX=2, subdivisionsY=2)[0]
    shader = cmds.shadingNode("standardSurface", asShader=True, name="scratchSurface")
    engine = cmds.sets(renderable=True, noSurfaceShader=True, empty=True, name="scratchSurfaceSG")
    cmds.connectAttr(f"{shader}.outColor", f"{engine}.surfaceShader")
    cmds.sets(plane, edit=True, forceElement=engine)


def run(arguments: Sequence[str]) -> int:
    """The exit code of the self-test."""
    return run_program("mayapy selftest.py", start, make_scene, arguments)
