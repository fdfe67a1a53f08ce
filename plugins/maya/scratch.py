"""A scene of one plane for the self-test, made in a Maya of its own and never saved."""

from __future__ import annotations

from maya import cmds


def make_plane() -> str:
    """A plane with Maya's own standardSurface; the mesh's name."""
    cmds.file(newFile=True, force=True)
    plane = cmds.polyPlane(name="scratch", subdivisionsX=2, subdivisionsY=2)[0]
    shader = cmds.shadingNode("standardSurface", asShader=True, name="scratchSurface")
    engine = cmds.sets(renderable=True, noSurfaceShader=True, empty=True, name="scratchSurfaceSG")
    cmds.connectAttr(f"{shader}.outColor", f"{engine}.surfaceShader")
    cmds.sets(plane, edit=True, forceElement=engine)
    return plane
