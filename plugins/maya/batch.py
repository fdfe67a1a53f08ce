"""mayapy -m verdigris.plugins.maya.batch SCENE [--material NAME] [-o FOLDER] [--preset NAME]"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from verdigris.plugins.common.batch_bake import main

if TYPE_CHECKING:
    from verdigris.core.hosts.host import Host

PROGRAM = "mayapy -m verdigris.plugins.maya.batch"


def start() -> Host:
    """Starts Maya without a window."""
    import maya.standalone

    maya.standalone.initialize(name="python")
    from verdigris.plugins.maya.adapter import MayaHost

    return MayaHost()


if __name__ == "__main__":
    sys.exit(main(PROGRAM, start, sys.argv[1:]))
