"""hython -m verdigris.plugins.houdini.selftest REPORT.json"""

from __future__ import annotations

import sys
from pathlib import Path

from verdigris.plugins.common.host_test import finish, run_selftest
from verdigris.plugins.houdini.batch import start


def make_scene() -> None:
    """Makes an unsaved scene: a grid with a material of /mat, which is also on a stage."""
    import hou

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


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(finish(run_selftest(start, make_scene), Path(sys.argv[1])))
