"""The self-test of the plug-in in Houdini. The launcher selftest.py runs it in hython."""

from __future__ import annotations

from collections.abc import Sequence

from verdigris.plugins.common.host_test import run_program
from verdigris.plugins.houdini.without_window import start


def make_scene() -> None:
    """Makes an unsaved scene: a grid with a material of /mat, which is also on a stage, a material
    in a network of the grid, and the LOP that bakes."""
    import hou

    from verdigris.plugins.houdini.nodes.bake_lop import TYPE_NAME
    from verdigris.plugins.houdini.nodes.build_assets import require_lop

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
    inner = thing.createNode("matnet", "scratch").createNode("mtlxstandard_surface", "inner")
    inner.setGenericFlag(hou.nodeFlag.Material, True)
    require_lop()
    bake = hou.node("/stage").createNode(TYPE_NAME, "bake")
    bake.setInput(0, library)
    bake.setDisplayFlag(True)


def run(arguments: Sequence[str]) -> int:
    """The exit code of the self-test."""
    return run_program("hython selftest.py", start, make_scene, arguments)
