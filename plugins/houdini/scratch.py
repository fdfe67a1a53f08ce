"""A scene for the self-test, made in a Houdini of its own and never saved."""

from __future__ import annotations

import hou


def make_grid() -> str:
    """A grid with a Standard Surface of /mat, and the same material in a Material Library."""
    hou.hipFile.clear(suppress_save_prompt=True)
    shader = hou.node("/mat").createNode("mtlxstandard_surface", "scratch")
    shader.setGenericFlag(hou.nodeFlag.Material, True)
    thing = hou.node("/obj").createNode("geo", "scratch")
    grid = thing.createNode("grid", "grid")
    unwrap = thing.createNode("uvtexture", "uv")
    unwrap.setInput(0, grid)
    unwrap.setDisplayFlag(True)
    thing.parm("shop_materialpath").set(shader.path())
    library = hou.node("/stage").createNode("materiallibrary", "scratch")
    library.parm("matpathprefix").set("/materials/")
    library.parm("materials").set(1)
    library.parm("matnode1").set(shader.path())
    library.parm("matpath1").set("scratch")
    library.setDisplayFlag(True)
    return str(thing.path())
