"""mayapy -m verdigris.plugins.maya.selftest REPORT.json"""

from __future__ import annotations

import sys
from pathlib import Path

from verdigris.plugins.common.host_test import finish, run_selftest
from verdigris.plugins.maya.batch import start


def make_scene() -> None:
    """Makes an unsaved scene: a plane with a standardSurface, which needs the USD export."""
    from maya import cmds

    cmds.file(newFile=True, force=True)
    plane = cmds.polyPlane(name="scratch", subdivisionsX=2, subdivisionsY=2)[0]
    shader = cmds.shadingNode("standardSurface", asShader=True, name="scratchSurface")
    engine = cmds.sets(renderable=True, noSurfaceShader=True, empty=True, name="scratchSurfaceSG")
    cmds.connectAttr(f"{shader}.outColor", f"{engine}.surfaceShader")
    cmds.sets(plane, edit=True, forceElement=engine)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(finish(run_selftest(start, make_scene), Path(sys.argv[1])))
