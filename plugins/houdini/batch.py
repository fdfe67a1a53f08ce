"""hython -m verdigris.plugins.houdini.batch SCENE [--material NAME] [-o FOLDER] [--preset NAME]"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from verdigris.plugins.common.batch_bake import main

if TYPE_CHECKING:
    from verdigris.core.hosts.host import Host

PROGRAM = "hython -m verdigris.plugins.houdini.batch"


def start() -> Host:
    """The host. Houdini is loaded already, as this runs in hython."""
    from verdigris.plugins.houdini.adapter import HoudiniHost

    return HoudiniHost()


if __name__ == "__main__":
    sys.exit(main(PROGRAM, start, sys.argv[1:]))
